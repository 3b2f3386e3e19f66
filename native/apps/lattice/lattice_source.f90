!> The source: on all even sites and in all colours, of norm one.
!>
!>     b(x) = sqrt(2/sites) g(x) w s1(x) s2(y) s3(z) s4(t),   w = (1, 1, 1)/sqrt(3)
!>     s_mu(n) = exp(2 pi i phase),  phase = mu (n + 1)**2 times the golden ratio's fraction
!>
!> with the bases g of the gauge field (lattice_links). A product of functions of one coordinate has
!> a Fourier transform that is the product of theirs, so that the solution is known; chirps as these
!> hold all momenta, so that no part of the operator goes untested.
!>
!> Exported: `set_source`, `phase_factors`. Nothing is collective.
module lattice_source

    use bl_kinds, only: dp
    use lattice_grid, only: field_t, grid_t
    use lattice_links, only: colours_at

    implicit none(type, external)
    private

    public :: set_source, phase_factors

    real(dp), parameter :: pi = acos(-1.0_dp), golden = (sqrt(5.0_dp) - 1)/2

contains

    subroutine set_source(grid, extent, field)
        type(grid_t), intent(in) :: grid
        integer, intent(in) :: extent(4)
        type(field_t), intent(inout) :: field
        integer :: lane, b, y, z, t, offset, site(4)
        complex(dp) :: colours(3), amplitude
        complex(dp), allocatable :: s(:, :)

        call phase_factors(extent, s)
        field%values = 0
        do t = 1, grid%n(4)
            do z = 1, grid%n(3)
                do y = 1, grid%n(2)
                    offset = grid%row_offset(0, y, z, t)
                    do b = 0, grid%blocks - 1
                        do lane = 0, grid%lanes - 1
                            site = [grid%site_x(offset, lane, b), [y, z, t] - 1 + grid%before]
                            amplitude = s(site(1), 1)*s(site(2), 2)*s(site(3), 3)*s(site(4), 4) &
                                        *sqrt(2/(3*product(real(extent, dp))))
                            colours = amplitude*sum(colours_at(extent, site), dim=2)
                            field%values(lane, 1:5:2, b, grid%row_at(y, z, t)) = real(colours)
                            field%values(lane, 2:6:2, b, grid%row_at(y, z, t)) = aimag(colours)
                        end do
                    end do
                end do
            end do
        end do
    end subroutine set_source

    !> s_mu(n) of all four axes: (n from 0, mu).
    pure subroutine phase_factors(extent, s)
        integer, intent(in) :: extent(4)
        complex(dp), allocatable, intent(out) :: s(:, :)
        real(dp) :: phase
        integer :: n, mu
        allocate (s(0:maxval(extent) - 1, 4))
        do mu = 1, 4
            do n = 0, maxval(extent) - 1
                phase = 2*pi*modulo(golden*mu*(n + 1)**2, 1.0_dp)
                s(n, mu) = cmplx(cos(phase), sin(phase), dp)
            end do
        end do
    end subroutine phase_factors

end module lattice_source
