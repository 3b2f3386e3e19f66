!> The pressure at the rigid lid: what its two solvers share.
!>
!>     D (d2/dx2 + d2/dy2) p = b,   sum of b over the basin = 0
!>
!> by the five-point stencil on cells. The operator, with its sign turned, is a = c - N: the centre
!> c and the four neighbours N. It is preconditioned by the first two terms of the Neumann series of
!> its inverse, damped: (1 + `damping` N/c)/c, five points as well.
!>
!> Both solvers are conjugate gradients of the same iterates, but for rounding, and differ in what
!> they send: `ocean_gradients` as MITgcm does, `ocean_saving` less.
!>
!> Exported: `pressure_t`. Collective over the grid: `add_up`, `largest`, `solve`.
module ocean_pressure

    use bl_agreement, only: agreement_t
    use bl_kinds, only: dp
    use bl_messages, only: comm_allreduce, comm_size, comm_sum
    use mpi, only: MPI_DOUBLE_PRECISION, MPI_MAX, MPI_SUM
    use ocean_grid, only: first_i, ghosts_t, grid_t

    implicit none(type, external)
    private

    public :: pressure_t, damping, rounding

    !> Below 1 for a positive definite preconditioner.
    real(dp), parameter :: damping = 0.9_dp

    !> A residual of this size, relative to the right-hand side, is not improved any more.
    real(dp), parameter :: rounding = 1.0e-12_dp

    type, abstract :: pressure_t
        type(grid_t) :: grid
        !> Of fields with two.
        type(ghosts_t) :: ghosts
        !> Weights of the neighbours in x and y, and their sum: the centre.
        real(dp) :: weight_x = 0, weight_y = 0, centre = 0
        !> Pressure and residual, with two ghosts.
        real(dp), pointer, contiguous :: p(:, :) => null(), r(:, :) => null()
        !> Sums send a number of each tile, which are added in the order of the tiles, instead of
        !> one.
        logical :: by_tiles = .false.
        !> On messages, and on the solver's sums.
        type(agreement_t) :: agreement
    contains
        procedure :: lay_out
        procedure :: add_up
        procedure :: largest
        procedure(setup_i), deferred :: setup
        procedure(solve_i), deferred :: solve
    end type pressure_t

    abstract interface
        subroutine setup_i(self, grid, dx, dy, depth)
            import :: pressure_t, grid_t, dp
            class(pressure_t), intent(inout) :: self
            type(grid_t), intent(in) :: grid
            real(dp), intent(in) :: dx, dy, depth
        end subroutine setup_i

        !> Improves p, which is the first guess, by so many iterations. On entry r holds -b; all
        !> ghosts of p are right on return.
        subroutine solve_i(self, iterations)
            import :: pressure_t
            class(pressure_t), intent(inout) :: self
            integer, intent(in) :: iterations
        end subroutine solve_i
    end interface

contains

    !> What both have.
    subroutine lay_out(self, grid, dx, dy, depth)
        class(pressure_t), intent(inout) :: self
        type(grid_t), intent(in) :: grid
        real(dp), intent(in) :: dx, dy, depth
        self%grid = grid
        self%weight_x = depth/dx**2
        self%weight_y = depth/dy**2
        self%centre = 2*(self%weight_x + self%weight_y)
        call grid%new_ghosts(2, self%ghosts)
        call grid%new_field(2, self%p)
        call grid%new_field(2, self%r)
    end subroutine lay_out

    !> The sum over all processes of one number of each.
    subroutine add_up(self, number)
        class(pressure_t), intent(inout) :: self
        real(dp), intent(inout) :: number
        real(dp), allocatable :: tiles(:)

        if (self%by_tiles) then
            allocate (tiles(comm_size(self%grid%comm)))
            tiles = 0
            tiles(self%grid%rank + 1) = number
            call comm_allreduce(tiles, size(tiles), MPI_DOUBLE_PRECISION, MPI_SUM, self%grid%comm)
            number = sum(tiles)
        else
            call comm_sum(number, self%grid%comm)
        end if
        call self%agreement%hear(number)
    end subroutine add_up

    subroutine largest(self, number)
        class(pressure_t), intent(inout) :: self
        real(dp), intent(inout) :: number
        real(dp) :: numbers(1)
        numbers = number
        call comm_allreduce(numbers, 1, MPI_DOUBLE_PRECISION, MPI_MAX, self%grid%comm)
        number = numbers(1)
        call self%agreement%hear(number)
    end subroutine largest

end module ocean_pressure
