!> The linear system of a step of pseudo-time, and its solution by coloured Gauss-Seidel sweeps.
!>
!>     (T + sum over faces of A+) dq + sum over faces of A- dq_across = inflow
!>
!> A+ and A- are the parts of the Jacobian A of the flux, with the area as its normal, that carry
!> waves out of the cell and into it, (A +- |A|)/2, at the mean of the two cells. T is the sum over
!> faces of the fastest wave times half the area, over the Courant number. With Q = (1, u, H),
!> N = (0, n, u n) and the rows d(p) and rho d(un) of derivatives by the conserved quantities,
!>
!>     A  = un + Q rho d(un) + N d(p)
!>    |A| = s0 + Q (a d(p)/c**2 + b rho d(un)/c) + N (a rho d(un) + b d(p)/c)
!>
!> with a, b and s0 of unstructured_residual. The equations are solved for dq once a step, so that
!> a sweep only multiplies: stored are D**-1 A- as matrix(lane, row, column, face, block), D what dq
!> has before it, and D**-1 inflow. The matrix is 800 bytes for a cell, which each sweep reads from
!> memory from the first to the last: one stream, that the processor fetches by itself. Columns of
!> neighbours are asked for a block ahead.
!>
!> Nothing here is collective.
module unstructured_implicit

    use bl_kinds, only: dp
    use bl_memory, only: prefetch_columns
    use unstructured_exchange, only: unknowns, width
    use unstructured_lanes, only: gather_columns, turn_back
    use unstructured_numbering, only: lanes
    use unstructured_problem, only: gamma
    use unstructured_residual, only: smoothing

    implicit none(type, external)
    private

    public :: assemble, relax, advance

    !> What an empty slot, without area, has for its fastest wave.
    real(dp), parameter :: empty = 1.0e-30_dp
    !> Of a block's matrix of one face.

contains

    !> The matrix for a Courant number. The inflow becomes what it alone would change.
    pure subroutine assemble(blocks, across, area, w, courant, matrix, inflow)
        integer, intent(in) :: blocks, across(lanes, 4, blocks)
        real(dp), intent(in) :: area(lanes, 4, 4, blocks), w(width, *), courant
        real(dp), intent(inout) :: matrix(lanes, unknowns, unknowns, 4, blocks)
        real(dp), intent(inout) :: inflow(lanes, unknowns, blocks)
        real(dp), dimension(lanes, unknowns) :: here, there, mean
        real(dp) :: own(lanes, unknowns, unknowns), speed(lanes)
        integer :: block, f, m, l

        do block = 1, blocks
            own = 0
            speed = 0
            call prefetch_columns(w, 8*width, 4*lanes, across(:, :, min(block + 1, blocks)))
            call gather_columns([(lanes*(block - 1) + l, l=1, lanes)], w, here)
            do f = 1, 4
                call gather_columns(across(:, f, block), w, there)
                mean = 0.5_dp*(here + there)
                ! Into the matrix, although it changes once more: a buffer that is written there in
                ! one go waits for memory.
                call split_jacobian(mean, area(:, :, f, block), matrix(:, :, :, f, block), &
                                    own, speed)
            end do
            do m = 1, unknowns
                !$omp simd
                do l = 1, lanes
                    own(l, m, m) = own(l, m, m) + max(speed(l), empty)/(2*courant)
                end do
            end do
            call factorize(own)
            do f = 1, 4
                do m = 1, unknowns
                    call substitute(own, matrix(:, :, m, f, block))
                end do
            end do
            call substitute(own, inflow(:, :, block))
        end do
    end subroutine assemble

    !> A- of a face; A+ is added to `own`, the fastest wave times the area to `speed`.
    pure subroutine split_jacobian(mean, area, minus, own, speed)
        real(dp), intent(in) :: mean(lanes, unknowns), area(lanes, 4)
        real(dp), intent(inout) :: minus(lanes, unknowns, unknowns)
        real(dp), intent(inout) :: own(lanes, unknowns, unknowns), speed(lanes)
        real(dp), dimension(lanes, unknowns) :: q, n, q_row, n_row, q_rest, n_rest
        real(dp), dimension(lanes) :: minus_all, own_all
        real(dp) :: half, un, square, gamma_p, over, c_square, c, over_c_square, s0, a, b
        real(dp) :: dpressure, dun
        integer :: l, row, column

        !$omp simd
        do l = 1, lanes
            half = 0.5_dp*area(l, 4)
            n(l, 1) = 0
            n(l, 2) = area(l, 1)
            n(l, 3) = area(l, 2)
            n(l, 4) = area(l, 3)
            un = mean(l, 2)*n(l, 2) + mean(l, 3)*n(l, 3) + mean(l, 4)*n(l, 4)
            n(l, 5) = un
            square = 0.5_dp*(mean(l, 2)**2 + mean(l, 3)**2 + mean(l, 4)**2)
            ! One division for c**2 = gamma p/density and its inverse.
            gamma_p = gamma*mean(l, 5)
            over = 1/(gamma_p*mean(l, 1))
            c_square = gamma_p**2*over
            over_c_square = mean(l, 1)**2*over
            c = sqrt(c_square)
            q(l, 1) = 1
            q(l, 2) = mean(l, 2)
            q(l, 3) = mean(l, 3)
            q(l, 4) = mean(l, 4)
            q(l, 5) = c_square*(1/(gamma - 1)) + square
            s0 = sqrt(un**2 + smoothing**2*c_square)
            a = 0.5_dp*(abs(un + c) + abs(un - c)) - s0
            b = 1 - 0.5_dp*(abs(un + c) - abs(un - c))*c*over_c_square
            speed(l) = speed(l) + (abs(un) + c)*area(l, 4)
            ! The rows of A times half the area, first what A- takes of them: b, here what is left
            ! of 1, and a; then the rest.
            do column = 1, unknowns
                dpressure = (gamma - 1)*half
                dun = half
                select case (column)
                case (1)
                    dpressure = dpressure*square
                    dun = -dun*un
                case (2:4)
                    dpressure = -dpressure*mean(l, column)
                    dun = dun*n(l, column)
                case default
                    dun = 0
                end select
                q_row(l, column) = b*dun - a*over_c_square*dpressure
                n_row(l, column) = b*dpressure - a*dun
                q_rest(l, column) = 2*dun - q_row(l, column)
                n_rest(l, column) = 2*dpressure - n_row(l, column)
            end do
            minus_all(l) = half*(un - s0)
            own_all(l) = half*(un + s0)
        end do
        do column = 1, unknowns
            do row = 1, unknowns
                !$omp simd
                do l = 1, lanes
                    minus(l, row, column) = q(l, row)*q_row(l, column) + n(l, row)*n_row(l, column)
                    own(l, row, column) = own(l, row, column) + q(l, row)*q_rest(l, column) &
                                          + n(l, row)*n_rest(l, column)
                end do
            end do
            !$omp simd
            do l = 1, lanes
                minus(l, column, column) = minus(l, column, column) + minus_all(l)
                own(l, column, column) = own(l, column, column) + own_all(l)
            end do
        end do
    end subroutine split_jacobian

    !> Triangular factors without pivots, the inverses of the pivots on the diagonal.
    pure subroutine factorize(a)
        real(dp), intent(inout) :: a(lanes, unknowns, unknowns)
        integer :: i, j, k, l
        do k = 1, unknowns
            !$omp simd
            do l = 1, lanes
                a(l, k, k) = 1/a(l, k, k)
            end do
            do i = k + 1, unknowns
                !$omp simd
                do l = 1, lanes
                    a(l, i, k) = a(l, i, k)*a(l, k, k)
                end do
            end do
            do j = k + 1, unknowns
                do i = k + 1, unknowns
                    !$omp simd
                    do l = 1, lanes
                        a(l, i, j) = a(l, i, j) - a(l, i, k)*a(l, k, j)
                    end do
                end do
            end do
        end do
    end subroutine factorize

    !> Solves the equations of some blocks, all of one colour, for their own cells. `change` is the
    !> square of what changes.
    pure subroutine relax(first, last, across, matrix, inflow, dq, change)
        integer, intent(in) :: first, last, across(lanes, 4, *)
        real(dp), intent(in) :: matrix(lanes, unknowns, unknowns, 4, *)
        real(dp), intent(in) :: inflow(lanes, unknowns, *)
        real(dp), intent(inout) :: dq(width, lanes, *)
        real(dp), intent(out) :: change
        real(dp) :: x(lanes, unknowns), values(lanes, unknowns), columns(width, lanes)
        real(dp) :: changes(width)
        integer :: block, f, l, row, m

        changes = 0
        do block = first, last
            x = inflow(:, :, block)
            call prefetch_columns(dq, 8*width, 4*lanes, across(:, :, min(block + 1, last)))
            do f = 1, 4
                call gather_columns(across(:, f, block), dq, values)
                !$omp simd
                do l = 1, lanes
                    do m = 1, unknowns
                        do row = 1, unknowns
                            x(l, row) = x(l, row) - matrix(l, row, m, f, block)*values(l, m)
                        end do
                    end do
                end do
            end do
            call turn_back(x, columns)
            do l = 1, lanes
                !$omp simd
                do m = 1, width
                    changes(m) = changes(m) + (columns(m, l) - dq(m, l, block))**2
                    dq(m, l, block) = columns(m, l)
                end do
            end do
        end do
        change = sum(changes)
    end subroutine relax

    !> Solves the equations of a factorized matrix. Written out, so that values stay in registers.
    pure subroutine substitute(a, x)
        real(dp), intent(in) :: a(lanes, unknowns, unknowns)
        real(dp), intent(inout) :: x(lanes, unknowns)
        real(dp) :: x1, x2, x3, x4, x5
        integer :: l
        !$omp simd
        do l = 1, lanes
            x1 = x(l, 1)
            x2 = x(l, 2) - a(l, 2, 1)*x1
            x3 = x(l, 3) - a(l, 3, 1)*x1 - a(l, 3, 2)*x2
            x4 = x(l, 4) - a(l, 4, 1)*x1 - a(l, 4, 2)*x2 - a(l, 4, 3)*x3
            x5 = x(l, 5) - a(l, 5, 1)*x1 - a(l, 5, 2)*x2 - a(l, 5, 3)*x3 - a(l, 5, 4)*x4
            x5 = x5*a(l, 5, 5)
            x4 = (x4 - a(l, 4, 5)*x5)*a(l, 4, 4)
            x3 = (x3 - a(l, 3, 5)*x5 - a(l, 3, 4)*x4)*a(l, 3, 3)
            x2 = (x2 - a(l, 2, 5)*x5 - a(l, 2, 4)*x4 - a(l, 2, 3)*x3)*a(l, 2, 2)
            x1 = (x1 - a(l, 1, 5)*x5 - a(l, 1, 4)*x4 - a(l, 1, 3)*x3 - a(l, 1, 2)*x2)*a(l, 1, 1)
            x(l, 1) = x1
            x(l, 2) = x2
            x(l, 3) = x3
            x(l, 4) = x4
            x(l, 5) = x5
        end do
    end subroutine substitute

    !> Adds the change of the conserved quantities to the flow.
    pure subroutine advance(own, dq, w)
        integer, intent(in) :: own
        real(dp), intent(in) :: dq(width, own)
        real(dp), intent(inout) :: w(width, own)
        real(dp) :: density, over, u, v, z, energy
        integer :: slot
        do slot = 1, own
            density = w(1, slot) + dq(1, slot)
            energy = w(5, slot)*(1/(gamma - 1)) + dq(5, slot) &
                     + 0.5_dp*w(1, slot)*(w(2, slot)**2 + w(3, slot)**2 + w(4, slot)**2)
            over = 1/density
            u = (w(1, slot)*w(2, slot) + dq(2, slot))*over
            v = (w(1, slot)*w(3, slot) + dq(3, slot))*over
            z = (w(1, slot)*w(4, slot) + dq(4, slot))*over
            w(1, slot) = density
            w(2, slot) = u
            w(3, slot) = v
            w(4, slot) = z
            w(5, slot) = (gamma - 1)*(energy - 0.5_dp*density*(u**2 + v**2 + z**2))
        end do
    end subroutine advance

end module unstructured_implicit
