!> The stages of FT's transforms: radix passes over lines that lie side by side, and the first stage
!> along a contiguous line. ft_lines.f90 says how they make a transform.
!>
!> Row q + s (p + m r) of x gives row q + s (R p + r) of y, R the radix, m the length of the
!> transforms that the stage begins with over R, s the product of the radices before. Tables tell
!> where rows lie. In a buffer, `lanes` real parts precede as many imaginary parts.
!>
!> The stages and their butterflies share a module so that the latter can be inlined. Nothing is
!> collective.
module ft_stages

    use bl_kinds, only: dp, i8

    implicit none(type, external)
    private

    public :: first_stage, last_stage_4, last_stage_8, stage_4, stage_8

    real(dp), parameter :: sqrt_half = sqrt(0.5_dp)

contains

    pure subroutine stage_8(lanes, m, s, w, x, offset, re, im, place, y)
        integer, intent(in) :: lanes, m, s
        real(dp), intent(in) :: w(2, 7, 0:m - 1), x(0:*)
        integer(i8), intent(in) :: offset(0:s*m*8 - 1), re, im, place(0:s*m*8 - 1)
        real(dp), intent(inout) :: y(0:*)
        real(dp) :: r0, r1, r2, r3, r4, r5, r6, r7, i0, i1, i2, i3, i4, i5, i6, i7
        integer(i8) :: x0, x1, x2, x3, x4, x5, x6, x7, y0, y1, y2, y3, y4, y5, y6, y7, l
        integer :: p, q

        do p = 0, m - 1
            do q = 0, s - 1
                x0 = offset(q + s*p)
                x1 = offset(q + s*(p + m))
                x2 = offset(q + s*(p + 2*m))
                x3 = offset(q + s*(p + 3*m))
                x4 = offset(q + s*(p + 4*m))
                x5 = offset(q + s*(p + 5*m))
                x6 = offset(q + s*(p + 6*m))
                x7 = offset(q + s*(p + 7*m))
                y0 = place(q + s*8*p)
                y1 = place(q + s*(8*p + 1))
                y2 = place(q + s*(8*p + 2))
                y3 = place(q + s*(8*p + 3))
                y4 = place(q + s*(8*p + 4))
                y5 = place(q + s*(8*p + 5))
                y6 = place(q + s*(8*p + 6))
                y7 = place(q + s*(8*p + 7))
                !$omp simd private(r0, r1, r2, r3, r4, r5, r6, r7, i0, i1, i2, i3, i4, i5, i6, i7)
                do l = 0, lanes - 1
                    r0 = x(x0 + re + l)
                    i0 = x(x0 + im + l)
                    r1 = x(x1 + re + l)
                    i1 = x(x1 + im + l)
                    r2 = x(x2 + re + l)
                    i2 = x(x2 + im + l)
                    r3 = x(x3 + re + l)
                    i3 = x(x3 + im + l)
                    r4 = x(x4 + re + l)
                    i4 = x(x4 + im + l)
                    r5 = x(x5 + re + l)
                    i5 = x(x5 + im + l)
                    r6 = x(x6 + re + l)
                    i6 = x(x6 + im + l)
                    r7 = x(x7 + re + l)
                    i7 = x(x7 + im + l)
                    call butterfly_8(r0, r1, r2, r3, r4, r5, r6, r7, i0, i1, i2, i3, i4, i5, i6, &
                                     i7)
                    y(y0 + l) = r0
                    y(y0 + lanes + l) = i0
                    y(y1 + l) = r1*w(1, 1, p) - i1*w(2, 1, p)
                    y(y1 + lanes + l) = r1*w(2, 1, p) + i1*w(1, 1, p)
                    y(y2 + l) = r2*w(1, 2, p) - i2*w(2, 2, p)
                    y(y2 + lanes + l) = r2*w(2, 2, p) + i2*w(1, 2, p)
                    y(y3 + l) = r3*w(1, 3, p) - i3*w(2, 3, p)
                    y(y3 + lanes + l) = r3*w(2, 3, p) + i3*w(1, 3, p)
                    y(y4 + l) = r4*w(1, 4, p) - i4*w(2, 4, p)
                    y(y4 + lanes + l) = r4*w(2, 4, p) + i4*w(1, 4, p)
                    y(y5 + l) = r5*w(1, 5, p) - i5*w(2, 5, p)
                    y(y5 + lanes + l) = r5*w(2, 5, p) + i5*w(1, 5, p)
                    y(y6 + l) = r6*w(1, 6, p) - i6*w(2, 6, p)
                    y(y6 + lanes + l) = r6*w(2, 6, p) + i6*w(1, 6, p)
                    y(y7 + l) = r7*w(1, 7, p) - i7*w(2, 7, p)
                    y(y7 + lanes + l) = r7*w(2, 7, p) + i7*w(1, 7, p)
                end do
            end do
        end do
    end subroutine stage_8

    pure subroutine stage_4(lanes, m, s, w, x, offset, re, im, place, y)
        integer, intent(in) :: lanes, m, s
        real(dp), intent(in) :: w(2, 3, 0:m - 1), x(0:*)
        integer(i8), intent(in) :: offset(0:s*m*4 - 1), re, im, place(0:s*m*4 - 1)
        real(dp), intent(inout) :: y(0:*)
        real(dp) :: r0, r1, r2, r3, i0, i1, i2, i3
        integer(i8) :: x0, x1, x2, x3, y0, y1, y2, y3, l
        integer :: p, q

        do p = 0, m - 1
            do q = 0, s - 1
                x0 = offset(q + s*p)
                x1 = offset(q + s*(p + m))
                x2 = offset(q + s*(p + 2*m))
                x3 = offset(q + s*(p + 3*m))
                y0 = place(q + s*4*p)
                y1 = place(q + s*(4*p + 1))
                y2 = place(q + s*(4*p + 2))
                y3 = place(q + s*(4*p + 3))
                !$omp simd private(r0, r1, r2, r3, i0, i1, i2, i3)
                do l = 0, lanes - 1
                    r0 = x(x0 + re + l)
                    i0 = x(x0 + im + l)
                    r1 = x(x1 + re + l)
                    i1 = x(x1 + im + l)
                    r2 = x(x2 + re + l)
                    i2 = x(x2 + im + l)
                    r3 = x(x3 + re + l)
                    i3 = x(x3 + im + l)
                    call butterfly_4(r0, r1, r2, r3, i0, i1, i2, i3)
                    y(y0 + l) = r0
                    y(y0 + lanes + l) = i0
                    y(y1 + l) = r1*w(1, 1, p) - i1*w(2, 1, p)
                    y(y1 + lanes + l) = r1*w(2, 1, p) + i1*w(1, 1, p)
                    y(y2 + l) = r2*w(1, 2, p) - i2*w(2, 2, p)
                    y(y2 + lanes + l) = r2*w(2, 2, p) + i2*w(1, 2, p)
                    y(y3 + l) = r3*w(1, 3, p) - i3*w(2, 3, p)
                    y(y3 + lanes + l) = r3*w(2, 3, p) + i3*w(1, 3, p)
                end do
            end do
        end do
    end subroutine stage_4

    !> The last stage has one part, m = 1, and no twiddles. `stored_lanes` is the distance of real
    !> and imaginary parts in x.
    pure subroutine last_stage_8(lanes, stored_lanes, s, x, place, y, offset, re, im)
        integer, intent(in) :: lanes, stored_lanes, s
        real(dp), intent(in) :: x(0:*)
        integer(i8), intent(in) :: place(0:8*s - 1), offset(0:8*s - 1), re, im
        real(dp), intent(inout) :: y(0:*)
        real(dp) :: r0, r1, r2, r3, r4, r5, r6, r7, i0, i1, i2, i3, i4, i5, i6, i7
        integer(i8) :: x0, x1, x2, x3, x4, x5, x6, x7, y0, y1, y2, y3, y4, y5, y6, y7, l
        integer :: q

        do q = 0, s - 1
            x0 = place(q)
            x1 = place(q + s)
            x2 = place(q + 2*s)
            x3 = place(q + 3*s)
            x4 = place(q + 4*s)
            x5 = place(q + 5*s)
            x6 = place(q + 6*s)
            x7 = place(q + 7*s)
            y0 = offset(q)
            y1 = offset(q + s)
            y2 = offset(q + 2*s)
            y3 = offset(q + 3*s)
            y4 = offset(q + 4*s)
            y5 = offset(q + 5*s)
            y6 = offset(q + 6*s)
            y7 = offset(q + 7*s)
            !$omp simd private(r0, r1, r2, r3, r4, r5, r6, r7, i0, i1, i2, i3, i4, i5, i6, i7)
            do l = 0, lanes - 1
                r0 = x(x0 + l)
                i0 = x(x0 + stored_lanes + l)
                r1 = x(x1 + l)
                i1 = x(x1 + stored_lanes + l)
                r2 = x(x2 + l)
                i2 = x(x2 + stored_lanes + l)
                r3 = x(x3 + l)
                i3 = x(x3 + stored_lanes + l)
                r4 = x(x4 + l)
                i4 = x(x4 + stored_lanes + l)
                r5 = x(x5 + l)
                i5 = x(x5 + stored_lanes + l)
                r6 = x(x6 + l)
                i6 = x(x6 + stored_lanes + l)
                r7 = x(x7 + l)
                i7 = x(x7 + stored_lanes + l)
                call butterfly_8(r0, r1, r2, r3, r4, r5, r6, r7, i0, i1, i2, i3, i4, i5, i6, i7)
                y(y0 + re + l) = r0
                y(y0 + im + l) = i0
                y(y1 + re + l) = r1
                y(y1 + im + l) = i1
                y(y2 + re + l) = r2
                y(y2 + im + l) = i2
                y(y3 + re + l) = r3
                y(y3 + im + l) = i3
                y(y4 + re + l) = r4
                y(y4 + im + l) = i4
                y(y5 + re + l) = r5
                y(y5 + im + l) = i5
                y(y6 + re + l) = r6
                y(y6 + im + l) = i6
                y(y7 + re + l) = r7
                y(y7 + im + l) = i7
            end do
        end do
    end subroutine last_stage_8

    pure subroutine last_stage_4(lanes, stored_lanes, s, x, place, y, offset, re, im)
        integer, intent(in) :: lanes, stored_lanes, s
        real(dp), intent(in) :: x(0:*)
        integer(i8), intent(in) :: place(0:4*s - 1), offset(0:4*s - 1), re, im
        real(dp), intent(inout) :: y(0:*)
        real(dp) :: r0, r1, r2, r3, i0, i1, i2, i3
        integer(i8) :: x0, x1, x2, x3, y0, y1, y2, y3, l
        integer :: q

        do q = 0, s - 1
            x0 = place(q)
            x1 = place(q + s)
            x2 = place(q + 2*s)
            x3 = place(q + 3*s)
            y0 = offset(q)
            y1 = offset(q + s)
            y2 = offset(q + 2*s)
            y3 = offset(q + 3*s)
            !$omp simd private(r0, r1, r2, r3, i0, i1, i2, i3)
            do l = 0, lanes - 1
                r0 = x(x0 + l)
                i0 = x(x0 + stored_lanes + l)
                r1 = x(x1 + l)
                i1 = x(x1 + stored_lanes + l)
                r2 = x(x2 + l)
                i2 = x(x2 + stored_lanes + l)
                r3 = x(x3 + l)
                i3 = x(x3 + stored_lanes + l)
                call butterfly_4(r0, r1, r2, r3, i0, i1, i2, i3)
                y(y0 + re + l) = r0
                y(y0 + im + l) = i0
                y(y1 + re + l) = r1
                y(y1 + im + l) = i1
                y(y2 + re + l) = r2
                y(y2 + im + l) = i2
                y(y3 + re + l) = r3
                y(y3 + im + l) = i3
            end do
        end do
    end subroutine last_stage_4

    !> Radix 8 along one contiguous line: number p + m r gives lane r of row p of the buffer.
    pure subroutine first_stage(m, w, xr, xi, yr, yi, place, re, im, y)
        integer, intent(in) :: m, re, im
        real(dp), intent(in) :: w(0:m - 1, 7, 2), xr(0:m - 1, 0:7), xi(0:m - 1, 0:7)
        integer(i8), intent(in) :: place(0:m - 1)
        real(dp), intent(inout) :: y(0:*)
        ! Without gaps between the rows, unlike y, so that stores across them become permutations.
        real(dp), intent(inout), dimension(0:7, 0:m - 1) :: yr, yi
        real(dp) :: r0, r1, r2, r3, r4, r5, r6, r7, i0, i1, i2, i3, i4, i5, i6, i7
        integer :: p

        !$omp simd private(r0, r1, r2, r3, r4, r5, r6, r7, i0, i1, i2, i3, i4, i5, i6, i7)
        do p = 0, m - 1
            r0 = xr(p, 0)
            i0 = xi(p, 0)
            r1 = xr(p, 1)
            i1 = xi(p, 1)
            r2 = xr(p, 2)
            i2 = xi(p, 2)
            r3 = xr(p, 3)
            i3 = xi(p, 3)
            r4 = xr(p, 4)
            i4 = xi(p, 4)
            r5 = xr(p, 5)
            i5 = xi(p, 5)
            r6 = xr(p, 6)
            i6 = xi(p, 6)
            r7 = xr(p, 7)
            i7 = xi(p, 7)
            call butterfly_8(r0, r1, r2, r3, r4, r5, r6, r7, i0, i1, i2, i3, i4, i5, i6, i7)
            yr(0, p) = r0
            yi(0, p) = i0
            yr(1, p) = r1*w(p, 1, 1) - i1*w(p, 1, 2)
            yi(1, p) = r1*w(p, 1, 2) + i1*w(p, 1, 1)
            yr(2, p) = r2*w(p, 2, 1) - i2*w(p, 2, 2)
            yi(2, p) = r2*w(p, 2, 2) + i2*w(p, 2, 1)
            yr(3, p) = r3*w(p, 3, 1) - i3*w(p, 3, 2)
            yi(3, p) = r3*w(p, 3, 2) + i3*w(p, 3, 1)
            yr(4, p) = r4*w(p, 4, 1) - i4*w(p, 4, 2)
            yi(4, p) = r4*w(p, 4, 2) + i4*w(p, 4, 1)
            yr(5, p) = r5*w(p, 5, 1) - i5*w(p, 5, 2)
            yi(5, p) = r5*w(p, 5, 2) + i5*w(p, 5, 1)
            yr(6, p) = r6*w(p, 6, 1) - i6*w(p, 6, 2)
            yi(6, p) = r6*w(p, 6, 2) + i6*w(p, 6, 1)
            yr(7, p) = r7*w(p, 7, 1) - i7*w(p, 7, 2)
            yi(7, p) = r7*w(p, 7, 2) + i7*w(p, 7, 1)
        end do
        do p = 0, m - 1
            y(place(p) + re:place(p) + re + 7) = yr(:, p)
            y(place(p) + im:place(p) + im + 7) = yi(:, p)
        end do
    end subroutine first_stage

    !> The transform of 8 numbers, in place: r and i are real and imaginary parts.
    pure subroutine butterfly_8(r0, r1, r2, r3, r4, r5, r6, r7, i0, i1, i2, i3, i4, i5, i6, i7)
        real(dp), intent(inout) :: r0, r1, r2, r3, r4, r5, r6, r7, i0, i1, i2, i3, i4, i5, i6, i7
        real(dp) :: turned
        call butterfly_4(r0, r2, r4, r6, i0, i2, i4, i6)
        call butterfly_4(r1, r3, r5, r7, i1, i3, i5, i7)
        ! Number 2 k + 1 is turned by exp(-i pi k/4).
        turned = sqrt_half*(r3 + i3)
        i3 = sqrt_half*(i3 - r3)
        r3 = turned
        turned = i5
        i5 = -r5
        r5 = turned
        turned = sqrt_half*(i7 - r7)
        i7 = -sqrt_half*(r7 + i7)
        r7 = turned
        call butterfly_2(r0, r1, i0, i1)
        call butterfly_2(r2, r3, i2, i3)
        call butterfly_2(r4, r5, i4, i5)
        call butterfly_2(r6, r7, i6, i7)
        ! Now 2 k and 2 k + 1 hold the frequencies k and k + 4.
        turned = r1
        r1 = r2
        r2 = r4
        r4 = turned
        turned = i1
        i1 = i2
        i2 = i4
        i4 = turned
        turned = r3
        r3 = r6
        r6 = r5
        r5 = turned
        turned = i3
        i3 = i6
        i6 = i5
        i5 = turned
    end subroutine butterfly_8

    pure subroutine butterfly_4(r0, r1, r2, r3, i0, i1, i2, i3)
        real(dp), intent(inout) :: r0, r1, r2, r3, i0, i1, i2, i3
        real(dp) :: turned
        call butterfly_2(r0, r2, i0, i2)
        call butterfly_2(r1, r3, i1, i3)
        ! Number 3 is turned by -i.
        turned = i3
        i3 = -r3
        r3 = turned
        call butterfly_2(r0, r1, i0, i1)
        call butterfly_2(r2, r3, i2, i3)
        ! Now 0, 1, 2, 3 hold the frequencies 0, 2, 1, 3.
        turned = r1
        r1 = r2
        r2 = turned
        turned = i1
        i1 = i2
        i2 = turned
    end subroutine butterfly_4

    pure subroutine butterfly_2(r0, r1, i0, i1)
        real(dp), intent(inout) :: r0, r1, i0, i1
        real(dp) :: difference
        difference = r0 - r1
        r0 = r0 + r1
        r1 = difference
        difference = i0 - i1
        i0 = i0 + i1
        i1 = difference
    end subroutine butterfly_2

end module ft_stages
