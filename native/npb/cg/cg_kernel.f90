!> CG: inverse iteration with conjugate gradients for the eigenvalue nearest the shift.
!>
!> Outer iteration: z = `cg_steps` steps for A z = x, zeta = shift + 1/(x z), x = z/|z|.
!>
!> Exported: `cg_state_t`. Timed: `iterate`. Collective over the grid: all but `reset`.
!> Vectors are parts in column distribution (`cg_grid`), columns long.
module cg_kernel

    use cg_grid, only: grid_t
    use cg_problem, only: cg_steps
    use cg_slices, only: slices_t
    use bl_kinds, only: dp

    implicit none(type, external)
    private

    public :: cg_state_t

    type :: cg_state_t
        type(grid_t) :: grid
        type(slices_t) :: matrix
        real(dp) :: shift = 0
        !> Estimate of the eigenvalue.
        real(dp) :: zeta = 0
        !> |x - A z| of the last outer iteration.
        real(dp) :: residual = 0
        real(dp), allocatable :: x(:), z(:), p(:), q(:), r(:)
        !> Partial product, of the block's rows.
        real(dp), allocatable :: partial(:)
    contains
        procedure :: reset
        procedure :: iterate
        procedure, private :: solve
        procedure, private :: multiply
        procedure, private :: dot
    end type cg_state_t

contains

    !> Starts anew from x = (1, ..., 1).
    subroutine reset(self)
        class(cg_state_t), intent(inout) :: self
        if (.not. allocated(self%x)) then
            associate (n => self%matrix%columns)
                allocate (self%x(n), self%z(n), self%p(n), self%q(n), self%r(n))
                allocate (self%partial(self%matrix%rows))
            end associate
        end if
        self%x = 1
        self%zeta = 0
    end subroutine reset

    !> One outer iteration.
    subroutine iterate(self)
        class(cg_state_t), intent(inout) :: self
        real(dp) :: sums(2)

        call self%solve()
        sums = [dot_local(self%x, self%z), dot_local(self%z, self%z)]
        call self%grid%sum_scalars(sums)
        self%zeta = self%shift + 1/sums(1)
        self%x = self%z/sqrt(sums(2))
    end subroutine iterate

    !> z = `cg_steps` conjugate gradient steps for A z = x, from z = 0.
    subroutine solve(self)
        class(cg_state_t), intent(inout) :: self
        real(dp) :: rho, rho_before, alpha, beta, sums(1)
        integer :: step

        self%z = 0
        self%r = self%x
        self%p = self%x
        rho = self%dot(self%r, self%r)
        do step = 1, cg_steps
            call self%multiply(self%p, self%q)
            alpha = rho/self%dot(self%p, self%q)
            rho_before = rho
            call subtract_norm(alpha, self%q, self%r, sums(1))
            call self%grid%sum_scalars(sums)
            rho = sums(1)
            beta = rho/rho_before
            call advance(alpha, beta, self%r, self%z, self%p)
        end do
        call self%multiply(self%z, self%r)
        self%q = self%x - self%r
        self%residual = sqrt(self%dot(self%q, self%q))
    end subroutine solve

    !> product = A vector.
    subroutine multiply(self, vector, product)
        class(cg_state_t), intent(inout) :: self
        real(dp), intent(in), contiguous :: vector(:)
        real(dp), intent(out), contiguous :: product(:)
        if (self%grid%columns*self%grid%rows == 1) then
            call self%matrix%multiply(vector, product)
        else
            call self%matrix%multiply(vector, self%partial)
            call self%grid%sum_transpose(self%partial, product)
        end if
    end subroutine multiply

    real(dp) function dot(self, a, b)
        class(cg_state_t), intent(in) :: self
        real(dp), intent(in), contiguous :: a(:), b(:)
        real(dp) :: sums(1)
        sums = dot_local(a, b)
        call self%grid%sum_scalars(sums)
        dot = sums(1)
    end function dot

    pure real(dp) function dot_local(a, b) result(total)
        real(dp), intent(in), contiguous :: a(:), b(:)
        integer :: i
        total = 0
        !$omp simd reduction(+: total)
        do i = 1, size(a)
            total = total + a(i)*b(i)
        end do
    end function dot_local

    !> r = r - alpha q, and its square in the same pass.
    pure subroutine subtract_norm(alpha, q, r, square)
        real(dp), intent(in) :: alpha
        real(dp), intent(in), contiguous :: q(:)
        real(dp), intent(inout), contiguous :: r(:)
        real(dp), intent(out) :: square
        integer :: i
        square = 0
        !$omp simd reduction(+: square)
        do i = 1, size(r)
            r(i) = r(i) - alpha*q(i)
            square = square + r(i)*r(i)
        end do
    end subroutine subtract_norm

    !> z = z + alpha p and p = r + beta p in one pass.
    pure subroutine advance(alpha, beta, r, z, p)
        real(dp), intent(in) :: alpha, beta
        real(dp), intent(in), contiguous :: r(:)
        real(dp), intent(inout), contiguous :: z(:), p(:)
        integer :: i
        do i = 1, size(p)
            z(i) = z(i) + alpha*p(i)
            p(i) = r(i) + beta*p(i)
        end do
    end subroutine advance

end module cg_kernel
