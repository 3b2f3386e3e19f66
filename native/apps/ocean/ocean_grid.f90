!> The part of the basin that a process has, and the exchange of ghosts with its neighbours.
!>
!> The basin is cut along x and y into rectangles of about equal size; processes lie row by row. A
!> field is stored as f(first_i:last_i, levels, 1 - width:ny + width): columns of one y together,
!> so that sums over depth stay in cache; its own cells are 1 to nx and 1 to ny, with `width` ghosts
!> on every side. Rows begin on cache lines.
!>
!> An exchange sends along x first, then along y with the ghosts in x, so that corners are right:
!> two messages for each direction that is cut, of width ny levels and width (nx + 2 width) levels
!> numbers.
!>
!> Collective over the grid: `exchange`, `sum_over`.
module ocean_grid

    use bl_kinds, only: dp, i8
    use bl_memory, only: aligned
    use bl_messages, only: comm_allreduce, comm_isend, comm_recv, comm_waitall
    use mpi, only: MPI_DOUBLE_PRECISION, MPI_SUM

    implicit none(type, external)
    private

    public :: grid_t, first_i, process_grid

    !> Index of the first element of a row: cell 1 begins a cache line of eight numbers.
    integer, parameter :: first_i = -7
    integer, parameter :: line = 8

    type :: grid_t
        integer :: comm = 0
        !> Own cells, and the last element of a row.
        integer :: nx = 0, ny = 0, last_i = 0
        !> Cells of the whole basin before the own ones.
        integer :: x_before = 0, y_before = 0
        !> Ranks of the neighbours; the own one where a direction is not cut.
        integer :: west = 0, east = 0, south = 0, north = 0
        integer :: rank = 0
    contains
        procedure :: new_field
        procedure :: exchange
        procedure :: sum_over
    end type grid_t

    interface grid_t
        module procedure new_grid
    end interface grid_t

contains

    type(grid_t) function new_grid(comm, rank, ranks, n) result(grid)
        integer, intent(in) :: comm, rank, ranks, n
        integer :: columns(2), at(2)

        columns = process_grid(ranks)
        at = [mod(rank, columns(1)), rank/columns(1)]
        grid%comm = comm
        grid%rank = rank
        grid%x_before = n*at(1)/columns(1)
        grid%nx = n*(at(1) + 1)/columns(1) - grid%x_before
        grid%y_before = n*at(2)/columns(2)
        grid%ny = n*(at(2) + 1)/columns(2) - grid%y_before
        grid%last_i = line*((grid%nx + 2 + line - 1)/line)
        grid%west = modulo(at(1) - 1, columns(1)) + at(2)*columns(1)
        grid%east = modulo(at(1) + 1, columns(1)) + at(2)*columns(1)
        grid%south = at(1) + modulo(at(2) - 1, columns(2))*columns(1)
        grid%north = at(1) + modulo(at(2) + 1, columns(2))*columns(1)
    end function new_grid

    !> Processes along x and y: as square as possible, y cut more often.
    pure function process_grid(ranks) result(columns)
        integer, intent(in) :: ranks
        integer :: columns(2)
        columns(1) = int(sqrt(real(ranks, dp)))
        do while (mod(ranks, columns(1)) /= 0)
            columns(1) = columns(1) - 1
        end do
        columns(2) = ranks/columns(1)
    end function process_grid

    !> A field of zeros.
    subroutine new_field(self, levels, width, field)
        class(grid_t), intent(in) :: self
        integer, intent(in) :: levels, width
        real(dp), pointer, contiguous, intent(out) :: field(:, :, :)
        real(dp), pointer, contiguous :: values(:)
        integer(i8) :: row
        row = self%last_i - first_i + 1
        values => aligned(row*levels*(self%ny + 2*width))
        field(first_i:self%last_i, 1:levels, 1 - width:self%ny + width) => values
    end subroutine new_field

    !> Refreshes all ghosts of a field.
    subroutine exchange(self, levels, width, field)
        class(grid_t), intent(in) :: self
        integer, intent(in) :: levels, width
        real(dp), intent(inout) :: field(first_i:self%last_i, levels, 1 - width:self%ny + width)

        associate (nx => self%nx, ny => self%ny)
            if (self%west == self%rank) then
                call wrap_x(nx, ny, self%last_i, levels, width, field)
            else
                call swap(self, self%west, self%east, field(1:width, :, 1:ny), &
                          field(nx - width + 1:nx, :, 1:ny), field(1 - width:0, :, 1:ny), &
                          field(nx + 1:nx + width, :, 1:ny))
            end if
            associate (x => [1 - width, nx + width])
                if (self%south == self%rank) then
                    call wrap_y(nx, ny, self%last_i, levels, width, field)
                else
                    call swap(self, self%south, self%north, field(x(1):x(2), :, 1:width), &
                              field(x(1):x(2), :, ny - width + 1:ny), &
                              field(x(1):x(2), :, 1 - width:0), &
                              field(x(1):x(2), :, ny + 1:ny + width))
                end if
            end associate
        end associate
    end subroutine exchange

    !> Where x is not cut the ghosts are copies of the own cells. Loops, because an assignment
    !> between parts of one array goes through a temporary.
    pure subroutine wrap_x(nx, ny, last_i, levels, width, field)
        integer, intent(in) :: nx, ny, last_i, levels, width
        real(dp), intent(inout) :: field(first_i:last_i, levels, 1 - width:ny + width)
        integer :: i, j, k
        do j = 1, ny
            do k = 1, levels
                do i = 1, width
                    field(i - width, k, j) = field(nx + i - width, k, j)
                    field(nx + i, k, j) = field(i, k, j)
                end do
            end do
        end do
    end subroutine wrap_x

    pure subroutine wrap_y(nx, ny, last_i, levels, width, field)
        integer, intent(in) :: nx, ny, last_i, levels, width
        real(dp), intent(inout) :: field(first_i:last_i, levels, 1 - width:ny + width)
        integer :: i, j, k
        do j = 1, width
            do k = 1, levels
                do i = 1 - width, nx + width
                    field(i, k, j - width) = field(i, k, ny + j - width)
                    field(i, k, ny + j) = field(i, k, j)
                end do
            end do
        end do
    end subroutine wrap_y

    !> Sends the lowest layer down and the highest up, and receives the neighbours'.
    subroutine swap(grid, below, above, lowest, highest, from_below, from_above)
        type(grid_t), intent(in) :: grid
        integer, intent(in) :: below, above
        real(dp), intent(in) :: lowest(:, :, :), highest(:, :, :)
        real(dp), intent(inout) :: from_below(:, :, :), from_above(:, :, :)
        real(dp), allocatable, asynchronous :: down(:), up(:)
        real(dp), allocatable :: received(:)
        integer, parameter :: tag_down = 1, tag_up = 2
        integer :: requests(2), many

        many = size(lowest)
        down = reshape(lowest, [many])
        up = reshape(highest, [many])
        allocate (received(many))
        call comm_isend(down, many, MPI_DOUBLE_PRECISION, below, tag_down, grid%comm, requests(1))
        call comm_isend(up, many, MPI_DOUBLE_PRECISION, above, tag_up, grid%comm, requests(2))
        call comm_recv(received, many, MPI_DOUBLE_PRECISION, below, tag_up, grid%comm)
        from_below = reshape(received, shape(from_below))
        call comm_recv(received, many, MPI_DOUBLE_PRECISION, above, tag_down, grid%comm)
        from_above = reshape(received, shape(from_above))
        call comm_waitall(2, requests)
    end subroutine swap

    !> Sums a number over the processes: a message of 8 bytes.
    subroutine sum_over(self, number)
        class(grid_t), intent(in) :: self
        real(dp), intent(inout) :: number
        real(dp) :: numbers(1)
        numbers = number
        call comm_allreduce(numbers, 1, MPI_DOUBLE_PRECISION, MPI_SUM, self%comm)
        number = numbers(1)
    end subroutine sum_over

end module ocean_grid
