!> CG's matrix: its vectors, its known size, its symmetry and the form w (v x)**2 that defines it;
!> that blocks are parts of the whole, and that slices multiply as rows do.
program test_cg_matrix

    use cg_matrix, only: generate_matrix, matrix_t
    use cg_slices, only: slices_t
    use cg_vectors, only: sparse_vector_t, vector_source_t
    use bl_check, only: check, finish_checks
    use bl_kinds, only: dp, i4, i8

    implicit none(type, external)

    real(dp), parameter :: rcond = 0.1_dp
    type(matrix_t) :: matrix

    call test_vectors(1400, 7)
    ! Published numbers of nonzeros, classes S and W.
    call generate_matrix(7000, 8, 12.0_dp, 1, 7000, 1, 7000, matrix)
    call check(matrix%first(7001) - 1 == 508402, 'nonzeros of class W')
    call generate_matrix(1400, 7, 10.0_dp, 1, 1400, 1, 1400, matrix)
    call check(matrix%first(1401) - 1 == 78148, 'nonzeros of class S')
    call test_rows(matrix)
    call test_form(matrix, 1400, 7, 10.0_dp)
    call test_block(matrix, 701, 1400, 351, 700)
    call test_slices(matrix)
    ! Rows and columns of several tiles, the last ones incomplete, and a row count that leaves a
    ! slice with missing rows.
    call generate_matrix(9001, 3, 10.0_dp, 1, 9001, 1, 9001, matrix)
    call test_slices(matrix)
    call finish_checks()

contains

    subroutine test_vectors(na, nonzer)
        integer, intent(in) :: na, nonzer
        type(vector_source_t) :: source
        type(sparse_vector_t) :: vector
        integer :: i, j
        source = vector_source_t(na, nonzer)
        do i = 1, na
            call source%draw(vector)
            associate (n => vector%entries, position => vector%position(:vector%entries))
                call check(n == nonzer .or. n == nonzer + 1, 'entries of a vector')
                call check(all(position >= 1 .and. position <= na), 'positions within the order')
                call check(all([(count(position == position(j)) == 1, j=1, n)]), 'once each')
                call check(any(position == i .and. abs(vector%value(:n) - 0.5_dp) <= 0), &
                           'one half at its own position')
            end associate
        end do
    end subroutine test_vectors

    !> Columns ascend; the matrix is symmetric.
    subroutine test_rows(whole)
        type(matrix_t), intent(in) :: whole
        real(dp), allocatable :: dense(:, :)
        integer(i8) :: k
        integer :: row
        allocate (dense(whole%rows, whole%columns), source=0.0_dp)
        do row = 1, whole%rows
            do k = whole%first(row), whole%first(row + 1) - 1
                if (k > whole%first(row)) call check(whole%column(k) > whole%column(k - 1), &
                                                     'columns ascend')
                dense(row, whole%column(k)) = whole%value(k)
            end do
        end do
        call check(maxval(abs(dense - transpose(dense))) < 1.0e-15_dp, 'symmetric')
    end subroutine test_rows

    !> x A x = sum of w_i (v_i x)**2 + (rcond - shift) x x.
    subroutine test_form(whole, na, nonzer, shift)
        type(matrix_t), intent(in) :: whole
        integer, intent(in) :: na, nonzer
        real(dp), intent(in) :: shift
        type(vector_source_t) :: source
        type(sparse_vector_t) :: vector
        real(dp) :: x(na), form, projection
        integer :: i
        call random_number(x)
        form = (rcond - shift)*dot_product(x, x)
        source = vector_source_t(na, nonzer)
        do i = 1, na
            call source%draw(vector)
            projection = sum(vector%value(:vector%entries)*x(vector%position(:vector%entries)))
            form = form + rcond**(real(i - 1, dp)/na)*projection**2
        end do
        call check(abs(dot_product(x, product_by_rows(whole, x)) - form) < 1.0e-11_dp*abs(form), &
                   'the form that defines the matrix')
    end subroutine test_form

    subroutine test_block(whole, first_row, last_row, first_column, last_column)
        type(matrix_t), intent(in) :: whole
        integer, intent(in) :: first_row, last_row, first_column, last_column
        type(matrix_t) :: block
        integer(i4), allocatable :: columns(:)
        real(dp), allocatable :: values(:)
        logical, allocatable :: inside(:)
        integer :: row
        call generate_matrix(1400, 7, 10.0_dp, first_row, last_row, first_column, last_column, &
                             block)
        call check(block%rows == last_row - first_row + 1, 'rows of a block')
        do row = 1, block%rows
            associate (a => whole%first(row + first_row - 1), b => whole%first(row + first_row) - 1)
                inside = whole%column(a:b) >= first_column .and. whole%column(a:b) <= last_column
                columns = pack(whole%column(a:b), inside) - first_column + 1
                values = pack(whole%value(a:b), inside)
            end associate
            associate (a => block%first(row), b => block%first(row + 1) - 1)
                call check(b - a + 1 == size(columns), 'nonzeros of a row of a block')
                if (b - a + 1 /= size(columns)) return
                call check(all(block%column(a:b) == columns), 'columns of a block')
                call check(all(abs(block%value(a:b) - values) <= 1.0e-15_dp), 'values of a block')
            end associate
        end do
    end subroutine test_block

    subroutine test_slices(rows)
        type(matrix_t), intent(in) :: rows
        type(slices_t) :: slices
        real(dp) :: x(rows%columns), product(rows%rows), expected(rows%rows)
        integer :: turn
        slices = slices_t(rows)
        call random_number(x)
        expected = product_by_rows(rows, x)
        do turn = 1, 2
            call slices%multiply(x, product)
            call check(maxval(abs(product - expected)) < 1.0e-13_dp*maxval(abs(expected)), &
                       'slices multiply as rows, there and back')
        end do
    end subroutine test_slices

    pure function product_by_rows(rows, x) result(product)
        type(matrix_t), intent(in) :: rows
        real(dp), intent(in) :: x(:)
        real(dp) :: product(rows%rows)
        integer :: row
        do row = 1, rows%rows
            associate (a => rows%first(row), b => rows%first(row + 1) - 1)
                product(row) = sum(rows%value(a:b)*x(rows%column(a:b)))
            end associate
        end do
    end function product_by_rows

end program test_cg_matrix
