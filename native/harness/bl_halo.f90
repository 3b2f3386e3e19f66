!> Exchange of halos: the outermost cells of a process's part of an array go to its neighbours,
!> whose cells become its ghosts.
!>
!> The array has up to five dimensions and includes its ghosts. Indices count from 1 in each
!> dimension of that extent, whatever bounds the array is declared with. All messages of a `halo_t`
!> are in flight at once; they are waited for together or, `each`, one by one. Where one axis needs
!> what another brought, so that corners are right, there is a halo for each axis. Along an axis on
!> which the process is its own neighbour cells are copied. Buffers stay from one exchange to the
!> next.
!>
!> Exported: `halo_t`, `box_t`. Collective over the neighbours: `exchange`, whose packing and
!> copying is computation.
module bl_halo

    use bl_agreement, only: agreement_t
    use bl_kinds, only: dp
    use bl_messages, only: comm_irecv, comm_isend, comm_recv, comm_wait, comm_waitall
    use mpi, only: MPI_DOUBLE_PRECISION

    implicit none(type, external)
    private

    public :: halo_t, box_t

    integer, parameter :: dimensions = 5

    !> A part of the array: in dimensions that it has not, 1.
    type :: box_t
        integer :: first(dimensions) = 1, last(dimensions) = 1
    end type box_t

    !> One neighbour: what goes there, and where comes in what it sends.
    type :: face_t
        integer :: axis = 0, neighbour = 0
        integer :: tag_sent = 0, tag_received = 0
        type(box_t) :: own, ghosts
    end type face_t

    type :: halo_t
        private
        integer :: comm = 0, rank = 0
        integer :: extent(dimensions) = 1
        !> Whether all receives are posted before the sends and waited for together with them; else
        !> they block, one after the other.
        logical :: posted = .true.
        !> Whether each message that was posted is waited for alone.
        logical :: each = .false.
        !> Two for each axis: below, above.
        type(face_t), allocatable :: faces(:)
        !> (value, face)
        real(dp), allocatable :: sent(:, :), received(:, :)
        integer, allocatable :: requests(:)
    contains
        procedure :: setup
        procedure :: add
        procedure :: exchange
        procedure, private :: receive
    end type halo_t

contains

    !> A halo without neighbours, for arrays of this extent.
    subroutine setup(self, comm, rank, extent, posted, each)
        class(halo_t), intent(inout) :: self
        integer, intent(in) :: comm, rank, extent(:)
        logical, intent(in) :: posted
        logical, intent(in), optional :: each
        self%comm = comm
        self%rank = rank
        self%extent = 1
        self%extent(:size(extent)) = extent
        self%posted = posted
        self%each = .false.
        if (present(each)) self%each = each
        if (allocated(self%faces)) deallocate (self%faces)
        allocate (self%faces(0))
    end subroutine setup

    !> Two neighbours along an axis. `span` holds the own cells along it, and of the other
    !> dimensions what is sent; `width` layers at either end are exchanged. The ghosts begin
    !> `distance` layers beyond the own cells, where the neighbours are not the next ones; they are
    !> other processes.
    subroutine add(self, axis, neighbours, width, span, distance)
        class(halo_t), intent(inout) :: self
        integer, intent(in) :: axis, neighbours(2), width
        type(box_t), intent(in) :: span
        integer, intent(in), optional :: distance
        type(face_t) :: faces(2)
        integer :: beyond

        beyond = 0
        if (present(distance)) beyond = distance

        ! Of two processes that are neighbours on both sides the tag says which side is meant.
        faces%axis = axis
        faces%neighbour = neighbours
        faces%tag_sent = 2*(axis + dimensions*beyond) + [0, 1]
        faces%tag_received = 2*(axis + dimensions*beyond) + [1, 0]
        faces(1)%own = layers(span, axis, span%first(axis), width)
        faces(1)%ghosts = layers(span, axis, span%first(axis) - beyond - width, width)
        faces(2)%own = layers(span, axis, span%last(axis) - width + 1, width)
        faces(2)%ghosts = layers(span, axis, span%last(axis) + beyond + 1, width)
        self%faces = [self%faces, faces]
        call make_buffers(self)
    end subroutine add

    pure type(box_t) function layers(span, axis, first, width) result(box)
        type(box_t), intent(in) :: span
        integer, intent(in) :: axis, first, width
        box = span
        box%first(axis) = first
        box%last(axis) = first + width - 1
    end function layers

    subroutine make_buffers(halo)
        type(halo_t), intent(inout) :: halo
        integer :: i, most
        most = 0
        do i = 1, size(halo%faces)
            if (halo%faces(i)%neighbour /= halo%rank) most = max(most, box_size(halo%faces(i)%own))
        end do
        if (allocated(halo%sent)) deallocate (halo%sent, halo%received, halo%requests)
        allocate (halo%sent(most, size(halo%faces)), halo%received(most, size(halo%faces)), &
                  halo%requests(2*size(halo%faces)))
    end subroutine make_buffers

    !> Refreshes the ghosts of `array`. `agreement` takes note of what is sent and received.
    subroutine exchange(self, array, agreement)
        class(halo_t), intent(inout), target :: self
        real(dp), intent(inout) :: array(*)
        type(agreement_t), intent(inout), optional :: agreement
        real(dp), pointer, contiguous, asynchronous :: sent(:, :), received(:, :)
        integer :: i, many, started

        if (size(self%faces) == 0) return
        sent => self%sent
        received => self%received
        started = 0
        if (self%posted) then
            do i = 1, size(self%faces)
                if (self%faces(i)%neighbour == self%rank) cycle
                started = started + 1
                call comm_irecv(received(:, i), box_size(self%faces(i)%own), &
                                MPI_DOUBLE_PRECISION, self%faces(i)%neighbour, &
                                self%faces(i)%tag_received, self%comm, self%requests(started))
            end do
        end if
        do i = 1, size(self%faces)
            if (self%faces(i)%neighbour == self%rank) cycle
            call pack_box(self%extent, array, self%faces(i)%own, sent(:, i))
            many = box_size(self%faces(i)%own)
            if (present(agreement)) call agreement%send(many, sent(:, i))
            started = started + 1
            call comm_isend(sent(:, i), many, MPI_DOUBLE_PRECISION, self%faces(i)%neighbour, &
                            self%faces(i)%tag_sent, self%comm, self%requests(started))
        end do
        do i = 1, size(self%faces), 2
            if (self%faces(i)%neighbour /= self%rank) cycle
            associate (axis => self%faces(i)%axis, below => self%faces(i), &
                       above => self%faces(i + 1))
                call copy_ends(product(self%extent(:axis - 1)), self%extent(axis), &
                               product(self%extent(axis + 1:)), below%own%first(axis), &
                               above%own%last(axis), size_along(below%own, axis), array)
            end associate
        end do
        if (started > 0) call self%receive(self%requests(:started), array, agreement)
    end subroutine exchange

    !> Ends the messages of an exchange.
    subroutine receive(self, requests, array, agreement)
        class(halo_t), intent(inout) :: self
        integer, intent(inout) :: requests(:)
        real(dp), intent(inout) :: array(*)
        type(agreement_t), intent(inout), optional :: agreement
        integer :: i, received

        if (self%posted .and. .not. self%each) call comm_waitall(size(requests), requests)
        received = 0
        do i = 1, size(self%faces)
            if (self%faces(i)%neighbour == self%rank) cycle
            received = received + 1
            if (self%posted .and. self%each) then
                call comm_wait(requests(received))
            else if (.not. self%posted) then
                call comm_recv(self%received(:, i), box_size(self%faces(i)%own), &
                               MPI_DOUBLE_PRECISION, self%faces(i)%neighbour, &
                               self%faces(i)%tag_received, self%comm)
            end if
            if (present(agreement)) call agreement%receive(box_size(self%faces(i)%own), &
                                                           self%received(:, i))
            call unpack_box(self%extent, self%received(:, i), self%faces(i)%ghosts, array)
        end do
        if (self%each) then
            do i = merge(received, 0, self%posted) + 1, size(requests)
                call comm_wait(requests(i))
            end do
        else if (.not. self%posted) then
            call comm_waitall(size(requests), requests)
        end if
    end subroutine receive

    pure integer function size_along(box, axis)
        type(box_t), intent(in) :: box
        integer, intent(in) :: axis
        size_along = box%last(axis) - box%first(axis) + 1
    end function size_along

    pure integer function box_size(box)
        type(box_t), intent(in) :: box
        box_size = product(box%last - box%first + 1)
    end function box_size

    pure subroutine pack_box(extent, array, box, buffer)
        integer, intent(in) :: extent(dimensions)
        real(dp), intent(in) :: array(extent(1), extent(2), extent(3), extent(4), extent(5))
        type(box_t), intent(in) :: box
        real(dp), intent(inout) :: buffer(*)
        integer :: j, k, l, m, place, many

        place = 0
        many = box%last(1) - box%first(1) + 1
        do m = box%first(5), box%last(5)
            do l = box%first(4), box%last(4)
                do k = box%first(3), box%last(3)
                    do j = box%first(2), box%last(2)
                        buffer(place + 1:place + many) = array(box%first(1):box%last(1), j, k, l, m)
                        place = place + many
                    end do
                end do
            end do
        end do
    end subroutine pack_box

    pure subroutine unpack_box(extent, buffer, box, array)
        integer, intent(in) :: extent(dimensions)
        real(dp), intent(in) :: buffer(*)
        type(box_t), intent(in) :: box
        real(dp), intent(inout) :: array(extent(1), extent(2), extent(3), extent(4), extent(5))
        integer :: j, k, l, m, place, many

        place = 0
        many = box%last(1) - box%first(1) + 1
        do m = box%first(5), box%last(5)
            do l = box%first(4), box%last(4)
                do k = box%first(3), box%last(3)
                    do j = box%first(2), box%last(2)
                        array(box%first(1):box%last(1), j, k, l, m) = buffer(place + 1:place + many)
                        place = place + many
                    end do
                end do
            end do
        end do
    end subroutine unpack_box

    !> Where the process is its own neighbour: whole layers, ghosts of other axes with them, so that
    !> they lie together. `lower` numbers before the axis' own dimension, `upper` behind it.
    pure subroutine copy_ends(lower, many, upper, first, last, width, array)
        integer, intent(in) :: lower, many, upper, first, last, width
        real(dp), intent(inout) :: array(lower, many, upper)
        integer :: i, layer, outer

        if (lower == 1) then
            do layer = 1, width
                do outer = 1, upper
                    array(1, first - layer, outer) = array(1, last + 1 - layer, outer)
                    array(1, last + layer, outer) = array(1, first - 1 + layer, outer)
                end do
            end do
        else
            do outer = 1, upper
                do layer = 1, width
                    !GCC$ ivdep
                    do i = 1, lower
                        array(i, first - layer, outer) = array(i, last + 1 - layer, outer)
                        array(i, last + layer, outer) = array(i, first - 1 + layer, outer)
                    end do
                end do
            end do
        end if
    end subroutine copy_ends

end module bl_halo
