!> Conjugate gradients for the lid's pressure as MITgcm's solver communicates: three sums over all
!> processes and two exchanges of one ghost, without corners, in each iteration.
!>
!>     z = M r            sum of r z
!>     s = z + beta s     exchange of s
!>     q = A s            sum of s q
!>     p = p + alpha s, r = r - alpha q, sum of r r; exchange of r
!>
!> The sum of r r is there to end when a tolerance is met. Here it only ends improvements that would
!> be rounding, and the number of iterations is the problem's, so that all platforms do the same.
!> Before the first there are an exchange of the guess, two ghosts wide, and one of r, the largest of
!> b, by which b and p are divided, and sums of b and of r r; after the last one p is exchanged.
!>
!> Exported: `gradients_t`. Timed: `solve`. Collective over the grid: `solve`.
module ocean_gradients

    use bl_halo, only: box_t, halo_t
    use bl_kinds, only: dp
    use ocean_grid, only: first_i, grid_t
    use ocean_pressure, only: damping, pressure_t, rounding

    implicit none(type, external)
    private

    public :: gradients_t

    type, extends(pressure_t) :: gradients_t
        private
        !> Direction, with a ghost; the product of the preconditioner with r, then of the operator
        !> with s.
        real(dp), pointer, contiguous :: s(:, :) => null(), q(:, :) => null()
        !> Of r and of s.
        type(halo_t) :: edges_of_r, edges_of_s
    contains
        procedure :: setup => setup_gradients
        procedure :: solve
        procedure, private :: begin
        procedure, private :: iterate
    end type gradients_t

contains

    subroutine setup_gradients(self, grid, dx, dy, depth)
        class(gradients_t), intent(inout) :: self
        type(grid_t), intent(in) :: grid
        real(dp), intent(in) :: dx, dy, depth
        call self%lay_out(grid, dx, dy, depth)
        call grid%new_field(1, self%s)
        call grid%new_field(1, self%q)
        call grid%new_edges(2, self%edges_of_r)
        call grid%new_edges(1, self%edges_of_s)
    end subroutine setup_gradients

    subroutine solve(self, iterations)
        class(gradients_t), intent(inout) :: self
        integer, intent(in) :: iterations
        real(dp) :: scale, square, rho
        integer :: iteration

        call self%begin(scale, square)
        rho = 1
        do iteration = 1, iterations
            call self%iterate(rho, square, first=iteration == 1, last=iteration == iterations)
        end do
        self%p = scale*self%p
        call self%ghosts%exchange(self%p, self%agreement)
    end subroutine solve

    !> From -b to the residual of the first guess, both in units of the largest b, and its square
    !> norm.
    subroutine begin(self, scale, square)
        class(gradients_t), intent(inout) :: self
        real(dp), intent(out) :: scale, square
        real(dp) :: total, unused

        scale = largest_of(self%grid, self%r)
        call self%largest(scale)
        if (.not. scale > 0) scale = 1
        self%r = self%r/scale
        self%p = self%p/scale
        total = sum_of(self%grid, self%r)
        call self%ghosts%exchange(self%p, self%agreement)
        call copy_field(self%grid, self%p, self%s)
        call apply(self%grid, self%weight_x, self%weight_y, self%centre, self%s, self%q, unused)
        call advance(self%grid, 0.0_dp, 1.0_dp, self%s, self%q, self%p, self%r, square)
        self%s = 0
        call self%edges_of_r%exchange(self%r, self%agreement)
        call self%add_up(square)
        call self%add_up(total)
    end subroutine begin

    subroutine iterate(self, rho, square, first, last)
        class(gradients_t), intent(inout) :: self
        real(dp), intent(inout) :: rho, square
        logical, intent(in) :: first, last
        real(dp) :: rho_before, alpha, beta, gamma
        logical :: goes_on

        ! A constant, which the operator does not see, would grow out of rounding.
        goes_on = square > rounding**2*cells(self)
        rho_before = rho
        call precondition(self%grid, self%weight_x, self%weight_y, self%centre, self%r, self%q, &
                          rho)
        call self%add_up(rho)
        beta = 0
        if (goes_on .and. .not. first) beta = rho/rho_before
        call turn(self%grid, beta, self%q, self%s)
        call self%edges_of_s%exchange(self%s, self%agreement)
        call apply(self%grid, self%weight_x, self%weight_y, self%centre, self%s, self%q, gamma)
        call self%add_up(gamma)
        alpha = 0
        if (goes_on .and. gamma > 0) alpha = rho/gamma
        call advance(self%grid, alpha, alpha, self%s, self%q, self%p, self%r, square)
        call self%add_up(square)
        if (.not. last) call self%edges_of_r%exchange(self%r, self%agreement)
    end subroutine iterate

    !> Of the basin: at least the square norm of a right-hand side whose largest number is 1.
    pure real(dp) function cells(self)
        class(gradients_t), intent(in) :: self
        cells = real(self%grid%cells, dp)
    end function cells

    !> z from r, and this process's part of r z.
    pure subroutine precondition(grid, weight_x, weight_y, centre, r, z, product)
        type(grid_t), intent(in) :: grid
        real(dp), intent(in) :: weight_x, weight_y, centre
        real(dp), intent(in) :: r(first_i:grid%last_i, -1:grid%ny + 2)
        real(dp), intent(inout) :: z(first_i:grid%last_i, 0:grid%ny + 1)
        real(dp), intent(out) :: product
        real(dp) :: own, along, across, part
        integer :: i, j

        own = 1/centre
        along = damping*weight_x/centre**2
        across = damping*weight_y/centre**2
        part = 0
        do j = 1, grid%ny
            !$omp simd reduction(+: part)
            do i = 1, grid%nx
                z(i, j) = own*r(i, j) + along*(r(i - 1, j) + r(i + 1, j)) &
                          + across*(r(i, j - 1) + r(i, j + 1))
                part = part + r(i, j)*z(i, j)
            end do
        end do
        product = part
    end subroutine precondition

    !> s = z + beta s
    pure subroutine turn(grid, beta, z, s)
        type(grid_t), intent(in) :: grid
        real(dp), intent(in) :: beta
        real(dp), intent(in) :: z(first_i:grid%last_i, 0:grid%ny + 1)
        real(dp), intent(inout) :: s(first_i:grid%last_i, 0:grid%ny + 1)
        integer :: i, j
        do j = 1, grid%ny
            do i = 1, grid%nx
                s(i, j) = z(i, j) + beta*s(i, j)
            end do
        end do
    end subroutine turn

    !> q = a s, and this process's part of s q.
    pure subroutine apply(grid, weight_x, weight_y, centre, s, q, product)
        type(grid_t), intent(in) :: grid
        real(dp), intent(in) :: weight_x, weight_y, centre
        real(dp), intent(in) :: s(first_i:grid%last_i, 0:grid%ny + 1)
        real(dp), intent(inout) :: q(first_i:grid%last_i, 0:grid%ny + 1)
        real(dp), intent(out) :: product
        real(dp) :: part
        integer :: i, j

        part = 0
        do j = 1, grid%ny
            !$omp simd reduction(+: part)
            do i = 1, grid%nx
                q(i, j) = centre*s(i, j) - weight_x*(s(i - 1, j) + s(i + 1, j)) &
                          - weight_y*(s(i, j - 1) + s(i, j + 1))
                part = part + s(i, j)*q(i, j)
            end do
        end do
        product = part
    end subroutine apply

    !> p = p + alpha s, r = r - beta q, and this process's part of r r.
    pure subroutine advance(grid, alpha, beta, s, q, p, r, square)
        type(grid_t), intent(in) :: grid
        real(dp), intent(in) :: alpha, beta
        real(dp), intent(in), dimension(first_i:grid%last_i, 0:grid%ny + 1) :: s, q
        real(dp), intent(inout), dimension(first_i:grid%last_i, -1:grid%ny + 2) :: p, r
        real(dp), intent(out) :: square
        real(dp) :: own
        integer :: i, j
        own = 0
        do j = 1, grid%ny
            !$omp simd reduction(+: own)
            do i = 1, grid%nx
                p(i, j) = p(i, j) + alpha*s(i, j)
                r(i, j) = r(i, j) - beta*q(i, j)
                own = own + r(i, j)**2
            end do
        end do
        square = own
    end subroutine advance

    pure subroutine copy_field(grid, from, to)
        type(grid_t), intent(in) :: grid
        real(dp), intent(in) :: from(first_i:grid%last_i, -1:grid%ny + 2)
        real(dp), intent(inout) :: to(first_i:grid%last_i, 0:grid%ny + 1)
        to = from(:, 0:grid%ny + 1)
    end subroutine copy_field

    pure real(dp) function largest_of(grid, r) result(most)
        type(grid_t), intent(in) :: grid
        real(dp), intent(in) :: r(first_i:grid%last_i, -1:grid%ny + 2)
        most = maxval(abs(r(1:grid%nx, 1:grid%ny)))
    end function largest_of

    pure real(dp) function sum_of(grid, r) result(total)
        type(grid_t), intent(in) :: grid
        real(dp), intent(in) :: r(first_i:grid%last_i, -1:grid%ny + 2)
        total = sum(r(1:grid%nx, 1:grid%ny))
    end function sum_of

end module ocean_gradients
