!> Memory: whether the nodes have what a problem needs, found out before it is touched, and in what
!> pages it comes.
!>
!> Available is what Linux says (MemAvailable of /proc/meminfo), or less where a control group
!> limits the process. Where neither can be read nothing is known and nothing is refused.
!>
!> Collective: `memory_shortage`.
module bl_memory

    use, intrinsic :: iso_c_binding, only: c_f_pointer, c_int, c_int64_t, c_intptr_t, c_loc
    use mpi, only: MPI_INTEGER8, MPI_MAX, MPI_SUM
    use bl_kinds, only: dp, i4, i8
    use bl_messages, only: comm_allreduce, comm_free, comm_split_node

    implicit none(type, external)
    private

    public :: memory_shortage, available_memory_bytes, aligned, aligned_integers, &
              prefer_large_pages, prefetch, prefetch_rows, prefetch_columns

    integer, parameter :: line_bytes = 64

    interface
        !> Asks the system for large pages (2 MiB on x86) under an array of so many bytes that has
        !> been allocated and not touched. Worth it where access is scattered over more pages than
        !> the processor's address translation remembers. A request only: many systems give
        !> small pages unless they are asked.
        subroutine prefer_large_pages(array, size_bytes) bind(C, name='bl_prefer_large_pages')
            import :: c_int64_t
            type(*), intent(in) :: array(*)
            integer(c_int64_t), value :: size_bytes
        end subroutine prefer_large_pages

        !> Asks the processor for so many bytes from the start of `array`, which are needed soon.
        !> Worth it for short contiguous pieces with other work between them, of which the
        !> processor's own prediction sees too little; it changes nothing but the time.
        pure subroutine prefetch(array, size_bytes) bind(C, name='bl_prefetch')
            import :: c_int64_t
            type(*), intent(in) :: array(*)
            integer(c_int64_t), value :: size_bytes
        end subroutine prefetch

        !> The same for the cache line of the start of `array` and those that begin each so many
        !> bytes further on.
        pure subroutine prefetch_rows(array, stride_bytes, rows) bind(C, name='bl_prefetch_rows')
            import :: c_int64_t
            type(*), intent(in) :: array(*)
            integer(c_int64_t), value :: stride_bytes, rows
        end subroutine prefetch_rows

        !> The same for the first cache line of each of `many` columns of `array`, at scattered places
        !> counted from 1.
        pure subroutine prefetch_columns(array, column_bytes, many, places) &
            bind(C, name='bl_prefetch_columns')
            import :: c_int
            type(*), intent(in) :: array(*)
            integer(c_int), value :: column_bytes, many
            integer(c_int), intent(in) :: places(many)
        end subroutine prefetch_columns
    end interface

    integer(i8), parameter :: unknown = huge(1_i8)

contains

    !> So many zeros from the begin of a cache line on, so that vectors of eight reals do not
    !> straddle two lines (Fortran's ALLOCATE promises no such thing), in large pages if the system
    !> has them. They last as long as the program.
    function aligned(values) result(array)
        integer(i8), intent(in) :: values
        real(dp), pointer, contiguous :: array(:)
        real(dp), pointer, contiguous :: space(:)
        integer(c_intptr_t) :: address
        integer(i8) :: skip
        allocate (space(values + line_bytes/8))
        call prefer_large_pages(space, 8*size(space, kind=i8))
        space = 0
        address = transfer(c_loc(space(1)), address)
        skip = modulo(-address, int(line_bytes, c_intptr_t))/8
        array => space(skip + 1:skip + values)
    end function aligned

    !> The same for integers.
    function aligned_integers(values) result(array)
        integer(i8), intent(in) :: values
        integer(i4), pointer, contiguous :: array(:)
        real(dp), pointer, contiguous :: space(:)
        space => aligned((values + 1)/2)
        call c_f_pointer(c_loc(space), array, [values])
    end function aligned_integers

    !> Compares what the processes of each node need together with what the node has. `short` is
    !> the same on all processes; the two sizes are those of the node with the largest gap.
    subroutine memory_shortage(comm, size_bytes, short, needed_bytes, available_bytes)
        integer, intent(in) :: comm
        integer(i8), intent(in) :: size_bytes
        logical, intent(out) :: short
        integer(i8), intent(out) :: needed_bytes, available_bytes
        integer(i8) :: total(1), gap(1), sizes(2)
        integer :: node

        node = comm_split_node(comm)
        total = size_bytes
        call comm_allreduce(total, 1, MPI_INTEGER8, MPI_SUM, node)
        call comm_free(node)

        sizes = [total(1), available_memory_bytes()]
        gap = sizes(1) - sizes(2)
        call comm_allreduce(gap, 1, MPI_INTEGER8, MPI_MAX, comm)
        short = gap(1) > 0
        if (sizes(1) - sizes(2) /= gap(1)) sizes = 0
        call comm_allreduce(sizes, 2, MPI_INTEGER8, MPI_MAX, comm)
        needed_bytes = sizes(1)
        available_bytes = sizes(2)
    end subroutine memory_shortage

    !> What this process's node has to give.
    integer(i8) function available_memory_bytes() result(available)
        integer(i8) :: limit, used
        available = meminfo_bytes()
        limit = number_in('/sys/fs/cgroup/memory.max')
        used = number_in('/sys/fs/cgroup/memory.current')
        if (limit /= unknown .and. used /= unknown) available = min(available, limit - used)
        limit = number_in('/sys/fs/cgroup/memory/memory.limit_in_bytes')
        used = number_in('/sys/fs/cgroup/memory/memory.usage_in_bytes')
        if (limit /= unknown .and. used /= unknown) available = min(available, limit - used)
        available = max(available, 0_i8)
    end function available_memory_bytes

    integer(i8) function meminfo_bytes() result(available)
        character(*), parameter :: label = 'MemAvailable:'
        character(80) :: line
        integer :: unit, trouble
        available = unknown
        open (newunit=unit, file='/proc/meminfo', status='old', action='read', iostat=trouble)
        if (trouble /= 0) return
        do
            read (unit, '(a)', iostat=trouble) line
            if (trouble /= 0) exit
            if (line(:len(label)) /= label) cycle
            read (line(len(label) + 1:), *, iostat=trouble) available
            if (trouble == 0) available = 1024*available
            exit
        end do
        close (unit)
    end function meminfo_bytes

    !> The number that is all of a small file, or `unknown`: no such file, or the word "max".
    integer(i8) function number_in(path) result(number)
        character(*), intent(in) :: path
        integer :: unit, trouble
        number = unknown
        open (newunit=unit, file=path, status='old', action='read', iostat=trouble)
        if (trouble /= 0) return
        read (unit, *, iostat=trouble) number
        if (trouble /= 0) number = unknown
        close (unit)
    end function number_in

end module bl_memory
