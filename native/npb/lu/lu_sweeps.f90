!> LU's two sweeps of symmetric successive over-relaxation:
!>
!>     forward, in increasing order:
!>         r <- D^-1 (dt s - omega (L_z r_(k-1) + L_y r_(j-1) + L_x r_(i-1)))
!>     backward, in decreasing order:
!>         r <- r - D^-1 omega (U_z r_(k+1) + U_y r_(j+1) + U_x r_(i+1))
!>     U <- U + r/(omega (2 - omega))
!>
!> with s the residual. The blocks D, L and U hold the Jacobians of the convective flux, A_d, and
!> of the viscous terms, N_d. N_d is lower triangular, and so is D: its elimination is a forward
!> substitution. The products with L and U are those with A_d and N_d written out, without the
!> matrices. As each belongs to the point that r is taken from, a point computes all three as soon
!> as it is solved, and hands them on: `x`, `y`, `z` below.
!>
!> Points of a diagonal i + j = s of a plane are computed side by side (lu_block).
!>
!> Processes form a pipeline: for each plane they receive a row in x and a row in y from their
!> predecessors and send the same on. What travels are the products, as many numbers as r has.
!>
!> Collective: `sweep_forward`, `sweep_backward`. Timed: all of it.
module lu_sweeps

    use adi_flow, only: c1, c2, diffusion, kappa, kappa_e
    use lu_block, only: axis_x, axis_y, block_t, ghost, nobody
    use mpi, only: MPI_DOUBLE_PRECISION
    use bl_kinds, only: dp
    use bl_messages, only: comm_recv, comm_send

    implicit none(type, external)
    private

    public :: sweeps_t, new_sweeps, sweep_forward, sweep_backward

    real(dp), parameter :: omega = 1.2_dp

    !> Factors of the blocks.
    type :: factors_t
        !> New r = keep*r + D^-1 (share*r - x - y - z).
        real(dp) :: keep = 0, share = 0
        !> omega dt t2 with the sign of A, and omega dt t1.
        real(dp) :: convective = 0, viscous = 0
        !> Diagonal of D: `rest`, plus `momentum` or `energy` over the density.
        real(dp) :: rest = 0, momentum = 0, energy = 0
    end type factors_t

    type :: sweeps_t
        type(factors_t) :: lower, upper
        !> Products of the last and of the current diagonal, (-ghost:, 5, 0:1).
        real(dp), allocatable :: x(:, :, :), y(:, :, :)
        !> Products of the last plane, (-ghost:, 5, -ghost:).
        real(dp), allocatable :: z(:, :, :)
        !> Products from and for the neighbours, (0:, 5).
        real(dp), allocatable :: x_in(:, :), y_in(:, :), x_out(:, :), y_out(:, :)
    end type sweeps_t

contains

    function new_sweeps(block, dt) result(sweeps)
        type(block_t), intent(in) :: block
        real(dp), intent(in) :: dt
        type(sweeps_t) :: sweeps
        real(dp) :: t1, t2
        integer :: last

        last = block%extent - ghost - 1
        t1 = real(block%n - 1, dp)**2
        t2 = 0.5_dp*(block%n - 1)
        sweeps%lower = factors_t(keep=0.0_dp, share=dt, convective=-omega*dt*t2, &
                                 viscous=omega*dt*t1, rest=1 + 2*dt*t1*sum(diffusion), &
                                 momentum=2*dt*t1*kappa*(1 + 1 + 4.0_dp/3), &
                                 energy=2*dt*t1*kappa_e*3)
        sweeps%upper = sweeps%lower
        sweeps%upper%keep = 1
        sweeps%upper%share = 0
        sweeps%upper%convective = -sweeps%lower%convective
        allocate (sweeps%x(-ghost:last, 5, 0:1), sweeps%y(-ghost:last, 5, 0:1), source=0.0_dp)
        allocate (sweeps%z(-ghost:last, 5, -ghost:sum(block%points)), source=0.0_dp)
        allocate (sweeps%x_in(0:block%points(2) - 1, 5), sweeps%x_out(0:block%points(2) - 1, 5), &
                  sweeps%y_in(0:block%points(1) - 1, 5), sweeps%y_out(0:block%points(1) - 1, 5), &
                  source=0.0_dp)
    end function new_sweeps

    subroutine sweep_forward(block, sweeps)
        type(block_t), intent(inout) :: block
        type(sweeps_t), intent(inout) :: sweeps
        integer :: k, s, lo, hi, old, new

        sweeps%z = 0
        sweeps%x_in = 0
        sweeps%y_in = 0
        do k = 1, block%n - 2
            call receive(block, block%lower, sweeps)
            do s = sum(block%lo), sum(block%hi)
                lo = block%row_lo(s)
                hi = block%row_hi(s)
                new = iand(s, 1)
                old = 1 - new
                if (lo == block%lo(1)) sweeps%x(lo - 1, :, old) = sweeps%x_in(s - lo, :)
                if (hi == s - block%lo(2)) sweeps%y(hi, :, old) = sweeps%y_in(hi, :)
                call solve_row(sweeps%lower, hi - lo + 1, block%extent, block%u(lo, 1, s, k), &
                               block%residual(lo, 1, s, k), sweeps%x(lo - 1, 1, old), &
                               sweeps%y(lo, 1, old), sweeps%z(lo, 1, s), sweeps%x(lo, 1, new), &
                               sweeps%y(lo, 1, new))
                if (hi == block%hi(1)) sweeps%x_out(s - hi, :) = sweeps%x(hi, :, new)
                if (lo == s - block%hi(2)) sweeps%y_out(lo, :) = sweeps%y(lo, :, new)
            end do
            call send(block, block%upper, sweeps)
        end do
    end subroutine sweep_forward

    subroutine sweep_backward(block, sweeps)
        type(block_t), intent(inout) :: block
        type(sweeps_t), intent(inout) :: sweeps
        integer :: k, s, lo, hi, old, new

        sweeps%z = 0
        sweeps%x_in = 0
        sweeps%y_in = 0
        do k = block%n - 2, 1, -1
            call receive(block, block%upper, sweeps)
            do s = sum(block%hi), sum(block%lo), -1
                lo = block%row_lo(s)
                hi = block%row_hi(s)
                new = iand(s, 1)
                old = 1 - new
                if (hi == block%hi(1)) sweeps%x(hi + 1, :, old) = sweeps%x_in(s - hi, :)
                if (lo == s - block%hi(2)) sweeps%y(lo, :, old) = sweeps%y_in(lo, :)
                call solve_row(sweeps%upper, hi - lo + 1, block%extent, block%u(lo, 1, s, k), &
                               block%residual(lo, 1, s, k), sweeps%x(lo + 1, 1, old), &
                               sweeps%y(lo, 1, old), sweeps%z(lo, 1, s), sweeps%x(lo, 1, new), &
                               sweeps%y(lo, 1, new))
                if (lo == block%lo(1)) sweeps%x_out(s - lo, :) = sweeps%x(lo, :, new)
                if (hi == s - block%lo(2)) sweeps%y_out(hi, :) = sweeps%y(hi, :, new)
                block%u(lo:hi, :, s, k) = block%u(lo:hi, :, s, k) &
                                          + block%residual(lo:hi, :, s, k)/(omega*(2 - omega))
            end do
            call send(block, block%lower, sweeps)
        end do
    end subroutine sweep_backward

    subroutine receive(block, neighbours, sweeps)
        type(block_t), intent(in) :: block
        integer, intent(in) :: neighbours(2)
        type(sweeps_t), intent(inout) :: sweeps
        if (neighbours(axis_x) /= nobody) &
            call comm_recv(sweeps%x_in, size(sweeps%x_in), MPI_DOUBLE_PRECISION, &
                           neighbours(axis_x), axis_x, block%comm)
        if (neighbours(axis_y) /= nobody) &
            call comm_recv(sweeps%y_in, size(sweeps%y_in), MPI_DOUBLE_PRECISION, &
                           neighbours(axis_y), axis_y, block%comm)
    end subroutine receive

    subroutine send(block, neighbours, sweeps)
        type(block_t), intent(in) :: block
        integer, intent(in) :: neighbours(2)
        type(sweeps_t), intent(in) :: sweeps
        if (neighbours(axis_x) /= nobody) &
            call comm_send(sweeps%x_out, size(sweeps%x_out), MPI_DOUBLE_PRECISION, &
                           neighbours(axis_x), axis_x, block%comm)
        if (neighbours(axis_y) /= nobody) &
            call comm_send(sweeps%y_out, size(sweeps%y_out), MPI_DOUBLE_PRECISION, &
                           neighbours(axis_y), axis_y, block%comm)
    end subroutine send

    !> Solves a row of `points` and computes the products that others need of it. `x_old`, `y_old`
    !> and `z` are what the row needs; `z` is replaced.
    pure subroutine solve_row(f, points, extent, u, r, x_old, y_old, z, x_new, y_new)
        type(factors_t), intent(in) :: f
        integer, intent(in) :: points, extent
        real(dp), intent(in), dimension(extent, 5) :: u, x_old, y_old
        real(dp), intent(inout), dimension(extent, 5) :: r, z, x_new, y_new
        real(dp) :: inverse, mass, energy, both, w1, w2, w3, e, squares, enthalpy, difference
        real(dp) :: r1, r2, r3, r4, r5, g1, g2, g3, heat, pressure, work
        real(dp) :: convective, viscous, per_density
        integer :: i

        difference = f%momentum - f%energy
        !$omp simd private(inverse, mass, energy, both, w1, w2, w3, e, squares, enthalpy, r1, r2, &
        !$omp r3, r4, r5, g1, g2, g3, heat, pressure, work, convective, viscous, per_density)
        do i = 1, points
            ! One division for the density and for both diagonal entries.
            mass = f%rest*u(i, 1) + f%momentum
            energy = f%rest*u(i, 1) + f%energy
            both = mass*energy
            inverse = 1/(u(i, 1)*both)
            mass = u(i, 1)*inverse*energy
            energy = u(i, 1)*inverse*(f%rest*u(i, 1) + f%momentum)
            inverse = inverse*both
            w1 = u(i, 2)*inverse
            w2 = u(i, 3)*inverse
            w3 = u(i, 4)*inverse
            e = u(i, 5)*inverse
            squares = w1*w1 + w2*w2 + w3*w3

            r1 = f%share*r(i, 1) - x_old(i, 1) - y_old(i, 1) - z(i, 1)
            r2 = f%share*r(i, 2) - x_old(i, 2) - y_old(i, 2) - z(i, 2)
            r3 = f%share*r(i, 3) - x_old(i, 3) - y_old(i, 3) - z(i, 3)
            r4 = f%share*r(i, 4) - x_old(i, 4) - y_old(i, 4) - z(i, 4)
            r5 = f%share*r(i, 5) - x_old(i, 5) - y_old(i, 5) - z(i, 5)
            r1 = r1*(1/f%rest)
            r2 = (u(i, 1)*r2 + f%momentum*w1*r1)*mass
            r3 = (u(i, 1)*r3 + f%momentum*w2*r1)*mass
            r4 = (u(i, 1)*r4 + f%momentum*w3*r1)*mass
            r5 = (u(i, 1)*r5 + (difference*squares + f%energy*e)*r1 &
                  - difference*(w1*r2 + w2*r3 + w3*r4))*energy
            r1 = f%keep*r(i, 1) + r1
            r2 = f%keep*r(i, 2) + r2
            r3 = f%keep*r(i, 3) + r3
            r4 = f%keep*r(i, 4) + r4
            r5 = f%keep*r(i, 5) + r5
            r(i, 1) = r1
            r(i, 2) = r2
            r(i, 3) = r3
            r(i, 4) = r4
            r(i, 5) = r5

            ! Density times the change of the velocities; the changes of pressure and heat.
            g1 = r2 - w1*r1
            g2 = r3 - w2*r1
            g3 = r4 - w3*r1
            work = w1*g1 + w2*g2 + w3*g3
            pressure = c2*(r5 - work - 0.5_dp*squares*r1)
            enthalpy = c1*e - 0.5_dp*c2*squares
            per_density = f%viscous*inverse
            heat = per_density*((kappa - kappa_e)*work + kappa_e*(r5 - e*r1))
            viscous = f%viscous*diffusion(1)
            convective = f%convective*w1
            x_new(i, 1) = f%convective*r2 - viscous*r1
            x_new(i, 2) = convective*(r2 + g1) + f%convective*pressure - viscous*r2 &
                          - per_density*(4*kappa/3)*g1
            x_new(i, 3) = f%convective*w2*r2 + convective*g2 - viscous*r3 - per_density*kappa*g2
            x_new(i, 4) = f%convective*w3*r2 + convective*g3 - viscous*r4 - per_density*kappa*g3
            x_new(i, 5) = convective*(r5 + pressure) + f%convective*enthalpy*g1 - viscous*r5 &
                          - heat - per_density*(kappa/3)*w1*g1
            viscous = f%viscous*diffusion(2)
            convective = f%convective*w2
            y_new(i, 1) = f%convective*r3 - viscous*r1
            y_new(i, 2) = f%convective*w1*r3 + convective*g1 - viscous*r2 - per_density*kappa*g1
            y_new(i, 3) = convective*(r3 + g2) + f%convective*pressure - viscous*r3 &
                          - per_density*(4*kappa/3)*g2
            y_new(i, 4) = f%convective*w3*r3 + convective*g3 - viscous*r4 - per_density*kappa*g3
            y_new(i, 5) = convective*(r5 + pressure) + f%convective*enthalpy*g2 - viscous*r5 &
                          - heat - per_density*(kappa/3)*w2*g2
            viscous = f%viscous*diffusion(3)
            convective = f%convective*w3
            z(i, 1) = f%convective*r4 - viscous*r1
            z(i, 2) = f%convective*w1*r4 + convective*g1 - viscous*r2 - per_density*kappa*g1
            z(i, 3) = f%convective*w2*r4 + convective*g2 - viscous*r3 - per_density*kappa*g2
            z(i, 4) = convective*(r4 + g3) + f%convective*pressure - viscous*r4 &
                      - per_density*(4*kappa/3)*g3
            z(i, 5) = convective*(r5 + pressure) + f%convective*enthalpy*g3 - viscous*r5 &
                      - heat - per_density*(kappa/3)*w3*g3
        end do
    end subroutine solve_row

end module lu_sweeps
