!> What an ocean must have kept and must have become.
!>
!> Heat and salt are conserved whatever the currents do: the fluxes of two cells cancel. The flow
!> summed over depth has no divergence, as far as the iterations for the lid's pressure go. The
!> kinetic energy and the variance of the temperature after the last step were computed by this
!> program; that it computes the right thing is shown by its order of convergence
!> (native/apps/tests/test_ocean_order.f90), and class S was computed by another program, too
!> (tests/apps/ocean_reference.py). They depend on the number of processes by rounding.
!>
!> Conjugate gradients find the pressure in spite of a direction that a lost message spoilt, and what is
!> sent last no step uses: so processes also agree on what was sent and received, and on the solver's
!> sums (bl_agreement).
module ocean_reference

    use bl_kinds, only: dp
    use bl_verification, only: quantity_t
    use ocean_kernel, only: invariants_t
    use ocean_problem, only: ocean_classes

    implicit none(type, external)
    private

    public :: verify_ocean

    !> Of a conserved mean, whose terms are about 1.
    real(dp), parameter :: rounding = 1.0e-13_dp
    real(dp), parameter :: tolerance = 1.0e-9_dp
    !> Of the divergence: what the iterations of a class leave.
    real(dp), parameter :: divergence_max = 1.0e-6_dp

    !> In the order of the classes.
    real(dp), parameter :: kinetic(len(ocean_classes)) = [ &
                           0.10168121904_dp, 0.0967643787505_dp, 0.0967573406962_dp, &
                           0.0987075161184_dp, 0.10104675462_dp]
    real(dp), parameter :: variance(len(ocean_classes)) = [ &
                           0.500617028889_dp, 0.499563177732_dp, 0.49955710269_dp, &
                           0.500015460335_dp, 0.500441391226_dp]

contains

    pure function verify_ocean(class_name, begin, end) result(quantities)
        character(1), intent(in) :: class_name
        type(invariants_t), intent(in) :: begin, end
        type(quantity_t), allocatable :: quantities(:)
        integer :: row
        row = index(ocean_classes, class_name)
        quantities = [quantity_t('heat', end%heat - begin%heat, 0.0_dp, rounding), &
                      quantity_t('salt', end%salt - begin%salt, 0.0_dp, rounding), &
                      quantity_t('divergence', end%divergence, 0.0_dp, divergence_max), &
                      quantity_t('lost_messages', real(end%lost, dp), 0.0_dp, 0.0_dp), &
                      quantity_t('differing_sums', real(end%differing, dp), 0.0_dp, 0.0_dp), &
                      quantity_t('kinetic_energy', end%kinetic, kinetic(row), tolerance), &
                      quantity_t('temperature_variance', end%variance, variance(row), tolerance)]
    end function verify_ocean

end module ocean_reference
