!> What the flow must have become after the last step.
!>
!> The values were computed by this program; that it computes the right thing is shown by its order
!> of convergence and by a free stream that stays one (native/apps/tests/test_overset_order.f90). The
!> flow is the same to the last bit on any number of processes; sums over them differ by rounding. The
!> norms of all steps but the last are used by nothing: that all processes got the same ones
!> (bl_agreement) shows that none was lost.
module overset_reference

    use bl_kinds, only: dp
    use bl_verification, only: quantity_t
    use overset_kernel, only: norms_t
    use overset_problem, only: overset_classes

    implicit none(type, external)
    private

    public :: verify_overset

    !> Compilers and instruction sets round differently.
    real(dp), parameter :: tolerance = 1.0e-10_dp

    !> Residual, deviation of density, momentum and energy, in the order of the classes.
    real(dp), parameter :: expected(4, len(overset_classes)) = reshape([ &
                           0.00418514309346_dp, 0.00519493007919_dp, &
                           0.0198540575184_dp, 0.0138750431878_dp, &
                           0.00237250987442_dp, 0.00555594848532_dp, &
                           0.0199195383539_dp, 0.0144995026598_dp, &
                           0.00179236692785_dp, 0.00671360813129_dp, &
                           0.0199751350481_dp, 0.0172434937106_dp, &
                           0.00175244202103_dp, 0.00999797220552_dp, &
                           0.0210070749987_dp, 0.0253538390257_dp, &
                           0.00177827303263_dp, 0.00983197966222_dp, &
                           0.0250878227297_dp, 0.0268545407407_dp], [4, len(overset_classes)])

contains

    pure function verify_overset(class_name, end, differing) result(quantities)
        character(1), intent(in) :: class_name
        type(norms_t), intent(in) :: end
        !> Processes that got other sums.
        integer, intent(in) :: differing
        type(quantity_t), allocatable :: quantities(:)
        integer :: row
        row = index(overset_classes, class_name)
        quantities = [quantity_t('residual', end%residual, expected(1, row), tolerance), &
                      quantity_t('density', end%density, expected(2, row), tolerance), &
                      quantity_t('momentum', end%momentum, expected(3, row), tolerance), &
                      quantity_t('energy', end%energy, expected(4, row), tolerance), &
                      quantity_t('differing_sums', real(differing, dp), 0.0_dp, 0.0_dp)]
    end function verify_overset

end module overset_reference
