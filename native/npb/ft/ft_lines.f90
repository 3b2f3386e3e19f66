!> Fourier transforms of many lines at once, by cache-blocked radix passes.
!>
!>     X(f) = sum over t = 0 ... n - 1 of x(t) exp(-2 pi i f t/n),  n = 2**k
!>
!> A Stockham transform in stages of radix 8, with one or two of radix 4 at the end if k cannot be
!> divided by 3; it needs no bit reversal. All loops run over lines that lie side by side (lanes):
!> row t of a batch is the number t of each of its lines, first all real, then all imaginary parts.
!> The first stage reads where the caller's data lie and the last writes where they are to lie (a
!> table of offsets tells both), so that gathering and scattering costs no pass of its own; the
!> stages between work on buffers that stay in cache.
!>
!> The inverse (unnormalised, exponent positive) is the same with real and imaginary parts
!> exchanged, which is left to the callers: they name the places of both.
!>
!> Lines along which memory is contiguous are transformed by `rows_t`. Its first stage runs along
!> the line instead and leaves 8 lines of an eighth of the length for each, side by side, which the
!> lanes' stages finish.
!>
!> Exported: `lines_t`, `rows_t`, `new_lines`, `new_rows`. Nothing is collective.
module ft_lines

    use npb_kinds, only: dp, i8

    implicit none(type, external)
    private

    public :: lines_t, rows_t, new_lines, new_rows

    real(dp), parameter :: pi = acos(-1.0_dp)
    real(dp), parameter :: sqrt_half = sqrt(0.5_dp)

    !> Doubles between the rows of a buffer, so that rows a power of two apart do not fall on the
    !> same cache lines.
    integer, parameter :: padding = 8

    type :: stage_t
        integer :: radix = 0
        !> Length of the transforms that this stage begins with, over its radix.
        integer :: parts = 0
        !> Rows that belong together: the product of the radices before.
        integer :: stride = 1
        !> twiddle(1:2, r, p) is exp(-2 pi i p r/(radix parts)), real and imaginary part.
        real(dp), allocatable :: twiddle(:, :, :)
    end type stage_t

    !> Transforms of up to `lanes` lines of one length.
    type :: lines_t
        integer :: length = 0
        type(stage_t), allocatable :: stages(:)
        !> Place of each row in a buffer.
        integer(i8), allocatable :: place(:)
        real(dp), allocatable :: buffer(:), other(:)
    contains
        procedure :: read => lines_read
        procedure :: write => lines_write
        procedure, private :: work => lines_work
    end type lines_t

    !> Transforms of up to `rows` contiguous lines.
    type :: rows_t
        integer :: parts = 0
        !> Real and imaginary part of exp(-2 pi i p r/length) at (p, r, 1:2).
        real(dp), allocatable :: twiddle(:, :, :)
        !> One line's results of the first stage.
        real(dp), allocatable :: line(:, :, :)
        type(lines_t) :: rest
        integer(i8), allocatable :: offset(:)
    contains
        procedure :: read => rows_read
        procedure :: write => rows_write
    end type rows_t

contains

    type(lines_t) function new_lines(length, lanes) result(lines)
        integer, intent(in) :: length, lanes
        integer :: radices(32), i, rest, stride

        lines%length = length
        call choose_radices(length, radices, i)
        allocate (lines%stages(i))
        rest = length
        stride = 1
        do i = 1, size(lines%stages)
            lines%stages(i) = new_stage(radices(i), rest, stride)
            rest = rest/radices(i)
            stride = stride*radices(i)
        end do
        allocate (lines%place(0:length - 1))
        lines%place = [(int(2*lanes + padding, i8)*i, i=0, length - 1)]
        allocate (lines%buffer(0:(2*lanes + padding)*length - 1), source=0.0_dp)
        allocate (lines%other, source=lines%buffer)
    end function new_lines

    type(rows_t) function new_rows(length, rows) result(plan)
        integer, intent(in) :: length, rows
        type(stage_t) :: first
        integer :: i
        first = new_stage(8, length, 1)
        plan%parts = first%parts
        allocate (plan%twiddle(0:first%parts - 1, 7, 2), plan%line(0:7, 0:first%parts - 1, 2))
        do i = 1, 2
            plan%twiddle(:, :, i) = transpose(first%twiddle(i, :, :))
        end do
        plan%rest = new_lines(length/8, 8*rows)
        allocate (plan%offset(0:length/8 - 1))
        plan%offset = [(int(8*i, i8), i=0, length/8 - 1)]
    end function new_rows

    !> Radix 8 as often as only factors 1, 4 and 16 remain.
    pure subroutine choose_radices(length, radices, stages)
        integer, intent(in) :: length
        integer, intent(out) :: radices(:), stages
        integer :: rest
        rest = length
        radices = 0
        stages = 0
        do while (rest > 1)
            stages = stages + 1
            radices(stages) = merge(4, 8, rest == 4 .or. rest == 16)
            rest = rest/radices(stages)
        end do
    end subroutine choose_radices

    !> The twiddles come from sine and cosine, each on its own: recurrences would cost accuracy.
    pure type(stage_t) function new_stage(radix, length, stride) result(stage)
        integer, intent(in) :: radix, length, stride
        real(dp) :: angle
        integer :: p, r
        stage%radix = radix
        stage%parts = length/radix
        stage%stride = stride
        allocate (stage%twiddle(2, radix - 1, 0:stage%parts - 1))
        do p = 0, stage%parts - 1
            do r = 1, radix - 1
                angle = -2*pi*real(p*r, dp)/length
                stage%twiddle(:, r, p) = [cos(angle), sin(angle)]
            end do
        end do
    end function new_stage

    !> Takes `lanes` lines and does all stages but the last. Number t of the first line lies at
    !> x(offset(t) + re) and x(offset(t) + im), those of the other lines behind it.
    subroutine lines_read(self, lanes, x, offset, re, im)
        class(lines_t), intent(inout) :: self
        integer, intent(in) :: lanes
        real(dp), intent(in) :: x(0:*)
        integer(i8), intent(in) :: offset(0:)
        integer, intent(in) :: re, im
        call do_stage(self%stages(1), lanes, x, offset, int(re, i8), int(im, i8), self%place, &
                      self%buffer)
        call self%work(2, lanes)
    end subroutine lines_read

    !> The stages from `first` to the last but one, between the buffers.
    subroutine lines_work(self, first, lanes)
        class(lines_t), intent(inout) :: self
        integer, intent(in) :: first, lanes
        real(dp), allocatable :: swap(:)
        integer :: i
        do i = first, size(self%stages) - 1
            call do_stage(self%stages(i), lanes, self%buffer, self%place, 0_i8, int(lanes, i8), &
                          self%place, self%other)
            call move_alloc(self%buffer, swap)
            call move_alloc(self%other, self%buffer)
            call move_alloc(swap, self%other)
        end do
    end subroutine lines_work

    !> Does the last stage and delivers. `segments`, if given, are equal parts of the lanes that
    !> lie `pitch` apart at the destination.
    subroutine lines_write(self, lanes, y, offset, re, im, segments, pitch)
        class(lines_t), intent(in) :: self
        integer, intent(in) :: lanes
        real(dp), intent(inout) :: y(0:*)
        integer(i8), intent(in) :: offset(0:)
        integer, intent(in) :: re, im
        integer, intent(in), optional :: segments
        integer(i8), intent(in), optional :: pitch
        integer :: count, segment, place
        integer(i8) :: away

        count = 1
        away = 0
        if (present(segments)) count = segments
        if (present(pitch)) away = pitch
        do segment = 0, count - 1
            place = segment*(lanes/count)
            associate (last => self%stages(size(self%stages)))
                if (last%radix == 8) then
                    call last_stage_8(lanes/count, lanes, last%stride, self%buffer(place:), &
                                      self%place, y, offset, segment*away + re, &
                                      segment*away + im)
                else
                    call last_stage_4(lanes/count, lanes, last%stride, self%buffer(place:), &
                                      self%place, y, offset, segment*away + re, &
                                      segment*away + im)
                end if
            end associate
        end do
    end subroutine lines_write

    !> Takes `rows` lines, `pitch` apart, of real and imaginary parts that begin at x(re) and x(im).
    subroutine rows_read(self, rows, x, pitch, re, im)
        class(rows_t), intent(inout) :: self
        integer, intent(in) :: rows
        real(dp), intent(in) :: x(0:*)
        integer(i8), intent(in) :: pitch
        integer, intent(in) :: re, im
        integer :: row
        do row = 0, rows - 1
            call first_stage(self%parts, self%twiddle, x(row*pitch + re), &
                             x(row*pitch + im), self%line(:, :, 1), self%line(:, :, 2), &
                             self%rest%place, 8*row, 8*(rows + row), self%rest%buffer)
        end do
        call self%rest%work(1, 8*rows)
    end subroutine rows_read

    subroutine rows_write(self, rows, y, pitch, re, im)
        class(rows_t), intent(in) :: self
        integer, intent(in) :: rows
        real(dp), intent(inout) :: y(0:*)
        integer(i8), intent(in) :: pitch
        integer, intent(in) :: re, im
        call self%rest%write(8*rows, y, self%offset, re, im, rows, pitch)
    end subroutine rows_write

    subroutine do_stage(stage, lanes, x, offset, re, im, place, y)
        type(stage_t), intent(in) :: stage
        integer, intent(in) :: lanes
        real(dp), intent(in) :: x(0:*)
        integer(i8), intent(in) :: offset(0:), re, im, place(0:)
        real(dp), intent(inout) :: y(0:*)
        if (stage%radix == 8) then
            call stage_8(lanes, stage%parts, stage%stride, stage%twiddle, x, offset, re, im, &
                         place, y)
        else
            call stage_4(lanes, stage%parts, stage%stride, stage%twiddle, x, offset, re, im, &
                         place, y)
        end if
    end subroutine do_stage

    !> Row q + s (p + m r) of x, r = 0 ... 7, gives row q + s (8 p + r) of y.
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

end module ft_lines
