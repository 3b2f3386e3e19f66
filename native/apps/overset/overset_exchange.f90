!> What blocks need of each other: neighbours in a zone copy points, zones that overlap interpolate.
!>
!> A link carries points of one block to another one: five numbers each. All links between two
!> processes make one message; links within a process go through the same buffers. Interpolation is
!> trilinear and done where the eight points are, before sending, so that it is a point that
!> travels, not eight. (`bl_halo` of the harness serves one array with its neighbours; here every
!> process has many blocks.)
!>
!> Exported: `exchange_t`, and the functions that make its links: `copies`, `overlaps`. Collective:
!> `run`. Timed: `run`.
module overset_exchange

    use mpi, only: MPI_DOUBLE_PRECISION
    use bl_kinds, only: dp
    use bl_messages, only: comm_irecv, comm_isend, comm_waitall
    use overset_field, only: field_t
    use overset_zones, only: block_at, block_t, ghost, zone_t

    implicit none(type, external)
    private

    public :: exchange_t, link_t, copies, overlaps

    !> Points that go from one block to another.
    type :: link_t
        integer :: from = 0, to = 0
        integer :: points = 0
        !> Where its numbers begin in the buffer.
        integer :: first = 0
        !> Of a copy: the points, by their numbers in the zone.
        integer :: lo(3) = 0, hi(3) = 0
        !> Of an interpolation: place in `flat` of the lower corner of the cell around the point (on
        !> the giving side) or of the point (on the receiving side), and shares of the upper ones.
        integer, allocatable :: at(:)
        real(dp), allocatable :: share(:, :)
    end type link_t

    !> All numbers between this process and another one.
    type :: message_t
        integer :: peer = 0, first = 0, count = 0
    end type message_t

    type :: exchange_t
        private
        integer :: comm = 0, rank = 0, tag = 0
        type(link_t), allocatable :: sends(:), receives(:)
        type(message_t), allocatable :: outgoing(:), incoming(:)
        real(dp), allocatable :: sent(:), received(:)
        integer, allocatable :: requests(:)
        !> Place in `fields` of each block; 0 where another process has it.
        integer, allocatable :: local(:)
    contains
        procedure :: setup
        procedure :: run
    end type exchange_t

contains

    !> Links of both sides come in the same order, by receiving, then by giving block.
    subroutine setup(self, comm, rank, ranks, tag, blocks, local, sends, receives)
        class(exchange_t), intent(inout) :: self
        integer, intent(in) :: comm, rank, ranks, tag, local(:)
        type(block_t), intent(in) :: blocks(:)
        type(link_t), intent(in) :: sends(:), receives(:)
        integer :: l

        self%comm = comm
        self%rank = rank
        self%tag = tag
        self%local = local
        self%sends = sends
        self%receives = receives
        call arrange(self%sends, [(blocks(sends(l)%to)%owner, l=1, size(sends))], ranks, &
                     self%outgoing)
        call arrange(self%receives, [(blocks(receives(l)%from)%owner, l=1, size(receives))], &
                     ranks, self%incoming)
        allocate (self%sent(sum(self%outgoing%count)), source=0.0_dp)
        allocate (self%received(sum(self%incoming%count)), source=0.0_dp)
        allocate (self%requests(size(self%outgoing) + size(self%incoming)), source=0)
    end subroutine setup

    !> Gives every link its place and makes a message for each process.
    subroutine arrange(links, peers, ranks, messages)
        type(link_t), intent(inout) :: links(:)
        integer, intent(in) :: peers(:), ranks
        type(message_t), allocatable, intent(out) :: messages(:)
        integer :: peer, l, first
        allocate (messages(0))
        first = 1
        do peer = 0, ranks - 1
            if (all(peers /= peer)) cycle
            messages = [messages, message_t(peer, first, 0)]
            associate (message => messages(size(messages)))
                do l = 1, size(links)
                    if (peers(l) /= peer) cycle
                    links(l)%first = first
                    first = first + 5*links(l)%points
                end do
                message%count = first - message%first
            end associate
        end do
    end subroutine arrange

    !> Brings the ghosts of all links up to date.
    subroutine run(self, fields)
        class(exchange_t), intent(inout), asynchronous :: self
        type(field_t), intent(inout) :: fields(:)
        integer :: m, l, started

        started = 0
        do m = 1, size(self%incoming)
            associate (message => self%incoming(m))
                if (message%peer == self%rank) cycle
                started = started + 1
                call comm_irecv(self%received(message%first), message%count, &
                                MPI_DOUBLE_PRECISION, message%peer, self%tag, self%comm, &
                                self%requests(started))
            end associate
        end do
        do l = 1, size(self%sends)
            associate (link => self%sends(l))
                call give(link, fields(self%local(link%from)), self%sent(link%first))
            end associate
        end do
        do m = 1, size(self%outgoing)
            associate (message => self%outgoing(m))
                if (message%peer == self%rank) then
                    call keep(self, message)
                    cycle
                end if
                started = started + 1
                call comm_isend(self%sent(message%first), message%count, MPI_DOUBLE_PRECISION, &
                                message%peer, self%tag, self%comm, self%requests(started))
            end associate
        end do
        if (started > 0) call comm_waitall(started, self%requests)
        do l = 1, size(self%receives)
            associate (link => self%receives(l))
                call take(link, self%received(link%first), fields(self%local(link%to)))
            end associate
        end do
    end subroutine run

    !> What stays in the process.
    subroutine keep(self, message)
        class(exchange_t), intent(inout) :: self
        type(message_t), intent(in) :: message
        integer :: m
        do m = 1, size(self%incoming)
            if (self%incoming(m)%peer /= self%rank) cycle
            associate (first => self%incoming(m)%first, last => message%count - 1)
                self%received(first:first + last) = self%sent(message%first:message%first + last)
            end associate
        end do
    end subroutine keep

    subroutine give(link, field, buffer)
        type(link_t), intent(in) :: link
        type(field_t), intent(in) :: field
        real(dp), intent(inout) :: buffer(5*link%points)
        if (allocated(link%at)) then
            call interpolate(link%points, link%at, link%share, field%rows, 5*field%rows, &
                             5*field%rows*(field%n(2) + 2*ghost), field%flat, buffer)
        else
            call pack(link%lo - field%before, link%hi - field%before, field%rows, field%n, &
                      field%q, buffer)
        end if
    end subroutine give

    subroutine take(link, buffer, field)
        type(link_t), intent(in) :: link
        real(dp), intent(in) :: buffer(5*link%points)
        type(field_t), intent(inout) :: field
        if (allocated(link%at)) then
            call put(link%points, link%at, field%rows, buffer, field%flat)
        else
            call unpack(link%lo - field%before, link%hi - field%before, field%rows, field%n, &
                        buffer, field%q)
        end if
    end subroutine take

    !> Along z, then y, then x. `across` and `up` lead to the next point along y and z.
    pure subroutine interpolate(points, at, share, rows, across, up, flat, buffer)
        integer, intent(in) :: points, at(points), rows, across, up
        real(dp), intent(in) :: share(3, points)
        real(dp), intent(in), contiguous :: flat(:)
        real(dp), intent(inout) :: buffer(5, points)
        real(dp) :: corner(4), side(2)
        integer :: p, c, o

        do p = 1, points
            do c = 1, 5
                o = at(p) + (c - 1)*rows
                corner(1) = flat(o) + share(3, p)*(flat(o + up) - flat(o))
                corner(2) = flat(o + 1) + share(3, p)*(flat(o + 1 + up) - flat(o + 1))
                o = o + across
                corner(3) = flat(o) + share(3, p)*(flat(o + up) - flat(o))
                corner(4) = flat(o + 1) + share(3, p)*(flat(o + 1 + up) - flat(o + 1))
                side = corner(:2) + share(2, p)*(corner(3:) - corner(:2))
                buffer(c, p) = side(1) + share(1, p)*(side(2) - side(1))
            end do
        end do
    end subroutine interpolate

    pure subroutine put(points, at, rows, buffer, flat)
        integer, intent(in) :: points, at(points), rows
        real(dp), intent(in) :: buffer(5, points)
        real(dp), intent(inout), contiguous :: flat(:)
        integer :: p, c
        do p = 1, points
            do c = 1, 5
                flat(at(p) + (c - 1)*rows) = buffer(c, p)
            end do
        end do
    end subroutine put

    pure subroutine pack(lo, hi, rows, n, q, buffer)
        integer, intent(in) :: lo(3), hi(3), rows, n(3)
        real(dp), intent(in) :: q(-1:rows - 2, 5, -1:n(2) + 2, -1:n(3) + 2)
        real(dp), intent(inout) :: buffer(lo(1):hi(1), 5, lo(2):hi(2), lo(3):hi(3))
        integer :: i, c, j, k
        do k = lo(3), hi(3)
            do j = lo(2), hi(2)
                do c = 1, 5
                    do i = lo(1), hi(1)
                        buffer(i, c, j, k) = q(i, c, j, k)
                    end do
                end do
            end do
        end do
    end subroutine pack

    pure subroutine unpack(lo, hi, rows, n, buffer, q)
        integer, intent(in) :: lo(3), hi(3), rows, n(3)
        real(dp), intent(in) :: buffer(lo(1):hi(1), 5, lo(2):hi(2), lo(3):hi(3))
        real(dp), intent(inout) :: q(-1:rows - 2, 5, -1:n(2) + 2, -1:n(3) + 2)
        integer :: i, c, j, k
        do k = lo(3), hi(3)
            do j = lo(2), hi(2)
                do c = 1, 5
                    do i = lo(1), hi(1)
                        q(i, c, j, k) = buffer(i, c, j, k)
                    end do
                end do
            end do
        end do
    end subroutine unpack

    !> Links between neighbouring blocks of a zone: edges and corners as well, which interpolation
    !> reads. Those that give, or that take, on this process.
    function copies(zones, blocks, rank, giving) result(links)
        type(zone_t), intent(in) :: zones(:)
        type(block_t), intent(in) :: blocks(:)
        integer, intent(in) :: rank
        logical, intent(in) :: giving
        type(link_t), allocatable :: links(:)
        type(link_t) :: link
        integer :: from, to, z, many

        allocate (links(64))
        many = 0
        do to = 1, size(blocks)
            z = blocks(to)%zone
            do from = zones(z)%first_block, zones(z)%first_block + product(zones(z)%parts) - 1
                if (blocks(merge(from, to, giving))%owner /= rank .or. from == to) cycle
                link = link_t(from, to)
                link%lo = max(blocks(from)%lo, blocks(to)%lo - ghost)
                link%hi = min(blocks(from)%hi, blocks(to)%hi + ghost)
                if (any(link%lo > link%hi)) cycle
                link%points = product(link%hi - link%lo + 1)
                call append(links, many, link)
            end do
        end do
        links = links(:many)
    end function copies

    !> Adds one to the first `many`.
    subroutine append(links, many, link)
        type(link_t), allocatable, intent(inout) :: links(:)
        integer, intent(inout) :: many
        type(link_t), intent(in) :: link
        type(link_t), allocatable :: room(:)
        if (many == size(links)) then
            allocate (room(2*many))
            room(:many) = links
            call move_alloc(room, links)
        end if
        many = many + 1
        links(many) = link
    end subroutine append

    !> Links between zones that overlap.
    function overlaps(zones, blocks, rank, giving, fields, local) result(links)
        type(zone_t), intent(in) :: zones(:)
        type(block_t), intent(in) :: blocks(:)
        integer, intent(in) :: rank, local(:)
        logical, intent(in) :: giving
        type(field_t), intent(in) :: fields(:)
        type(link_t), allocatable :: links(:)
        type(link_t) :: link
        integer, allocatable :: fringe(:, :), corner(:, :), from(:)
        real(dp), allocatable :: share(:, :)
        logical :: gives(0:size(blocks))
        integer :: to, giver, p, many

        allocate (links(64))
        many = 0
        do to = 1, size(blocks)
            if (.not. giving .and. blocks(to)%owner /= rank) cycle
            fringe = fringe_of(blocks(to), zones(blocks(to)%zone))
            allocate (from(size(fringe, 2)), corner(3, size(fringe, 2)), &
                      share(3, size(fringe, 2)))
            gives = .false.
            do p = 1, size(fringe, 2)
                call find_giver(zones, blocks, blocks(to)%zone, fringe(:, p), from(p), &
                                corner(:, p), share(:, p))
                gives(from(p)) = .true.
            end do
            do giver = 1, size(blocks)
                if (.not. gives(giver)) cycle
                if (giving .and. blocks(giver)%owner /= rank) cycle
                link = link_t(giver, to, count(from == giver))
                if (giving) then
                    link%share = reshape(pack_where(share, from == giver), [3, link%points])
                    link%at = places(fields(local(giver)), corner, from == giver)
                else
                    link%at = places(fields(local(to)), fringe, from == giver)
                end if
                call append(links, many, link)
            end do
            deallocate (from, corner, share)
        end do
        links = links(:many)
    end function overlaps

    pure function pack_where(share, chosen) result(values)
        real(dp), intent(in) :: share(:, :)
        logical, intent(in) :: chosen(:)
        real(dp) :: values(3*count(chosen))
        integer :: p, place
        place = 0
        do p = 1, size(chosen)
            if (.not. chosen(p)) cycle
            values(place + 1:place + 3) = share(:, p)
            place = place + 3
        end do
    end function pack_where

    pure function places(field, points, chosen) result(at)
        type(field_t), intent(in) :: field
        integer, intent(in) :: points(:, :)
        logical, intent(in) :: chosen(:)
        integer :: at(count(chosen))
        integer :: p, place
        place = 0
        do p = 1, size(chosen)
            if (.not. chosen(p)) cycle
            place = place + 1
            at(place) = field%flat_index(points(:, p))
        end do
    end function places

    !> The points beyond the zone's faces that a block has, without edges.
    pure function fringe_of(block, zone) result(points)
        type(block_t), intent(in) :: block
        type(zone_t), intent(in) :: zone
        integer, allocatable :: points(:, :)
        integer :: axis, side, lo(3), hi(3), i, j, k, p

        allocate (points(3, 4*ghost*sum(block%points()/(block%hi - block%lo + 1))))
        p = 0
        do axis = 1, 3
            do side = 1, 2
                if (side == 1 .and. block%lo(axis) > 1) cycle
                if (side == 2 .and. block%hi(axis) < zone%n(axis)) cycle
                lo = block%lo
                hi = block%hi
                lo(axis) = merge(1 - ghost, zone%n(axis) + 1, side == 1)
                hi(axis) = lo(axis) + ghost - 1
                do k = lo(3), hi(3)
                    do j = lo(2), hi(2)
                        do i = lo(1), hi(1)
                            p = p + 1
                            points(:, p) = [i, j, k]
                        end do
                    end do
                end do
            end do
        end do
        points = points(:, :p)
    end function fringe_of

    !> The block that gives a point of a zone's fringe, the lower corner of the cell of its zone's
    !> points around it, and the upper corners' shares. 0 for a point outside of the box.
    pure subroutine find_giver(zones, blocks, zone, point, giver, corner, share)
        type(zone_t), intent(in) :: zones(:)
        type(block_t), intent(in) :: blocks(:)
        integer, intent(in) :: zone, point(3)
        integer, intent(out) :: giver, corner(3)
        real(dp), intent(out) :: share(3)
        real(dp) :: place(3)
        integer :: z

        giver = 0
        corner = 0
        share = 0
        place = zones(zone)%place([1, 2, 3], point)
        do z = 1, size(zones)
            if (.not. zones(z)%holds(place)) cycle
            share = (place - zones(z)%corner)/zones(z)%h + 0.5_dp
            corner = floor(share)
            share = share - corner
            giver = block_at(zones(z), blocks, corner)
            return
        end do
    end subroutine find_giver

end module overset_exchange
