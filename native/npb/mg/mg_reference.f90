!> Published verification values of MG (NAS Parallel Benchmarks 3.4).
module mg_reference

    use mg_problem, only: mg_classes
    use bl_kinds, only: dp
    use bl_verification, only: quantity_t

    implicit none(type, external)
    private

    public :: verify_mg

    real(dp), parameter :: tolerance = 1.0e-8_dp

    !> In the order of the classes.
    real(dp), parameter :: norms(len(mg_classes)) = [ &
                           0.5307707005734e-04_dp, 0.6467329375339e-05_dp, &
                           0.2433365309069e-05_dp, 0.1800564401355e-05_dp, &
                           0.5706732285740e-06_dp, 0.1583275060440e-09_dp, &
                           0.5630442584711e-10_dp, 0.1889225697989e-10_dp]

contains

    !> `norm` is the root mean square of the residual after the last V-cycle.
    pure function verify_mg(class_name, norm) result(quantities)
        character(1), intent(in) :: class_name
        real(dp), intent(in) :: norm
        type(quantity_t), allocatable :: quantities(:)
        quantities = [quantity_t('residual', norm, norms(index(mg_classes, class_name)), tolerance)]
    end function verify_mg

end module mg_reference
