!> The part of the lattice that a process has, and the exchange of its faces.
!>
!> The lattice is cut along t, z and y, never along x. A field holds the sites of one parity: site
!> (x, y, z, t), counted from 0 over the whole lattice, is even if the sum is. Of a row along x, the
!> sites of one parity are x = 2 h + r, h = 0, 1, ..., where r, 0 or 1, makes the parity right. A
!> colour vector is three complex numbers, kept as six reals.
!>
!> A processor works on the `lanes` sites of a block at once. Those of block b = 0, 1, ... of a row
!> are h = b + blocks lane, so that neighbours along x are the same lanes of the next block or, at
!> the row's end, the next lanes of the first one. f(lane, c, b, y, z, t): y, z and t from 0 to one
!> more than the part has, with one ghost on either side; none along x.
!>
!> An exchange sends the faces of all cut directions at once, one message each way: 48 bytes for each
!> site of one parity on the face.
!>
!> Collective over the grid: `exchange`.
module lattice_grid

    use bl_halo, only: box_t, halo_t
    use bl_kinds, only: dp, i8
    use bl_memory, only: aligned

    implicit none(type, external)
    private

    public :: grid_t, field_t, can_cut, parts, directions, most_lanes, steps

    !> Sites of a block: vectors of the widest processors.
    integer, parameter :: most_lanes = 8
    !> Where the neighbour of each direction is: (x y z t, direction, r of the row). The first one
    !> along x has another h, h + 1 in rows with r = 1 and else h - 1, the second one the same.
    integer, parameter :: directions = 8
    integer, parameter :: steps(4, directions, 0:1) = reshape( &
        [-1, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0, &
         0, 0, 0, 1, 0, -1, 0, 0, 0, 0, -1, 0, 0, 0, 0, -1, &
         1, 0, 0, 0, -1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0, &
         0, 0, 0, 1, 0, -1, 0, 0, 0, 0, -1, 0, 0, 0, 0, -1], [4, directions, 2])

    type :: grid_t
        integer :: comm = 0
        !> Half the sites along x are so many blocks of so many; own sites along y, z and t.
        integer :: blocks = 0, lanes = 0, n(2:4) = 0
        !> Sites of the whole lattice before the own ones along y, z and t.
        integer :: before(2:4) = 0
        type(halo_t), private :: halo
    contains
        procedure :: new_field
        procedure :: exchange
        procedure :: row_offset
        procedure :: site_x
        procedure :: wraps
        procedure :: lane_of_neighbour
    end type grid_t

    interface grid_t
        module procedure new_grid
    end interface grid_t

    !> values(0:lanes - 1, 6, 0:blocks - 1, 0:, 0:, 0:)
    type :: field_t
        real(dp), pointer, contiguous :: values(:, :, :, :, :, :) => null()
    end type field_t

contains

    type(grid_t) function new_grid(comm, rank, ranks, extent) result(grid)
        integer, intent(in) :: comm, rank, ranks, extent(4)
        integer :: cut(2:4), at(2:4), axis, stride(2:4), neighbours(2, 2:4)

        cut = parts(extent, ranks)
        grid%comm = comm
        grid%lanes = common_divisor(extent(1)/2, most_lanes)
        grid%blocks = extent(1)/2/grid%lanes
        stride = [1, cut(2), cut(2)*cut(3)]
        do axis = 2, 4
            at(axis) = mod(rank/stride(axis), cut(axis))
            grid%n(axis) = extent(axis)/cut(axis)
            grid%before(axis) = at(axis)*grid%n(axis)
            neighbours(:, axis) = rank + stride(axis)*(modulo(at(axis) + [-1, 1], cut(axis)) &
                                                       - at(axis))
        end do
        call add_neighbours(grid, rank, neighbours)
    end function new_grid

    subroutine add_neighbours(grid, rank, neighbours)
        type(grid_t), intent(inout) :: grid
        integer, intent(in) :: rank, neighbours(2, 2:4)
        integer, parameter :: numbers = 6
        type(box_t) :: span
        integer :: axis, row

        row = numbers*grid%lanes*grid%blocks
        call grid%halo%setup(grid%comm, rank, [row, grid%n + 2], posted=.true.)
        span%first(:4) = [1, 2, 2, 2]
        span%last(:4) = [row, grid%n + 1]
        do axis = 2, 4
            call grid%halo%add(axis, neighbours(:, axis), 1, span)
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

    !> Whether so many processes can share the lattice.
    pure logical function can_cut(extent, ranks)
        integer, intent(in) :: extent(4), ranks
        can_cut = all(parts(extent, ranks) > 0)
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

    !> Where a site of a block is along x, in a row of this offset.
    pure integer function site_x(self, offset, lane, block) result(x)
        class(grid_t), intent(in) :: self
        integer, intent(in) :: offset, lane, block
        x = 2*(block + self%blocks*lane) + offset
    end function site_x

    !> Whether the first neighbours of a block along x are beyond the row's end.
    pure logical function wraps(self, offset, block)
        class(grid_t), intent(in) :: self
        integer, intent(in) :: offset, block
        wraps = block == merge(self%blocks - 1, 0, offset == 1)
    end function wraps

    !> The lane of a site's first neighbour along x.
    pure integer function lane_of_neighbour(self, offset, lane, block) result(neighbour)
        class(grid_t), intent(in) :: self
        integer, intent(in) :: offset, lane, block
        neighbour = lane
        if (self%wraps(offset, block)) neighbour = modulo(lane + steps(1, 1, offset), self%lanes)
    end function lane_of_neighbour

    subroutine new_field(self, field)
        class(grid_t), intent(in) :: self
        type(field_t), intent(out) :: field
        real(dp), pointer, contiguous :: values(:)
        associate (n => self%n, lanes => self%lanes, blocks => self%blocks)
            values => aligned(6_i8*lanes*blocks*product(int(n + 2, i8)))
            field%values(0:lanes - 1, 1:6, 0:blocks - 1, 0:n(2) + 1, 0:n(3) + 1, 0:n(4) + 1) &
                => values
        end associate
    end subroutine new_field

    !> Refreshes all ghosts of a field but those at edges and corners, which no product needs.
    subroutine exchange(self, field)
        class(grid_t), intent(inout) :: self
        type(field_t), intent(in) :: field
        call self%halo%exchange(field%values)
    end subroutine exchange

end module lattice_grid
