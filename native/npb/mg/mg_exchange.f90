!> Messages between neighbouring parts of a grid.
!>
!> Ghosts become right direction by direction: x sends interior points only, y the x ghosts as
!> well, z both. Each direction is one message each way of the local face. Directions that are not
!> cut come before those that are (mg_level): `wrap` copies their ghosts plane by plane, as soon as
!> a plane is computed and while it is in cache; `refresh` sends the messages.
!>
!> `repopulate` gives processes their points of a grid when they were idle on the coarser one: each
!> process that has points of both sends the two layers that the neighbour needs.
!>
!> Collective over the processes that are active on the level: all but `wrap`.
module mg_exchange

    use mg_level, only: level_t
    use mpi, only: MPI_DOUBLE_PRECISION
    use bl_kinds, only: dp
    use bl_messages, only: comm_irecv, comm_recv, comm_send, comm_wait

    implicit none(type, external)
    private

    public :: refresh, repopulate, wrap

    !> Positions in `level_t%neighbour`; also the tags of messages that travel that way.
    integer, parameter :: below = 1, above = 2

contains

    !> Refreshes the ghosts of one of the level's arrays, each plane of which has been wrapped.
    subroutine refresh(level, field)
        type(level_t), intent(in) :: level
        real(dp), intent(inout), contiguous :: field(0:, 0:, 0:)
        if (level%processes(1) > 1) call refresh_x(level, field)
        if (level%processes(2) > 1) call refresh_y(level, field)
        call refresh_z(level, field)
    end subroutine refresh

    !> The ghosts that lie around some rows of a plane and are copies of the plane's own points.
    pure subroutine wrap(level, first, last, plane)
        type(level_t), intent(in) :: level
        integer, intent(in) :: first, last
        real(dp), intent(inout), contiguous :: plane(0:, 0:)
        integer :: j

        associate (nx => level%points(1), ny => level%points(2))
            if (level%processes(1) > 1) return
            do j = first, last
                plane(0, j) = plane(nx, j)
                plane(nx + 1, j) = plane(1, j)
            end do
            if (level%processes(2) > 1) return
            if (last == ny) plane(:, 0) = plane(:, ny)
            if (first == 1) plane(:, ny + 1) = plane(:, 1)
        end associate
    end subroutine wrap

    subroutine refresh_x(level, field)
        type(level_t), intent(in) :: level
        real(dp), intent(inout), contiguous :: field(0:, 0:, 0:)
        real(dp), allocatable, asynchronous :: from_below(:, :), from_above(:, :)

        associate (nx => level%points(1), ny => level%points(2), nz => level%points(3))
            allocate (from_below(ny, nz), from_above(ny, nz))
            call swap(level, 1, field(1, 1:ny, 1:nz), field(nx, 1:ny, 1:nz), from_below, &
                      from_above)
            field(0, 1:ny, 1:nz) = from_below
            field(nx + 1, 1:ny, 1:nz) = from_above
        end associate
    end subroutine refresh_x

    subroutine refresh_y(level, field)
        type(level_t), intent(in) :: level
        real(dp), intent(inout), contiguous :: field(0:, 0:, 0:)
        real(dp), allocatable, asynchronous :: from_below(:, :), from_above(:, :)

        associate (nx => level%points(1), ny => level%points(2), nz => level%points(3))
            allocate (from_below(0:nx + 1, nz), from_above(0:nx + 1, nz))
            call swap(level, 2, field(:, 1, 1:nz), field(:, ny, 1:nz), from_below, from_above)
            field(:, 0, 1:nz) = from_below
            field(:, ny + 1, 1:nz) = from_above
        end associate
    end subroutine refresh_y

    !> Planes are contiguous: no buffers.
    subroutine refresh_z(level, field)
        type(level_t), intent(in) :: level
        real(dp), intent(inout), contiguous :: field(0:, 0:, 0:)

        associate (nz => level%points(3))
            if (level%processes(3) == 1) then
                field(:, :, 0) = field(:, :, nz)
                field(:, :, nz + 1) = field(:, :, 1)
            else
                call swap(level, 3, field(:, :, 1), field(:, :, nz), field(:, :, 0), &
                          field(:, :, nz + 1))
            end if
        end associate
    end subroutine refresh_z

    !> Sends the lowest layer down and the highest up, and receives the neighbours'.
    subroutine swap(level, axis, lowest, highest, from_below, from_above)
        type(level_t), intent(in) :: level
        integer, intent(in) :: axis
        real(dp), intent(in), contiguous :: lowest(:, :), highest(:, :)
        real(dp), intent(inout), contiguous, asynchronous :: from_below(:, :), from_above(:, :)
        integer :: requests(2)

        associate (neighbour => level%neighbour(:, axis), comm => level%comm)
            call comm_irecv(from_below, size(from_below), MPI_DOUBLE_PRECISION, neighbour(below), &
                            above, comm, requests(below))
            call comm_irecv(from_above, size(from_above), MPI_DOUBLE_PRECISION, neighbour(above), &
                            below, comm, requests(above))
            call comm_send(lowest, size(lowest), MPI_DOUBLE_PRECISION, neighbour(below), below, &
                           comm)
            call comm_send(highest, size(highest), MPI_DOUBLE_PRECISION, neighbour(above), above, &
                           comm)
            call comm_wait(requests(below))
            call comm_wait(requests(above))
        end associate
    end subroutine swap

    !> Completes `field`, which is right on the processes that have points of the coarser grid, on
    !> those that have not. In a direction in which processes return, each has one point and
    !> receives its own layer and one ghost from either side.
    subroutine repopulate(level, field)
        type(level_t), intent(in) :: level
        real(dp), intent(inout) :: field(0:, 0:, 0:)
        integer :: axis

        do axis = 1, 3
            if (level%shift(axis) == 0) cycle
            if (.not. all(level%is_coarse_active(axis + 1:))) cycle
            call give(level, axis, field)
        end do
    end subroutine repopulate

    !> Layers 0 and 1 are what the neighbour below needs, 1 and 2 what the one above does.
    subroutine give(level, axis, field)
        type(level_t), intent(in) :: level
        integer, intent(in) :: axis
        real(dp), intent(inout) :: field(0:, 0:, 0:)
        real(dp), allocatable :: layers(:)

        allocate (layers(2*size(field)/3))
        associate (neighbour => level%neighbour(:, axis), comm => level%comm)
            if (level%is_coarse_active(axis)) then
                layers = two_layers(field, axis, 0)
                call comm_send(layers, size(layers), MPI_DOUBLE_PRECISION, neighbour(below), &
                               below, comm)
                layers = two_layers(field, axis, 1)
                call comm_send(layers, size(layers), MPI_DOUBLE_PRECISION, neighbour(above), &
                               above, comm)
            else
                call comm_recv(layers, size(layers), MPI_DOUBLE_PRECISION, neighbour(below), &
                               above, comm)
                call set_two_layers(field, axis, 0, layers)
                call comm_recv(layers, size(layers), MPI_DOUBLE_PRECISION, neighbour(above), &
                               below, comm)
                call set_two_layers(field, axis, 1, layers)
            end if
        end associate
    end subroutine give

    pure function two_layers(field, axis, first) result(layers)
        real(dp), intent(in) :: field(0:, 0:, 0:)
        integer, intent(in) :: axis, first
        real(dp), allocatable :: layers(:)
        select case (axis)
        case (1)
            layers = reshape(field(first:first + 1, :, :), [2*size(field)/3])
        case (2)
            layers = reshape(field(:, first:first + 1, :), [2*size(field)/3])
        case default
            layers = reshape(field(:, :, first:first + 1), [2*size(field)/3])
        end select
    end function two_layers

    pure subroutine set_two_layers(field, axis, first, layers)
        real(dp), intent(inout) :: field(0:, 0:, 0:)
        integer, intent(in) :: axis, first
        real(dp), intent(in) :: layers(:)
        select case (axis)
        case (1)
            field(first:first + 1, :, :) = reshape(layers, shape(field(:1, :, :)))
        case (2)
            field(:, first:first + 1, :) = reshape(layers, shape(field(:, :1, :)))
        case default
            field(:, :, first:first + 1) = reshape(layers, shape(field(:, :, :1)))
        end select
    end subroutine set_two_layers

end module mg_exchange
