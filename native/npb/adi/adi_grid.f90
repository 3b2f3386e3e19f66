!> The grid of BT and SP and its multipartition: the cube of n**3 points is cut into q**3 cells for
!> q**2 processes, each of which owns q cells on a diagonal. In every plane of cells, in every
!> direction, each process owns one cell, so all work in each of the q stages of a sweep.
!>
!> Indices count from 0, in a cell from its own first point; layers of `ghost` points surround a
!> cell in all three directions. The arrays of a cell are (x, component, y, z): rows along x of one
!> component after the other, so that loops over x run through memory and a row's components are
!> neighbours.
!>
!> Nothing here is timed or collective.
module adi_grid

    use bl_memory, only: aligned
    use bl_kinds, only: dp, i8

    implicit none(type, external)
    private

    public :: cell_t, grid_t, processes_per_side, grid_memory_bytes
    public :: ghost, lanes, row_first, sweep_axes

    integer, parameter :: ghost = 2
    !> Lines that are solved side by side: one vector of AVX-512, two of AVX2, four of SSE2.
    integer, parameter :: lanes = 8
    !> First index of the arrays along x: point 1 begins a block of `lanes` points.
    integer, parameter :: row_first = 1 - lanes
    !> For sweeps along x, y, z: the axis that the lanes of a batch lie along, and the other one.
    integer, parameter :: sweep_axes(2, 3) = reshape([2, 3, 1, 3, 1, 2], [2, 3])

    type :: cell_t
        !> Place among the cells, from 0.
        integer :: position(3) = 0
        !> Index in the grid of the cell's point 0, and number of points.
        integer :: first(3) = 0, points(3) = 0
        !> First and last point that is not on the boundary of the grid.
        integer :: lo(3) = 0, hi(3) = 0
        !> (row_first:row_last, 5, -2:, -2:): the unknowns.
        real(dp), pointer, contiguous :: u(:, :, :, :) => null()
        !> (row_first:row_last, 5, 0:, 0:): right-hand side, which sweeps turn into the change of u.
        real(dp), pointer, contiguous :: rhs(:, :, :, :) => null()
        !> (row_first:row_last, 5, 0:, 0:): forcing.
        real(dp), pointer, contiguous :: forcing(:, :, :, :) => null()
    contains
        procedure :: row_last => cell_row_last
        procedure :: lines => cell_lines
    end type cell_t

    type :: grid_t
        integer :: comm = 0
        !> Points, and cells, along each axis.
        integer :: n = 0, q = 0
        !> Place of this process: its rank is a + q*b.
        integer :: a = 0, b = 0
        !> (0:q - 1): the own cells.
        type(cell_t), allocatable :: cells(:)
    contains
        procedure :: setup => grid_setup
        procedure :: stage_cell => grid_stage_cell
        procedure :: neighbour => grid_neighbour
    end type grid_t

contains

    pure integer function processes_per_side(ranks) result(q)
        integer, intent(in) :: ranks
        q = nint(sqrt(real(ranks, dp)))
    end function processes_per_side

    !> The cells of this process and their arrays, at rest.
    subroutine grid_setup(grid, comm, rank, ranks, n)
        class(grid_t), intent(out) :: grid
        integer, intent(in) :: comm, rank, ranks, n
        integer :: c

        grid%comm = comm
        grid%n = n
        grid%q = processes_per_side(ranks)
        grid%a = mod(rank, grid%q)
        grid%b = rank/grid%q
        allocate (grid%cells(0:grid%q - 1))
        do c = 0, grid%q - 1
            associate (cell => grid%cells(c))
                cell%position = [modulo(grid%a + c, grid%q), modulo(grid%b - c, grid%q), c]
                call place(cell, n, grid%q)
                call allocate_fields(cell)
            end associate
        end do
    end subroutine grid_setup

    !> The first mod(n, q) cells of an axis have one point more.
    pure subroutine place(cell, n, q)
        type(cell_t), intent(inout) :: cell
        integer, intent(in) :: n, q
        cell%points = n/q
        where (cell%position < mod(n, q)) cell%points = cell%points + 1
        cell%first = cell%position*(n/q) + min(cell%position, mod(n, q))
        cell%lo = merge(1, 0, cell%position == 0)
        cell%hi = cell%points - merge(2, 1, cell%position == q - 1)
    end subroutine place

    subroutine allocate_fields(cell)
        type(cell_t), intent(inout) :: cell
        integer(i8) :: row, inner, outer
        integer :: last
        last = cell%row_last()
        row = 5*(last - row_first + 1)
        associate (ny => cell%points(2), nz => cell%points(3))
            inner = row*ny*nz
            outer = row*(ny + 2*ghost)*(nz + 2*ghost)
            cell%u(row_first:last, 1:5, -ghost:ny + ghost - 1, -ghost:nz + ghost - 1) => &
                aligned(outer)
            cell%rhs(row_first:last, 1:5, 0:ny - 1, 0:nz - 1) => aligned(inner)
            cell%forcing(row_first:last, 1:5, 0:ny - 1, 0:nz - 1) => aligned(inner)
        end associate
        ! Lanes and layers outside the grid take part in the arithmetic: a state of rest.
        cell%u(:, 1, :, :) = 1
        cell%u(:, 5, :, :) = 1
    end subroutine allocate_fields

    !> Last index of the arrays along x: room for the ghosts, and for whole batches with theirs.
    pure integer function cell_row_last(self) result(last)
        class(cell_t), intent(in) :: self
        last = max(self%points(1) + ghost - 1, &
                   self%lo(1) - 1 + (self%hi(1) - self%lo(1) + lanes)/lanes*lanes + ghost)
        last = row_first - 1 + (last - row_first + lanes)/lanes*lanes
    end function cell_row_last

    !> Lines along an axis that a sweep solves.
    pure integer function cell_lines(self, axis) result(lines)
        class(cell_t), intent(in) :: self
        integer, intent(in) :: axis
        lines = product(self%hi(sweep_axes(:, axis)) - self%lo(sweep_axes(:, axis)) + 1)
    end function cell_lines

    !> The own cell whose place along the axis is `stage`.
    pure integer function grid_stage_cell(self, axis, stage) result(c)
        class(grid_t), intent(in) :: self
        integer, intent(in) :: axis, stage
        select case (axis)
        case (1)
            c = modulo(stage - self%a, self%q)
        case (2)
            c = modulo(self%b - stage, self%q)
        case default
            c = stage
        end select
    end function grid_stage_cell

    !> The rank that owns the next cells along the axis (`step` = 1) or the previous ones (-1).
    pure integer function grid_neighbour(self, axis, step) result(rank)
        class(grid_t), intent(in) :: self
        integer, intent(in) :: axis, step
        integer, parameter :: move_a(3) = [1, 0, -1], move_b(3) = [0, 1, 1]
        rank = modulo(self%a + step*move_a(axis), self%q) &
               + self%q*modulo(self%b + step*move_b(axis), self%q)
    end function grid_neighbour

    !> What the grid takes on each process, with `kept` values per point that a sweep keeps when
    !> there are several processes.
    pure integer(i8) function grid_memory_bytes(ranks, n, kept) result(size_bytes)
        integer, intent(in) :: ranks, n, kept
        integer(i8) :: q, side, row
        q = processes_per_side(ranks)
        side = (n + q - 1)/q
        row = side + 2*lanes
        size_bytes = 8*q*row*(5*(side + 2*ghost)**2 + 10*side**2)
        if (q > 1) size_bytes = size_bytes + 8*q*row*kept*side*(side + 2)
    end function grid_memory_bytes

end module adi_grid
