!> The benchmarks' random numbers: x' = 5**13 x mod 2**46, delivered as r = x' 2**-46 in (0, 1).
!>
!> A state is an odd integer below 2**46. Any odd integer below 2**46, a power of the multiplier for
!> example, may stand for the multiplier. Nothing here is collective.
module bl_random

    use bl_kinds, only: dp, i8

    implicit none(type, external)
    private

    public :: random_seed_common, random_multiplier, random_lanes
    public :: random_product, random_power, random_skip, random_next, random_fill, random_stream_t

    !> Seed of IS, CG, MG and FT.
    integer(i8), parameter :: random_seed_common = 314159265_i8
    integer(i8), parameter :: random_multiplier = 1220703125_i8

    integer, parameter :: half_bits = 23
    integer(i8), parameter :: half_mask = 2_i8**half_bits - 1
    integer(i8), parameter :: state_mask = 2_i8**(2*half_bits) - 1
    real(dp), parameter :: modulus = 2.0_dp**(2*half_bits)

    !> Numbers that advance side by side: enough independent chains to hide the latency of
    !> additions and multiplications at any vector length.
    integer, parameter :: random_lanes = 32

    !> A sequence that is drawn in vectors.
    type :: random_stream_t
        private
        !> States of the next `random_lanes` numbers, and the multiplier that skips so many.
        real(dp) :: x(random_lanes)
        integer(i8) :: multiplier
    contains
        procedure :: fill => stream_fill
    end type random_stream_t

    interface random_stream_t
        module procedure new_stream
    end interface random_stream_t

contains

    !> a x mod 2**46, exact: both factors are split at 2**23, so that nothing exceeds 2**47.
    elemental integer(i8) function random_product(a, x) result(product)
        integer(i8), intent(in) :: a, x
        integer(i8) :: a_high, a_low, x_high, x_low, middle
        a_high = shiftr(a, half_bits)
        a_low = iand(a, half_mask)
        x_high = shiftr(x, half_bits)
        x_low = iand(x, half_mask)
        middle = iand(a_high*x_low + a_low*x_high, half_mask)
        product = iand(shiftl(middle, half_bits) + a_low*x_low, state_mask)
    end function random_product

    !> a**n mod 2**46 by binary powering.
    elemental integer(i8) function random_power(a, n) result(power)
        integer(i8), intent(in) :: a, n
        integer(i8) :: square, rest
        power = 1
        square = a
        rest = n
        do while (rest > 0)
            if (btest(rest, 0)) power = random_product(square, power)
            square = random_product(square, square)
            rest = shiftr(rest, 1)
        end do
    end function random_power

    !> The state after n further numbers.
    elemental integer(i8) function random_skip(state, n) result(later)
        integer(i8), intent(in) :: state, n
        later = random_product(random_power(random_multiplier, n), state)
    end function random_skip

    !> Draws one number.
    pure subroutine random_next(state, number)
        integer(i8), intent(inout) :: state
        real(dp), intent(out) :: number
        state = random_product(random_multiplier, state)
        number = real(state, dp)/modulus
    end subroutine random_next

    !> Draws size(numbers) numbers, the same as that many calls of `random_next` would.
    subroutine random_fill(state, numbers)
        integer(i8), intent(inout) :: state
        real(dp), intent(out), contiguous :: numbers(:)
        type(random_stream_t) :: stream
        integer :: whole
        stream = random_stream_t(state)
        whole = size(numbers) - mod(size(numbers), random_lanes)
        call stream%fill(numbers(:whole))
        numbers(whole + 1:) = modulo(stream%x(:size(numbers) - whole), modulus)/modulus
        state = random_skip(state, size(numbers, kind=i8))
    end subroutine random_fill

    !> The stream that goes on after `state`. With `step` = n it holds every n-th number only: the
    !> n-th, the 2n-th, ...
    pure function new_stream(state, step) result(stream)
        integer(i8), intent(in) :: state
        integer(i8), intent(in), optional :: step
        type(random_stream_t) :: stream
        integer(i8) :: a, lane
        integer :: i
        a = random_multiplier
        if (present(step)) a = random_power(random_multiplier, step)
        lane = state
        do i = 1, random_lanes
            lane = random_product(a, lane)
            stream%x(i) = real(lane, dp)
        end do
        stream%multiplier = random_power(a, int(random_lanes, i8))
    end function new_stream

    !> Draws size(numbers) numbers, a multiple of `random_lanes`.
    pure subroutine stream_fill(self, numbers)
        class(random_stream_t), intent(inout) :: self
        real(dp), intent(out), contiguous :: numbers(:)
        call advance_lanes(self%multiplier, self%x, size(numbers)/random_lanes, numbers)
    end subroutine stream_fill

    !> Writes blocks of lanes and multiplies the lanes by `a` after each.
    !>
    !> In doubles, whose vectors have the multiplication that 64-bit integers lack. The residues
    !> are signed, of absolute value 2**45 at most, so that a rounding to the nearest multiple
    !> reduces them; every intermediate is a whole number below 2**53 and therefore exact, with
    !> and without fused operations.
    pure subroutine advance_lanes(a, x, blocks, numbers)
        integer(i8), intent(in) :: a
        real(dp), intent(inout) :: x(random_lanes)
        integer, intent(in) :: blocks
        real(dp), intent(out) :: numbers(random_lanes, blocks)
        real(dp), parameter :: half = 2.0_dp**half_bits
        !> Adding and subtracting it rounds to a whole number.
        real(dp), parameter :: rounder = 1.5_dp*2.0_dp**52
        real(dp) :: a_high, a_low, x_high, x_low, middle, low
        integer :: i, block

        a_high = real(shiftr(a, half_bits), dp)
        a_low = real(iand(a, half_mask), dp)
        do block = 1, blocks
            do i = 1, random_lanes
                numbers(i, block) = x(i)/modulus + merge(1.0_dp, 0.0_dp, x(i) < 0)
                x_high = ((x(i)/half) + rounder) - rounder
                x_low = x(i) - half*x_high
                middle = a_high*x_low + a_low*x_high
                middle = middle - half*(((middle/half) + rounder) - rounder)
                low = half*middle + a_low*x_low
                x(i) = low - modulus*(((low/modulus) + rounder) - rounder)
            end do
        end do
    end subroutine advance_lanes

end module bl_random
