!> What the propagator must be: known exactly.
!>
!> Without a gauge field, D D = 1/4 sum over mu of (two sites on - 2 + two sites back), because the
!> phases make all mixed terms cancel, and plane waves are its eigenvectors. With momenta p(mu) =
!> 2 pi k/n, along t 2 pi (k + 1/2)/n because of the antiperiodic boundary, and V sites,
!>
!>     x(0) = 1/V sum over p of 1/(m**2 + sum sin(p)**2)
!>     |x|**2 = 1/V sum over p of 1/(m**2 + sum sin(p)**2)**2
!>
!> The links are a change of bases of those without a field (lattice_links), under which both stay.
module lattice_reference

    use bl_kinds, only: dp
    use bl_verification, only: quantity_t
    use lattice_problem, only: lattice_problem_t

    implicit none(type, external)
    private

    public :: verify_lattice

    real(dp), parameter :: pi = acos(-1.0_dp)
    !> What the iterations leave of the source, and what that means for the solution.
    real(dp), parameter :: residual_max = 1.0e-8_dp, tolerance = 1.0e-8_dp

contains

    pure function verify_lattice(problem, at_source, square, residual) result(quantities)
        type(lattice_problem_t), intent(in) :: problem
        real(dp), intent(in) :: at_source, square, residual
        type(quantity_t), allocatable :: quantities(:)
        real(dp) :: expected(2)
        expected = sums(problem)
        quantities = [quantity_t('propagator', at_source, expected(1), tolerance), &
                      quantity_t('square', square, expected(2), tolerance), &
                      quantity_t('residual', residual, 0.0_dp, residual_max)]
    end function verify_lattice

    pure function sums(problem) result(total)
        type(lattice_problem_t), intent(in) :: problem
        real(dp) :: total(2), term
        real(dp), allocatable :: squares(:, :)
        integer :: i, j, k, l, axis

        allocate (squares(maxval(problem%extent), 4), source=0.0_dp)
        do axis = 1, 4
            do i = 1, problem%extent(axis)
                squares(i, axis) = sin(2*pi*(i - 1 + merge(0.5_dp, 0.0_dp, axis == 4)) &
                                       /problem%extent(axis))**2
            end do
        end do
        total = 0
        do l = 1, problem%extent(4)
            do k = 1, problem%extent(3)
                do j = 1, problem%extent(2)
                    do i = 1, problem%extent(1)
                        term = 1/(problem%mass**2 + squares(i, 1) + squares(j, 2) &
                                  + squares(k, 3) + squares(l, 4))
                        total = total + [term, term**2]
                    end do
                end do
            end do
        end do
        total = total/problem%sites()
    end function sums

end module lattice_reference
