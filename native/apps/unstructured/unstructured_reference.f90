!> What the flow must have become.
!>
!> A uniform flow in a box without walls stays to rounding, and the steps of a class make the norm of
!> the residual smaller by a factor that is stated. That norm and the force on the wall were computed
!> by this program; that it computes the right thing is shown by its order of convergence
!> (native/apps/tests/test_unstructured_flow.f90). They depend on the number of processes by the
!> rounding of a sum, on the instruction set by that of the flow, which the small residual shows most.
!>
!> What a lost message spoils the sweeps mend, and that of the last colour of the last sweep no step uses:
!> so processes also agree on what was sent and received, and on the sums (bl_agreement).
module unstructured_reference

    use bl_kinds, only: dp
    use bl_verification, only: quantity_t
    use unstructured_kernel, only: flow_t
    use unstructured_problem, only: unstructured_classes

    implicit none(type, external)
    private

    public :: verify_unstructured

    !> Of a residual whose terms are about 1.
    real(dp), parameter :: rounding = 1.0e-13_dp
    !> Of forces, and of what is left of the residual.
    real(dp), parameter :: tolerance = 1.0e-9_dp, tolerance_residual = 1.0e-6_dp

    !> Largest residual at the begin of the last step over the first, in the order of the classes.
    real(dp), parameter :: convergence(len(unstructured_classes)) = [ &
                           1.0e-5_dp, 1.0e-4_dp, 1.0e-3_dp, 1.0e-2_dp, 1.0e-1_dp]

    !> Classes whose results are stored, in this order: the last residual; force along the flow, and
    !> across the floor.
    character(*), parameter :: stored = 'SWAB'
    real(dp), parameter :: residual(len(stored)) = [ &
                           4.675403378e-08_dp, 2.75338273237e-07_dp, 2.18454585654e-06_dp, &
                           1.18070959886e-05_dp]
    real(dp), parameter :: drag(len(stored)) = [ &
                           0.000726142321297_dp, 0.000289275862386_dp, 0.000195914035264_dp, &
                           0.000206960584624_dp]
    real(dp), parameter :: lift(len(stored)) = [ &
                           -0.710466578193_dp, -0.710474623804_dp, -0.710465681477_dp, &
                           -0.710468444357_dp]

contains

    pure function verify_unstructured(class_name, flow, uniform, lost, differing) result(quantities)
        character(1), intent(in) :: class_name
        type(flow_t), intent(in) :: flow
        real(dp), intent(in) :: uniform
        !> What `lost` and `differing` gave for the flow's agreement.
        integer, intent(in) :: lost, differing
        type(quantity_t), allocatable :: quantities(:)
        integer :: row
        quantities = [quantity_t('uniform_flow', uniform, 0.0_dp, rounding), &
                      quantity_t('convergence', flow%residual/flow%residual_first, 0.0_dp, &
                                 convergence(index(unstructured_classes, class_name))), &
                      quantity_t('reduction', flow%reduction, 0.0_dp, 1.0_dp), &
                      quantity_t('lost_messages', real(lost, dp), 0.0_dp, 0.0_dp), &
                      quantity_t('differing_sums', real(differing, dp), 0.0_dp, 0.0_dp)]
        row = index(stored, class_name)
        if (row == 0) return
        quantities = [quantities, &
                      quantity_t('residual', flow%residual, residual(row), tolerance_residual), &
                      quantity_t('drag', flow%force(1), drag(row), tolerance), &
                      quantity_t('lift', flow%force(3), lift(row), tolerance)]
    end function verify_unstructured

end module unstructured_reference
