!> EP: Gaussian deviates by the acceptance-rejection polar method, counted in square annuli.
!>
!> Pair j takes the numbers r = 2j+1 and r' = 2j+2 of the random sequence: x = 2r - 1, y = 2r' - 1,
!> t = x**2 + y**2. If t <= 1 the deviates are X = x f and Y = y f with f = sqrt(-2 ln t / t);
!> |X| and |Y| are summed and the pair is counted in annulus floor(max(|X|, |Y|)).
!>
!> Exported: `ep_tally_t`, `ep_compute`. Timed: all of `ep_compute`. Nothing here is collective.
!>
!> Pairs go through in blocks that stay in the first-level cache, each block in short loops without
!> branches, which compilers turn into vector instructions. Rejected pairs (a share 1 - pi/4) are
!> carried along with weight zero: to compress them would cost more than to compute them.
module ep_kernel

    use npb_kinds, only: dp, i4, i8
    use npb_random, only: random_fill, random_multiplier, random_product, random_skip

    implicit none (type, external)
    private

    public :: ep_tally_t, ep_compute, annuli, batch_pairs

    integer, parameter :: annuli = 10
    integer(i8), parameter :: seed = 271828183_i8

    !> Pairs of a batch, which is what the processes share out.
    integer(i8), parameter :: batch_pairs = 2_i8**16

    !> Pairs of a block: three arrays of them fill half of a small first-level cache.
    integer, parameter :: block_pairs = 512

    type :: ep_tally_t
        real(dp) :: sum_x = 0
        real(dp) :: sum_y = 0
        !> Pairs in annulus 0, 1, ..., 9; whole numbers, as reals because they are reduced so.
        real(dp) :: counts(0:annuli - 1) = 0
    end type ep_tally_t

contains

    !> Pairs of the batches first_batch ... first_batch + batches - 1 (counted from 0).
    function ep_compute(first_batch, batches) result(tally)
        integer(i8), intent(in) :: first_batch, batches
        type(ep_tally_t) :: tally
        real(dp) :: x(block_pairs), y(block_pairs)
        integer(i8) :: state_x, state_y, stride, block
        integer(i8) :: above(annuli - 1), accepted

        stride = random_product(random_multiplier, random_multiplier)
        state_y = random_skip(seed, 2*batch_pairs*first_batch)
        state_x = one_before(state_y)
        above = 0
        accepted = 0
        do block = 1, batches*(batch_pairs/block_pairs)
            call random_fill(state_x, x, multiplier=stride)
            call random_fill(state_y, y, multiplier=stride)
        end do
    end function ep_compute

end module ep_kernel
