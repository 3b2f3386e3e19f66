!> The grids of MG and their parts on the processes.
!>
!> P = px py pz processes, rank = ix + px (iy + py iz), px <= py <= pz. Grid k has N = 2**k points
!> in each direction; where N >= p in a direction a process has N/p of them. Where N < p only every
!> (p/N)-th process (the last of each p/N) has a point there; a process without a point in any
!> direction is idle on the grid.
!>
!> Local arrays have the bounds 0 : points + 1; the outermost layers are ghosts. A point C of grid
!> k - 1 lies on the point 2 C - shift of grid k (both counted from 1 on the process): shift is 1
!> in a direction in which a process has one point of both grids, else 0.
!>
!> Nothing here is collective.
module mg_level

    use bl_kinds, only: dp, i8
    use bl_memory, only: prefer_large_pages

    implicit none(type, external)
    private

    public :: level_memory_bytes, level_t, new_field, new_levels, process_grid

    type :: level_t
        integer :: comm = 0
        !> Points in each direction, of the whole grid.
        integer :: total = 0
        !> This process's points in each direction, and what precedes them in the grid.
        integer :: points(3) = 0
        integer :: first(3) = 0
        logical :: is_active = .false.
        !> Processes in each direction that the grid is cut across.
        integer :: processes(3) = 1
        !> Ranks below and above in each direction.
        integer :: neighbour(2, 3) = 0
        !> Rows (of constant y and z) that operators which advance together take at a time.
        integer :: block_rows = 1
        !> See above; that of the next coarser grid.
        integer :: shift(3) = 0
        !> Whether this process has points of the next coarser grid, by direction.
        logical :: is_coarse_active(3) = .true.
        !> Solution (correction) and residual.
        real(dp), allocatable :: u(:, :, :), r(:, :, :)
    end type level_t

    integer, parameter :: real_bytes = 8
    !> A block is its rows of so many planes of u, r and v, which four operators are on at a time ...
    integer, parameter :: block_planes = 13
    !> ... and should stay in the second-level cache.
    integer, parameter :: block_bytes = 2**20
    !> With fewer the rows that blocks share would cost more than is saved.
    integer, parameter :: block_rows_min = 8

contains

    !> Numbers of processes in x, y and z of so many, a power of two.
    pure function process_grid(ranks) result(processes)
        integer, intent(in) :: ranks
        integer :: processes(3)
        integer :: lp, lx, ly
        lp = trailz(ranks)
        lx = lp/3
        ly = (lp - lx)/2
        processes = 2**[lx, ly, lp - lx - ly]
    end function process_grid

    !> The grids 1 ... `finest` with their arrays.
    function new_levels(comm, rank, ranks, finest) result(levels)
        integer, intent(in) :: comm, rank, ranks, finest
        type(level_t), allocatable :: levels(:)
        integer :: k

        allocate (levels(finest))
        do k = 1, finest
            levels(k) = new_level(comm, rank, ranks, 2**k)
            associate (level => levels(k))
                if (.not. level%is_active) cycle
                call new_field(level, level%u)
                call new_field(level, level%r)
            end associate
        end do
    end function new_levels

    !> An array of the level, of zeros.
    subroutine new_field(level, field)
        type(level_t), intent(in) :: level
        real(dp), allocatable, intent(out) :: field(:, :, :)
        associate (n => level%points + 1)
            allocate (field(0:n(1), 0:n(2), 0:n(3)))
        end associate
        call prefer_large_pages(field, real_bytes*size(field, kind=i8))
        field = 0
    end subroutine new_field

    pure type(level_t) function new_level(comm, rank, ranks, total) result(level)
        integer, intent(in) :: comm, rank, ranks, total
        integer :: place(3), stride(3), axis, step, p

        level%comm = comm
        level%total = total
        level%processes = process_grid(ranks)
        stride = [1, level%processes(1), level%processes(1)*level%processes(2)]
        place = mod(rank/stride, level%processes)
        level%is_active = .true.
        do axis = 1, 3
            p = level%processes(axis)
            step = max(1, p/total)
            level%points(axis) = max(1, total/p)
            level%first(axis) = (place(axis)/step)*level%points(axis)
            level%is_active = level%is_active .and. is_last_of(place(axis), step)
            level%neighbour(:, axis) = rank + stride(axis)* &
                                       (modulo(place(axis) + [-step, step], p) - place(axis))
            if (p >= total) then
                level%shift(axis) = 1
                level%is_coarse_active(axis) = is_last_of(place(axis), 2*step)
            end if
        end do
        level%block_rows = max(block_rows_min, &
                               block_bytes/(block_planes*real_bytes*(level%points(1) + 2)))
    end function new_level

    pure logical function is_last_of(place, step)
        integer, intent(in) :: place, step
        is_last_of = mod(place + 1, step) == 0
    end function is_last_of

    !> Memory of a process for all grids and the right-hand side.
    pure integer(i8) function level_memory_bytes(ranks, finest) result(size_bytes)
        integer, intent(in) :: ranks, finest
        type(level_t) :: level
        integer :: k
        size_bytes = 0
        do k = 1, finest
            level = new_level(0, 0, ranks, 2**k)
            size_bytes = size_bytes + merge(3, 2, k == finest)*real_bytes* &
                         product(int(level%points + 2, i8))
        end do
    end function level_memory_bytes

end module mg_level
