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
!> Collective over the grid: `exchange`, `sum_over`.
module lattice_grid

    use bl_kinds, only: dp, i8
    use bl_memory, only: aligned
    use bl_messages, only: comm_allreduce, comm_irecv, comm_isend, comm_waitall
    use mpi, only: MPI_DOUBLE_PRECISION, MPI_SUM

    implicit none(type, external)
    private

    public :: grid_t, field_t, can_cut, parts

    type :: grid_t
        integer :: comm = 0, rank = 0
        !> Half the sites along x; own sites along y, z and t.
        integer :: half = 0, n(2:4) = 0
        !> Sites of the whole lattice before the own ones along y, z and t.
        integer :: before(2:4) = 0
        !> Ranks of the neighbours below and above; the own one where a direction is not cut.
        integer :: neighbour(2, 2:4) = 0
    contains
        procedure :: new_field
        procedure :: exchange
        procedure :: sum_over
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
        integer :: cut(2:4), at(2:4), axis, stride(2:4)

        cut = parts(extent, ranks)
        grid%comm = comm
        grid%rank = rank
        grid%half = extent(1)/2
        stride = [1, cut(2), cut(2)*cut(3)]
        do axis = 2, 4
            at(axis) = mod(rank/stride(axis), cut(axis))
            grid%n(axis) = extent(axis)/cut(axis)
            grid%before(axis) = at(axis)*grid%n(axis)
            grid%neighbour(1, axis) = rank + stride(axis)*(modulo(at(axis) - 1, cut(axis)) - at(axis))
            grid%neighbour(2, axis) = rank + stride(axis)*(modulo(at(axis) + 1, cut(axis)) - at(axis))
        end do
    end function new_grid

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
        class(grid_t), intent(in) :: self
        type(field_t), intent(in) :: field
        real(dp), allocatable, asynchronous :: sent(:, :), received(:, :)
        integer :: requests(12), axis, side, started, most

        associate (f => field%values, n => self%n, half => self%half)
            most = 6*half*max(n(2)*n(3), n(2)*n(4), n(3)*n(4))
            allocate (sent(most, 6), received(most, 6))
            started = 0
            do axis = 2, 4
                if (self%neighbour(1, axis) == self%rank) cycle
                do side = 1, 2
                    call pack_face(half, n, f, axis, merge(1, n(axis), side == 1), &
                                   sent(:, 2*(axis - 2) + side))
                    associate (many => 6*half*product(n)/n(axis), at => 2*(axis - 2) + side)
                        call comm_irecv(received(:, at), many, MPI_DOUBLE_PRECISION, &
                                        self%neighbour(side, axis), 3*axis + 3 - side, self%comm, &
                                        requests(started + 1))
                        call comm_isend(sent(:, at), many, MPI_DOUBLE_PRECISION, &
                                        self%neighbour(side, axis), 3*axis + side, self%comm, &
                                        requests(started + 2))
                    end associate
                    started = started + 2
                end do
            end do
            call wrap(self, f)
            call comm_waitall(started, requests)
            do axis = 2, 4
                if (self%neighbour(1, axis) == self%rank) cycle
                do side = 1, 2
                    call unpack_face(half, n, received(:, 2*(axis - 2) + side), axis, &
                                     merge(0, n(axis) + 1, side == 1), f)
                end do
            end do
        end associate
    end subroutine exchange

    !> Copies what stays in the process: ends of the rows, and faces of directions not cut.
    pure subroutine wrap(grid, f)
        class(grid_t), intent(in) :: grid
        real(dp), intent(inout) :: f(-1:grid%half, 6, 0:grid%n(2) + 1, 0:grid%n(3) + 1, &
                                     0:grid%n(4) + 1)
        integer :: y, z, t

        associate (n => grid%n, half => grid%half)
            if (grid%neighbour(1, 4) == grid%rank) then
                call copy(half*6 + 12, n(2), n(3), f(:, :, :, :, n(4)), f(:, :, :, :, 0))
                call copy(half*6 + 12, n(2), n(3), f(:, :, :, :, 1), f(:, :, :, :, n(4) + 1))
            end if
            do t = 1, n(4)
                if (grid%neighbour(1, 3) == grid%rank) then
                    call copy(half*6 + 12, n(2), -1, f(:, :, :, n(3), t), f(:, :, :, 0, t))
                    call copy(half*6 + 12, n(2), -1, f(:, :, :, 1, t), f(:, :, :, n(3) + 1, t))
                end if
                do z = 1, n(3)
                    if (grid%neighbour(1, 2) == grid%rank) then
                        call copy(half*6 + 12, -1, -1, f(:, :, n(2), z, t), f(:, :, 0, z, t))
                        call copy(half*6 + 12, -1, -1, f(:, :, 1, z, t), f(:, :, n(2) + 1, z, t))
                    end if
                    do y = 1, n(2)
                        f(-1, :, y, z, t) = f(half - 1, :, y, z, t)
                        f(half, :, y, z, t) = f(0, :, y, z, t)
                    end do
                end do
            end do
        end associate
    end subroutine wrap

    !> A layer; ny or nz is -1 where the layer has no such direction.
    pure subroutine copy(row, ny, nz, from, to)
        integer, intent(in) :: row, ny, nz
        real(dp), intent(in) :: from(row*(ny + 2)*(nz + 2))
        real(dp), intent(inout) :: to(row*(ny + 2)*(nz + 2))
        to = from
    end subroutine copy

    pure subroutine pack_face(half, n, f, axis, layer, buffer)
        integer, intent(in) :: half, n(2:4), axis, layer
        real(dp), intent(in) :: f(-1:half, 6, 0:n(2) + 1, 0:n(3) + 1, 0:n(4) + 1)
        real(dp), intent(inout) :: buffer(*)
        integer :: first(2:4), last(2:4), y, z, t, c, place

        first = 1
        last = n
        first(axis) = layer
        last(axis) = layer
        place = 0
        do t = first(4), last(4)
            do z = first(3), last(3)
                do y = first(2), last(2)
                    do c = 1, 6
                        buffer(place + 1:place + half) = f(0:half - 1, c, y, z, t)
                        place = place + half
                    end do
                end do
            end do
        end do
    end subroutine pack_face

    pure subroutine unpack_face(half, n, buffer, axis, layer, f)
        integer, intent(in) :: half, n(2:4), axis, layer
        real(dp), intent(in) :: buffer(*)
        real(dp), intent(inout) :: f(-1:half, 6, 0:n(2) + 1, 0:n(3) + 1, 0:n(4) + 1)
        integer :: first(2:4), last(2:4), y, z, t, c, place

        first = 1
        last = n
        first(axis) = layer
        last(axis) = layer
        place = 0
        do t = first(4), last(4)
            do z = first(3), last(3)
                do y = first(2), last(2)
                    do c = 1, 6
                        f(0:half - 1, c, y, z, t) = buffer(place + 1:place + half)
                        place = place + half
                    end do
                end do
            end do
        end do
    end subroutine unpack_face

    !> Sums a number over the processes: a message of 8 bytes.
    subroutine sum_over(self, number)
        class(grid_t), intent(in) :: self
        real(dp), intent(inout) :: number
        real(dp) :: numbers(1)
        numbers = number
        call comm_allreduce(numbers, 1, MPI_DOUBLE_PRECISION, MPI_SUM, self%comm)
        number = numbers(1)
    end subroutine sum_over

end module lattice_grid
