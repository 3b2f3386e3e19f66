!> The part of the lattice that a process has, and the exchange of its faces.
!>
!> The lattice is cut along t, z and y, never along x. A field holds the sites of one parity: site
!> (x, y, z, t), counted from 0 over the whole lattice, is even if the sum is. Of a row along x, the
!> sites of one parity are x = 2 h + r, h = 0, 1, ..., where r, 0 or 1, makes the parity right. A
!> colour vector is three complex numbers, kept as six reals: f(h, c, y, z, t), h from -1 to half,
!> y, z and t from 0 to one more than the part has, with one ghost on every side.
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

    public :: grid_t, field_t, can_cut, parts

    type :: grid_t
        integer :: comm = 0
        !> Half the sites along x; own sites along y, z and t.
        integer :: half = 0, n(2:4) = 0
        !> Sites of the whole lattice before the own ones along y, z and t.
        integer :: before(2:4) = 0
        type(halo_t), private :: halo
    contains
        procedure :: new_field
        procedure :: exchange
        procedure :: row_offset
    end type grid_t

    interface grid_t
        module procedure new_grid
    end interface grid_t

    !> values(-1:half, 6, 0:, 0:, 0:)
    type :: field_t
        real(dp), pointer, contiguous :: values(:, :, :, :, :) => null()
    end type field_t

contains

    type(grid_t) function new_grid(comm, rank, ranks, extent) result(grid)
        integer, intent(in) :: comm, rank, ranks, extent(4)
        integer :: cut(2:4), at(2:4), axis, stride(2:4), neighbours(2, 2:4)

        cut = parts(extent, ranks)
        grid%comm = comm
        grid%half = extent(1)/2
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

    !> Along x a row's own ends are its ghosts.
    subroutine add_neighbours(grid, rank, neighbours)
        type(grid_t), intent(inout) :: grid
        integer, intent(in) :: rank, neighbours(2, 2:4)
        integer, parameter :: numbers = 6
        type(box_t) :: span
        integer :: axis

        call grid%halo%setup(grid%comm, rank, [grid%half + 2, numbers, grid%n + 2], posted=.true.)
        span%first = [2, 1, 2, 2, 2]
        span%last = [grid%half + 1, numbers, grid%n + 1]
        call grid%halo%add(1, [rank, rank], 1, span)
        do axis = 2, 4
            call grid%halo%add(axis + 1, neighbours(:, axis), 1, span)
        end do
    end subroutine add_neighbours

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

    subroutine new_field(self, field)
        class(grid_t), intent(in) :: self
        type(field_t), intent(out) :: field
        real(dp), pointer, contiguous :: values(:)
        associate (n => self%n)
            values => aligned(6_i8*(self%half + 2)*(n(2) + 2)*(n(3) + 2)*(n(4) + 2))
            field%values(-1:self%half, 1:6, 0:n(2) + 1, 0:n(3) + 1, 0:n(4) + 1) => values
        end associate
    end subroutine new_field

    !> Refreshes all ghosts of a field but those at edges and corners, which no product needs.
    subroutine exchange(self, field)
        class(grid_t), intent(inout) :: self
        type(field_t), intent(in) :: field
        call self%halo%exchange(field%values)
    end subroutine exchange

end module lattice_grid
