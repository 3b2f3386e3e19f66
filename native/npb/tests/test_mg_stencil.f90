!> MG's operators against the 27-term sums that define them.
program test_mg_stencil

    use mg_stencil, only: add_interpolated, interpolate, restrict, smooth, subtract_a, &
        subtract_a_in_place
    use bl_check, only: check, finish_checks
    use bl_kinds, only: dp

    implicit none(type, external)

    integer, parameter :: nx = 18, ny = 10
    real(dp), parameter :: tolerance = 1.0e-13_dp
    real(dp), parameter :: a(0:3) = [-8.0_dp/3, 0.0_dp, 1.0_dp/6, 1.0_dp/12]
    real(dp), parameter :: s(0:3) = [-3.0_dp/17, 1.0_dp/33, -1.0_dp/61, 0.0_dp]
    real(dp), parameter :: r(0:3) = [0.5_dp, 0.25_dp, 0.125_dp, 0.0625_dp]
    real(dp) :: field(0:nx + 1, 0:ny + 1, -1:1), other(0:nx + 1, 0:ny + 1)

    call random_number(field)
    call random_number(other)
    call test_same_grid()
    call test_restrict(nx, ny, [0, 0])
    call test_restrict(1, ny, [1, 0])
    call test_restrict(nx, 1, [0, 1])
    call test_restrict(1, 1, [1, 1])
    call test_interpolate(nx, ny, [0, 0])
    call test_interpolate(1, ny, [1, 0])
    call test_interpolate(nx, 1, [0, 1])
    call test_interpolate(1, 1, [1, 1])
    call finish_checks()

contains

    !> By the number of directions in which a neighbour differs.
    real(dp) function stencil(weights, x, i, j)
        real(dp), intent(in) :: weights(0:3), x(0:, 0:, -1:)
        integer, intent(in) :: i, j
        integer :: di, dj, dk
        stencil = 0
        do dk = -1, 1
            do dj = -1, 1
                do di = -1, 1
                    stencil = stencil + weights(abs(di) + abs(dj) + abs(dk)) &
                              *x(i + di, j + dj, dk)
                end do
            end do
        end do
    end function stencil

    !> All rows, and some only.
    subroutine test_same_grid()
        integer :: first, last
        do first = 1, 3, 2
            do last = 2, ny, ny - 2
                call test_rows(first, last)
            end do
        end do
    end subroutine test_same_grid

    subroutine test_rows(first, last)
        integer, intent(in) :: first, last
        real(dp), dimension(0:nx + 1, 0:ny + 1) :: out, in_place, smoothed, expected_a, expected_s
        integer :: i, j
        out = other
        in_place = other
        smoothed = other
        expected_a = other
        expected_s = other
        do j = first, last
            do i = 1, nx
                expected_a(i, j) = other(i, j) - stencil(a, field, i, j)
                expected_s(i, j) = other(i, j) + stencil(s, field, i, j)
            end do
        end do
        call subtract_a(nx, ny, first, last, field(:, :, -1), field(:, :, 0), field(:, :, 1), &
                        other, out)
        call subtract_a_in_place(nx, ny, first, last, field(:, :, -1), field(:, :, 0), &
                                 field(:, :, 1), in_place)
        call smooth(nx, ny, first, last, s(:2), field(:, :, -1), field(:, :, 0), &
                    field(:, :, 1), smoothed)
        call check(maxval(abs(out - expected_a)) < tolerance, 'v - A u')
        call check(maxval(abs(in_place - expected_a)) < tolerance, 'r - A u')
        call check(maxval(abs(smoothed - expected_s)) < tolerance, 'u + S r')
    end subroutine test_rows

    subroutine test_restrict(fine_nx, fine_ny, shift)
        integer, intent(in) :: fine_nx, fine_ny, shift(2)
        real(dp) :: fine(0:fine_nx + 1, 0:fine_ny + 1, -1:1)
        real(dp) :: coarse(0:(fine_nx + shift(1))/2 + 1, 0:(fine_ny + shift(2))/2 + 1)
        real(dp) :: expected(0:ubound(coarse, 1), 0:ubound(coarse, 2))
        integer :: i, j
        fine = field(:fine_nx + 1, :fine_ny + 1, :)
        coarse = 0
        expected = 0
        do j = 1, ubound(coarse, 2) - 1
            do i = 1, ubound(coarse, 1) - 1
                expected(i, j) = stencil(r, fine, 2*i - shift(1), 2*j - shift(2))
            end do
        end do
        call restrict(ubound(coarse, 1) - 1, ubound(coarse, 2) - 1, shift, fine_nx, fine_ny, &
                      fine(:, :, -1), fine(:, :, 0), fine(:, :, 1), coarse)
        call check(maxval(abs(coarse - expected)) < tolerance, 'R r')
    end subroutine test_restrict

    !> A fine point takes the mean of the 1, 2, 4 or 8 coarse points around it.
    subroutine test_interpolate(fine_nx, fine_ny, shift)
        integer, intent(in) :: fine_nx, fine_ny, shift(2)
        integer :: n(2), i, j
        real(dp), dimension(0:fine_nx + 1, 0:fine_ny + 1) :: fine, added, expected
        real(dp), allocatable :: coarse(:, :, :)

        n = ([fine_nx, fine_ny] + shift)/2
        allocate (coarse(0:n(1) + 1, 0:n(2) + 1, 2))
        coarse(:, :, :) = field(:n(1) + 1, :n(2) + 1, :0)
        do j = 0, fine_ny + 1
            do i = 0, fine_nx + 1
                expected(i, j) = mean(coarse, i + shift(1), j + shift(2))
            end do
        end do
        added = other(:fine_nx + 1, :fine_ny + 1)
        call interpolate(n(1), n(2), shift, coarse(:, :, 1), coarse(:, :, 2), fine_nx, fine_ny, &
                         0, fine_ny + 1, fine)
        call add_interpolated(n(1), n(2), shift, coarse(:, :, 1), coarse(:, :, 2), fine_nx, &
                              fine_ny, 0, fine_ny + 1, added)
        call check(maxval(abs(fine - expected)) < tolerance, 'Q u')
        call check(maxval(abs(added - other(:fine_nx + 1, :fine_ny + 1) - expected)) < tolerance, &
                   'u + Q u')
    end subroutine test_interpolate

    real(dp) function mean(coarse, i, j)
        real(dp), intent(in) :: coarse(:, :, :)
        integer, intent(in) :: i, j
        associate (columns => [i/2, (i + 1)/2] + 1, rows => [j/2, (j + 1)/2] + 1)
            mean = sum(coarse(columns, rows, :))/8
        end associate
    end function mean

end program test_mg_stencil
