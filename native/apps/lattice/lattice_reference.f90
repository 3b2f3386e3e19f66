!> What the propagator must be: known exactly.
!>
!> Without a gauge field D D has no mixed terms, because the phases make them cancel, and plane
!> waves are its eigenvectors. With momenta p(mu) = 2 pi k/n, along t 2 pi (k + 1/2)/n because of
!> the antiperiodic boundary, and the source's transform b(p),
!>
!>     e(p) = m**2 + sum over mu of (9/8 sin p(mu) - 1/24 sin 3 p(mu))**2
!>     b^H x = sum over p of |b(p)|**2/e(p),   |x|**2 = sum over p of |b(p)|**2/e(p)**2
!>
!> with |b(p)|**2 adding up to 1. The source is on the even sites, so that its transform is the mean
!> of those of the whole function at p and p + (pi, pi, pi, pi). The links are a change of bases of
!> those without a field (lattice_links), under which both stay.
module lattice_reference

    use bl_kinds, only: dp
    use bl_verification, only: quantity_t
    use lattice_links, only: fat_weight, long_weight
    use lattice_problem, only: lattice_problem_t
    use lattice_source, only: phase_factors

    implicit none(type, external)
    private

    public :: verify_lattice

    real(dp), parameter :: pi = acos(-1.0_dp)
    !> What the iterations leave of the source, and what that means for the solution.
    real(dp), parameter :: residual_max = 1.0e-8_dp, tolerance = 1.0e-8_dp
    !> What rounding leaves between the residual and the one that the iterations carried along. A
    !> product that went wrong in one iteration leaves a part of that iteration's residual, which is
    !> above residual_max but in the last ones, and there a thousand times this.
    real(dp), parameter :: drift_max = 1.0e-13_dp

contains

    pure function verify_lattice(problem, at_source, square, residuals) result(quantities)
        type(lattice_problem_t), intent(in) :: problem
        real(dp), intent(in) :: at_source, square, residuals(2)
        type(quantity_t), allocatable :: quantities(:)
        real(dp) :: expected(2)
        expected = sums(problem)
        quantities = [quantity_t('propagator', at_source, expected(1), tolerance), &
                      quantity_t('square', square, expected(2), tolerance), &
                      quantity_t('residual', residuals(1), 0.0_dp, residual_max), &
                      quantity_t('drift', residuals(2), 0.0_dp, drift_max)]
    end function verify_lattice

    pure function sums(problem) result(total)
        type(lattice_problem_t), intent(in) :: problem
        real(dp) :: total(2), weight, eigenvalue
        real(dp), allocatable :: squares(:, :)
        complex(dp), allocatable :: waves(:, :)
        complex(dp) :: plane(2)
        integer :: i, j, k, l

        call transform(problem%extent, squares, waves)
        total = 0
        associate (n => problem%extent)
            do l = 1, n(4)
                do k = 1, n(3)
                    do j = 1, n(2)
                        plane(1) = waves(j, 2)*waves(k, 3)*waves(l, 4)
                        plane(2) = waves(turn(j, n(2)), 2)*waves(turn(k, n(3)), 3) &
                                   *waves(turn(l, n(4)), 4)
                        do i = 1, n(1)
                            eigenvalue = problem%mass**2 + squares(i, 1) + squares(j, 2) &
                                         + squares(k, 3) + squares(l, 4)
                            weight = abs(waves(i, 1)*plane(1) + waves(turn(i, n(1)), 1)*plane(2))**2
                            total = total + weight/[eigenvalue, eigenvalue**2]
                        end do
                    end do
                end do
            end do
        end associate
        ! The transform of |s| = 1 has the square `sites`; half of the sites, both parts of the
        ! mean.
        total = total/(2*problem%sites()**2)
    end function sums

    !> Where the momentum p + pi is.
    pure integer function turn(i, n)
        integer, intent(in) :: i, n
        turn = modulo(i - 1 + n/2, n) + 1
    end function turn

    !> Of each momentum along each axis its part of the eigenvalue and the transform of the source.
    pure subroutine transform(extent, squares, waves)
        integer, intent(in) :: extent(4)
        real(dp), allocatable, intent(out) :: squares(:, :)
        complex(dp), allocatable, intent(out) :: waves(:, :)
        complex(dp), allocatable :: s(:, :)
        real(dp) :: p
        integer :: i, j, axis

        call phase_factors(extent, s)
        allocate (squares(maxval(extent), 4), source=0.0_dp)
        allocate (waves(maxval(extent), 4), source=(0.0_dp, 0.0_dp))
        do axis = 1, 4
            do i = 1, extent(axis)
                p = 2*pi*(i - 1 + merge(0.5_dp, 0.0_dp, axis == 4))/extent(axis)
                squares(i, axis) = (fat_weight*sin(p) + long_weight*sin(3*p))**2
                do j = 0, extent(axis) - 1
                    waves(i, axis) = waves(i, axis) + s(j, axis)*cmplx(cos(p*j), -sin(p*j), dp)
                end do
            end do
        end do
    end subroutine transform

end module lattice_reference
