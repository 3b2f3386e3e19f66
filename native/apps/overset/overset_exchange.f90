!> What blocks need of each other: neighbours in a zone copy points, zones that overlap interpolate.
!>
!> A link carries points of one block to another one: five numbers each. All links between two
!> processes make one message; links within a process go from block to block while messages travel.
!> They may: no link reads what another one of the same exchange writes. Interpolation is trilinear
!> and done where the eight points are, before sending, so that it is a point that travels, not
!> eight. (`bl_halo` of the harness serves one array with its neighbours; here every process has many
!> blocks.)
!>
!> Exported: `exchange_t`, and the functions that make its links: `copies`, `overlaps`. Collective:
!> `run`. Timed: `run`.
module overset_exchange

    use mpi, only: MPI_DOUBLE_PRECISION
    use bl_kinds, only: dp
    use bl_messages, only: comm_irecv, comm_isend, comm_waitall
    use overset_field, only: field_t
    use overset_zones, only: block_t, ghost, zone_t

    implicit none(type, external)
    private

    public :: exchange_t, link_t, copies, overlaps

    !> Layers of a box along an axis.
    type :: axis_t
        integer, allocatable :: below(:)
        real(dp), allocatable :: share(:)
    end type axis_t

    !> A box of points that goes from one block to another.
    type :: link_t
        integer :: from = 0, to = 0
        !> The points by their numbers in the receiving zone.
        integer :: lo(3) = 0, hi(3) = 0
        !> Where its numbers begin in the buffer; 0 if both blocks are here.
        integer :: first = 0
        !> Of an interpolation, on the giving side: along each axis, for each layer of the box, the
        !> point of the giving block below it, and the share of the point above.
        type(axis_t), allocatable :: axes(:)
    contains
        procedure :: values => link_values
    end type link_t

    !> All numbers between this process and another one.
    type :: message_t
        integer :: peer = 0, first = 0, count = 0
    end type message_t

    type :: exchange_t
        private
        integer :: comm = 0, tag = 0
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
        self%tag = tag
        self%local = local
        self%sends = sends
        self%receives = receives
        call arrange(self%sends, [(blocks(sends(l)%to)%owner, l=1, size(sends))], rank, ranks, &
                     self%outgoing)
        call arrange(self%receives, [(blocks(receives(l)%from)%owner, l=1, size(receives))], &
                     rank, ranks, self%incoming)
        allocate (self%sent(sum(self%outgoing%count)), source=0.0_dp)
        allocate (self%received(sum(self%incoming%count)), source=0.0_dp)
        allocate (self%requests(size(self%outgoing) + size(self%incoming)), source=0)
    end subroutine setup

    !> Gives every link its place and makes a message for each other process.
    subroutine arrange(links, peers, rank, ranks, messages)
        type(link_t), intent(inout) :: links(:)
        integer, intent(in) :: peers(:), rank, ranks
        type(message_t), allocatable, intent(out) :: messages(:)
        integer :: peer, l, first
        allocate (messages(0))
        first = 1
        do peer = 0, ranks - 1
            if (peer == rank .or. all(peers /= peer)) cycle
            messages = [messages, message_t(peer, first, 0)]
            associate (message => messages(size(messages)))
                do l = 1, size(links)
                    if (peers(l) /= peer) cycle
                    links(l)%first = first
                    first = first + links(l)%values()
                end do
                message%count = first - message%first
            end associate
        end do
    end subroutine arrange

    pure integer function link_values(self)
        class(link_t), intent(in) :: self
        link_values = 5*product(self%hi - self%lo + 1)
    end function link_values

    !> Brings the ghosts of all links up to date.
    subroutine run(self, fields)
        class(exchange_t), intent(inout), asynchronous :: self
        type(field_t), intent(inout) :: fields(:)
        integer :: m, l, incoming

        incoming = size(self%incoming)
        do m = 1, incoming
            associate (message => self%incoming(m))
                call comm_irecv(self%received(message%first), message%count, &
                                MPI_DOUBLE_PRECISION, message%peer, self%tag, self%comm, &
                                self%requests(m))
            end associate
        end do
        do l = 1, size(self%sends)
            associate (link => self%sends(l))
                if (link%first == 0) cycle
                associate (points => link%hi - link%lo + 1)
                    call give(link, fields(self%local(link%from)), points(1), points(2), &
                              self%sent(link%first:))
                end associate
            end associate
        end do
        do m = 1, size(self%outgoing)
            associate (message => self%outgoing(m))
                call comm_isend(self%sent(message%first), message%count, MPI_DOUBLE_PRECISION, &
                                message%peer, self%tag, self%comm, self%requests(incoming + m))
            end associate
        end do
        do l = 1, size(self%sends)
            associate (link => self%sends(l))
                if (link%first > 0) cycle
                associate (to => fields(self%local(link%to)))
                    call give(link, fields(self%local(link%from)), to%rows, to%planes, &
                              to%values(to%place(link%lo):))
                end associate
            end associate
        end do
        if (size(self%requests) > 0) call comm_waitall(size(self%requests), self%requests)
        do l = 1, size(self%receives)
            associate (link => self%receives(l))
                if (link%first == 0) cycle
                associate (to => fields(self%local(link%to)), points => link%hi - link%lo + 1)
                    call copy_box(points, points(1), points(2), self%received(link%first:), &
                                  to%rows, to%planes, to%values(to%place(link%lo):))
                end associate
            end associate
        end do
    end subroutine run

    !> The points of a link to where the first of them belongs, in rows of `wide` and planes of
    !> `high` rows.
    subroutine give(link, field, wide, high, out)
        type(link_t), intent(in) :: link
        type(field_t), intent(in) :: field
        integer, intent(in) :: wide, high
        real(dp), intent(inout) :: out(*)
        if (allocated(link%axes)) then
            associate (points => link%hi - link%lo + 1, x => link%axes(1), y => link%axes(2), &
                       z => link%axes(3))
                if (points(1) == ghost) then
                    call interpolate_pairs(points, x%below, y%below, z%below, x%share, y%share, &
                                           z%share, field%rows, field%n, field%q, wide, high, out)
                else
                    call interpolate(points, x%below, y%below, z%below, x%share, y%share, &
                                     z%share, field%rows, field%n, field%q, wide, high, out)
                end if
            end associate
        else
            call copy_box(link%hi - link%lo + 1, field%rows, field%planes, &
                          field%values(field%place(link%lo):), wide, high, out)
        end if
    end subroutine give

    !> Along z and y for whole rows of the giving block, then along x from point to point. b are the
    !> points below, s the shares of those above, along x, y and z.
    pure subroutine interpolate(points, bx, by, bz, sx, sy, sz, rows, n, q, wide, high, out)
        integer, intent(in) :: points(3), bx(points(1)), by(points(2)), bz(points(3)), rows, n(3)
        real(dp), intent(in) :: sx(points(1)), sy(points(2)), sz(points(3))
        real(dp), intent(in) :: q(-1:rows - 2, 5, -1:n(2) + 2, -1:n(3) + 2)
        integer, intent(in) :: wide, high
        real(dp), intent(inout) :: out(wide, 5, high, *)
        real(dp) :: row(-1:rows - 2), lower, upper
        integer :: i, j, k, c

        do k = 1, points(3)
            do j = 1, points(2)
                associate (y => by(j), z => bz(k))
                    do c = 1, 5
                        !$omp simd private(lower, upper)
                        do i = bx(1), bx(points(1)) + 1
                            lower = q(i, c, y, z) + sz(k)*(q(i, c, y, z + 1) - q(i, c, y, z))
                            upper = q(i, c, y + 1, z) &
                                    + sz(k)*(q(i, c, y + 1, z + 1) - q(i, c, y + 1, z))
                            row(i) = lower + sy(j)*(upper - lower)
                        end do
                        do i = 1, points(1)
                            out(i, c, j, k) = row(bx(i)) + sx(i)*(row(bx(i) + 1) - row(bx(i)))
                        end do
                    end do
                end associate
            end do
        end do
    end subroutine interpolate

    !> The same for rows of two points, which are most beyond faces across x: a vector of the two
    !> points of the giving block beside each.
    pure subroutine interpolate_pairs(points, bx, by, bz, sx, sy, sz, rows, n, q, wide, high, out)
        integer, intent(in) :: points(3), bx(ghost), by(points(2)), bz(points(3)), rows, n(3)
        real(dp), intent(in) :: sx(ghost), sy(points(2)), sz(points(3))
        real(dp), intent(in) :: q(-1:rows - 2, 5, -1:n(2) + 2, -1:n(3) + 2)
        integer, intent(in) :: wide, high
        real(dp), intent(inout) :: out(wide, 5, high, *)
        real(dp) :: beside(0:1), lower, upper
        integer :: i, j, k, c, m

        do k = 1, points(3)
            do j = 1, points(2)
                associate (y => by(j), z => bz(k))
                    do c = 1, 5
                        do i = 1, ghost
                            !$omp simd private(lower, upper)
                            do m = 0, 1
                                lower = q(bx(i) + m, c, y, z) &
                                        + sz(k)*(q(bx(i) + m, c, y, z + 1) - q(bx(i) + m, c, y, z))
                                upper = q(bx(i) + m, c, y + 1, z) &
                                        + sz(k)*(q(bx(i) + m, c, y + 1, z + 1) &
                                                 - q(bx(i) + m, c, y + 1, z))
                                beside(m) = lower + sy(j)*(upper - lower)
                            end do
                            out(i, c, j, k) = beside(0) + sx(i)*(beside(1) - beside(0))
                        end do
                    end do
                end associate
            end do
        end do
    end subroutine interpolate_pairs

    !> Copies a box of points to where the first belongs, from rows of `wide` and planes of `high`
    !> rows. Most boxes beside each other along x are as wide as the ghosts: compiled as such.
    pure subroutine copy_box(points, wide, high, from, wide_to, high_to, to)
        integer, intent(in) :: points(3), wide, high, wide_to, high_to
        real(dp), intent(in) :: from(*)
        real(dp), intent(inout) :: to(*)
        if (points(1) == ghost) then
            call copy_rows(ghost, points(2), points(3), wide, high, from, wide_to, high_to, to)
        else
            call copy_rows(points(1), points(2), points(3), wide, high, from, wide_to, high_to, to)
        end if
    end subroutine copy_box

    pure subroutine copy_rows(long, rows, planes, wide, high, from, wide_to, high_to, to)
        integer, intent(in) :: long, rows, planes, wide, high, wide_to, high_to
        real(dp), intent(in) :: from(wide, 5, high, *)
        real(dp), intent(inout) :: to(wide_to, 5, high_to, *)
        integer :: i, c, j, k
        do k = 1, planes
            do j = 1, rows
                do c = 1, 5
                    do i = 1, long
                        to(i, c, j, k) = from(i, c, j, k)
                    end do
                end do
            end do
        end do
    end subroutine copy_rows

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

    !> Links between zones that overlap: of the fringe beyond each face of a block what each other
    !> block gives.
    function overlaps(zones, blocks, rank, giving) result(links)
        type(zone_t), intent(in) :: zones(:)
        type(block_t), intent(in) :: blocks(:)
        integer, intent(in) :: rank
        logical, intent(in) :: giving
        type(link_t), allocatable :: links(:)
        integer :: to, axis, side, many, lo(3), hi(3)

        allocate (links(64))
        many = 0
        do to = 1, size(blocks)
            if (.not. giving .and. blocks(to)%owner /= rank) cycle
            associate (zone => zones(blocks(to)%zone))
                do axis = 1, 3
                    do side = 1, 2
                        if (side == 1 .and. blocks(to)%lo(axis) > 1) cycle
                        if (side == 2 .and. blocks(to)%hi(axis) < zone%n(axis)) cycle
                        lo = blocks(to)%lo
                        hi = blocks(to)%hi
                        lo(axis) = merge(1 - ghost, zone%n(axis) + 1, side == 1)
                        hi(axis) = lo(axis) + ghost - 1
                        call add_givers(zones, blocks, rank, giving, to, lo, hi, links, many)
                    end do
                end do
            end associate
        end do
        links = links(:many)
    end function overlaps

    !> The links of a box of a block's fringe.
    subroutine add_givers(zones, blocks, rank, giving, to, lo, hi, links, many)
        type(zone_t), intent(in) :: zones(:)
        type(block_t), intent(in) :: blocks(:)
        integer, intent(in) :: rank, to, lo(3), hi(3)
        logical, intent(in) :: giving
        type(link_t), allocatable, intent(inout) :: links(:)
        integer, intent(inout) :: many
        type(link_t) :: link
        integer :: z, from, axis

        do z = 1, size(zones)
            do from = zones(z)%first_block, zones(z)%first_block + product(zones(z)%parts) - 1
                if (giving .and. blocks(from)%owner /= rank) cycle
                link = link_t(from, to)
                if (giving) allocate (link%axes(3))
                do axis = 1, 3
                    call find_layers(zones(z), blocks(from), zones(blocks(to)%zone), axis, &
                                     lo(axis), hi(axis), link)
                    if (link%lo(axis) > link%hi(axis)) exit
                end do
                if (all(link%lo <= link%hi)) call append(links, many, link)
            end do
        end do
    end subroutine add_givers

    !> Of the points lo to hi of a receiving zone along an axis those whose places are in the giving
    !> zone's box, and the points below which are a block's (one beyond the box's face belongs to the
    !> block beside it). Sets the bounds of the link and, where it gives, the points below and shares.
    subroutine find_layers(giver, block, taker, axis, lo, hi, link)
        type(zone_t), intent(in) :: giver, taker
        type(block_t), intent(in) :: block
        integer, intent(in) :: axis, lo, hi
        type(link_t), intent(inout) :: link
        integer :: below(lo:hi), i, own
        real(dp) :: share(lo:hi), place
        logical :: has(lo:hi)

        do i = lo, hi
            place = taker%place(axis, i)
            share(i) = (place - giver%corner(axis))/giver%h(axis) + 0.5_dp
            below(i) = floor(share(i))
            share(i) = share(i) - below(i)
            own = min(max(below(i), 1), giver%n(axis))
            has(i) = own >= block%lo(axis) .and. own <= block%hi(axis)
            if (has(i)) has(i) = giver%holds(axis, place)
        end do
        ! Places rise with i: what the block has is without gaps.
        link%lo(axis) = lo + findloc([has, .true.], .true., 1) - 1
        link%hi(axis) = link%lo(axis) + count(has) - 1
        if (.not. allocated(link%axes)) return
        link%axes(axis)%below = below(link%lo(axis):link%hi(axis)) - block%lo(axis) + 1
        link%axes(axis)%share = share(link%lo(axis):link%hi(axis))
    end subroutine find_layers

end module overset_exchange
