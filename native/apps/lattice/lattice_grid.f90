!> The part of the lattice that a process has, and the exchange of its faces.
!>
!> The lattice is cut along t, z and y, never along x. A field holds the sites of one parity: site
!> (x, y, z, t), counted from 0 over the whole lattice, is even if the sum is. Of a row along x, the
!> sites of one parity are x = 2 h + r, h = 0, 1, ..., where r, 0 or 1, makes the parity right. A
!> colour vector is three complex numbers, kept as six reals.
!>
!> A processor works on the `lanes` sites of a block at once. Those of block b = 0, 1, ... of a row
!> are h = b + blocks lane, so that neighbours along x are the same lanes of another block or,
!> beyond the row's end, other lanes of it. f(lane, c, b, row): rows along x, of which (y, z, t) is
!> row at_y(y) + at_z(z) + at_t(t), counted from 0. Own sites have y, z and t from 1 on. The tables
!> know three more on either side: along an axis that is cut these are ghosts, along another the
!> sites at the other end.
!>
!> An exchange sends the faces of all cut directions at once, three sites deep since links reach so
!> far, one message each way: 48 bytes for each site of one parity. Where a part is less than three
!> deep, the rest comes from the processes beyond, a message from each. Each message is waited for
!> alone.
!>
!> Collective over the grid: `exchange`.
module lattice_grid

    use bl_halo, only: box_t, halo_t
    use bl_kinds, only: dp, i8
    use bl_memory, only: aligned

    implicit none(type, external)
    private

    public :: grid_t, field_t, can_cut, parts, directions, turned, most_lanes, reach, steps

    !> Sites of a block: vectors of the widest processors.
    integer, parameter :: most_lanes = 8
    !> How far links reach.
    integer, parameter :: reach = 3
    !> Neighbours of a site, and how many of them may be in another lane.
    integer, parameter :: directions = 16, turned = 3
    !> Where the neighbour of each direction is: (x y z t, direction, r of the row). The fourth one
    !> along x has the same h, those before it have others: all that may be in another lane.
    integer, parameter :: steps(4, directions, 0:1) = reshape( &
        [-1, 0, 0, 0, 3, 0, 0, 0, -3, 0, 0, 0, 1, 0, 0, 0, &
         0, 1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0, -1, 0, 0, 0, 0, -1, 0, 0, 0, 0, -1, &
         0, 3, 0, 0, 0, 0, 3, 0, 0, 0, 0, 3, 0, -3, 0, 0, 0, 0, -3, 0, 0, 0, 0, -3, &
         1, 0, 0, 0, -3, 0, 0, 0, 3, 0, 0, 0, -1, 0, 0, 0, &
         0, 1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0, -1, 0, 0, 0, 0, -1, 0, 0, 0, 0, -1, &
         0, 3, 0, 0, 0, 0, 3, 0, 0, 0, 0, 3, 0, -3, 0, 0, 0, 0, -3, 0, 0, 0, 0, -3], &
        [4, directions, 2])

    type :: grid_t
        integer :: comm = 0
        !> Half the sites along x are so many blocks of so many; own sites along y, z and t.
        integer :: blocks = 0, lanes = 0, n(2:4) = 0
        !> Sites of the whole lattice before the own ones along y, z and t.
        integer :: before(2:4) = 0
        !> Rows, with ghosts, and where each is.
        integer :: rows = 0
        integer, allocatable :: at_y(:), at_z(:), at_t(:)
        type(halo_t), private :: halo
    contains
        procedure :: new_field
        procedure :: exchange
        procedure :: row_offset
        procedure :: row_at
        procedure :: site_x
        procedure :: block_of_neighbour
        procedure :: lane_of_neighbour
    end type grid_t

    interface grid_t
        module procedure new_grid
    end interface grid_t

    !> values(0:lanes - 1, 6, 0:blocks - 1, 0:rows - 1)
    type :: field_t
        real(dp), pointer, contiguous :: values(:, :, :, :) => null()
    end type field_t

contains

    type(grid_t) function new_grid(comm, rank, ranks, extent) result(grid)
        integer, intent(in) :: comm, rank, ranks, extent(4)
        integer :: cut(2:4), at(2:4), axis, ghosts(2:4), width(2:4)

        cut = parts(extent, ranks)
        grid%comm = comm
        grid%lanes = common_divisor(extent(1)/2, most_lanes)
        grid%blocks = extent(1)/2/grid%lanes
        do axis = 2, 4
            at(axis) = mod(rank/product(cut(:axis - 1)), cut(axis))
            grid%n(axis) = extent(axis)/cut(axis)
        end do
        grid%before = at*grid%n
        ghosts = merge(reach, 0, cut > 1)
        width = grid%n + 2*ghosts
        grid%rows = product(width)
        call place(grid%n(2), ghosts(2), 1, grid%at_y)
        call place(grid%n(3), ghosts(3), width(2), grid%at_z)
        call place(grid%n(4), ghosts(4), width(2)*width(3), grid%at_t)
        call add_neighbours(grid, rank, cut, at, ghosts)
    end function new_grid

    !> Where sites are along an axis, from `reach` before the own ones to `reach` behind them.
    pure subroutine place(many, ghosts, stride, at)
        integer, intent(in) :: many, ghosts, stride
        integer, allocatable, intent(out) :: at(:)
        integer :: i
        allocate (at(1 - reach:many + reach))
        do i = 1 - reach, many + reach
            at(i) = stride*merge(i - 1 + ghosts, modulo(i - 1, many), ghosts > 0)
        end do
    end subroutine place

    subroutine add_neighbours(grid, rank, cut, at, ghosts)
        type(grid_t), intent(inout) :: grid
        integer, intent(in) :: rank, cut(2:4), at(2:4), ghosts(2:4)
        integer, parameter :: numbers = 6
        type(box_t) :: span
        integer :: axis, row, hop, distance, neighbours(2)

        row = numbers*grid%lanes*grid%blocks
        call grid%halo%setup(grid%comm, rank, [row, grid%n + 2*ghosts], posted=.true., each=.true.)
        span%first(:4) = [1, ghosts + 1]
        span%last(:4) = [row, ghosts + grid%n]
        do axis = 2, 4
            if (cut(axis) == 1) cycle
            do hop = 1, (reach - 1)/grid%n(axis) + 1
                distance = (hop - 1)*grid%n(axis)
                neighbours = rank + product(cut(:axis - 1)) &
                             *(modulo(at(axis) + [-hop, hop], cut(axis)) - at(axis))
                call grid%halo%add(axis, neighbours, min(grid%n(axis), reach - distance), span, &
                                   distance)
            end do
        end do
    end subroutine add_neighbours

    pure integer function common_divisor(a, b) result(divisor)
        integer, intent(in) :: a, b
        divisor = min(a, b)
        do while (mod(a, divisor) + mod(b, divisor) > 0)
            divisor = divisor - 1
        end do
    end function common_divisor

    !> Into how many parts y, z and t are cut: the prime factors of `ranks`, the largest first, each
    !> cut the longest part that they divide. Zeros if one divides none.
    pure function parts(extent, ranks) result(cut)
        integer, intent(in) :: extent(4), ranks
        integer :: cut(2:4), rest, factor, axis, best

        cut = 1
        rest = ranks
        do while (rest > 1)
            factor = largest_factor(rest)
            rest = rest/factor
            best = 0
            do axis = 4, 2, -1
                if (mod(extent(axis)/cut(axis), factor) /= 0) cycle
                if (best > 0) then
                    if (extent(axis)/cut(axis) <= extent(best)/cut(best)) cycle
                end if
                best = axis
            end do
            if (best == 0) then
                cut = 0
                return
            end if
            cut(best) = cut(best)*factor
        end do
    end function parts

    !> Whether so many processes can share the lattice. A process is no neighbour of its own: along
    !> an axis that is cut there are more sites than links reach.
    pure logical function can_cut(extent, ranks)
        integer, intent(in) :: extent(4), ranks
        integer :: cut(2:4)
        cut = parts(extent, ranks)
        can_cut = all(cut > 0)
        if (can_cut) can_cut = all(cut == 1 .or. (reach - 1)/(extent(2:)/cut) + 1 < cut)
    end function can_cut

    pure integer function largest_factor(number) result(largest)
        integer, intent(in) :: number
        integer :: rest, factor
        largest = 1
        rest = number
        factor = 2
        do while (rest > 1)
            if (mod(rest, factor) == 0) then
                largest = factor
                rest = rest/factor
            else
                factor = factor + 1
            end if
        end do
    end function largest_factor

    !> r of a row of one parity (0 even, 1 odd).
    pure integer function row_offset(self, parity, y, z, t) result(offset)
        class(grid_t), intent(in) :: self
        integer, intent(in) :: parity, y, z, t
        offset = modulo(parity + sum(self%before) + y - 1 + z - 1 + t - 1, 2)
    end function row_offset

    pure integer function row_at(self, y, z, t) result(row)
        class(grid_t), intent(in) :: self
        integer, intent(in) :: y, z, t
        row = self%at_y(y) + self%at_z(z) + self%at_t(t)
    end function row_at

    !> Where a site of a block is along x, in a row of this offset.
    pure integer function site_x(self, offset, lane, block) result(x)
        class(grid_t), intent(in) :: self
        integer, intent(in) :: offset, lane, block
        x = 2*(block + self%blocks*lane) + offset
    end function site_x

    !> h of a neighbour along x minus that of the site, in a row of this offset.
    pure integer function columns_to(offset, direction) result(columns)
        integer, intent(in) :: offset, direction
        columns = (steps(1, direction, offset) + 2*offset - 1)/2
    end function columns_to

    !> The block of a site's neighbours along x.
    pure integer function block_of_neighbour(self, offset, block, direction) result(neighbour)
        class(grid_t), intent(in) :: self
        integer, intent(in) :: offset, block, direction
        neighbour = modulo(block + columns_to(offset, direction), self%blocks)
    end function block_of_neighbour

    !> The lane of a site's neighbour along x.
    pure integer function lane_of_neighbour(self, offset, lane, block, direction) result(neighbour)
        class(grid_t), intent(in) :: self
        integer, intent(in) :: offset, lane, block, direction
        integer :: column
        column = block + columns_to(offset, direction)
        neighbour = modulo(lane + (column - modulo(column, self%blocks))/self%blocks, self%lanes)
    end function lane_of_neighbour

    subroutine new_field(self, field)
        class(grid_t), intent(in) :: self
        type(field_t), intent(out) :: field
        real(dp), pointer, contiguous :: values(:)
        associate (lanes => self%lanes, blocks => self%blocks, rows => self%rows)
            values => aligned(6_i8*lanes*blocks*rows)
            field%values(0:lanes - 1, 1:6, 0:blocks - 1, 0:rows - 1) => values
        end associate
    end subroutine new_field

    !> Refreshes all ghosts of a field but those at edges and corners, which no product needs.
    subroutine exchange(self, field)
        class(grid_t), intent(inout) :: self
        type(field_t), intent(in) :: field
        call self%halo%exchange(field%values)
    end subroutine exchange

end module lattice_grid
