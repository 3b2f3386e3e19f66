!> Face exchange of BT and SP: each process sends the two outermost layers of its cells to the six
!> processes that own the neighbours, everything for one process in one message.
!>
!> Collective: `exchange_faces`. Timed: all of it, packing as computation.
module adi_exchange

    use mpi, only: MPI_DOUBLE_PRECISION
    use adi_grid, only: cell_t, ghost, grid_t, row_first
    use bl_kinds, only: dp
    use bl_messages, only: comm_irecv, comm_isend, comm_waitall

    implicit none(type, external)
    private

    public :: exchange_faces

    type :: buffer_t
        real(dp), allocatable :: values(:)
    end type buffer_t

contains

    !> Fills the ghost layers of u on the faces between cells.
    subroutine exchange_faces(grid)
        type(grid_t), intent(inout) :: grid
        type(buffer_t), asynchronous :: sent(6), received(6)
        integer :: requests(12), axis, side, k

        if (grid%q == 1) return
        ! Message k is along axis (k + 1)/2, to and from the cells before (odd k) or after (even).
        do k = 1, 6
            axis = (k + 1)/2
            side = merge(-1, 1, mod(k, 2) == 1)
            allocate (received(k)%values(face_values(grid, axis, side)))
            call comm_irecv(received(k)%values, size(received(k)%values), MPI_DOUBLE_PRECISION, &
                            grid%neighbour(axis, side), tag(axis, -side), grid%comm, requests(k))
        end do
        do k = 1, 6
            axis = (k + 1)/2
            side = merge(-1, 1, mod(k, 2) == 1)
            call pack_faces(grid, axis, side, sent(k)%values)
            call comm_isend(sent(k)%values, size(sent(k)%values), MPI_DOUBLE_PRECISION, &
                            grid%neighbour(axis, side), tag(axis, side), grid%comm, &
                            requests(6 + k))
        end do
        call comm_waitall(12, requests)
        do k = 1, 6
            call unpack_faces(grid, (k + 1)/2, merge(-1, 1, mod(k, 2) == 1), received(k)%values)
        end do
    end subroutine exchange_faces

    !> Tells messages apart that go to the same process; `side` is where it goes.
    pure integer function tag(axis, side)
        integer, intent(in) :: axis, side
        tag = 2*axis + merge(1, 0, side == 1)
    end function tag

    !> Whether a cell has a neighbour on that side.
    pure logical function has_neighbour(grid, cell, axis, side)
        type(grid_t), intent(in) :: grid
        type(cell_t), intent(in) :: cell
        integer, intent(in) :: axis, side
        has_neighbour = cell%position(axis) /= merge(0, grid%q - 1, side == -1)
    end function has_neighbour

    pure integer function face_values(grid, axis, side) result(values)
        type(grid_t), intent(in) :: grid
        integer, intent(in) :: axis, side
        integer :: c
        values = 0
        do c = 0, grid%q - 1
            associate (cell => grid%cells(c))
                if (has_neighbour(grid, cell, axis, side)) &
                    values = values + 5*ghost*product(cell%points)/cell%points(axis)
            end associate
        end do
    end function face_values

    subroutine pack_faces(grid, axis, side, values)
        type(grid_t), intent(in) :: grid
        integer, intent(in) :: axis, side
        real(dp), allocatable, intent(out) :: values(:)
        integer :: c, next, lo(3), hi(3), length

        allocate (values(face_values(grid, axis, side)))
        next = 1
        do c = 0, grid%q - 1
            associate (cell => grid%cells(c))
                if (.not. has_neighbour(grid, cell, axis, side)) cycle
                lo = 0
                hi = cell%points - 1
                if (side == -1) hi(axis) = ghost - 1
                if (side == 1) lo(axis) = cell%points(axis) - ghost
                length = 5*product(hi - lo + 1)
                values(next:next + length - 1) = reshape( &
                    cell%u(lo(1):hi(1), :, lo(2):hi(2), lo(3):hi(3)), [length])
                next = next + length
            end associate
        end do
    end subroutine pack_faces

    subroutine unpack_faces(grid, axis, side, values)
        type(grid_t), intent(inout) :: grid
        integer, intent(in) :: axis, side
        real(dp), intent(in) :: values(:)
        integer :: c, next, lo(3), hi(3), length

        next = 1
        do c = 0, grid%q - 1
            associate (cell => grid%cells(c))
                if (.not. has_neighbour(grid, cell, axis, side)) cycle
                lo = 0
                hi = cell%points - 1
                if (side == -1) then
                    lo(axis) = -ghost
                    hi(axis) = -1
                else
                    lo(axis) = cell%points(axis)
                    hi(axis) = cell%points(axis) + ghost - 1
                end if
                length = 5*product(hi - lo + 1)
                cell%u(lo(1):hi(1), :, lo(2):hi(2), lo(3):hi(3)) = reshape( &
                    values(next:next + length - 1), &
                    [hi(1) - lo(1) + 1, 5, hi(2) - lo(2) + 1, hi(3) - lo(3) + 1])
                next = next + length
            end associate
        end do
    end subroutine unpack_faces

end module adi_exchange
