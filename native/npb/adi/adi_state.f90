!> Setup and verification of BT and SP: initial state, forcing, error norms.
!>
!> Collective: `set_forcing` and `residual_norms` (face exchange), both norms (reduction). Nothing
!> here is timed.
module adi_state

    use mpi, only: MPI_DOUBLE_PRECISION, MPI_SUM
    use adi_exchange, only: exchange_faces
    use adi_flow, only: exact_solution
    use adi_grid, only: cell_t, grid_t
    use adi_residual, only: residual_t
    use bl_kinds, only: dp
    use bl_messages, only: comm_allreduce

    implicit none(type, external)
    private

    public :: set_initial, set_forcing, residual_norms, error_norms

contains

    !> The exact solution on the boundary, blended between opposite faces inside.
    subroutine set_initial(grid)
        type(grid_t), intent(inout) :: grid
        call fill(grid, blended=.true.)
    end subroutine set_initial

    !> The forcing that makes the exact solution steady: minus the discrete operator on it. Leaves
    !> the exact solution in u.
    subroutine set_forcing(grid, residuals)
        type(grid_t), intent(inout) :: grid
        type(residual_t), intent(inout) :: residuals(0:)
        integer :: c
        call fill(grid, blended=.false.)
        call exchange_faces(grid)
        do c = 0, grid%q - 1
            associate (cell => grid%cells(c))
                cell%forcing = 0
                call residuals(c)%cell(cell, -1.0_dp)
                cell%forcing = cell%rhs
                cell%rhs = 0
            end associate
        end do
    end subroutine set_forcing

    subroutine fill(grid, blended)
        type(grid_t), intent(inout) :: grid
        logical, intent(in) :: blended
        real(dp) :: x(3)
        integer :: c, i, j, k
        do c = 0, grid%q - 1
            associate (cell => grid%cells(c))
                do k = 0, cell%points(3) - 1
                    do j = 0, cell%points(2) - 1
                        do i = 0, cell%points(1) - 1
                            x = real(cell%first + [i, j, k], dp)/(grid%n - 1)
                            if (blended .and. all([i, j, k] >= cell%lo) &
                                .and. all([i, j, k] <= cell%hi)) then
                                cell%u(i, :, j, k) = blended_solution(x)
                            else
                                cell%u(i, :, j, k) = exact_solution(x)
                            end if
                        end do
                    end do
                end do
            end associate
        end do
    end subroutine fill

    !> Transfinite blend of the exact solution on the six faces of the cube.
    pure function blended_solution(x) result(u)
        real(dp), intent(in) :: x(3)
        real(dp) :: u(5), between(5, 3), face(3)
        integer :: axis
        do axis = 1, 3
            face = x
            face(axis) = 0
            between(:, axis) = (1 - x(axis))*exact_solution(face)
            face(axis) = 1
            between(:, axis) = between(:, axis) + x(axis)*exact_solution(face)
        end do
        u = sum(between, 2) - between(:, 1)*between(:, 2) - between(:, 2)*between(:, 3) &
            - between(:, 3)*between(:, 1) + product(between, 2)
    end function blended_solution

    !> Root mean squares of R(U) + G.
    function residual_norms(grid, residuals) result(norms)
        type(grid_t), intent(inout) :: grid
        type(residual_t), intent(inout) :: residuals(0:)
        real(dp) :: norms(5)
        integer :: c
        norms = 0
        call exchange_faces(grid)
        do c = 0, grid%q - 1
            associate (cell => grid%cells(c), lo => grid%cells(c)%lo, hi => grid%cells(c)%hi)
                call residuals(c)%cell(cell, 1.0_dp)
                norms = norms + sum(sum(sum(cell%rhs(lo(1):hi(1), :, lo(2):hi(2), lo(3):hi(3)) &
                                            **2, 4), 3), 1)
            end associate
        end do
        call mean_root(grid, norms)
    end function residual_norms

    !> Root mean squares of U less the exact solution.
    function error_norms(grid) result(norms)
        type(grid_t), intent(in) :: grid
        real(dp) :: norms(5)
        integer :: c, i, j, k
        norms = 0
        do c = 0, grid%q - 1
            associate (cell => grid%cells(c))
                do k = cell%lo(3), cell%hi(3)
                    do j = cell%lo(2), cell%hi(2)
                        do i = cell%lo(1), cell%hi(1)
                            norms = norms + (cell%u(i, :, j, k) - exact_solution( &
                                             real(cell%first + [i, j, k], dp)/(grid%n - 1)))**2
                        end do
                    end do
                end do
            end associate
        end do
        call mean_root(grid, norms)
    end function error_norms

    subroutine mean_root(grid, sums)
        type(grid_t), intent(in) :: grid
        real(dp), intent(inout) :: sums(5)
        call comm_allreduce(sums, 5, MPI_DOUBLE_PRECISION, MPI_SUM, grid%comm)
        sums = sqrt(sums/real(grid%n - 2, dp)**3)
    end subroutine mean_root

end module adi_state
