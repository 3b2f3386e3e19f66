!> LU's residual R(U) + G at the interior points, with U the unknowns and G the forcing:
!>
!>     R(U) = sum over directions d of -t2 (F_d(+) - F_d(-)) + V_d + d_d t1 delta2 U - eps D4 U,
!>
!> t1 = 1/h**2, t2 = 1/(2h). F_d is the convective flux; V_d the viscous terms, second differences
!> delta2 of the velocities and, for the energy, of phi = (1 - c1 c5)/2 |w|**2 + c1 c5 e plus a
!> sixth of the velocity along d squared; D4 the fourth difference, one-sided beside the boundary.
!> Both linear terms together are one five-point stencil in each direction, the same for all
!> components.
!>
!> Velocities, pressure and phi are computed once per point, plane by plane; three planes are kept.
!>
!> Nothing here is collective; ghosts have to be right. Timed: `compute_residual`.
module lu_residual

    use adi_flow, only: c1, c2, diffusion, dissipation, kappa, kappa_e
    use lu_block, only: block_t, ghost, lanes, set_exact
    use bl_kinds, only: dp

    implicit none(type, external)
    private

    public :: stencils_t, new_stencils, compute_residual, compute_forcing

    !> The columns of a plane's derived quantities.
    integer, parameter :: velocity = 0, pressure = 4, heat = 5, derived = 5

    !> Weights of the linear terms.
    type :: stencils_t
        !> By i, (-ghost:, -2:2); by -j, so that a diagonal's are contiguous in i as well; by k,
        !> (-2:2, 1:).
        real(dp), allocatable :: x(:, :), y(:, :), z(:, :)
        !> Derived quantities of three planes, (-ghost:, derived, -ghost:, 0:2).
        real(dp), allocatable :: planes(:, :, :, :)
    end type stencils_t

contains

    function new_stencils(block) result(stencils)
        type(block_t), intent(in) :: block
        type(stencils_t) :: stencils
        integer :: last, i, j, k

        last = block%extent - ghost - 1
        associate (n => block%n, nx => block%points(1), ny => block%points(2))
            allocate (stencils%x(-ghost:last, -2:2), stencils%z(-2:2, n - 2))
            allocate (stencils%y(1 - ny:nx + lanes, -2:2))
            allocate (stencils%planes(-ghost:last, derived, -ghost:nx + ny, 0:2))
            stencils%x = 0
            stencils%y = 0
            stencils%planes = 0
            do i = 0, nx - 1
                stencils%x(i, :) = line_stencil(1, block%first(1) + i, n)
            end do
            do j = 0, ny - 1
                stencils%y(-j, :) = line_stencil(2, block%first(2) + j, n)
            end do
            do k = 1, n - 2
                stencils%z(:, k) = line_stencil(3, k, n)
            end do
        end associate
    end function new_stencils

    !> Second and fourth differences at point g of a line.
    pure function line_stencil(axis, g, n) result(weights)
        integer, intent(in) :: axis, g, n
        real(dp) :: weights(-2:2), t1

        weights = [1.0_dp, -4.0_dp, 6.0_dp, -4.0_dp, 1.0_dp]
        if (g <= 2) weights(-2) = 0
        if (g >= n - 3) weights(2) = 0
        if (g == 1) weights(-1:0) = [0.0_dp, 5.0_dp]
        if (g == n - 2) weights(0:1) = [5.0_dp, 0.0_dp]
        t1 = real(n - 1, dp)**2
        weights = -dissipation*weights
        weights(-1:1) = weights(-1:1) + diffusion(axis)*t1*[1.0_dp, -2.0_dp, 1.0_dp]
    end function line_stencil

    !> The forcing that makes the exact solution steady. Destroys the unknowns.
    subroutine compute_forcing(block, stencils)
        type(block_t), intent(inout) :: block
        type(stencils_t), intent(inout) :: stencils
        call set_exact(block)
        block%forcing = 0
        call compute_residual(block, stencils)
        block%forcing = -block%residual
    end subroutine compute_forcing

    subroutine compute_residual(block, stencils)
        type(block_t), intent(inout) :: block
        type(stencils_t), intent(inout) :: stencils
        integer :: k

        call derive_plane(block, 0, stencils)
        call derive_plane(block, 1, stencils)
        do k = 1, block%n - 2
            call derive_plane(block, k + 1, stencils)
            call plane_residual(block, stencils, k)
        end do
    end subroutine compute_residual

    !> Velocities, pressure and phi of a plane, with one ghost layer.
    subroutine derive_plane(block, k, stencils)
        type(block_t), intent(in) :: block
        integer, intent(in) :: k
        type(stencils_t), intent(inout) :: stencils
        integer :: s, lo, hi

        do s = block%lo(1) + block%lo(2) - 1, block%hi(1) + block%hi(2) + 1
            lo = block%row_lo(s, margin=1)
            hi = block%row_hi(s, margin=1)
            call derive_row((hi - lo)/lanes + 1, block%extent, block%u(lo, 1, s, k), &
                            stencils%planes(lo, 1, s, mod(k, 3)))
        end do
    end subroutine derive_plane

    pure subroutine derive_row(vectors, extent, u, row)
        integer, intent(in) :: vectors, extent
        real(dp), intent(in) :: u(extent, 5)
        real(dp), intent(inout) :: row(extent, derived)
        real(dp) :: inverse, w1, w2, w3, squares
        integer :: i

        !$omp simd private(inverse, w1, w2, w3, squares)
        do i = 1, lanes*vectors
            inverse = 1/u(i, 1)
            w1 = u(i, 2)*inverse
            w2 = u(i, 3)*inverse
            w3 = u(i, 4)*inverse
            squares = w1*w1 + w2*w2 + w3*w3
            row(i, 1) = w1
            row(i, 2) = w2
            row(i, 3) = w3
            row(i, pressure) = c2*(u(i, 5) - 0.5_dp*u(i, 1)*squares)
            row(i, heat) = 0.5_dp*(1 - kappa_e/kappa)*squares + kappa_e/kappa*u(i, 5)*inverse
        end do
    end subroutine derive_row

    subroutine plane_residual(block, stencils, k)
        type(block_t), intent(inout) :: block
        type(stencils_t), intent(in) :: stencils
        integer, intent(in) :: k
        integer :: s, lo, hi

        do s = sum(block%lo), sum(block%hi)
            lo = block%row_lo(s)
            hi = block%row_hi(s)
            call row_residual(block%n, block%extent, sum(block%points), size(stencils%y, 1), &
                              lo, s, k, (hi - lo)/lanes + 1, stencils%x(lo, -2), &
                              stencils%y(lo - s, -2), stencils%z(:, k), block%u, &
                              stencils%planes, block%forcing, block%residual)
        end do
    end subroutine plane_residual

    !> The residual of the points from `lo` of diagonal s of plane k, in whole vectors: what is
    !> stored beyond the row's end is never used.
    pure subroutine row_residual(n, extent, rows, y_extent, lo, s, k, vectors, x, y, z, &
                                 u, q, forcing, residual)
        integer, intent(in) :: n, extent, rows, y_extent, lo, s, k, vectors
        real(dp), intent(in) :: x(extent, -2:2), y(y_extent, -2:2), z(-2:2)
        real(dp), intent(in), dimension(-ghost:extent - ghost - 1, 5, -ghost:rows, 0:n - 1) :: &
            u, forcing
        real(dp), intent(in) :: q(-ghost:extent - ghost - 1, derived, -ghost:rows, 0:2)
        real(dp), intent(inout) :: residual(-ghost:extent - ghost - 1, 5, -ghost:rows, 0:n - 1)
        real(dp) :: t2, viscous, share_x, share_y, share_z, linear, flux, along
        integer :: first, last, i, a, m, here, below, above, k_below, k_above

        below = mod(k - 1, 3)
        here = mod(k, 3)
        above = mod(k + 1, 3)
        ! Planes outside the grid have no weight.
        k_below = max(k - 2, 0)
        k_above = min(k + 2, n - 1)
        t2 = 0.5_dp*(n - 1)
        viscous = kappa*real(n - 1, dp)**2
        first = lo - 1
        last = lanes*vectors
        do m = 1, 5
            !$omp simd private(a, linear)
            do i = 1, last
                a = first + i
                linear = x(i, -2)*u(a - 2, m, s - 2, k) + x(i, -1)*u(a - 1, m, s - 1, k) &
                         + x(i, 1)*u(a + 1, m, s + 1, k) + x(i, 2)*u(a + 2, m, s + 2, k) &
                         + y(i, -2)*u(a, m, s - 2, k) + y(i, -1)*u(a, m, s - 1, k) &
                         + y(i, 1)*u(a, m, s + 1, k) + y(i, 2)*u(a, m, s + 2, k) &
                         + z(-2)*u(a, m, s, k_below) + z(-1)*u(a, m, s, k - 1) &
                         + z(1)*u(a, m, s, k + 1) + z(2)*u(a, m, s, k_above) &
                         + (x(i, 0) + y(i, 0) + z(0))*u(a, m, s, k)
                residual(a, m, s, k) = forcing(a, m, s, k) + linear
            end do
        end do
        !$omp simd
        do i = lo, first + last
            residual(i, 1, s, k) = residual(i, 1, s, k) &
                                   - t2*(u(i + 1, 2, s + 1, k) - u(i - 1, 2, s - 1, k) &
                                         + u(i, 3, s + 1, k) - u(i, 3, s - 1, k) &
                                         + u(i, 4, s, k + 1) - u(i, 4, s, k - 1))
            residual(i, 2, s, k) = residual(i, 2, s, k) &
                                   - t2*(q(i + 1, pressure, s + 1, here) &
                                         - q(i - 1, pressure, s - 1, here))
            residual(i, 3, s, k) = residual(i, 3, s, k) - t2*(q(i, pressure, s + 1, here) &
                                                              - q(i, pressure, s - 1, here))
            residual(i, 4, s, k) = residual(i, 4, s, k) &
                                   - t2*(q(i, pressure, s, above) - q(i, pressure, s, below))
        end do
        do m = 1, 3
            share_x = viscous*merge(4.0_dp/3, 1.0_dp, m == 1)
            share_y = viscous*merge(4.0_dp/3, 1.0_dp, m == 2)
            share_z = viscous*merge(4.0_dp/3, 1.0_dp, m == 3)
            !$omp simd private(flux)
            do i = lo, first + last
                flux = u(i + 1, m + 1, s + 1, k)*q(i + 1, 1, s + 1, here) &
                       - u(i - 1, m + 1, s - 1, k)*q(i - 1, 1, s - 1, here) &
                       + u(i, m + 1, s + 1, k)*q(i, 2, s + 1, here) &
                       - u(i, m + 1, s - 1, k)*q(i, 2, s - 1, here) &
                       + u(i, m + 1, s, k + 1)*q(i, 3, s, above) &
                       - u(i, m + 1, s, k - 1)*q(i, 3, s, below)
                residual(i, m + 1, s, k) = &
                    residual(i, m + 1, s, k) - t2*flux &
                    + share_x*(q(i + 1, m, s + 1, here) + q(i - 1, m, s - 1, here)) &
                    + share_y*(q(i, m, s + 1, here) + q(i, m, s - 1, here)) &
                    + share_z*(q(i, m, s, above) + q(i, m, s, below)) &
                    - 2*(share_x + share_y + share_z)*q(i, m, s, here)
            end do
        end do
        !$omp simd private(flux, along)
        do i = lo, first + last
            flux = (u(i + 1, 5, s + 1, k) + q(i + 1, pressure, s + 1, here)) &
                   *q(i + 1, 1, s + 1, here) &
                   - (u(i - 1, 5, s - 1, k) + q(i - 1, pressure, s - 1, here)) &
                   *q(i - 1, 1, s - 1, here) &
                   + (u(i, 5, s + 1, k) + q(i, pressure, s + 1, here))*q(i, 2, s + 1, here) &
                   - (u(i, 5, s - 1, k) + q(i, pressure, s - 1, here))*q(i, 2, s - 1, here) &
                   + (u(i, 5, s, k + 1) + q(i, pressure, s, above))*q(i, 3, s, above) &
                   - (u(i, 5, s, k - 1) + q(i, pressure, s, below))*q(i, 3, s, below)
            along = q(i + 1, 1, s + 1, here)**2 + q(i - 1, 1, s - 1, here)**2 &
                    + q(i, 2, s + 1, here)**2 + q(i, 2, s - 1, here)**2 &
                    + q(i, 3, s, above)**2 + q(i, 3, s, below)**2 &
                    - 2*(q(i, 1, s, here)**2 + q(i, 2, s, here)**2 + q(i, 3, s, here)**2)
            residual(i, 5, s, k) = &
                residual(i, 5, s, k) - t2*flux &
                + viscous*(q(i + 1, heat, s + 1, here) + q(i - 1, heat, s - 1, here) &
                           + q(i, heat, s + 1, here) + q(i, heat, s - 1, here) &
                           + q(i, heat, s, above) + q(i, heat, s, below) &
                           - 6*q(i, heat, s, here) + along/6)
        end do
    end subroutine row_residual

end module lu_residual
