!> The clock of the timed part, and how much of it each MPI function took.
!>
!> Collective: `timing_begin` with its barrier, `spread_over_ranks`, `calls_over_ranks`.
module bl_timing

    use mpi, only: MPI_DOUBLE_PRECISION, MPI_INTEGER8, MPI_MAX, MPI_MIN, MPI_SUM
    use bl_kinds, only: dp, i8
    use bl_messages, only: comm_barrier, comm_reduce, comm_size, job_region, tally_functions, &
                            tally_reset, tally_totals, wtime

    implicit none(type, external)
    private

    public :: timing_t, spread_t, timing_begin, timing_end, spread_over_ranks, calls_over_ranks

    !> The timed part on this process.
    type :: timing_t
        real(dp) :: total_s = 0
        !> Time in, and calls of, each function of `bl_messages`, in the order of its numbers.
        real(dp), allocatable :: mpi_s(:)
        integer(i8), allocatable :: mpi_calls(:)
    contains
        procedure :: communication_s
        procedure :: compute_s
    end type timing_t

    !> Smallest, mean and largest value over the processes.
    type :: spread_t
        real(dp) :: min = 0, mean = 0, max = 0
    end type spread_t

    !> What profilers know the timed part by. Other tools give 3 and 4 a meaning of their own.
    integer, parameter :: timed_region = 9

    real(dp) :: begin_s = 0

contains

    !> Lets all processes start together and starts the clock. `barrier` = .false. leaves the
    !> barrier out.
    subroutine timing_begin(comm, barrier)
        integer, intent(in) :: comm
        logical, intent(in), optional :: barrier
        logical :: together
        together = .true.
        if (present(barrier)) together = barrier
        if (together) call comm_barrier(comm)
        call job_region(timed_region)
        call tally_reset()
        begin_s = wtime()
    end subroutine timing_begin

    !> Stops the clock.
    function timing_end() result(timing)
        type(timing_t) :: timing
        timing%total_s = wtime() - begin_s
        call job_region(-timed_region)
        allocate (timing%mpi_s(tally_functions()), timing%mpi_calls(tally_functions()))
        call tally_totals(timing%mpi_s, timing%mpi_calls)
    end function timing_end

    !> Time in MPI on this process.
    pure real(dp) function communication_s(self)
        class(timing_t), intent(in) :: self
        communication_s = sum(self%mpi_s)
    end function communication_s

    !> Time outside of MPI on this process.
    pure real(dp) function compute_s(self)
        class(timing_t), intent(in) :: self
        compute_s = self%total_s - self%communication_s()
    end function compute_s

    !> Spread of each value over the processes; valid on rank 0.
    function spread_over_ranks(values, comm) result(spreads)
        real(dp), intent(in) :: values(:)
        integer, intent(in) :: comm
        type(spread_t) :: spreads(size(values))
        real(dp) :: least(size(values)), total(size(values)), most(size(values))
        least = values
        total = values
        most = values
        call comm_reduce(least, size(values), MPI_DOUBLE_PRECISION, MPI_MIN, 0, comm)
        call comm_reduce(total, size(values), MPI_DOUBLE_PRECISION, MPI_SUM, 0, comm)
        call comm_reduce(most, size(values), MPI_DOUBLE_PRECISION, MPI_MAX, 0, comm)
        spreads%min = least
        spreads%mean = total/comm_size(comm)
        spreads%max = most
    end function spread_over_ranks

    !> Calls of each function, summed over the processes; valid on rank 0.
    function calls_over_ranks(calls, comm) result(total)
        integer(i8), intent(in) :: calls(:)
        integer, intent(in) :: comm
        integer(i8) :: total(size(calls))
        total = calls
        call comm_reduce(total, size(total), MPI_INTEGER8, MPI_SUM, 0, comm)
    end function calls_over_ranks

end module bl_timing
