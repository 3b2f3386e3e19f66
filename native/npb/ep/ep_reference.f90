!> Published verification values of EP (NAS Parallel Benchmarks 3.4).
module ep_reference

    use ep_problem, only: ep_classes
    use bl_kinds, only: dp
    use bl_verification, only: quantity_t

    implicit none(type, external)
    private

    public :: verify_ep

    real(dp), parameter :: tolerance = 1.0e-8_dp

    !> Sums of |X| and |Y|, and the number of accepted pairs, in the order of the classes.
    real(dp), parameter :: sum_x(len(ep_classes)) = [ &
                           1.051299420395306e+07_dp, 2.102505525182392e+07_dp, &
                           1.682235632304711e+08_dp, 6.728927543423024e+08_dp, &
                           2.691444083862931e+09_dp, 4.306350280812112e+10_dp, &
                           6.890169663167274e+11_dp, 1.102426773788175e+13_dp]
    real(dp), parameter :: sum_y(len(ep_classes)) = [ &
                           1.051517131857535e+07_dp, 2.103162209578822e+07_dp, &
                           1.682195123368299e+08_dp, 6.728951822504275e+08_dp, &
                           2.691519118724585e+09_dp, 4.306347571859157e+10_dp, &
                           6.890164670688535e+11_dp, 1.102426773787993e+13_dp]
    real(dp), parameter :: pairs(len(ep_classes)) = [ &
                           13176389.0_dp, 26354769.0_dp, 210832767.0_dp, 843345606.0_dp, &
                           3373275903.0_dp, 53972171957.0_dp, 863554308186.0_dp, &
                           13816870608324.0_dp]

contains

    !> `x` and `y` are the sums, `accepted` is the number of pairs, all over all processes.
    pure function verify_ep(class_name, x, y, accepted) result(quantities)
        character(1), intent(in) :: class_name
        real(dp), intent(in) :: x, y, accepted
        type(quantity_t), allocatable :: quantities(:)
        integer :: row
        row = index(ep_classes, class_name)
        quantities = [quantity_t('sum_x', x, sum_x(row), tolerance), &
                      quantity_t('sum_y', y, sum_y(row), tolerance), &
                      quantity_t('pairs', accepted, pairs(row), tolerance)]
    end function verify_ep

end module ep_reference
