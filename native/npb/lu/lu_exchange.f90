!> Exchange of LU's ghost layers: two layers of the unknowns with each neighbour in x and y, one
!> message each way.
!>
!> Collective: `exchange_ghosts`. Timed: all of it, packing as computation.
module lu_exchange

    use lu_block, only: axis_x, axis_y, block_t, ghost, nobody
    use mpi, only: MPI_DOUBLE_PRECISION
    use bl_kinds, only: dp
    use bl_messages, only: comm_irecv, comm_send, comm_wait

    implicit none(type, external)
    private

    public :: exchange_ghosts

contains

    subroutine exchange_ghosts(block)
        type(block_t), intent(inout) :: block
        call exchange_along(block, axis_x)
        call exchange_along(block, axis_y)
    end subroutine exchange_ghosts

    subroutine exchange_along(block, axis)
        type(block_t), intent(inout) :: block
        integer, intent(in) :: axis
        real(dp), allocatable, asynchronous :: from_lower(:, :, :, :), from_upper(:, :, :, :)
        real(dp), allocatable :: sent(:, :, :, :)
        integer :: requests(2)

        associate (across => block%points(3 - axis), last => block%points(axis) - 1, &
                   lower => block%lower(axis), upper => block%upper(axis))
            allocate (sent(0:across - 1, 5, ghost, 0:block%n - 1))
            if (lower /= nobody) then
                allocate (from_lower, mold=sent)
                call comm_irecv(from_lower, size(from_lower), MPI_DOUBLE_PRECISION, lower, axis, &
                                block%comm, requests(1))
            end if
            if (upper /= nobody) then
                allocate (from_upper, mold=sent)
                call comm_irecv(from_upper, size(from_upper), MPI_DOUBLE_PRECISION, upper, axis, &
                                block%comm, requests(2))
            end if
            if (upper /= nobody) then
                call pack(block, axis, last - ghost + 1, sent)
                call comm_send(sent, size(sent), MPI_DOUBLE_PRECISION, upper, axis, block%comm)
            end if
            if (lower /= nobody) then
                call pack(block, axis, 0, sent)
                call comm_send(sent, size(sent), MPI_DOUBLE_PRECISION, lower, axis, block%comm)
            end if
            if (lower /= nobody) then
                call comm_wait(requests(1))
                call unpack(block, axis, -ghost, from_lower)
            end if
            if (upper /= nobody) then
                call comm_wait(requests(2))
                call unpack(block, axis, last + 1, from_upper)
            end if
        end associate
    end subroutine exchange_along

    !> Copies the layers `start` and following.
    subroutine pack(block, axis, start, layers)
        type(block_t), intent(in) :: block
        integer, intent(in) :: axis, start
        real(dp), intent(inout) :: layers(0:, :, :, 0:)
        integer :: a, m, layer, k, i, s

        do k = 0, block%n - 1
            do layer = 1, ghost
                do m = 1, 5
                    do a = 0, ubound(layers, 1)
                        i = merge(start + layer - 1, a, axis == axis_x)
                        s = start + layer - 1 + a
                        layers(a, m, layer, k) = block%u(i, m, s, k)
                    end do
                end do
            end do
        end do
    end subroutine pack

    subroutine unpack(block, axis, start, layers)
        type(block_t), intent(inout) :: block
        integer, intent(in) :: axis, start
        real(dp), intent(in) :: layers(0:, :, :, 0:)
        integer :: a, m, layer, k, i, s

        do k = 0, block%n - 1
            do layer = 1, ghost
                do m = 1, 5
                    do a = 0, ubound(layers, 1)
                        i = merge(start + layer - 1, a, axis == axis_x)
                        s = start + layer - 1 + a
                        block%u(i, m, s, k) = layers(a, m, layer, k)
                    end do
                end do
            end do
        end do
    end subroutine unpack

end module lu_exchange
