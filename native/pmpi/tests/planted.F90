! Known traffic, in Fortran: what planted.c does, through the binding that the build asks for:
! BL_MPIF (mpif.h), BL_MPI (use mpi) or BL_MPI_F08 (use mpi_f08, without ierror).
#if defined(BL_MPI_F08)
#define HANDLE(kind) type(kind)
#define STATUS_TYPE type(mpi_status)
#define E
#else
#define HANDLE(kind) integer
#define STATUS_TYPE integer, dimension(mpi_status_size)
#define E , ierror
#endif
#if defined(BL_MPIF)
#define USE_MPI_BINDING
#define INCLUDE_MPI_BINDING include 'mpif.h'
#elif defined(BL_MPI)
#define USE_MPI_BINDING use mpi
#define INCLUDE_MPI_BINDING
#else
#define USE_MPI_BINDING use mpi_f08
#define INCLUDE_MPI_BINDING
#endif

program planted
    USE_MPI_BINDING
    implicit none
    INCLUDE_MPI_BINDING
    integer, parameter :: dp = kind(1.0d0)
    integer :: rank, ranks, next, previous, ierror
    real(dp), save :: values(1000), results(1000)
    integer, save :: numbers(1000), others(1000)
    character(len=512) :: name

    values = 0
    numbers = 0
    ierror = 0
#if defined(BL_MPI_F08)
    call mpi_init()
#else
    call mpi_init(ierror)
#endif
    call mpi_comm_rank(mpi_comm_world, rank E)
    call mpi_comm_size(mpi_comm_world, ranks E)
    if (ranks /= 4 .or. command_argument_count() /= 1) call mpi_abort(mpi_comm_world, 2 E)
    next = mod(rank + 1, ranks)
    previous = mod(rank + ranks - 1, ranks)
    call get_command_argument(1, name)
    call whole_world()
    call vectors()
    call point_to_point()
    call requests()
    call persistent()
    call communicators()
    call derived_type()
    call one_sided()
    call file(trim(name))
    call regions()
#if defined(BL_MPI_F08)
    call mpi_finalize()
#else
    call mpi_finalize(ierror)
#endif

contains

    subroutine whole_world()
        integer :: i
        do i = 1, 3
            call mpi_allreduce(values, results, 100, mpi_double_precision, mpi_sum, mpi_comm_world E)
        end do
        do i = 1, 2
            call mpi_allreduce(mpi_in_place, numbers, 50, mpi_integer, mpi_max, mpi_comm_world E)
        end do
        call mpi_gather(numbers, 8, mpi_integer, others, 8, mpi_integer, 1, mpi_comm_world E)
        call mpi_barrier(mpi_comm_world E)
        call mpi_barrier(mpi_comm_world E)
    end subroutine whole_world

    subroutine vectors()
        integer :: send_counts(4), receive_counts(4), send_at(4), receive_at(4), i
        do i = 1, 4
            send_counts(i) = rank + 1
            receive_counts(i) = i
            send_at(i) = (i - 1)*(rank + 1)
            receive_at(i) = (i - 1)*10
        end do
        call mpi_alltoallv(numbers, send_counts, send_at, mpi_integer, &
                           others, receive_counts, receive_at, mpi_integer, mpi_comm_world E)
    end subroutine vectors

    subroutine point_to_point()
        STATUS_TYPE :: status
        integer :: i
        if (rank == 0) then
            do i = 1, 2
                call mpi_send(numbers, 10, mpi_integer, 1, 3, mpi_comm_world E)
            end do
        end if
        if (rank == 1) then
            call mpi_recv(others, 100, mpi_integer, mpi_any_source, 3, mpi_comm_world, &
                          mpi_status_ignore E)
            call mpi_recv(others, 100, mpi_integer, 0, mpi_any_tag, mpi_comm_world, status E)
#if defined(BL_MPI_F08)
            if (status%mpi_tag /= 3 .or. status%mpi_source /= 0) &
                call mpi_abort(mpi_comm_world, 9)
#else
            if (status(mpi_tag) /= 3 .or. status(mpi_source) /= 0) &
                call mpi_abort(mpi_comm_world, 9, ierror)
#endif
        end if
        do i = 1, 2
            call mpi_sendrecv(values, 25, mpi_double_precision, next, 4, &
                              results, 40, mpi_double_precision, previous, 4, &
                              mpi_comm_world, mpi_status_ignore E)
        end do
        call mpi_send(values, 5, mpi_double_precision, mpi_proc_null, 0, mpi_comm_world E)
    end subroutine point_to_point

    subroutine requests()
        HANDLE(mpi_request) :: request(2)
        STATUS_TYPE :: status
        logical :: flag
        integer :: i, index
        do i = 1, 4
            call mpi_irecv(results, 60, mpi_double_precision, previous, 5, mpi_comm_world, &
                           request(1) E)
            call mpi_isend(values, 30, mpi_double_precision, next, 5, mpi_comm_world, request(2) E)
            call mpi_waitall(2, request, mpi_statuses_ignore E)
        end do
        call mpi_irecv(others, 7, mpi_integer, previous, 6, mpi_comm_world, request(1) E)
        call mpi_isend(numbers, 7, mpi_integer, next, 6, mpi_comm_world, request(2) E)
        ! MPICH 4.0's mpi_f08 counts the index from 0: it is not looked at.
        call mpi_waitany(2, request, index, status E)
        call mpi_waitany(2, request, index, mpi_status_ignore E)
        call mpi_ibarrier(mpi_comm_world, request(1) E)
        call mpi_wait(request(1), mpi_status_ignore E)
        call mpi_iallreduce(values, results, 20, mpi_double_precision, mpi_sum, mpi_comm_world, &
                            request(1) E)
        flag = .false.
        do while (.not. flag)
            call mpi_test(request(1), flag, mpi_status_ignore E)
        end do
    end subroutine requests

    subroutine persistent()
        HANDLE(mpi_request) :: request(2)
        integer :: i
        call mpi_recv_init(results, 12, mpi_double_precision, previous, 7, mpi_comm_world, &
                           request(1) E)
        call mpi_send_init(values, 12, mpi_double_precision, next, 7, mpi_comm_world, request(2) E)
        do i = 1, 5
            call mpi_startall(2, request E)
            call mpi_waitall(2, request, mpi_statuses_ignore E)
        end do
        call mpi_start(request(1) E)
        call mpi_start(request(2) E)
        call mpi_waitall(2, request, mpi_statuses_ignore E)
        call mpi_request_free(request(1) E)
        call mpi_request_free(request(2) E)
    end subroutine persistent

    subroutine communicators()
        HANDLE(mpi_comm) :: half, between
        integer :: i
        call mpi_comm_split(mpi_comm_world, mod(rank, 2), rank, half E)
        do i = 1, 3
            call mpi_bcast(values, 8, mpi_double_precision, 0, half E)
        end do
        call mpi_intercomm_create(half, 0, mpi_comm_world, 1 - mod(rank, 2), 8, between E)
        if (mod(rank, 2) == 0) then
            call mpi_send(numbers, 9, mpi_integer, rank/2, 9, between E)
        else
            call mpi_recv(others, 9, mpi_integer, rank/2, 9, between, mpi_status_ignore E)
        end if
        call mpi_allreduce(numbers, others, 6, mpi_integer, mpi_sum, between E)
        call mpi_comm_free(between E)
        call mpi_comm_free(half E)
    end subroutine communicators

    subroutine derived_type()
        HANDLE(mpi_datatype) :: gaps
        call mpi_type_vector(3, 2, 5, mpi_double_precision, gaps E)
        call mpi_type_commit(gaps E)
        call mpi_sendrecv(values, 2, gaps, next, 10, results, 2, gaps, previous, 10, &
                          mpi_comm_world, mpi_status_ignore E)
        call mpi_type_free(gaps E)
    end subroutine derived_type

    subroutine one_sided()
        HANDLE(mpi_win) :: window
        integer(mpi_address_kind) :: length, place
        length = 8*size(results)
        call mpi_win_create(results, length, 8, mpi_info_null, mpi_comm_world, window E)
        call mpi_win_fence(0, window E)
        place = 0
        call mpi_put(values, 5, mpi_double_precision, next, place, 5, mpi_double_precision, window E)
        place = 100
        call mpi_accumulate(values, 3, mpi_double_precision, next, place, 3, mpi_double_precision, &
                            mpi_sum, window E)
        call mpi_win_fence(0, window E)
        place = 200
        call mpi_get(values, 6, mpi_double_precision, previous, place, 6, mpi_double_precision, &
                     window E)
        call mpi_win_fence(0, window E)
        call mpi_win_free(window E)
    end subroutine one_sided

    subroutine file(path)
        character(len=*), intent(in) :: path
        HANDLE(mpi_file) :: handle
        STATUS_TYPE :: status
        integer(mpi_offset_kind) :: place
        call mpi_file_open(mpi_comm_world, path, mpi_mode_rdwr + mpi_mode_create, mpi_info_null, &
                           handle E)
        place = rank*64
        call mpi_file_write_at_all(handle, place, numbers, 16, mpi_integer, mpi_status_ignore E)
        call mpi_file_sync(handle E)
        call mpi_barrier(mpi_comm_world E)
        call mpi_file_sync(handle E)
        call mpi_file_read_at(handle, place, others, 16, mpi_integer, status E)
        call mpi_file_close(handle E)
    end subroutine file

    subroutine regions()
        call mpi_pcontrol(5)
        call mpi_bcast(numbers, 11, mpi_integer, 2, mpi_comm_world E)
        call mpi_pcontrol(-5)
        call mpi_pcontrol(0)
        call mpi_bcast(numbers, 13, mpi_integer, 2, mpi_comm_world E)
        call mpi_pcontrol(1)
        call mpi_bcast(numbers, 17, mpi_integer, 2, mpi_comm_world E)
    end subroutine regions

end program planted
