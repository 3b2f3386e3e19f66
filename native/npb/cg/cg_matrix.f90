!> CG's matrix: sparse, symmetric, random, with known condition number.
!>
!> A = sum over i of w_i v_i v_i^T + (rcond - shift) I, w_i = rcond**((i - 1)/na), with random sparse
!> vectors v_i (see cg_vectors).
!>
!> Every process generates all v_i, twice, and keeps no more than its block of A: first it counts
!> the products that fall into each of its rows, then it stores them, sorts each row and merges
!> equal positions.
!>
!> Exported: `matrix_t`, `generate_matrix`, `matrix_memory_bytes`. Nothing is collective or timed.
module cg_matrix

    use bl_kinds, only: dp, i4, i8
    use cg_source, only: sparse_vector_t, vector_source_t

    implicit none(type, external)
    private

    public :: matrix_t, generate_matrix, matrix_memory_bytes

    real(dp), parameter :: rcond = 0.1_dp

    !> A block of the matrix, row by row.
    type :: matrix_t
        integer :: rows = 0
        integer :: columns = 0
        !> Row i has the nonzeros first(i) ... first(i + 1) - 1.
        integer(i8), allocatable :: first(:)
        !> Column of each nonzero, counted from 1 in the block, ascending within a row.
        integer(i4), allocatable :: column(:)
        real(dp), allocatable :: value(:)
    end type matrix_t

contains

    !> What a block with so many nonzeros takes, and what its making needs beside it.
    pure integer(i8) function matrix_memory_bytes(nonzeros, na) result(size_bytes)
        integer(i8), intent(in) :: nonzeros
        integer, intent(in) :: na
        integer(i8), parameter :: nonzero_bytes = 12, row_bytes = 20
        size_bytes = nonzero_bytes*nonzeros + row_bytes*na
    end function matrix_memory_bytes

    !> Makes the block of rows first_row ... last_row and columns first_column ... last_column.
    subroutine generate_matrix(na, nonzer, shift, first_row, last_row, first_column, last_column, &
                               matrix)
        integer, intent(in) :: na, nonzer
        real(dp), intent(in) :: shift
        integer, intent(in) :: first_row, last_row, first_column, last_column
        type(matrix_t), intent(out) :: matrix
        type(vector_source_t) :: source
        type(sparse_vector_t) :: vector
        integer(i8), allocatable :: next(:)
        real(dp) :: weight, ratio
        integer :: i

        matrix%rows = last_row - first_row + 1
        matrix%columns = last_column - first_column + 1
        allocate (next(matrix%rows), source=0_i8)
        source = vector_source_t(na, nonzer)
        do i = 1, na
            call source%draw(vector)
            call count_products(vector)
        end do
        call place_rows()

        ratio = rcond**(1.0_dp/na)
        weight = 1
        source = vector_source_t(na, nonzer)
        do i = 1, na
            call source%draw(vector)
            call store_products(vector)
            weight = weight*ratio
        end do
        call sort_rows()

    contains

        pure logical function is_row(position)
            integer(i4), intent(in) :: position
            is_row = position >= first_row .and. position <= last_row
        end function is_row

        pure logical function is_column(position)
            integer(i4), intent(in) :: position
            is_column = position >= first_column .and. position <= last_column
        end function is_column

        !> The term on the diagonal is stored with the products of v_i.
        subroutine count_products(v)
            type(sparse_vector_t), intent(in) :: v
            integer :: j, columns
            columns = 0
            do j = 1, v%entries
                if (is_column(v%position(j))) columns = columns + 1
            end do
            do j = 1, v%entries
                if (is_row(v%position(j))) next(v%position(j) - first_row + 1) = &
                    next(v%position(j) - first_row + 1) + columns
            end do
            if (is_row(i) .and. is_column(i)) next(i - first_row + 1) = &
                next(i - first_row + 1) + 1
        end subroutine count_products

        subroutine place_rows()
            integer :: row
            allocate (matrix%first(matrix%rows + 1))
            matrix%first(1) = 1
            do row = 1, matrix%rows
                matrix%first(row + 1) = matrix%first(row) + next(row)
                next(row) = matrix%first(row)
            end do
            allocate (matrix%column(matrix%first(matrix%rows + 1) - 1))
            allocate (matrix%value(matrix%first(matrix%rows + 1) - 1))
        end subroutine place_rows

        subroutine store_products(v)
            type(sparse_vector_t), intent(in) :: v
            integer :: j, k
            do j = 1, v%entries
                if (.not. is_row(v%position(j))) cycle
                do k = 1, v%entries
                    if (is_column(v%position(k))) call store(v%position(j), v%position(k), &
                                                             weight*v%value(j)*v%value(k))
                end do
            end do
            if (is_row(i) .and. is_column(i)) call store(i, i, rcond - shift)
        end subroutine store_products

        subroutine store(row, column, value)
            integer(i4), intent(in) :: row, column
            real(dp), intent(in) :: value
            associate (place => next(row - first_row + 1))
                matrix%column(place) = column - first_column + 1
                matrix%value(place) = value
                place = place + 1
            end associate
        end subroutine store

        !> Sorts every row and moves it down to where the last one ended.
        subroutine sort_rows()
            integer(i8) :: begin, end, place, entry
            integer :: row
            place = 0
            do row = 1, matrix%rows
                begin = matrix%first(row)
                end = matrix%first(row + 1) - 1
                matrix%first(row) = place + 1
                call sort_by_column(matrix%column(begin:end), matrix%value(begin:end))
                do entry = begin, end
                    if (place >= matrix%first(row)) then
                        if (matrix%column(place) == matrix%column(entry)) then
                            matrix%value(place) = matrix%value(place) + matrix%value(entry)
                            cycle
                        end if
                    end if
                    place = place + 1
                    matrix%column(place) = matrix%column(entry)
                    matrix%value(place) = matrix%value(entry)
                end do
            end do
            matrix%first(matrix%rows + 1) = place + 1
        end subroutine sort_rows

    end subroutine generate_matrix

    !> Sorts pairs by column: heapsort, in place.
    subroutine sort_by_column(column, value)
        integer(i4), intent(inout) :: column(:)
        real(dp), intent(inout) :: value(:)
        integer :: root, last
        integer(i4) :: key
        real(dp) :: carried

        do root = size(column)/2, 1, -1
            call sift(root, size(column))
        end do
        do last = size(column), 2, -1
            key = column(1)
            carried = value(1)
            column(1) = column(last)
            value(1) = value(last)
            column(last) = key
            value(last) = carried
            call sift(1, last - 1)
        end do

    contains

        !> Lets the element at `top` sink in the heap of the elements up to `bottom`.
        subroutine sift(top, bottom)
            integer, intent(in) :: top, bottom
            integer :: parent, child
            integer(i4) :: sinking_key
            real(dp) :: sinking_value
            sinking_key = column(top)
            sinking_value = value(top)
            parent = top
            do
                child = 2*parent
                if (child > bottom) exit
                if (child < bottom) then
                    if (column(child + 1) > column(child)) child = child + 1
                end if
                if (column(child) <= sinking_key) exit
                column(parent) = column(child)
                value(parent) = value(child)
                parent = child
            end do
            column(parent) = sinking_key
            value(parent) = sinking_value
        end subroutine sift

    end subroutine sort_by_column

end module cg_matrix
