!> The part of the basin that a process has, and the exchange of ghosts with its neighbours.
!>
!> The basin is cut along x and y into rectangles of about equal size; processes lie row by row. A
!> field is stored as f(first_i:last_i, levels, 1 - width:ny + width): columns of one y together,
!> so that sums over depth stay in cache; its own cells are 1 to nx and 1 to ny, with `width` ghosts
!> on every side. Rows begin on cache lines.
!>
!> An exchange sends along x first, then along y with the ghosts in x, so that corners are right:
!> two messages for each direction that is cut, of width ny levels and width (nx + 2 width) levels
!> numbers.
!>
!> Exported: `grid_t`, `ghosts_t`, `process_grid`. Collective over the grid: `exchange`.
module ocean_grid

    use bl_halo, only: box_t, halo_t
    use bl_kinds, only: dp, i8
    use bl_memory, only: aligned

    implicit none(type, external)
    private

    public :: grid_t, ghosts_t, first_i, process_grid

    !> Index of the first element of a row: cell 1 begins a cache line of eight numbers.
    integer, parameter :: first_i = -7
    integer, parameter :: line = 8

    type :: grid_t
        integer :: comm = 0
        !> Own cells, and the last element of a row.
        integer :: nx = 0, ny = 0, last_i = 0
        !> Cells of the whole basin before the own ones.
        integer :: x_before = 0, y_before = 0
        !> Ranks of the neighbours; the own one where a direction is not cut.
        integer :: west = 0, east = 0, south = 0, north = 0
        integer :: rank = 0
    contains
        procedure :: new_field
        procedure :: new_ghosts
    end type grid_t

    !> The exchange of fields of one kind: x, then y.
    type :: ghosts_t
        private
        type(halo_t) :: x, y
    contains
        procedure :: exchange
    end type ghosts_t

    interface grid_t
        module procedure new_grid
    end interface grid_t

contains

    type(grid_t) function new_grid(comm, rank, ranks, n) result(grid)
        integer, intent(in) :: comm, rank, ranks, n
        integer :: columns(2), at(2)

        columns = process_grid(ranks)
        at = [mod(rank, columns(1)), rank/columns(1)]
        grid%comm = comm
        grid%rank = rank
        grid%x_before = n*at(1)/columns(1)
        grid%nx = n*(at(1) + 1)/columns(1) - grid%x_before
        grid%y_before = n*at(2)/columns(2)
        grid%ny = n*(at(2) + 1)/columns(2) - grid%y_before
        grid%last_i = line*((grid%nx + 2 + line - 1)/line)
        grid%west = modulo(at(1) - 1, columns(1)) + at(2)*columns(1)
        grid%east = modulo(at(1) + 1, columns(1)) + at(2)*columns(1)
        grid%south = at(1) + modulo(at(2) - 1, columns(2))*columns(1)
        grid%north = at(1) + modulo(at(2) + 1, columns(2))*columns(1)
    end function new_grid

    !> Processes along x and y: as square as possible, y cut more often.
    pure function process_grid(ranks) result(columns)
        integer, intent(in) :: ranks
        integer :: columns(2)
        columns(1) = int(sqrt(real(ranks, dp)))
        do while (mod(ranks, columns(1)) /= 0)
            columns(1) = columns(1) - 1
        end do
        columns(2) = ranks/columns(1)
    end function process_grid

    !> A field of zeros.
    subroutine new_field(self, levels, width, field)
        class(grid_t), intent(in) :: self
        integer, intent(in) :: levels, width
        real(dp), pointer, contiguous, intent(out) :: field(:, :, :)
        real(dp), pointer, contiguous :: values(:)
        integer(i8) :: row
        row = self%last_i - first_i + 1
        values => aligned(row*levels*(self%ny + 2*width))
        field(first_i:self%last_i, 1:levels, 1 - width:self%ny + width) => values
    end subroutine new_field

    !> The exchange of fields with so many levels and ghosts.
    subroutine new_ghosts(self, levels, width, ghosts)
        class(grid_t), intent(in) :: self
        integer, intent(in) :: levels, width
        type(ghosts_t), intent(out) :: ghosts
        integer :: extent(3)
        type(box_t) :: span

        extent = [self%last_i - first_i + 1, levels, self%ny + 2*width]
        associate (west => 2 - first_i, south => 1 + width)
            span%first(:3) = [west, 1, south]
            span%last(:3) = [west + self%nx - 1, levels, south + self%ny - 1]
            call ghosts%x%setup(self%comm, self%rank, extent, posted=.false.)
            call ghosts%x%add(1, [self%west, self%east], width, span)
            span%first(1) = west - width
            span%last(1) = west + self%nx - 1 + width
            call ghosts%y%setup(self%comm, self%rank, extent, posted=.false.)
            call ghosts%y%add(3, [self%south, self%north], width, span)
        end associate
    end subroutine new_ghosts

    !> Refreshes all ghosts of a field.
    subroutine exchange(self, field)
        class(ghosts_t), intent(inout) :: self
        real(dp), intent(inout) :: field(*)
        call self%x%exchange(field)
        call self%y%exchange(field)
    end subroutine exchange

end module ocean_grid
