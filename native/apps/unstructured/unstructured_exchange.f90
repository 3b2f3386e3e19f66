!> Exchange of what a process needs of others: values of cells or faces, to and from scattered places.
!>
!> An exchange is built from the keys of what is needed and who has it: the owners are told, and
!> translate the keys to places of their own. After that it is an Irecv and an Isend for each
!> neighbour and one Waitall.
!>
!> Values are arrays of eight rows, of which the first five (the unknowns) are sent: 40 bytes for each
!> place. Eight, because a column then is a line of the cache.
!>
!> Collective over the job: `ask`, `hand_over`. Over the neighbours: `refresh`.
module unstructured_exchange

    use bl_agreement, only: agreement_t
    use bl_kinds, only: dp, i8
    use bl_messages, only: comm_alltoall, comm_alltoallv, comm_irecv, comm_isend, comm_waitall
    use mpi, only: MPI_DOUBLE_PRECISION, MPI_INTEGER, MPI_INTEGER8

    implicit none(type, external)
    private

    public :: exchange_t, hand_over, unknowns, width

    !> Unknowns of a cell, and rows of an array that has them.
    integer, parameter :: unknowns = 5, width = 8

    type :: message_t
        !> The other process, and the message's part of the places.
        integer :: rank, first, last
    end type message_t

    type :: exchange_t
        integer :: comm = 0
        type(message_t), allocatable :: to(:), from(:)
        !> Places whose values are sent, and those that values are received for.
        integer, allocatable :: sent(:), received(:)
        real(dp), allocatable :: out(:, :), in(:, :)
        integer, allocatable :: requests(:)
    contains
        procedure :: ask
        procedure :: refresh
    end type exchange_t

contains

    !> Asks the owners for the values of `keys`, which go to `places`. `asked` is what others ask of
    !> this process; the caller sets `sent` to their places.
    subroutine ask(self, comm, ranks, owners, keys, places, asked)
        class(exchange_t), intent(inout) :: self
        integer, intent(in) :: comm, ranks, owners(:), places(:)
        integer(i8), intent(in) :: keys(:)
        integer(i8), allocatable, intent(out) :: asked(:)
        integer :: wants(0:ranks - 1), asks(0:ranks - 1), order(size(keys))

        call hand_over(comm, ranks, owners, keys, asked, wants, asks, order)
        self%comm = comm
        self%received = places(order)
        allocate (self%sent(size(asked)))
        self%from = messages(wants)
        self%to = messages(asks)
        allocate (self%out(unknowns, size(self%sent)), self%in(unknowns, size(self%received)))
        allocate (self%requests(size(self%from) + size(self%to)))
    end subroutine ask

    !> Sends each key to its owner. `received` are those that came, in the order of the senders; the
    !> counts are by process, `order` is that in which the keys went.
    subroutine hand_over(comm, ranks, owners, keys, received, gives, gets, order)
        integer, intent(in) :: comm, ranks, owners(:)
        integer(i8), intent(in) :: keys(:)
        integer(i8), allocatable, intent(out) :: received(:)
        integer, intent(out) :: gives(0:ranks - 1), gets(0:ranks - 1), order(size(keys))
        integer :: next(0:ranks - 1), i

        gives = 0
        do i = 1, size(owners)
            gives(owners(i)) = gives(owners(i)) + 1
        end do
        call comm_alltoall(gives, gets, 1, MPI_INTEGER, comm)
        next = offsets(gives)
        do i = 1, size(owners)
            next(owners(i)) = next(owners(i)) + 1
            order(next(owners(i))) = i
        end do
        allocate (received(sum(gets)))
        call comm_alltoallv(keys(order), gives, offsets(gives), received, gets, offsets(gets), &
                            MPI_INTEGER8, comm)
    end subroutine hand_over

    pure function offsets(counts) result(offset)
        integer, intent(in) :: counts(0:)
        integer :: offset(0:ubound(counts, 1)), i
        offset(0) = 0
        do i = 1, ubound(counts, 1)
            offset(i) = offset(i - 1) + counts(i - 1)
        end do
    end function offsets

    pure function messages(counts) result(list)
        integer, intent(in) :: counts(0:)
        type(message_t), allocatable :: list(:)
        integer :: offset(0:ubound(counts, 1)), many, rank
        offset = offsets(counts)
        allocate (list(count(counts > 0)))
        many = 0
        do rank = 0, ubound(counts, 1)
            if (counts(rank) == 0) cycle
            many = many + 1
            list(many) = message_t(rank, offset(rank) + 1, offset(rank) + counts(rank))
        end do
    end function messages

    !> Refreshes the values of the places that others have. Of what is sent and received
    !> `agreement` takes note.
    subroutine refresh(self, values, agreement)
        class(exchange_t), intent(inout) :: self
        real(dp), intent(inout) :: values(width, *)
        type(agreement_t), intent(inout) :: agreement
        integer :: i

        do i = 1, size(self%sent)
            self%out(:, i) = values(:unknowns, self%sent(i))
        end do
        call agreement%send(size(self%out), self%out)
        call transfer_messages(self%comm, self%to, self%from, self%out, self%in, self%requests)
        call agreement%receive(size(self%in), self%in)
        do i = 1, size(self%received)
            values(:unknowns, self%received(i)) = self%in(:, i)
        end do
    end subroutine refresh

    subroutine transfer_messages(comm, to, from, out, in, requests)
        integer, intent(in) :: comm
        type(message_t), intent(in) :: to(:), from(:)
        real(dp), intent(in), asynchronous :: out(unknowns, *)
        real(dp), intent(inout), asynchronous :: in(unknowns, *)
        integer, intent(inout) :: requests(:)
        integer :: m

        do m = 1, size(from)
            call comm_irecv(in(1, from(m)%first), unknowns*(from(m)%last - from(m)%first + 1), &
                            MPI_DOUBLE_PRECISION, from(m)%rank, 1, comm, requests(m))
        end do
        do m = 1, size(to)
            call comm_isend(out(1, to(m)%first), unknowns*(to(m)%last - to(m)%first + 1), &
                            MPI_DOUBLE_PRECISION, to(m)%rank, 1, comm, requests(size(from) + m))
        end do
        call comm_waitall(size(requests), requests)
    end subroutine transfer_messages

end module unstructured_exchange
