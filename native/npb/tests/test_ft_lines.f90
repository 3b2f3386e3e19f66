!> FT's transforms against the sum that defines them: all lengths of the classes' directions up to
!> 512, lines in any order at the source and the destination, and back.
program test_ft_lines

    use ft_lines, only: lines_t, new_lines, new_rows, rows_t
    use bl_check, only: check, finish_checks
    use bl_kinds, only: dp, i8

    implicit none(type, external)

    real(dp), parameter :: pi = acos(-1.0_dp), tolerance = 1.0e-12_dp
    integer :: k

    do k = 4, 9
        call test_lines(2**k, lanes=5)
        call test_lines(2**k, lanes=16)
    end do
    do k = 6, 9
        call test_rows(2**k, rows=1)
        call test_rows(2**k, rows=4)
    end do
    call finish_checks()

contains

    !> Number t of all lanes lies in row length - 1 - t, number f of the result in row f + 1.
    subroutine test_lines(length, lanes)
        integer, intent(in) :: length, lanes
        type(lines_t) :: lines
        real(dp) :: x(lanes, 2, 0:length - 1), y(lanes, 2, 0:length)
        real(dp) :: back(lanes, 2, 0:length - 1)
        integer(i8) :: from(0:length - 1), to(0:length - 1)
        integer :: t, lane

        call random_number(x)
        y = 0
        from = [(int(2*lanes*(length - 1 - t), i8), t=0, length - 1)]
        to = [(int(2*lanes*(t + 1), i8), t=0, length - 1)]
        lines = new_lines(length, lanes)
        call lines%read(lanes, x, from, 0, lanes)
        call lines%write(lanes, y, to, 0, lanes)
        do lane = 1, lanes
            call compare(x(lane, :, length - 1:0:-1), y(lane, :, 1:), 'lines')
        end do
        call check(all(abs(y(:, :, 0)) <= 0), 'nothing is written elsewhere')

        call lines%read(lanes, y, to, lanes, 0)
        call lines%write(lanes, back, from, lanes, 0)
        call check(maxval(abs(back/length - x)) < tolerance, 'forward and back gives the start')
    end subroutine test_lines

    subroutine test_rows(length, rows)
        integer, intent(in) :: length, rows
        integer, parameter :: gap = 3
        type(rows_t) :: plan
        real(dp) :: x(2*length + gap, rows), y(2*length + gap, rows)
        integer :: row

        call random_number(x)
        y = 0
        plan = new_rows(length, rows)
        call plan%read(rows, x, int(2*length + gap, i8), 0, length)
        call plan%write(rows, y, int(2*length + gap, i8), 0, length)
        do row = 1, rows
            call compare(transpose(reshape(x(:2*length, row), [length, 2])), &
                         transpose(reshape(y(:2*length, row), [length, 2])), 'rows')
        end do
        call check(all(abs(y(2*length + 1:, :)) <= 0), 'nothing is written between rows')
    end subroutine test_rows

    !> Real and imaginary parts of numbers and of their transform.
    subroutine compare(x, y, what)
        real(dp), intent(in) :: x(:, 0:), y(:, 0:)
        character(*), intent(in) :: what
        complex(dp) :: total
        real(dp) :: worst
        integer :: f, t, n
        n = size(x, 2)
        worst = 0
        do f = 0, n - 1
            total = 0
            do t = 0, n - 1
                total = total + cmplx(x(1, t), x(2, t), dp) &
                        *exp(cmplx(0, -2*pi*mod(f*t, n)/n, dp))
            end do
            worst = max(worst, abs(total - cmplx(y(1, f), y(2, f), dp)))
        end do
        call check(worst < tolerance*n, what//' agree with the defining sum')
    end subroutine compare

end program test_ft_lines
