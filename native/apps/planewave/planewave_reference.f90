!> What the energies must be: those of Mathieu's equation.
!>
!> The potential is a sum of cosines along x, y and z, so that energies are sums of three of
!>
!>     -1/2 u'' + a cos(s) u = e u,   u periodic in 2 pi,
!>
!> one from each direction, whatever the cosines' phases. In plane waves this is a tridiagonal
!> matrix. The sphere leaves out waves of so much kinetic energy that the lowest states have none
!> of them: amplitudes fall as 1/(G!)**2.
module planewave_reference

    use bl_kinds, only: dp
    use bl_verification, only: quantity_t
    use planewave_lapack, only: dstev
    use planewave_problem, only: amplitude, planewave_problem_t

    implicit none(type, external)
    private

    public :: verify_planewave, exact_energies

    real(dp), parameter :: energy_tolerance = 1.0e-8_dp, residual_max = 1.0e-3_dp
    !> What sums may differ by from one process to the next.
    real(dp), parameter :: rounding = 1.0e-12_dp
    !> States of a direction that are combined, and plane waves (of either sign) that make them.
    integer, parameter :: states = 24, reach = 48

contains

    function verify_planewave(problem, energy, residual, disagreement) result(quantities)
        type(planewave_problem_t), intent(in) :: problem
        real(dp), intent(in) :: energy(:), residual, disagreement
        type(quantity_t), allocatable :: quantities(:)
        real(dp) :: exact(problem%converged)
        exact = exact_energies(problem%converged)
        associate (lowest => energy(:problem%converged))
            quantities = [quantity_t('lowest_energy', lowest(1), exact(1), energy_tolerance), &
                          quantity_t('energy_sum', sum(lowest), sum(exact), energy_tolerance), &
                          quantity_t('energy_error', maxval(abs(lowest - exact)), 0.0_dp, &
                                     10*energy_tolerance), &
                          quantity_t('residual', residual, 0.0_dp, residual_max), &
                          quantity_t('disagreement', disagreement, 0.0_dp, rounding)]
        end associate
    end function verify_planewave

    !> The lowest energies of the whole problem, in order.
    function exact_energies(count) result(lowest)
        integer, intent(in) :: count
        real(dp) :: lowest(count)
        real(dp) :: line(states, 3)
        real(dp), allocatable :: sums(:)
        integer :: i, j, k, axis, place, n

        do axis = 1, 3
            line(:, axis) = mathieu(amplitude(axis))
        end do
        allocate (sums(states**3))
        n = 0
        do k = 1, states
            do j = 1, states
                do i = 1, states
                    n = n + 1
                    sums(n) = line(i, 1) + line(j, 2) + line(k, 3)
                end do
            end do
        end do
        do i = 1, count
            place = minloc(sums, 1)
            lowest(i) = sums(place)
            sums(place) = huge(1.0_dp)
        end do
    end function exact_energies

    !> The lowest energies along one direction.
    function mathieu(a) result(energy)
        real(dp), intent(in) :: a
        real(dp) :: energy(states)
        real(dp) :: diagonal(2*reach + 1), beside(2*reach), work(1), unused(1, 1)
        integer :: g, trouble
        diagonal = [(0.5_dp*g**2, g=-reach, reach)]
        beside = a/2
        call dstev('N', size(diagonal), diagonal, beside, unused, 1, work, trouble)
        energy = diagonal(:states)
        if (trouble /= 0) energy = huge(1.0_dp)
    end function mathieu

end module planewave_reference
