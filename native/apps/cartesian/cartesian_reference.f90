!> What a flow around the sphere must have become.
!>
!> An undisturbed flow that the wall lets pass must stay: every cell's surface is closed. The flow
!> is symmetric about its axis, so that there is no force across. Residual, drag and entropy after
!> the last cycle of classes S to B were computed by this program; that it computes the right
!> thing is shown by its order of convergence (native/apps/tests/test_cartesian_order.f90). For
!> class C nothing is stored: its cells are smaller, and it must have less than half of the drag and
!> change of entropy of class A, which an ideal flow has not, and no larger residual. What is stored
!> of class B lies within these bounds. States do not depend on the number of processes, sums over
!> them do by rounding. What every process got of each cycle's sums must be the same.
module cartesian_reference

    use bl_kinds, only: dp
    use bl_verification, only: quantity_t
    use cartesian_kernel, only: outcome_t
    use cartesian_problem, only: cartesian_classes

    implicit none(type, external)
    private

    public :: verify_cartesian

    real(dp), parameter :: rounding = 1.0e-13_dp, lift_max = 1.0e-8_dp
    real(dp), parameter :: tolerance = 1.0e-8_dp
    !> Of the residual, a small difference of fluxes.
    real(dp), parameter :: residual_tolerance = 1.0e-6_dp

    !> Of the first classes, in their order.
    integer, parameter :: stored = 4
    !> Class A, which bounds what has no stored values.
    integer, parameter :: bound = 3
    real(dp), parameter :: residual(stored) = [ &
                           1.62591927043e-05_dp, 2.64480267949e-06_dp, 6.98298698245e-07_dp, &
                           3.77157503534e-07_dp]
    real(dp), parameter :: drag(stored) = [ &
                           0.217205113492_dp, 0.0475781237019_dp, 0.0100146320528_dp, &
                           0.00276900076224_dp]
    real(dp), parameter :: entropy(stored) = [ &
                           0.00163425583475_dp, 0.000529328964549_dp, 0.000159906599488_dp, &
                           6.91612636334e-05_dp]

contains

    pure function verify_cartesian(class_name, unbalance, outcome) result(quantities)
        character(1), intent(in) :: class_name
        real(dp), intent(in) :: unbalance
        type(outcome_t), intent(in) :: outcome
        type(quantity_t), allocatable :: quantities(:)
        type(quantity_t) :: found(6)
        integer :: row
        row = index(cartesian_classes, class_name)
        found(1) = quantity_t('undisturbed', unbalance, 0.0_dp, rounding)
        found(2) = quantity_t('lift', outcome%lift, 0.0_dp, lift_max)
        if (row <= stored) then
            found(3) = quantity_t('residual', outcome%residual, residual(row), residual_tolerance)
            found(4) = quantity_t('drag', outcome%drag, drag(row), tolerance)
            found(5) = quantity_t('entropy', outcome%entropy, entropy(row), tolerance)
        else
            found(3) = quantity_t('residual', outcome%residual, 0.0_dp, residual(bound))
            found(4) = quantity_t('drag', outcome%drag, 0.0_dp, drag(bound)/2)
            found(5) = quantity_t('entropy', outcome%entropy, 0.0_dp, entropy(bound)/2)
        end if
        found(6) = quantity_t('disagreement', outcome%disagreement, 0.0_dp, rounding)
        quantities = found
    end function verify_cartesian

end module cartesian_reference
