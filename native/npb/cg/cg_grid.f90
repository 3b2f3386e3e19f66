!> The processes of CG as a grid, and the sums and exchanges that a matrix product needs on it.
!>
!> P = columns rows, columns = rows or 2 rows. Process me has row me / columns and column
!> mod(me, columns). The matrix is cut into blocks of about na/rows by na/columns. Vectors are cut
!> as the matrix's columns, and are the same on all processes of a grid column.
!>
!> A product leaves a partial result for the block's rows. It is summed over the grid row by
!> log2(columns) pairwise exchanges and sent to the transpose process, where it is a vector's part
!> again. On a 2:1 grid a process needs only one half of its rows' result (the half is its column's
!> parity): the first exchange gives away the other half.
!>
!> Collective over the grid: `new_grid` is not; `sum_scalars` and `sum_transpose` are.
module cg_grid

    use mpi, only: MPI_DOUBLE_PRECISION
    use bl_kinds, only: dp, i8
    use bl_messages, only: comm_irecv, comm_send, comm_wait

    implicit none(type, external)
    private

    public :: grid_t

    type :: grid_t
        integer :: comm = 0
        integer :: rank = 0
        integer :: columns = 1
        integer :: rows = 1
        integer :: column = 0
        integer :: row = 0
        !> Process that has the result which belongs here, and needs the one that is here.
        integer :: transpose_rank = 0
        !> First and last row and column (counted from 1) of this process's block of the matrix.
        integer :: first_row = 1, last_row = 0, first_column = 1, last_column = 0
        !> Rows of the part of a result that stays here, as first and last position in the block.
        integer :: first_kept = 1, last_kept = 0
    contains
        procedure :: sum_scalars => grid_sum_scalars
        procedure :: sum_transpose => grid_sum_transpose
    end type grid_t

    interface grid_t
        module procedure new_grid
    end interface grid_t

contains

    !> The grid of `ranks` processes, a power of two, for a matrix of order `na`.
    pure type(grid_t) function new_grid(comm, rank, ranks, na) result(grid)
        integer, intent(in) :: comm, rank, ranks, na
        integer :: half

        grid%comm = comm
        grid%rank = rank
        grid%rows = 2**(trailz(ranks)/2)
        grid%columns = ranks/grid%rows
        grid%row = rank/grid%columns
        grid%column = mod(rank, grid%columns)
        grid%first_row = block_end(na, grid%rows, grid%row - 1) + 1
        grid%last_row = block_end(na, grid%rows, grid%row)
        if (grid%columns == grid%rows) then
            grid%transpose_rank = grid%column*grid%columns + grid%row
            grid%first_column = block_end(na, grid%rows, grid%column - 1) + 1
            grid%last_column = block_end(na, grid%rows, grid%column)
            grid%first_kept = 1
            grid%last_kept = grid%last_row - grid%first_row + 1
        else
            half = mod(grid%column, 2)
            grid%transpose_rank = (grid%column/2)*grid%columns + 2*grid%row + half
            call cut_half(block_end(na, grid%rows, grid%column/2 - 1) + 1, &
                          block_end(na, grid%rows, grid%column/2), half, &
                          grid%first_column, grid%last_column)
            call cut_half(1, grid%last_row - grid%first_row + 1, half, &
                          grid%first_kept, grid%last_kept)
        end if
    end function new_grid

    !> Last row of block 0, 1, ... of so many; the first blocks are one larger if need be.
    pure integer function block_end(na, blocks, block)
        integer, intent(in) :: na, blocks, block
        block_end = (block + 1)*(na/blocks) + min(block + 1, mod(na, blocks))
    end function block_end

    !> First (half = 0) or second half of a range; the first is one larger if need be.
    pure subroutine cut_half(first, last, half, first_of_half, last_of_half)
        integer, intent(in) :: first, last, half
        integer, intent(out) :: first_of_half, last_of_half
        integer :: middle
        middle = first + (last - first + 2)/2 - 1
        first_of_half = merge(first, middle + 1, half == 0)
        last_of_half = merge(middle, last, half == 0)
    end subroutine cut_half

    !> Sums each number over the grid row.
    subroutine grid_sum_scalars(self, numbers)
        class(grid_t), intent(in) :: self
        real(dp), intent(inout), contiguous :: numbers(:)
        real(dp), asynchronous :: received(size(numbers))
        integer :: distance

        distance = 1
        do while (distance < self%columns)
            call exchange(self, ieor(self%column, distance) + self%row*self%columns, numbers, &
                          received)
            numbers = numbers + received
            distance = 2*distance
        end do
    end subroutine grid_sum_scalars

    !> Makes a part of a vector from partial results of the block's rows, which are overwritten.
    subroutine grid_sum_transpose(self, partial, vector)
        class(grid_t), intent(in) :: self
        real(dp), intent(inout), contiguous :: partial(:)
        real(dp), intent(out), contiguous :: vector(:)
        real(dp), asynchronous :: received(self%last_kept - self%first_kept + 1)
        integer :: distance, first, last

        first = self%first_kept
        last = self%last_kept
        distance = 1
        if (self%columns /= self%rows) then
            if (first == 1) then
                call exchange(self, ieor(self%rank, 1), partial(last + 1:), received)
            else
                call exchange(self, ieor(self%rank, 1), partial(:first - 1), received)
            end if
            partial(first:last) = partial(first:last) + received
            distance = 2
        end if
        do while (distance < self%columns)
            call exchange(self, ieor(self%column, distance) + self%row*self%columns, &
                          partial(first:last), received)
            partial(first:last) = partial(first:last) + received
            distance = 2*distance
        end do
        if (self%transpose_rank == self%rank) then
            vector = partial(first:last)
        else
            call exchange(self, self%transpose_rank, partial(first:last), vector)
        end if
    end subroutine grid_sum_transpose

    subroutine exchange(grid, partner, sent, received)
        type(grid_t), intent(in) :: grid
        integer, intent(in) :: partner
        real(dp), intent(in), contiguous :: sent(:)
        real(dp), intent(inout), contiguous, asynchronous :: received(:)
        integer, parameter :: tag = 1
        integer :: request
        call comm_irecv(received, size(received), MPI_DOUBLE_PRECISION, partner, tag, grid%comm, &
                        request)
        call comm_send(sent, size(sent), MPI_DOUBLE_PRECISION, partner, tag, grid%comm)
        call comm_wait(request)
    end subroutine exchange

end module cg_grid
