!> Conjugate gradients for the lid's pressure that send as little as they can: an exchange and two sums
!> of a number over all processes in each iteration, where MITgcm has two and three
!> (`ocean_gradients`).
!>
!> The exchange is that of the operator's product with the direction, two ghosts wide, which keeps
!> those of the residual right, from which both stencils are computed. The solution moves along a
!> direction when the next one is made of it, the residual when it is preconditioned, so that an
!> iteration passes over the arrays twice: q and r to r and z; z, p and d to p, d and q.
!>
!> Exported: `saving_t`. Timed: `solve`. Collective over the grid: `solve`.
module ocean_saving

    use bl_kinds, only: dp
    use ocean_grid, only: first_i, grid_t
    use ocean_pressure, only: damping, pressure_t, rounding

    implicit none(type, external)
    private

    public :: saving_t

    type, extends(pressure_t) :: saving_t
        private
        !> Preconditioned residual and direction, with a ghost; the operator's product with the
        !> direction, with two.
        real(dp), pointer, contiguous :: z(:, :) => null(), d(:, :) => null(), q(:, :) => null()
    contains
        procedure :: setup => setup_saving
        procedure :: solve
        procedure, private :: multiply
        procedure, private :: begin
    end type saving_t

contains

    subroutine setup_saving(self, grid, dx, dy, depth)
        class(saving_t), intent(inout) :: self
        type(grid_t), intent(in) :: grid
        real(dp), intent(in) :: dx, dy, depth
        call self%lay_out(grid, dx, dy, depth)
        call grid%new_field(1, self%z)
        call grid%new_field(1, self%d)
        call grid%new_field(2, self%q)
    end subroutine setup_saving

    subroutine solve(self, iterations)
        class(saving_t), intent(inout) :: self
        integer, intent(in) :: iterations
        real(dp) :: rho, rho_before, alpha, beta, gamma, nothing, norm
        integer :: iteration

        call self%begin(norm)
        call self%ghosts%exchange(self%r, self%agreement)
        rho_before = 1
        alpha = 0
        ! What rounding leaves. A constant, which the operator does not see, would grow out of it.
        nothing = rounding**2*norm/self%centre
        do iteration = 1, iterations
            ! Both with the step of the iteration before.
            call precondition(self%grid, self%weight_x, self%weight_y, self%centre, alpha, self%q, &
                              self%r, self%z, rho)
            call self%add_up(rho)
            beta = 0
            if (rho > nothing .and. iteration > 1) beta = rho/rho_before
            call self%multiply(alpha, beta, gamma)
            if (iteration < iterations) call self%ghosts%exchange(self%q, self%agreement)
            call self%add_up(gamma)
            alpha = 0
            if (rho > nothing .and. gamma > 0) alpha = rho/gamma
            rho_before = rho
        end do
        call advance(self%grid, alpha, self%d, self%p)
        call subtract(self%grid, alpha, self%q, self%r)
        norm = square(self%grid, self%r)
        call self%add_up(norm)
        call self%ghosts%exchange(self%p, self%agreement)
    end subroutine solve

    !> From -b, whose square norm is `norm`, to the residual of the first guess, whose ghosts are
    !> right.
    subroutine begin(self, norm)
        class(saving_t), intent(inout) :: self
        real(dp), intent(out) :: norm
        real(dp) :: unused

        norm = square(self%grid, self%r)
        call self%add_up(norm)
        call copy(self%grid, self%p, self%z)
        call self%multiply(0.0_dp, 0.0_dp, unused)
        call subtract(self%grid, 1.0_dp, self%q, self%r)
    end subroutine begin

    !> p = p + alpha d, then d = z + beta d, all with ghosts; q = a d, and this process's part of
    !> the product of d and q.
    subroutine multiply(self, alpha, beta, product)
        class(saving_t), intent(inout) :: self
        real(dp), intent(in) :: alpha, beta
        real(dp), intent(out) :: product
        call apply(self%grid, self%weight_x, self%weight_y, self%centre, alpha, beta, self%z, &
                   self%p, self%d, self%q, product)
    end subroutine multiply

    !> r = r - alpha q with both ghosts, z from r, one ghost wide, and this process's part of r z.
    !> A row of z follows the row of r to the north, so that r comes from cache.
    subroutine precondition(grid, weight_x, weight_y, centre, alpha, q, r, z, product)
        type(grid_t), intent(in) :: grid
        real(dp), intent(in) :: weight_x, weight_y, centre, alpha
        real(dp), intent(in) :: q(first_i:grid%last_i, -1:grid%ny + 2)
        real(dp), intent(inout) :: r(first_i:grid%last_i, -1:grid%ny + 2)
        real(dp), intent(inout) :: z(first_i:grid%last_i, 0:grid%ny + 1)
        real(dp), intent(out) :: product
        real(dp) :: own, along, across, here
        integer :: i, j

        own = 1/centre
        along = damping*weight_x/centre**2
        across = damping*weight_y/centre**2
        product = 0
        do j = -1, 1
            call step(q(:, j), r(:, j))
        end do
        do j = 0, grid%ny + 1
            if (j > 0) call step(q(:, j + 1), r(:, j + 1))
            do i = 0, grid%nx + 1, grid%nx + 1
                z(i, j) = own*r(i, j) + along*(r(i - 1, j) + r(i + 1, j)) &
                          + across*(r(i, j - 1) + r(i, j + 1))
            end do
            here = 0
            !$omp simd reduction(+: here)
            do i = 1, grid%nx
                z(i, j) = own*r(i, j) + along*(r(i - 1, j) + r(i + 1, j)) &
                          + across*(r(i, j - 1) + r(i, j + 1))
                here = here + r(i, j)*z(i, j)
            end do
            if (j >= 1 .and. j <= grid%ny) product = product + here
        end do

    contains

        !> A row of r, its ghosts apart: own cells begin a cache line.
        pure subroutine step(q, r)
            real(dp), intent(in) :: q(first_i:grid%last_i)
            real(dp), intent(inout) :: r(first_i:grid%last_i)
            integer :: i
            do i = -1, 0
                r(i) = r(i) - alpha*q(i)
                r(i + grid%nx + 2) = r(i + grid%nx + 2) - alpha*q(i + grid%nx + 2)
            end do
            do i = 1, grid%nx
                r(i) = r(i) - alpha*q(i)
            end do
        end subroutine step
    end subroutine precondition

    !> A row's product follows the direction of the next row, so that directions come from cache.
    subroutine apply(grid, weight_x, weight_y, centre, alpha, beta, z, p, d, q, product)
        type(grid_t), intent(in) :: grid
        real(dp), intent(in) :: weight_x, weight_y, centre, alpha, beta
        real(dp), intent(in) :: z(first_i:grid%last_i, 0:grid%ny + 1)
        real(dp), intent(inout), dimension(first_i:grid%last_i, -1:grid%ny + 2) :: p, q
        real(dp), intent(inout) :: d(first_i:grid%last_i, 0:grid%ny + 1)
        real(dp), intent(out) :: product
        integer :: i, j
        product = 0
        call turn(grid, alpha, beta, z(:, 0), p(:, 0), d(:, 0))
        call turn(grid, alpha, beta, z(:, 1), p(:, 1), d(:, 1))
        do j = 1, grid%ny
            call turn(grid, alpha, beta, z(:, j + 1), p(:, j + 1), d(:, j + 1))
            !$omp simd reduction(+: product)
            do i = 1, grid%nx
                q(i, j) = centre*d(i, j) - weight_x*(d(i - 1, j) + d(i + 1, j)) &
                          - weight_y*(d(i, j - 1) + d(i, j + 1))
                product = product + d(i, j)*q(i, j)
            end do
        end do
    end subroutine apply

    !> A row of p and d, its ghosts apart: own cells begin a cache line.
    pure subroutine turn(grid, alpha, beta, z, p, d)
        type(grid_t), intent(in) :: grid
        real(dp), intent(in) :: alpha, beta, z(first_i:grid%last_i)
        real(dp), intent(inout), dimension(first_i:grid%last_i) :: p, d
        integer :: i
        do i = 0, grid%nx + 1, grid%nx + 1
            p(i) = p(i) + alpha*d(i)
            d(i) = z(i) + beta*d(i)
        end do
        do i = 1, grid%nx
            p(i) = p(i) + alpha*d(i)
            d(i) = z(i) + beta*d(i)
        end do
    end subroutine turn

    !> p = p + alpha d
    pure subroutine advance(grid, alpha, d, p)
        type(grid_t), intent(in) :: grid
        real(dp), intent(in) :: alpha
        real(dp), intent(in) :: d(first_i:grid%last_i, 0:grid%ny + 1)
        real(dp), intent(inout) :: p(first_i:grid%last_i, -1:grid%ny + 2)
        integer :: i, j
        do j = 1, grid%ny
            do i = 1, grid%nx
                p(i, j) = p(i, j) + alpha*d(i, j)
            end do
        end do
    end subroutine advance

    pure subroutine copy(grid, from, to)
        type(grid_t), intent(in) :: grid
        real(dp), intent(in) :: from(first_i:grid%last_i, -1:grid%ny + 2)
        real(dp), intent(inout) :: to(first_i:grid%last_i, 0:grid%ny + 1)
        to = from(:, 0:grid%ny + 1)
    end subroutine copy

    !> r = r - alpha q on the own cells.
    pure subroutine subtract(grid, alpha, q, r)
        type(grid_t), intent(in) :: grid
        real(dp), intent(in) :: alpha
        real(dp), intent(in) :: q(first_i:grid%last_i, -1:grid%ny + 2)
        real(dp), intent(inout) :: r(first_i:grid%last_i, -1:grid%ny + 2)
        integer :: i, j
        do j = 1, grid%ny
            do i = 1, grid%nx
                r(i, j) = r(i, j) - alpha*q(i, j)
            end do
        end do
    end subroutine subtract

    pure real(dp) function square(grid, r) result(total)
        type(grid_t), intent(in) :: grid
        real(dp), intent(in) :: r(first_i:grid%last_i, -1:grid%ny + 2)
        integer :: i, j
        total = 0
        do j = 1, grid%ny
            !$omp simd reduction(+: total)
            do i = 1, grid%nx
                total = total + r(i, j)**2
            end do
        end do
    end function square

end module ocean_saving
