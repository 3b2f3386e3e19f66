!> EP: Gaussian deviates by the acceptance-rejection polar method, counted in square annuli.
!>
!> Pair j takes numbers 2j+1 and 2j+2 of the random sequence, r and r': x = 2r - 1, y = 2r' - 1,
!> t = x**2 + y**2. If t <= 1 the deviates are X = x f and Y = y f with f = sqrt(-2 ln t / t);
!> |X| and |Y| are summed and the pair is counted in annulus floor(max(|X|, |Y|)).
!>
!> Exported: `ep_tally_t`, `ep_compute`. Timed: all of `ep_compute`. Nothing here is collective.
!>
!> Pairs go through in blocks that stay in the first-level cache, each block in short loops without
!> branches, which compilers turn into vector instructions. A rejected pair (a share 1 - pi/4) is
!> carried along as t = 1, whose deviates are zero: that costs less than packing the others.
module ep_kernel

    use bl_kinds, only: dp, i8
    use bl_random, only: random_lanes, random_skip, random_stream_t

    implicit none(type, external)
    private

    public :: ep_tally_t, ep_compute, annuli, batch_pairs

    integer, parameter :: annuli = 10
    integer(i8), parameter :: seed = 271828183_i8

    !> Pairs of a batch, which is what the processes share out.
    integer(i8), parameter :: batch_pairs = 2_i8**16

    !> Pairs of a block: its arrays fill a third of a first-level cache of 32 KiB.
    integer, parameter :: block_pairs = 16*random_lanes

    !> Annuli counted in vectors. Pairs further out are so rare (1e-6) that their blocks are
    !> looked at pair by pair.
    integer, parameter :: near = 4

    type :: ep_tally_t
        real(dp) :: sum_x = 0
        real(dp) :: sum_y = 0
        !> Pairs in annulus 0, 1, ..., 9.
        integer(i8) :: counts(0:annuli - 1) = 0
    end type ep_tally_t

contains

    !> The pairs of batches first_batch ... first_batch + batches - 1, which count from 0.
    function ep_compute(first_batch, batches) result(tally)
        integer(i8), intent(in) :: first_batch, batches
        type(ep_tally_t) :: tally
        !> The period of the sequence less one: one number back.
        integer(i8), parameter :: one_back = 2_i8**44 - 1
        type(random_stream_t) :: odd, even
        real(dp) :: x(block_pairs), y(block_pairs), deviates(block_pairs)
        integer(i8) :: state, block
        real(dp) :: furthest

        state = random_skip(seed, 2*batch_pairs*first_batch)
        even = random_stream_t(state, step=2_i8)
        odd = random_stream_t(random_skip(state, one_back), step=2_i8)
        do block = 1, batches*(batch_pairs/block_pairs)
            call odd%fill(x)
            call even%fill(y)
            call transform_block(x, y, deviates, tally, furthest)
            if (furthest >= near + 1) call count_far(deviates, tally)
        end do
        ! Until here counts(l) holds the pairs in annulus l and beyond.
        tally%counts(:annuli - 2) = tally%counts(:annuli - 2) - tally%counts(1:)
    end function ep_compute

    !> Transforms and sums the pairs of a block. `deviates` is the larger of |X| and |Y|,
    !> `furthest` its maximum.
    subroutine transform_block(x, y, deviates, tally, furthest)
        real(dp), intent(in) :: x(block_pairs), y(block_pairs)
        real(dp), intent(out) :: deviates(block_pairs)
        type(ep_tally_t), intent(inout) :: tally
        real(dp), intent(out) :: furthest
        real(dp) :: u, v, t, factor, sum_x, sum_y
        !> Numbers of pairs, as reals: the oldest vectors cannot compare whole numbers of 64 bits.
        real(dp) :: accepted, beyond_1, beyond_2, beyond_3, beyond_4
        integer :: i

        sum_x = 0
        sum_y = 0
        furthest = 0
        accepted = 0
        !$omp simd reduction(+: sum_x, sum_y, accepted) reduction(max: furthest)
        do i = 1, block_pairs
            u = 2*x(i) - 1
            v = 2*y(i) - 1
            t = u*u + v*v
            accepted = accepted + merge(1.0_dp, 0.0_dp, t <= 1)
            t = min(t, 1.0_dp)
            factor = polar_factor(t)
            u = abs(u*factor)
            v = abs(v*factor)
            sum_x = sum_x + u
            sum_y = sum_y + v
            deviates(i) = max(u, v)
            furthest = max(furthest, deviates(i))
        end do
        beyond_1 = 0
        beyond_2 = 0
        beyond_3 = 0
        beyond_4 = 0
        !$omp simd reduction(+: beyond_1, beyond_2, beyond_3, beyond_4)
        do i = 1, block_pairs
            beyond_1 = beyond_1 + merge(1.0_dp, 0.0_dp, deviates(i) >= 1)
            beyond_2 = beyond_2 + merge(1.0_dp, 0.0_dp, deviates(i) >= 2)
            beyond_3 = beyond_3 + merge(1.0_dp, 0.0_dp, deviates(i) >= 3)
            beyond_4 = beyond_4 + merge(1.0_dp, 0.0_dp, deviates(i) >= 4)
        end do
        tally%sum_x = tally%sum_x + sum_x
        tally%sum_y = tally%sum_y + sum_y
        tally%counts(:near) = tally%counts(:near) + &
                              int([accepted, beyond_1, beyond_2, beyond_3, beyond_4], i8)
    end subroutine transform_block

    !> sqrt(-2 ln t / t) for 2**-92 <= t <= 1, to about two units in the last place.
    !>
    !> With t = 2**e m, sqrt(1/2) <= m < sqrt(2) and s = (m - 1)/(m + 1), ln t = e ln 2 +
    !> 2 artanh s. The polynomial is the minimax approximation of artanh(s)/s in s**2 (relative
    !> error 1e-18). Both quotients, by m + 1 and by t, come from one division.
    elemental real(dp) function polar_factor(t)
        real(dp), intent(in) :: t
        integer(i8), parameter :: mantissa_bits = 52, mantissa = 2_i8**mantissa_bits - 1
        integer(i8), parameter :: root_half = transfer(sqrt(0.5_dp), 0_i8)
        !> Keeps the exponent positive, so that a shift without sign serves.
        integer(i8), parameter :: bias = 2_i8**10
        !> A small whole number in the mantissa of 2**52 becomes a real by one subtraction.
        real(dp), parameter :: two_52 = 2.0_dp**52
        integer(i8), parameter :: two_52_bits = transfer(two_52, 0_i8)
        real(dp), parameter :: ln_2 = log(2.0_dp)
        real(dp), parameter :: c(0:7) = [ &
                               1.0_dp, 0.33333333333333822829_dp, &
                               0.19999999999651169056_dp, 0.14285714380320839941_dp, &
                               0.11111098528363023304_dp, 0.090918158401146644019_dp, &
                               0.07656264074182095483_dp, 0.074048551803276383491_dp]
        integer(i8) :: offset
        real(dp) :: exponent_2, m, inverse, s, z, log_half

        offset = transfer(t, 0_i8) - root_half + shiftl(bias, mantissa_bits)
        exponent_2 = transfer(ior(shiftr(offset, mantissa_bits), two_52_bits), 0.0_dp) &
                     - (two_52 + bias)
        m = transfer(iand(offset, mantissa) + root_half, 0.0_dp)
        inverse = 1/((m + 1)*t)
        s = (m - 1)*(inverse*t)
        z = s*s
        log_half = 0.5_dp*ln_2*exponent_2 + s*(c(0) + z*(c(1) + z*(c(2) + z*(c(3) + z*(c(4) &
                   + z*(c(5) + z*(c(6) + z*c(7))))))))
        polar_factor = sqrt(-4*log_half*(inverse*(m + 1)))
    end function polar_factor

    !> Counts the pairs of a block in the annuli beyond the near ones.
    subroutine count_far(deviates, tally)
        real(dp), intent(in) :: deviates(:)
        type(ep_tally_t), intent(inout) :: tally
        integer :: annulus
        do annulus = near + 1, annuli - 1
            tally%counts(annulus) = tally%counts(annulus) + count(deviates >= annulus, kind=i8)
        end do
    end subroutine count_far

end module ep_kernel
