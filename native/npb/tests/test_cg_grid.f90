!> CG's process grid: blocks that cover the matrix once, sums over grid rows, and the exchange with
!> the transpose process, also where the order cannot be divided.
program test_cg_grid

    use cg_grid, only: grid_t
    use mpi, only: MPI_COMM_WORLD, MPI_INTEGER, MPI_SUM
    use bl_check, only: check, finish_checks
    use bl_kinds, only: dp
    use bl_messages, only: comm_allreduce, comm_rank, comm_size, job_finalize, job_init

    implicit none(type, external)

    integer, parameter :: orders(4) = [64, 1400, 1401, 1407]
    integer :: i

    call job_init()
    do i = 1, size(orders)
        call test_order(orders(i))
    end do
    call job_finalize()
    call finish_checks()

contains

    subroutine test_order(na)
        integer, intent(in) :: na
        type(grid_t) :: grid
        real(dp), allocatable :: partial(:), vector(:)
        real(dp) :: numbers(2), shares
        integer :: entries(1), row, column

        grid = grid_t(MPI_COMM_WORLD, comm_rank(MPI_COMM_WORLD), comm_size(MPI_COMM_WORLD), na)
        allocate (partial(grid%last_row - grid%first_row + 1))
        allocate (vector(grid%last_column - grid%first_column + 1))
        entries = size(partial)*size(vector)
        call comm_allreduce(entries, 1, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD)
        call check(entries(1) == na*na, 'the blocks have as many entries as the matrix')

        ! Each process of a grid row adds its share, column + 1, of the row's number.
        shares = 0.5_dp*grid%columns*(grid%columns + 1)
        partial = [(real(row, dp)*(grid%column + 1), row=grid%first_row, grid%last_row)]
        call grid%sum_transpose(partial, vector)
        call check(all(abs(vector - [(shares*column, column=grid%first_column, &
                                      grid%last_column)]) < 1.0e-9_dp), 'result on its columns')

        numbers = [1.0_dp, real(grid%column, dp)]
        call grid%sum_scalars(numbers)
        call check(nint(numbers(1)) == grid%columns, 'sum of ones over a grid row')
        call check(nint(numbers(2)) == grid%columns*(grid%columns - 1)/2, 'sum over a grid row')
    end subroutine test_order

end program test_cg_grid
