!> A V-cycle of MG is the same to the last bit however many rows its operators take at a time.
program test_mg_kernel

    use mg_kernel, only: mg_state_t
    use mg_level, only: new_field, new_levels
    use mpi, only: MPI_COMM_WORLD, MPI_Comm_rank, MPI_Comm_size, MPI_Finalize, MPI_Init
    use bl_check, only: check, finish_checks
    use bl_kinds, only: dp

    implicit none(type, external)

    integer, parameter :: finest = 6, whole = 2**finest
    type(mg_state_t) :: expected, found
    integer :: rank, ranks, error, rows

    call MPI_Init(error)
    call MPI_Comm_rank(MPI_COMM_WORLD, rank, error)
    call MPI_Comm_size(MPI_COMM_WORLD, ranks, error)
    call run_cycle(whole, expected)
    call check(maxval(abs(expected%levels(finest)%u)) > 0, 'a cycle changes u')
    do rows = 3, 17, 7
        call run_cycle(rows, found)
        call check(maxval(abs(found%levels(finest)%u - expected%levels(finest)%u)) <= 0, 'u')
        call check(maxval(abs(found%levels(finest)%r - expected%levels(finest)%r)) <= 0, 'r')
    end do
    call finish_checks()
    call MPI_Finalize(error)

contains

    !> Two cycles from u = 0 for charges at some points.
    subroutine run_cycle(block_rows, state)
        integer, intent(in) :: block_rows
        type(mg_state_t), intent(out) :: state
        integer :: cycle
        state%levels = new_levels(MPI_COMM_WORLD, rank, ranks, finest)
        state%levels%block_rows = block_rows
        state%smoother = [-3.0_dp/8, 1.0_dp/32, -1.0_dp/64]
        call new_field(state%levels(finest), state%v)
        state%v(1, 1, 1) = 1
        state%v(5, 3, 4) = -1
        call state%reset()
        call state%residual()
        do cycle = 1, 2
            call state%cycle()
        end do
    end subroutine run_cycle

end program test_mg_kernel
