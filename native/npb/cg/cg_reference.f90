!> Published verification values of CG (NAS Parallel Benchmarks 3.4).
module cg_reference

    use cg_problem, only: cg_classes
    use bl_kinds, only: dp
    use bl_verification, only: quantity_t

    implicit none(type, external)
    private

    public :: verify_cg

    real(dp), parameter :: tolerance = 1.0e-10_dp

    !> In the order of the classes.
    real(dp), parameter :: zetas(len(cg_classes)) = [ &
                           8.5971775078648_dp, 10.362595087124_dp, 17.130235054029_dp, &
                           22.712745482631_dp, 28.973605592845_dp, 52.514532105794_dp, &
                           77.522164599383_dp, 107.3070826433_dp]

contains

    !> `zeta` is the estimate of the eigenvalue after the last outer iteration.
    pure function verify_cg(class_name, zeta) result(quantities)
        character(1), intent(in) :: class_name
        real(dp), intent(in) :: zeta
        type(quantity_t), allocatable :: quantities(:)
        quantities = [quantity_t('zeta', zeta, zetas(index(cg_classes, class_name)), tolerance)]
    end function verify_cg

end module cg_reference
