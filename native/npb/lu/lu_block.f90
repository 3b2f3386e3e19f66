!> A process's part of LU's grid: a block in x and y, undivided in z, with its fields.
!>
!> Fields are stored along the diagonals of the planes: point (i, j, k) stands at (i, m, i + j, k)
!> with m the component. All points of a diagonal i + j = s depend only on those of the diagonals
!> s - 1 (forward sweep) or s + 1 (backward), so that a row of the array, contiguous in i, is what
!> can be computed side by side; and the neighbours of a row in x and in y are rows as well:
!> (i + 1, j) at (i + 1, s + 1), (i, j + 1) at (i, s + 1). The residual uses the same storage.
!>
!> Points count from 0; two ghost layers surround the block in x and y. The residual is computed in
!> whole vectors of `lanes` points; what it reads and stores beyond a row's end lies within the
!> row's array, at points that are not interior, and is never used.
!>
!> Nothing here is timed or collective.
module lu_block

    use adi_flow, only: exact_solution
    use lu_problem, only: process_grid
    use bl_kinds, only: dp, i8
    use bl_memory, only: prefer_large_pages

    implicit none(type, external)
    private

    public :: block_t, new_block, block_memory_bytes, set_exact, set_initial
    public :: ghost, lanes, nobody, axis_x, axis_y

    integer, parameter :: ghost = 2
    !> Points computed side by side: one vector of AVX-512, two of AVX2, four of SSE2.
    integer, parameter :: lanes = 8
    integer, parameter :: nobody = -1
    integer, parameter :: axis_x = 1, axis_y = 2

    type :: block_t
        integer :: comm = 0
        !> Points of the whole grid in each direction.
        integer :: n = 0
        !> Points of the block in x and y, and the index in the grid of its first point.
        integer :: points(2) = 0, first(2) = 0
        !> First and last point of the block that is not on the boundary of the grid.
        integer :: lo(2) = 0, hi(2) = 0
        !> Ranks towards lower and higher indices; `nobody` at the boundary.
        integer :: lower(2) = nobody, upper(2) = nobody
        !> Extent of the fields in i: from -ghost.
        integer :: extent = 0
        !> (-ghost:, 5, -ghost:, 0:n - 1): the unknowns.
        real(dp), allocatable :: u(:, :, :, :)
        !> Same bounds: residual, which the sweeps turn into the correction; zero on the boundary.
        real(dp), allocatable :: residual(:, :, :, :)
        !> Same bounds.
        real(dp), allocatable :: forcing(:, :, :, :)
    contains
        procedure :: row_lo => block_row_lo
        procedure :: row_hi => block_row_hi
        procedure :: position => block_position
    end type block_t

contains

    function new_block(comm, rank, ranks, n) result(block)
        integer, intent(in) :: comm, rank, ranks, n
        type(block_t) :: block
        integer :: processes(2), place(2)

        processes = process_grid(ranks)
        place = [mod(rank, processes(1)), rank/processes(1)]
        block%comm = comm
        block%n = n
        block%points = n/processes
        where (place < mod(n, processes)) block%points = block%points + 1
        block%first = place*(n/processes) + min(place, mod(n, processes))
        block%lo = merge(1, 0, place == 0)
        block%hi = block%points - merge(2, 1, place == processes - 1)
        where (place > 0) block%lower = rank - [1, processes(1)]
        where (place < processes - 1) block%upper = rank + [1, processes(1)]
        block%extent = row_extent(block%points(1))

        associate (last => block%extent - ghost - 1, s => sum(block%points))
            allocate (block%u(-ghost:last, 5, -ghost:s, 0:n - 1))
            allocate (block%residual(-ghost:last, 5, -ghost:s, 0:n - 1))
            allocate (block%forcing(-ghost:last, 5, -ghost:s, 0:n - 1))
        end associate
        call prefer_large_pages(block%u, 8*size(block%u, kind=i8))
        call prefer_large_pages(block%residual, 8*size(block%residual, kind=i8))
        call prefer_large_pages(block%forcing, 8*size(block%forcing, kind=i8))
        ! What lies outside the grid takes part in the arithmetic: a state of rest.
        block%u = 0
        block%u(:, 1, :, :) = 1
        block%u(:, 5, :, :) = 1
        block%residual = 0
        block%forcing = 0
    end function new_block

    !> Ghosts on both sides and what a last, partial vector reads beyond them.
    pure integer function row_extent(points) result(extent)
        integer, intent(in) :: points
        extent = points + 2*ghost + lanes
    end function row_extent

    !> The largest process's fields.
    pure integer(i8) function block_memory_bytes(ranks, n) result(size_bytes)
        integer, intent(in) :: ranks, n
        integer :: points(2)
        points = (n - 1)/process_grid(ranks) + 1
        size_bytes = 3*5*8*int(row_extent(points(1)), i8)*(sum(points) + ghost + 1)*n
    end function block_memory_bytes

    !> First and last i of diagonal s that are not on the boundary; `margin` more points around
    !> the block.
    pure integer function block_row_lo(self, s, margin) result(lo)
        class(block_t), intent(in) :: self
        integer, intent(in) :: s
        integer, intent(in), optional :: margin
        integer :: more
        more = 0
        if (present(margin)) more = margin
        lo = max(self%lo(1) - more, s - self%hi(2) - more)
    end function block_row_lo

    pure integer function block_row_hi(self, s, margin) result(hi)
        class(block_t), intent(in) :: self
        integer, intent(in) :: s
        integer, intent(in), optional :: margin
        integer :: more
        more = 0
        if (present(margin)) more = margin
        hi = min(self%hi(1) + more, s - self%lo(2) + more)
    end function block_row_hi

    !> Coordinates, 0 to 1, of a point.
    pure function block_position(self, i, j, k) result(x)
        class(block_t), intent(in) :: self
        integer, intent(in) :: i, j, k
        real(dp) :: x(3)
        x = real([self%first(1) + i, self%first(2) + j, k], dp)/(self%n - 1)
    end function block_position

    !> The exact solution at every point, ghosts included.
    subroutine set_exact(block)
        type(block_t), intent(inout) :: block
        integer :: i, j, k
        do k = 0, block%n - 1
            do j = max(-ghost, -block%first(2)), &
                min(block%points(2) + ghost, block%n - block%first(2)) - 1
                do i = max(-ghost, -block%first(1)), &
                    min(block%points(1) + ghost, block%n - block%first(1)) - 1
                    if (i + j < -ghost .or. i + j > sum(block%points)) cycle ! a corner
                    block%u(i, :, i + j, k) = exact_solution(block%position(i, j, k))
                end do
            end do
        end do
    end subroutine set_exact

    !> The exact solution on the boundary; between the faces, their blend.
    subroutine set_initial(block)
        type(block_t), intent(inout) :: block
        real(dp) :: x(3), low(3), high(3), p(5, 3)
        integer :: i, j, k, axis

        do k = 0, block%n - 1
            do j = 0, block%points(2) - 1
                do i = 0, block%points(1) - 1
                    x = block%position(i, j, k)
                    if (is_boundary(block, i, j, k)) then
                        block%u(i, :, i + j, k) = exact_solution(x)
                        cycle
                    end if
                    do axis = 1, 3
                        low = x
                        high = x
                        low(axis) = 0
                        high(axis) = 1
                        p(:, axis) = (1 - x(axis))*exact_solution(low) &
                                     + x(axis)*exact_solution(high)
                    end do
                    block%u(i, :, i + j, k) = p(:, 1) + p(:, 2) + p(:, 3) - p(:, 1)*p(:, 2) &
                                              - p(:, 2)*p(:, 3) - p(:, 3)*p(:, 1) &
                                              + p(:, 1)*p(:, 2)*p(:, 3)
                end do
            end do
        end do
    end subroutine set_initial

    pure logical function is_boundary(block, i, j, k)
        type(block_t), intent(in) :: block
        integer, intent(in) :: i, j, k
        is_boundary = any([i, j] < block%lo) .or. any([i, j] > block%hi) .or. &
                      k == 0 .or. k == block%n - 1
    end function is_boundary

end module lu_block
