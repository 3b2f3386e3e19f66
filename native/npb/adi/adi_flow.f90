!> The flow equations that BT and SP advance: constants and the exact steady solution.
!>
!> Unknowns at each point: density, three momentum densities, energy density, all dimensionless. The
!> coordinates run from 0 to 1. Nothing here is timed or collective.
module adi_flow

    use bl_kinds, only: dp

    implicit none(type, external)
    private

    public :: c1, c2, kappa, kappa_e, diffusion, dissipation, exact_solution

    real(dp), parameter :: c1 = 1.4_dp, c2 = 0.4_dp, c3 = 0.1_dp, c4 = 1.0_dp, c5 = 1.4_dp
    !> Viscosity and heat conduction.
    real(dp), parameter :: kappa = c3*c4, kappa_e = c1*c5*kappa
    !> Of the second differences along x, y, z, and of the fourth differences.
    real(dp), parameter :: diffusion(3) = [0.75_dp, 0.75_dp, 1.0_dp], dissipation = 0.25_dp

    !> Coefficients of 1; xi, eta, zeta; their squares; cubes; fourth powers, for each component.
    real(dp), parameter :: ce(13, 5) = reshape([ &
            2.0_dp, 0.0_dp, 0.0_dp, 4.0_dp, 5.0_dp, 3.0_dp, 0.5_dp, &
            0.02_dp, 0.01_dp, 0.03_dp, 0.5_dp, 0.4_dp, 0.3_dp, &
            1.0_dp, 0.0_dp, 0.0_dp, 0.0_dp, 1.0_dp, 2.0_dp, 3.0_dp, &
            0.01_dp, 0.03_dp, 0.02_dp, 0.4_dp, 0.3_dp, 0.5_dp, &
            2.0_dp, 2.0_dp, 0.0_dp, 0.0_dp, 0.0_dp, 2.0_dp, 3.0_dp, &
            0.04_dp, 0.03_dp, 0.05_dp, 0.3_dp, 0.5_dp, 0.4_dp, &
            2.0_dp, 2.0_dp, 0.0_dp, 0.0_dp, 0.0_dp, 2.0_dp, 3.0_dp, &
            0.03_dp, 0.05_dp, 0.04_dp, 0.2_dp, 0.1_dp, 0.3_dp, &
            5.0_dp, 4.0_dp, 3.0_dp, 2.0_dp, 0.1_dp, 0.4_dp, 0.3_dp, &
            0.05_dp, 0.04_dp, 0.03_dp, 0.1_dp, 0.3_dp, 0.2_dp], [13, 5])

contains

    !> The five unknowns at the point with coordinates `x`.
    pure function exact_solution(x) result(u)
        real(dp), intent(in) :: x(3)
        real(dp) :: u(5)
        integer :: m
        do m = 1, 5
            u(m) = ce(1, m) + sum(x*(ce(2:4, m) + x*(ce(5:7, m) + x*(ce(8:10, m) &
                                                                     + x*ce(11:13, m)))))
        end do
    end function exact_solution

end module adi_flow
