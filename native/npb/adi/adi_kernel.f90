!> What BT and SP have in common: b = dt (R(U) + G), one sweep of line solves along each of x, y and
!> z, and the change added to U. They differ in the lines, an extension of `lines_t`.
!>
!> A single process goes through right-hand side, x and y plane by plane, so that a plane is still
!> in the second-level cache when the sweeps come to it.
!>
!> Collective: `setup`, `step`, `norms`. Timed: `step`.
module adi_kernel

    use adi_exchange, only: exchange_faces
    use adi_grid, only: grid_t
    use adi_residual, only: residual_t
    use adi_state, only: error_norms, residual_norms, set_forcing, set_initial
    use adi_sweep, only: lines_t, sweep_t
    use bl_kinds, only: dp

    implicit none(type, external)
    private

    public :: adi_t

    type :: adi_t
        private
        type(grid_t) :: grid
        real(dp) :: dt = 0
        !> (0:q - 1), one for each cell.
        type(residual_t), allocatable :: residuals(:)
        class(lines_t), allocatable :: lines
        type(sweep_t) :: sweeps
    contains
        procedure :: setup => adi_setup
        procedure :: restart => adi_restart
        procedure :: step => adi_step
        procedure :: norms => adi_norms
    end type adi_t

contains

    !> The initial state of a grid of n**3 points.
    subroutine adi_setup(self, comm, rank, ranks, n, dt, lines)
        class(adi_t), intent(out) :: self
        integer, intent(in) :: comm, rank, ranks, n
        real(dp), intent(in) :: dt
        class(lines_t), intent(in) :: lines
        integer :: c
        call self%grid%setup(comm, rank, ranks, n)
        self%dt = dt
        allocate (self%lines, source=lines)
        allocate (self%residuals(0:self%grid%q - 1))
        do c = 0, self%grid%q - 1
            call self%residuals(c)%setup(self%grid%cells(c), n)
        end do
        call self%sweeps%setup(self%grid, lines)
        call set_forcing(self%grid, self%residuals)
        call set_initial(self%grid)
    end subroutine adi_setup

    subroutine adi_restart(self)
        class(adi_t), intent(inout) :: self
        call set_initial(self%grid)
    end subroutine adi_restart

    subroutine adi_step(self)
        class(adi_t), intent(inout) :: self
        integer :: c
        if (self%grid%q == 1) then
            call step_planes(self)
        else
            call exchange_faces(self%grid)
            do c = 0, self%grid%q - 1
                call self%residuals(c)%cell(self%grid%cells(c), self%dt)
            end do
            call self%sweeps%sweep(self%grid, self%lines, 1)
            call self%sweeps%sweep(self%grid, self%lines, 2)
        end if
        call self%sweeps%sweep(self%grid, self%lines, 3)
    end subroutine adi_step

    !> Right-hand side and the sweeps along x and y on a single process.
    subroutine step_planes(self)
        class(adi_t), intent(inout) :: self
        integer :: k
        associate (cell => self%grid%cells(0), residual => self%residuals(0))
            call residual%begin(cell)
            do k = cell%lo(3), cell%hi(3)
                call residual%plane(cell, k, self%dt)
                call self%sweeps%sweep_alone(cell, self%lines, 1, k)
                call self%sweeps%sweep_alone(cell, self%lines, 2, k)
            end do
        end associate
    end subroutine step_planes

    !> Root mean squares of the residual (not times dt) and of the error, for each component.
    subroutine adi_norms(self, residual, error)
        class(adi_t), intent(inout) :: self
        real(dp), intent(out) :: residual(5), error(5)
        error = error_norms(self%grid)
        residual = residual_norms(self%grid, self%residuals)
    end subroutine adi_norms

end module adi_kernel
