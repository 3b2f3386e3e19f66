!> The MPI functions that the kernels call, with checked interfaces and a tally of time and calls
!> for each function.
!>
!> Communicators, datatypes, operations and requests are Fortran's handles from `use mpi`
!> (`MPI_COMM_WORLD`, `MPI_DOUBLE_PRECISION`, `MPI_SUM`). Buffers are contiguous arrays of any type
!> and rank, or an element where the message begins. Counts are in units of the datatype, `tag`
!> serves both directions of a `comm_sendrecv`. Reductions work in place. Errors are fatal in MPI.
!>
!> Collective over their communicator: `comm_split`, `comm_split_node`, `comm_free`, `comm_barrier`,
!> `comm_bcast`, `comm_reduce`, `comm_allreduce`, `comm_sum`, `comm_alltoall`, `comm_alltoallv`; over
!> the job: `job_init`, `job_finalize`.
module bl_messages

    use, intrinsic :: iso_c_binding, only: c_char, c_double, c_int, c_int64_t
    use mpi, only: MPI_DOUBLE_PRECISION, MPI_SUM

    implicit none(type, external)
    private

    public :: job_init, job_finalize, job_abort, job_versions, memory_folded
    public :: comm_rank, comm_size, comm_split, comm_split_node, comm_free
    public :: wtime, wtick
    public :: tally_functions, tally_function_name, tally_reset, tally_totals
    public :: job_region
    public :: comm_barrier, comm_bcast, comm_reduce, comm_allreduce, comm_alltoall, comm_alltoallv
    public :: comm_sum
    public :: comm_send, comm_recv, comm_sendrecv, comm_isend, comm_irecv, comm_wait, comm_waitall

    interface

        subroutine job_init() bind(C, name='bl_mpi_init')
        end subroutine job_init

        subroutine job_finalize() bind(C, name='bl_mpi_finalize')
        end subroutine job_finalize

        !> Ends all processes of the job; any process may call it.
        subroutine job_abort(status) bind(C, name='bl_mpi_abort')
            import :: c_int
            integer(c_int), value :: status
        end subroutine job_abort

        subroutine job_versions(standard, standard_capacity, library, library_capacity) &
            bind(C, name='bl_mpi_versions')
            import :: c_char, c_int
            integer(c_int), value :: standard_capacity, library_capacity
            character(kind=c_char), intent(out) :: standard(standard_capacity)
            character(kind=c_char), intent(out) :: library(library_capacity)
        end subroutine job_versions

        !> 1 where a simulator lets the large arrays of all ranks share one memory: then no result
        !> is right, and none must be needed for what is done next.
        integer(c_int) function memory_folded() bind(C, name='bl_memory_folded')
            import :: c_int
        end function memory_folded

        integer(c_int) function comm_rank(comm) bind(C, name='bl_mpi_rank')
            import :: c_int
            integer(c_int), value :: comm
        end function comm_rank

        integer(c_int) function comm_size(comm) bind(C, name='bl_mpi_size')
            import :: c_int
            integer(c_int), value :: comm
        end function comm_size

        integer(c_int) function comm_split(comm, color, key) bind(C, name='bl_mpi_split')
            import :: c_int
            integer(c_int), value :: comm, color, key
        end function comm_split

        !> The processes of `comm` that share this one's memory.
        integer(c_int) function comm_split_node(comm) bind(C, name='bl_mpi_split_node')
            import :: c_int
            integer(c_int), value :: comm
        end function comm_split_node

        subroutine comm_free(comm) bind(C, name='bl_mpi_free')
            import :: c_int
            integer(c_int), intent(inout) :: comm
        end subroutine comm_free

        !> Seconds since a moment in the past. A simulator of MPI answers with simulated time.
        real(c_double) function wtime() bind(C, name='bl_mpi_wtime')
            import :: c_double
        end function wtime

        real(c_double) function wtick() bind(C, name='bl_mpi_wtick')
            import :: c_double
        end function wtick

        !> How many functions are told apart.
        integer(c_int) function tally_functions() bind(C, name='bl_mpi_functions')
            import :: c_int
        end function tally_functions

        !> Name of function 1, 2, ..., padded with blanks.
        subroutine tally_function_name(number, name, capacity) &
            bind(C, name='bl_mpi_function_name')
            import :: c_char, c_int
            integer(c_int), value :: number, capacity
            character(kind=c_char), intent(out) :: name(capacity)
        end subroutine tally_function_name

        subroutine tally_reset() bind(C, name='bl_mpi_reset')
        end subroutine tally_reset

        !> MPI_Pcontrol: a positive level enters the region of this number, its negative leaves it.
        subroutine job_region(level) bind(C, name='bl_mpi_region')
            import :: c_int
            integer(c_int), value :: level
        end subroutine job_region

        !> Time in s and calls of every function on this process since `tally_reset`.
        subroutine tally_totals(time_s, calls) bind(C, name='bl_mpi_totals')
            import :: c_double, c_int64_t
            real(c_double), intent(out) :: time_s(*)
            integer(c_int64_t), intent(out) :: calls(*)
        end subroutine tally_totals

        subroutine comm_barrier(comm) bind(C, name='bl_mpi_barrier')
            import :: c_int
            integer(c_int), value :: comm
        end subroutine comm_barrier

        subroutine comm_bcast(buffer, count, datatype, root, comm) bind(C, name='bl_mpi_bcast')
            import :: c_int
            type(*), intent(inout) :: buffer(*)
            integer(c_int), value :: count, datatype, root, comm
        end subroutine comm_bcast

        !> In place: the result replaces `values` on `root`; elsewhere they stay as they are.
        subroutine comm_reduce(values, count, datatype, op, root, comm) &
            bind(C, name='bl_mpi_reduce')
            import :: c_int
            type(*), intent(inout) :: values(*)
            integer(c_int), value :: count, datatype, op, root, comm
        end subroutine comm_reduce

        !> In place: the result replaces `values` on every process.
        subroutine comm_allreduce(values, count, datatype, op, comm) &
            bind(C, name='bl_mpi_allreduce')
            import :: c_int
            type(*), intent(inout) :: values(*)
            integer(c_int), value :: count, datatype, op, comm
        end subroutine comm_allreduce

        !> `count` elements to each process of the communicator and from each.
        subroutine comm_alltoall(sent, received, count, datatype, comm) &
            bind(C, name='bl_mpi_alltoall')
            import :: c_int
            type(*), intent(in) :: sent(*)
            type(*), intent(inout) :: received(*)
            integer(c_int), value :: count, datatype, comm
        end subroutine comm_alltoall

        !> Offsets count from 0, in elements.
        subroutine comm_alltoallv(sent, sent_counts, sent_offsets, received, received_counts, &
                                  received_offsets, datatype, comm) &
            bind(C, name='bl_mpi_alltoallv')
            import :: c_int
            type(*), intent(in) :: sent(*)
            integer(c_int), intent(in) :: sent_counts(*), sent_offsets(*)
            type(*), intent(inout) :: received(*)
            integer(c_int), intent(in) :: received_counts(*), received_offsets(*)
            integer(c_int), value :: datatype, comm
        end subroutine comm_alltoallv

        subroutine comm_send(buffer, count, datatype, dest, tag, comm) bind(C, name='bl_mpi_send')
            import :: c_int
            type(*), intent(in) :: buffer(*)
            integer(c_int), value :: count, datatype, dest, tag, comm
        end subroutine comm_send

        subroutine comm_recv(buffer, count, datatype, source, tag, comm) &
            bind(C, name='bl_mpi_recv')
            import :: c_int
            type(*), intent(inout) :: buffer(*)
            integer(c_int), value :: count, datatype, source, tag, comm
        end subroutine comm_recv

        subroutine comm_sendrecv(sent, sent_count, dest, received, received_count, source, &
                                 datatype, tag, comm) bind(C, name='bl_mpi_sendrecv')
            import :: c_int
            type(*), intent(in) :: sent(*)
            integer(c_int), value :: sent_count, dest
            type(*), intent(inout) :: received(*)
            integer(c_int), value :: received_count, source, datatype, tag, comm
        end subroutine comm_sendrecv

        subroutine comm_isend(buffer, count, datatype, dest, tag, comm, request) &
            bind(C, name='bl_mpi_isend')
            import :: c_int
            type(*), intent(in), asynchronous :: buffer(*)
            integer(c_int), value :: count, datatype, dest, tag, comm
            integer(c_int), intent(out) :: request
        end subroutine comm_isend

        subroutine comm_irecv(buffer, count, datatype, source, tag, comm, request) &
            bind(C, name='bl_mpi_irecv')
            import :: c_int
            type(*), intent(inout), asynchronous :: buffer(*)
            integer(c_int), value :: count, datatype, source, tag, comm
            integer(c_int), intent(out) :: request
        end subroutine comm_irecv

        subroutine comm_wait(request) bind(C, name='bl_mpi_wait')
            import :: c_int
            integer(c_int), intent(inout) :: request
        end subroutine comm_wait

        subroutine comm_waitall(count, requests) bind(C, name='bl_mpi_waitall')
            import :: c_int
            integer(c_int), value :: count
            integer(c_int), intent(inout) :: requests(*)
        end subroutine comm_waitall

    end interface

contains

    !> Sums one number over all processes: a message of 8 bytes.
    subroutine comm_sum(number, comm)
        real(c_double), intent(inout) :: number
        integer(c_int), intent(in) :: comm
        real(c_double) :: numbers(1)
        numbers = number
        call comm_allreduce(numbers, 1, MPI_DOUBLE_PRECISION, MPI_SUM, comm)
        number = numbers(1)
    end subroutine comm_sum

end module bl_messages
