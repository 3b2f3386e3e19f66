!> How the cube is cut into bricks of cells and the bricks are shared out, and the exchange of
!> ghosts.
!>
!> Bricks that hold any fluid are numbered along Hilbert's curve; each process has a contiguous
!> share. A brick is a brick on all levels of the multigrid: with m cells along an edge on one level
!> it has m/2 on the next, so that what passes between levels stays in the process.
!>
!> A field of a level is f(m*m, 5, m, bricks): planes of constant z one after the other, in each the
!> five variables, in each of these x before y. What a brick sees of a neighbour are the `depth`
!> layers of cells next to it, a face:
!>
!>     across x: face(depth, m, 5, m), y: face(m*depth, 5, m), z: face(m*m, 5, depth)
!>
!> layers from low to high coordinates. Faces of bricks of other processes are ghosts; so are those
!> at the cube's boundary and next to bricks without fluid, which nobody refreshes.
!>
!> Sides are 1 to 6: below and above along x, y, z.
!>
!> Collective over the communicator: `exchange`, one message to and from each process that has
!> neighbouring bricks.
module cartesian_bricks

    use bl_kinds, only: dp
    use bl_messages, only: comm_irecv, comm_isend, comm_waitall
    use cartesian_curve, only: hilbert_key, shares
    use cartesian_problem, only: brick_cells, side_axis, side_step
    use mpi, only: MPI_DOUBLE_PRECISION

    implicit none(type, external)
    private

    public :: bricks_t, new_bricks, brick_count

    !> A brick that the wall passes costs more.
    integer, parameter :: weight_open = 2, weight_cut = 3

    type :: bricks_t
        integer :: comm = 0, rank = 0
        !> Bricks along an edge of the cube; bricks of this process.
        integer :: along = 0, own = 0
        !> Place, counted from 0, of each own brick: at(3, own).
        integer, allocatable :: at(:, :)
        !> The brick on each side, or the negative number of the ghost face: neighbour(6, own).
        integer, allocatable :: neighbour(:, :)
        !> Whether the wall may pass the brick or the cells around it.
        logical, allocatable :: cut(:)
        !> Ghost faces: first those that come from other processes, in the order of the messages.
        integer :: ghosts = 0, received = 0
        !> Ranks that have neighbouring bricks, the number of faces before those of each, in what is
        !> received and in what is sent, and brick and side of each face that is sent.
        integer, allocatable :: ranks(:), received_before(:), sent_before(:), sent(:, :)
    contains
        procedure :: exchange
        procedure :: low_corner
    end type bricks_t

    !> All bricks that hold fluid, in the order of the curve.
    type :: catalogue_t
        !> at(3, number); number(0:, 0:, 0:), 0 without fluid; owner(number).
        integer, allocatable :: at(:, :), number(:, :, :), owner(:)
        logical, allocatable :: cut(:)
    end type catalogue_t

contains

    !> How many bricks of `edge` cells hold fluid around a sphere in the middle: the largest number
    !> of processes.
    pure integer function brick_count(along, edge, radius) result(count)
        integer, intent(in) :: along, edge
        real(dp), intent(in) :: radius
        integer :: i, j, k
        count = 0
        do k = 0, along - 1
            do j = 0, along - 1
                do i = 0, along - 1
                    if (holds_fluid([i, j, k], along, edge, radius)) count = count + 1
                end do
            end do
        end do
    end function brick_count

    pure logical function holds_fluid(place, along, edge, radius)
        integer, intent(in) :: place(3), along, edge
        real(dp), intent(in) :: radius
        real(dp) :: farthest(3)
        farthest = edge*(abs(place + 0.5_dp - along/2.0_dp) + 0.5_dp)
        holds_fluid = sum(farthest**2) > radius**2
    end function holds_fluid

    !> Whether the wall comes within a cell of a brick.
    pure logical function near_wall(place, along, edge, radius)
        integer, intent(in) :: place(3), along, edge
        real(dp), intent(in) :: radius
        real(dp) :: nearest(3)
        nearest = max(edge*(abs(place + 0.5_dp - along/2.0_dp) - 0.5_dp) - 1, 0.0_dp)
        near_wall = sum(nearest**2) < radius**2
    end function near_wall

    type(bricks_t) function new_bricks(comm, rank, ranks, along, edge, radius) result(bricks)
        integer, intent(in) :: comm, rank, ranks, along, edge
        real(dp), intent(in) :: radius
        type(catalogue_t) :: all_bricks
        integer, allocatable :: own(:)
        integer :: i

        all_bricks = catalogue(along, edge, radius, ranks)
        own = pack([(i, i=1, size(all_bricks%owner))], all_bricks%owner == rank)
        bricks%comm = comm
        bricks%rank = rank
        bricks%along = along
        bricks%own = size(own)
        bricks%at = all_bricks%at(:, own)
        bricks%cut = all_bricks%cut(own)
        call find_neighbours(bricks, all_bricks, own(1), ranks)
    end function new_bricks

    pure type(catalogue_t) function catalogue(along, edge, radius, ranks) result(all_bricks)
        integer, intent(in) :: along, edge, ranks
        real(dp), intent(in) :: radius
        integer, allocatable :: by_key(:)
        integer :: bits, i, j, k, place, number

        bits = 1
        do while (2**bits < along)
            bits = bits + 1
        end do
        allocate (by_key(0:8**bits - 1), source=-1)
        allocate (all_bricks%number(0:along - 1, 0:along - 1, 0:along - 1), source=0)
        do k = 0, along - 1
            do j = 0, along - 1
                do i = 0, along - 1
                    if (holds_fluid([i, j, k], along, edge, radius)) &
                        by_key(hilbert_key([i, j, k], bits)) = i + along*(j + along*k)
                end do
            end do
        end do
        allocate (all_bricks%at(3, count(by_key >= 0)), all_bricks%cut(count(by_key >= 0)))
        number = 0
        do i = 0, ubound(by_key, 1)
            place = by_key(i)
            if (place < 0) cycle
            number = number + 1
            associate (at => all_bricks%at(:, number))
                at = [mod(place, along), mod(place/along, along), place/along**2]
                all_bricks%number(at(1), at(2), at(3)) = number
                all_bricks%cut(number) = near_wall(at, along, edge, radius)
            end associate
        end do
        allocate (all_bricks%owner, source=shares(merge(weight_cut, weight_open, all_bricks%cut), &
                                                  ranks))
    end function catalogue

    !> Number of the brick on one side of another, 0 if there is none with fluid.
    pure integer function beside(all_bricks, number, side)
        type(catalogue_t), intent(in) :: all_bricks
        integer, intent(in) :: number, side
        integer :: at(3), axis
        axis = side_axis(side)
        at = all_bricks%at(:, number)
        at(axis) = at(axis) + side_step(side)
        beside = 0
        if (at(axis) < 0 .or. at(axis) > ubound(all_bricks%number, axis)) return
        beside = all_bricks%number(at(1), at(2), at(3))
    end function beside

    !> Sets neighbours and the lists of what is exchanged. Both partners of a message list its faces
    !> by the sender's bricks along the curve, and by side.
    pure subroutine find_neighbours(bricks, all_bricks, first, ranks)
        type(bricks_t), intent(inout) :: bricks
        type(catalogue_t), intent(in) :: all_bricks
        integer, intent(in) :: first, ranks
        logical :: partner(0:ranks - 1)
        integer :: number, side, other, rank, listed

        allocate (bricks%neighbour(6, bricks%own), source=0)
        allocate (bricks%sent(2, 6*bricks%own))
        partner = .false.
        do number = first, first + bricks%own - 1
            do side = 1, 6
                other = beside(all_bricks, number, side)
                if (other == 0) cycle
                if (all_bricks%owner(other) /= bricks%rank) then
                    partner(all_bricks%owner(other)) = .true.
                else
                    bricks%neighbour(side, number - first + 1) = other - first + 1
                end if
            end do
        end do
        bricks%ranks = pack([(rank, rank=0, ranks - 1)], partner)
        allocate (bricks%received_before(size(bricks%ranks) + 1), source=0)
        allocate (bricks%sent_before(size(bricks%ranks) + 1), source=0)
        do listed = 1, size(bricks%ranks)
            call list_sent(bricks, all_bricks, first, listed)
            call list_received(bricks, all_bricks, first, listed)
        end do
        bricks%received = bricks%ghosts
        bricks%sent = bricks%sent(:, :bricks%sent_before(size(bricks%ranks) + 1))
        do number = 1, bricks%own
            do side = 1, 6
                if (bricks%neighbour(side, number) /= 0) cycle
                bricks%ghosts = bricks%ghosts + 1
                bricks%neighbour(side, number) = -bricks%ghosts
            end do
        end do
    end subroutine find_neighbours

    pure subroutine list_sent(bricks, all_bricks, first, listed)
        type(bricks_t), intent(inout) :: bricks
        type(catalogue_t), intent(in) :: all_bricks
        integer, intent(in) :: first, listed
        integer :: number, side, other, faces
        faces = bricks%sent_before(listed)
        do number = first, first + bricks%own - 1
            do side = 1, 6
                other = beside(all_bricks, number, side)
                if (other == 0) cycle
                if (all_bricks%owner(other) /= bricks%ranks(listed)) cycle
                faces = faces + 1
                bricks%sent(:, faces) = [number - first + 1, side]
            end do
        end do
        bricks%sent_before(listed + 1) = faces
    end subroutine list_sent

    pure subroutine list_received(bricks, all_bricks, first, listed)
        type(bricks_t), intent(inout) :: bricks
        type(catalogue_t), intent(in) :: all_bricks
        integer, intent(in) :: first, listed
        integer :: number, side, other
        do number = 1, size(all_bricks%owner)
            if (all_bricks%owner(number) /= bricks%ranks(listed)) cycle
            do side = 1, 6
                other = beside(all_bricks, number, side) - first + 1
                if (other < 1 .or. other > bricks%own) cycle
                bricks%ghosts = bricks%ghosts + 1
                bricks%neighbour(side - side_step(side), other) = -bricks%ghosts
            end do
        end do
        bricks%received_before(listed + 1) = bricks%ghosts
    end subroutine list_received

    !> Lower corner of an own brick relative to the cube's centre, in cells of the finest level.
    pure function low_corner(self, b) result(low)
        class(bricks_t), intent(in) :: self
        integer, intent(in) :: b
        real(dp) :: low(3)
        low = brick_cells*(self%at(:, b) - self%along/2.0_dp)
    end function low_corner

    !> Refreshes the ghosts of a field on the level with m cells along an edge of a brick.
    subroutine exchange(self, m, depth, tag, field, ghost, buffer)
        class(bricks_t), intent(in) :: self
        integer, intent(in) :: m, depth, tag
        real(dp), intent(in) :: field(m*m, 5, m, self%own)
        real(dp), intent(inout), asynchronous :: ghost(m*m*5*depth, *)
        real(dp), intent(inout), asynchronous :: buffer(m*m*5*depth, *)
        integer :: requests(2*size(self%ranks)), listed, face, first

        do listed = 1, size(self%ranks)
            first = self%received_before(listed)
            call comm_irecv(ghost(1, first + 1), &
                            m*m*5*depth*(self%received_before(listed + 1) - first), &
                            MPI_DOUBLE_PRECISION, self%ranks(listed), tag, self%comm, &
                            requests(2*listed - 1))
        end do
        do listed = 1, size(self%ranks)
            first = self%sent_before(listed)
            do face = first + 1, self%sent_before(listed + 1)
                call pack_face(m, depth, self%sent(2, face), field(:, :, :, self%sent(1, face)), &
                               buffer(:, face))
            end do
            call comm_isend(buffer(1, first + 1), &
                            m*m*5*depth*(self%sent_before(listed + 1) - first), &
                            MPI_DOUBLE_PRECISION, self%ranks(listed), tag, self%comm, &
                            requests(2*listed))
        end do
        call comm_waitall(size(requests), requests)
    end subroutine exchange

    pure subroutine pack_face(m, depth, side, brick, face)
        integer, intent(in) :: m, depth, side
        real(dp), intent(in) :: brick(m, m, 5, m)
        real(dp), intent(inout) :: face(m*m*5*depth)
        integer :: first, last, place, variable, y, z

        first = merge(1, m - depth + 1, side_step(side) < 0)
        last = first + depth - 1
        place = 0
        do z = merge(first, 1, side > 4), merge(last, m, side > 4)
            do variable = 1, 5
                do y = merge(first, 1, side_axis(side) == 2), merge(last, m, side_axis(side) == 2)
                    if (side <= 2) then
                        face(place + 1:place + depth) = brick(first:last, y, variable, z)
                        place = place + depth
                    else
                        face(place + 1:place + m) = brick(:, y, variable, z)
                        place = place + m
                    end if
                end do
            end do
        end do
    end subroutine pack_face

end module cartesian_bricks
