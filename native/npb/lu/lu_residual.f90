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
    use npb_kinds, only: dp

    implicit none(type, external)
    private

    public :: stencils_t, new_stencils, compute_residual, compute_forcing

    !> The columns of a plane's derived quantities.
    integer, parameter :: velocity = 0, pressure = 4, heat = 5, derived = 5

    !> Weights of the linear terms.
    type :: stencils_t
        !> (-ghost:, -2:2): by i; by -j, so that a diagonal's are contiguous in i as well; and
        !> by k, where the first index only repeats them for each lane.
        real(dp), allocatable :: x(:, :), y(:, :), z(:, :, :)
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
            allocate (stencils%x(-ghost:last, -2:2), stencils%z(-ghost:last, -2:2, n))
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
                stencils%z(:, :, k) = spread(line_stencil(3, k, n), 1, block%extent)
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
        real(dp) :: row(block%extent, 5)
        integer :: s, lo, hi, vectors, here, below, above, k_below, k_above

        below = mod(k - 1, 3)
        here = mod(k, 3)
        above = mod(k + 1, 3)
        ! Planes outside the grid have no weight.
        k_below = max(k - 2, 0)
        k_above = min(k + 2, block%n - 1)
        associate (u => block%u, q => stencils%planes, extent => block%extent)
            do s = block%lo(1) + block%lo(2), block%hi(1) + block%hi(2)
                lo = block%row_lo(s)
                hi = block%row_hi(s)
                vectors = (hi - lo)/lanes + 1
                row(:lanes*vectors, :) = block%forcing(lo:lo + lanes*vectors - 1, :, s, k)
                call add_direction(1, block%n, vectors, extent, stencils%x(lo, -2), extent, &
                                   u(lo - 2, 1, s - 2, k), u(lo - 1, 1, s - 1, k), &
                                   u(lo, 1, s, k), u(lo + 1, 1, s + 1, k), &
                                   u(lo + 2, 1, s + 2, k), q(lo - 1, 1, s - 1, here), &
                                   q(lo, 1, s, here), q(lo + 1, 1, s + 1, here), row)
                call add_direction(2, block%n, vectors, size(stencils%y, 1), &
                                   stencils%y(lo - s, -2), extent, &
                                   u(lo, 1, s - 2, k), u(lo, 1, s - 1, k), u(lo, 1, s, k), &
                                   u(lo, 1, s + 1, k), u(lo, 1, s + 2, k), &
                                   q(lo, 1, s - 1, here), q(lo, 1, s, here), &
                                   q(lo, 1, s + 1, here), row)
                call add_direction(3, block%n, vectors, extent, stencils%z(-ghost, -2, k), extent, &
                                   u(lo, 1, s, k_below), u(lo, 1, s, k - 1), u(lo, 1, s, k), &
                                   u(lo, 1, s, k + 1), u(lo, 1, s, k_above), &
                                   q(lo, 1, s, below), q(lo, 1, s, here), q(lo, 1, s, above), row)
                block%residual(lo:hi, :, s, k) = row(:hi - lo + 1, :)
            end do
        end associate
    end subroutine plane_residual

    !> Adds what direction d contributes. `u_1`, `u_2` are the unknowns one and two points below,
    !> `u1`, `u2` above; `q_1`, `q0`, `q1` the derived quantities.
    pure subroutine add_direction(d, n, vectors, weights_extent, weights, extent, u_2, u_1, u0, &
                                  u1, u2, q_1, q0, q1, row)
        integer, intent(in) :: d, n, vectors, weights_extent, extent
        real(dp), intent(in) :: weights(weights_extent, -2:2)
        real(dp), intent(in), dimension(extent, 5) :: u_2, u_1, u0, u1, u2
        real(dp), intent(in), dimension(extent, derived) :: q_1, q0, q1
        real(dp), intent(inout) :: row(extent, 5)
        real(dp) :: t2, viscous, along, linear
        integer :: i, m

        t2 = 0.5_dp*(n - 1)
        do m = 1, 5
            !$omp simd private(linear)
            do i = 1, lanes*vectors
                linear = weights(i, -2)*u_2(i, m) + weights(i, -1)*u_1(i, m) &
                         + weights(i, 0)*u0(i, m) + weights(i, 1)*u1(i, m) &
                         + weights(i, 2)*u2(i, m)
                row(i, m) = row(i, m) + linear
            end do
        end do
        !$omp simd
        do i = 1, lanes*vectors
            row(i, 1) = row(i, 1) - t2*(u1(i, d + 1) - u_1(i, d + 1))
            row(i, d + 1) = row(i, d + 1) - t2*(q1(i, pressure) - q_1(i, pressure))
        end do
        do m = 1, 3
            viscous = kappa*real(n - 1, dp)**2*merge(4.0_dp/3, 1.0_dp, m == d)
            !$omp simd
            do i = 1, lanes*vectors
                row(i, m + 1) = row(i, m + 1) &
                                - t2*(u1(i, m + 1)*q1(i, d) - u_1(i, m + 1)*q_1(i, d)) &
                                + viscous*(q1(i, m) - 2*q0(i, m) + q_1(i, m))
            end do
        end do
        viscous = kappa*real(n - 1, dp)**2
        !$omp simd private(along)
        do i = 1, lanes*vectors
            along = q1(i, d)*q1(i, d) - 2*q0(i, d)*q0(i, d) + q_1(i, d)*q_1(i, d)
            row(i, 5) = row(i, 5) - t2*((u1(i, 5) + q1(i, pressure))*q1(i, d) &
                                        - (u_1(i, 5) + q_1(i, pressure))*q_1(i, d)) &
                        + viscous*(q1(i, heat) - 2*q0(i, heat) + q_1(i, heat) + along/6)
        end do
    end subroutine add_direction

end module lu_residual
