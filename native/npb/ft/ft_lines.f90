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

    use ft_stages, only: first_stage, last_stage_4, last_stage_8, stage_4, stage_8
    use bl_kinds, only: dp, i8

    implicit none(type, external)
    private

    public :: lines_t, rows_t, new_lines, new_rows

    real(dp), parameter :: pi = acos(-1.0_dp)

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

end module ft_lines
