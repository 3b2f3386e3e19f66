!> The part of the basin that a process has, and the exchange of ghosts with its neighbours.
!>
!> The basin is cut along x and y into rectangles of about equal size; processes lie row by row. A
!> field without levels is stored as f(first_i:last_i, 1 - width:ny + width): its own cells are 1 to
!> nx and 1 to ny, with `width` ghosts on every side. Rows begin on cache lines. The fields with
!> levels lie together, x(first_i:last_i, field, level, -1:ny + 2), with two ghosts: what a column of
!> one y needs is one piece of memory. They are views of a store that has one slab (row of columns)
!> more than they, which is free at the one end or at the other. The vertical speed lies apart,
!> w(first_i:last_i, level, -1:ny + 2).
!>
!> An exchange sends along x first, then along y with the ghosts in x, so that corners are right:
!> two messages for each direction that is cut, of width ny levels and width (nx + 2 width) levels
!> numbers. One of edges has no corners and all four messages in flight. Where a direction is not cut
!> numbers are copied.
!>
!> Exported: `grid_t`, `ghosts_t`, `process_grid`. Collective over the grid: `exchange`.
module ocean_grid

    use bl_agreement, only: agreement_t
    use bl_halo, only: box_t, halo_t
    use bl_kinds, only: dp, i8
    use bl_memory, only: aligned

    implicit none(type, external)
    private

    public :: grid_t, ghosts_t, slab_ghosts_t, fields, width, first_i, line, process_grid, &
              close_level

    !> Fields with levels: u, v, T, S.
    integer, parameter :: fields = 4
    !> Ghosts of these and of w.
    integer, parameter :: width = 2
    !> Index of the first element of a row: cell 1 begins a cache line of eight numbers.
    integer, parameter :: first_i = -7
    integer, parameter :: line = 8

    type :: grid_t
        integer :: comm = 0
        !> Own cells, and the last element of a row.
        integer :: nx = 0, ny = 0, last_i = 0
        !> Columns of the whole basin.
        integer(i8) :: cells = 0
        !> Cells of the whole basin before the own ones.
        integer :: x_before = 0, y_before = 0
        !> Ranks of the neighbours; the own one where a direction is not cut.
        integer :: west = 0, east = 0, south = 0, north = 0
        integer :: rank = 0
    contains
        procedure :: new_field
        procedure :: new_ghosts
        procedure :: new_edges
        procedure :: new_slabs
        procedure :: new_speed
        procedure :: new_slab_ghosts
    end type grid_t

    !> The exchange of fields without levels: x, then y.
    type :: ghosts_t
        private
        type(halo_t) :: x, y
    contains
        procedure :: exchange
    end type ghosts_t

    !> The exchange of those with levels and of w, each for itself.
    type :: slab_ghosts_t
        private
        type(halo_t) :: x(fields), y(fields)
        type(ghosts_t) :: w
        integer :: slab = 0, ny = 0
        !> Whether the process is its own neighbour along x, along y.
        logical, public :: closed_x = .false., closed_y = .false.
    contains
        procedure :: exchange => exchange_slabs
    end type slab_ghosts_t

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
        grid%cells = int(n, i8)**2
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

    !> A field of zeros, without levels.
    subroutine new_field(self, width, field)
        class(grid_t), intent(in) :: self
        integer, intent(in) :: width
        real(dp), pointer, contiguous, intent(out) :: field(:, :)
        real(dp), pointer, contiguous :: values(:)
        integer(i8) :: row
        row = self%last_i - first_i + 1
        values => aligned(row*(self%ny + 2*width))
        field(first_i:self%last_i, 1 - width:self%ny + width) => values
    end subroutine new_field

    !> Room for the fields with levels and one slab more, zeros. There is a level more than is used,
    !> so that what lies in the same place of neighbouring slabs is not a multiple of a page apart:
    !> caches would keep all of it in the same few lines.
    subroutine new_slabs(self, levels, store)
        class(grid_t), intent(in) :: self
        integer, intent(in) :: levels
        real(dp), pointer, contiguous, intent(out) :: store(:, :, :, :)
        real(dp), pointer, contiguous :: values(:)
        integer(i8) :: row
        row = self%last_i - first_i + 1
        values => aligned(row*fields*(levels + 1)*(self%ny + 2*width + 1))
        store(first_i:self%last_i, 1:fields, 1:levels + 1, 1 - width:self%ny + width + 1) => values
    end subroutine new_slabs

    !> The vertical speed on the upper faces of cells, zeros.
    subroutine new_speed(self, levels, w)
        class(grid_t), intent(in) :: self
        integer, intent(in) :: levels
        real(dp), pointer, contiguous, intent(out) :: w(:, :, :)
        real(dp), pointer, contiguous :: values(:)
        integer(i8) :: row
        row = self%last_i - first_i + 1
        values => aligned(row*levels*(self%ny + 2*width))
        w(first_i:self%last_i, 1:levels, 1 - width:self%ny + width) => values
    end subroutine new_speed

    !> The exchange of fields with so many ghosts and levels, which are their second dimension if
    !> there are any.
    subroutine new_ghosts(self, width, ghosts, levels)
        class(grid_t), intent(in) :: self
        integer, intent(in) :: width
        type(ghosts_t), intent(out) :: ghosts
        integer, intent(in), optional :: levels
        integer :: extent(3)
        type(box_t) :: span

        extent = [self%last_i - first_i + 1, 1, self%ny + 2*width]
        if (present(levels)) extent(2) = levels
        associate (west => 2 - first_i, south => 1 + width)
            span%first(:3) = [west, 1, south]
            span%last(:3) = [west + self%nx - 1, extent(2), south + self%ny - 1]
            call ghosts%x%setup(self%comm, self%rank, extent, posted=.false.)
            call ghosts%x%add(1, [self%west, self%east], width, span)
            span%first(1) = west - width
            span%last(1) = west + self%nx - 1 + width
            call ghosts%y%setup(self%comm, self%rank, extent, posted=.false.)
            call ghosts%y%add(3, [self%south, self%north], width, span)
        end associate
    end subroutine new_ghosts

    !> The exchange of the innermost ghosts without corners, of fields that have `ghosts` of them
    !> and no levels.
    subroutine new_edges(self, ghosts, edges)
        class(grid_t), intent(in) :: self
        integer, intent(in) :: ghosts
        type(halo_t), intent(out) :: edges
        type(box_t) :: span

        associate (west => 2 - first_i, south => 1 + ghosts)
            span%first(:2) = [west, south]
            span%last(:2) = [west + self%nx - 1, south + self%ny - 1]
            call edges%setup(self%comm, self%rank, &
                             [self%last_i - first_i + 1, self%ny + 2*ghosts], posted=.false.)
            call edges%add(1, [self%west, self%east], 1, span)
            call edges%add(2, [self%south, self%north], 1, span)
        end associate
    end subroutine new_edges

    subroutine new_slab_ghosts(self, levels, ghosts)
        class(grid_t), intent(in) :: self
        integer, intent(in) :: levels
        type(slab_ghosts_t), intent(out) :: ghosts
        integer :: extent(4), f
        type(box_t) :: span

        extent = [self%last_i - first_i + 1, fields, levels + 1, self%ny + 2*width]
        ghosts%slab = product(extent(:3))
        ghosts%ny = self%ny
        ghosts%closed_x = self%west == self%rank
        ghosts%closed_y = self%south == self%rank
        associate (west => 2 - first_i, south => 1 + width)
            do f = 1, fields
                span%first(:4) = [west, f, 1, south]
                span%last(:4) = [west + self%nx - 1, f, levels, south + self%ny - 1]
                call ghosts%x(f)%setup(self%comm, self%rank, extent, posted=.false.)
                call ghosts%x(f)%add(1, [self%west, self%east], width, span)
                span%first(1) = west - width
                span%last(1) = west + self%nx - 1 + width
                call ghosts%y(f)%setup(self%comm, self%rank, extent, posted=.false.)
                call ghosts%y(f)%add(4, [self%south, self%north], width, span)
            end do
        end associate
        call self%new_ghosts(width, ghosts%w, levels)
    end subroutine new_slab_ghosts

    !> Refreshes all ghosts of a field; `agreement` takes note of the messages.
    subroutine exchange(self, field, agreement)
        class(ghosts_t), intent(inout) :: self
        real(dp), intent(inout) :: field(*)
        type(agreement_t), intent(inout) :: agreement
        call self%x%exchange(field, agreement)
        call self%y%exchange(field, agreement)
    end subroutine exchange

    !> Refreshes all ghosts of w and of the fields with levels, but those of columns of these that are
    !> copied (`close_level`).
    subroutine exchange_slabs(self, x, w, agreement)
        class(slab_ghosts_t), intent(inout) :: self
        real(dp), intent(inout) :: x(self%slab, 1 - width:self%ny + width)
        real(dp), intent(inout) :: w(*)
        type(agreement_t), intent(inout) :: agreement
        integer :: f, j

        do f = 1, fields
            if (f == 3) call self%w%exchange(w, agreement)
            if (.not. self%closed_x) call self%x(f)%exchange(x, agreement)
            if (.not. self%closed_y) call self%y(f)%exchange(x, agreement)
        end do
        if (.not. self%closed_y) return
        do j = 1, width
            x(:, 1 - j) = x(:, self%ny + 1 - j)
            x(:, self%ny + j) = x(:, j)
        end do
    end subroutine exchange_slabs

    !> The ghosts of a level's columns from its own cells, where x is not cut.
    pure subroutine close_level(nx, last_i, values)
        integer, intent(in) :: nx, last_i
        real(dp), intent(inout) :: values(first_i:last_i, fields)
        integer :: f
        do f = 1, fields
            values(1 - width:0, f) = values(nx + 1 - width:nx, f)
            values(nx + 1:nx + width, f) = values(1:width, f)
        end do
    end subroutine close_level

end module ocean_grid
