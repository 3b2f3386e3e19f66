!> Verified quantities: what passes, what does not, and that a NaN never does.
program test_verification

    use, intrinsic :: ieee_arithmetic, only: ieee_positive_inf, ieee_quiet_nan, ieee_value
    use bl_check, only: check, finish_checks
    use bl_kinds, only: dp
    use bl_verification, only: quantity_t

    implicit none(type, external)

    type(quantity_t) :: quantity
    real(dp) :: nan, infinity

    nan = ieee_value(nan, ieee_quiet_nan)
    infinity = ieee_value(infinity, ieee_positive_inf)

    quantity = quantity_t('q', -2.0_dp*(1 + 1.0e-9_dp), -2.0_dp, 1.0e-8_dp)
    call check(quantity%passed(), 'within the tolerance')
    call check(abs(quantity%deviation() - 1.0e-9_dp) < 1.0e-15_dp, 'deviation is relative')
    quantity = quantity_t('q', -2.0_dp*(1 + 2.0e-8_dp), -2.0_dp, 1.0e-8_dp)
    call check(.not. quantity%passed(), 'beyond the tolerance')
    quantity = quantity_t('q', nan, 1.0_dp, 1.0e-8_dp)
    call check(.not. quantity%passed(), 'not a number')
    quantity = quantity_t('q', infinity, 1.0_dp, 1.0e-8_dp)
    call check(.not. quantity%passed(), 'infinite')
    quantity = quantity_t('q', 50.0_dp, 50.0_dp, 0.0_dp)
    call check(quantity%passed(), 'exact, without tolerance')
    quantity = quantity_t('q', 49.0_dp, 50.0_dp, 0.0_dp)
    call check(.not. quantity%passed(), 'one too few, without tolerance')
    quantity = quantity_t('q', (3.0_dp, 4.0_dp), (3.0_dp, 4.0_dp)*(1 + 1.0e-13_dp), 1.0e-12_dp)
    call check(quantity%passed(), 'complex, within the tolerance')
    quantity = quantity_t('q', (4.0_dp, 3.0_dp), (3.0_dp, 4.0_dp), 1.0e-12_dp)
    call check(.not. quantity%passed(), 'complex, of the same modulus')
    call finish_checks()

end program test_verification
