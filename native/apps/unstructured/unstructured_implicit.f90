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
!> with a, b and s0 of unstructured_residual. The matrix is stored as matrix(lane, row, column, face,
!> block), the fifth face being the cell itself, factorized in place once a step: 1000 bytes for a
!> cell, which each sweep reads.
!>
!> Nothing here is collective.
module unstructured_implicit

    use bl_kinds, only: dp
    use unstructured_exchange, only: unknowns, width
    use unstructured_numbering, only: lanes
    use unstructured_problem, only: gamma
    use unstructured_residual, only: smoothing

    implicit none(type, external)
    private

    public :: assemble, relax, advance

    !> What an empty slot, without area, has for its fastest wave.
    real(dp), parameter :: empty = 1.0e-30_dp

contains

    !> The matrix for a Courant number, its diagonal blocks factorized.
    pure subroutine assemble(blocks, across, area, w, courant, matrix)
        integer, intent(in) :: blocks, across(lanes, 4, blocks)
        real(dp), intent(in) :: area(lanes, 3, 4, blocks), w(width, *), courant
        real(dp), intent(inout) :: matrix(lanes, unknowns, unknowns, 5, blocks)
        real(dp) :: mean(lanes, unknowns), own(lanes, unknowns, unknowns), speed(lanes)
        integer :: block, f, m, l

        do block = 1, blocks
            own = 0
            speed = 0
            do f = 1, 4
                do m = 1, unknowns
                    !$omp simd
                    do l = 1, lanes
                        mean(l, m) = 0.5_dp*(w(m, lanes*(block - 1) + l) &
                                             + w(m, across(l, f, block)))
                    end do
                end do
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
            matrix(:, :, :, 5, block) = own
        end do
    end subroutine assemble

    !> A- of a face; A+ is added to `own`, the fastest wave times the area to `speed`.
    pure subroutine split_jacobian(mean, area, minus, own, speed)
        real(dp), intent(in) :: mean(lanes, unknowns), area(lanes, 3)
        real(dp), intent(out) :: minus(lanes, unknowns, unknowns)
        real(dp), intent(inout) :: own(lanes, unknowns, unknowns), speed(lanes)
        real(dp), dimension(lanes, unknowns) :: q, n, q_row, n_row, q_all, n_all
        real(dp), dimension(lanes) :: un, s0
        real(dp) :: size, half, c, a, b, square, dpressure, dun
        integer :: l, row, column

        !$omp simd
        do l = 1, lanes
            size = sqrt(area(l, 1)**2 + area(l, 2)**2 + area(l, 3)**2)
            half = 0.5_dp*size
            n(l, 1) = 0
            n(l, 2) = area(l, 1)/max(size, tiny(size))
            n(l, 3) = area(l, 2)/max(size, tiny(size))
            n(l, 4) = area(l, 3)/max(size, tiny(size))
            un(l) = mean(l, 2)*n(l, 2) + mean(l, 3)*n(l, 3) + mean(l, 4)*n(l, 4)
            n(l, 5) = un(l)
            square = 0.5_dp*(mean(l, 2)**2 + mean(l, 3)**2 + mean(l, 4)**2)
            c = sqrt(gamma*mean(l, 5)/mean(l, 1))
            q(l, 1) = 1
            q(l, 2) = mean(l, 2)
            q(l, 3) = mean(l, 3)
            q(l, 4) = mean(l, 4)
            q(l, 5) = c**2/(gamma - 1) + square
            s0(l) = sqrt(un(l)**2 + (smoothing*c)**2)
            a = 0.5_dp*(abs(un(l) + c) + abs(un(l) - c)) - s0(l)
            b = 0.5_dp*(abs(un(l) + c) - abs(un(l) - c))/c
            speed(l) = speed(l) + (abs(un(l)) + c)*size
            ! The rows times (1 - b) and a; q_all and n_all are those of A itself.
            dpressure = (gamma - 1)*square*half
            dun = -un(l)*half
            q_all(l, 1) = 2*dun
            n_all(l, 1) = 2*dpressure
            q_row(l, 1) = (1 - b)*dun - a/c**2*dpressure
            n_row(l, 1) = (1 - b)*dpressure - a*dun
            dpressure = -(gamma - 1)*mean(l, 2)*half
            dun = n(l, 2)*half
            q_all(l, 2) = 2*dun
            n_all(l, 2) = 2*dpressure
            q_row(l, 2) = (1 - b)*dun - a/c**2*dpressure
            n_row(l, 2) = (1 - b)*dpressure - a*dun
            dpressure = -(gamma - 1)*mean(l, 3)*half
            dun = n(l, 3)*half
            q_all(l, 3) = 2*dun
            n_all(l, 3) = 2*dpressure
            q_row(l, 3) = (1 - b)*dun - a/c**2*dpressure
            n_row(l, 3) = (1 - b)*dpressure - a*dun
            dpressure = -(gamma - 1)*mean(l, 4)*half
            dun = n(l, 4)*half
            q_all(l, 4) = 2*dun
            n_all(l, 4) = 2*dpressure
            q_row(l, 4) = (1 - b)*dun - a/c**2*dpressure
            n_row(l, 4) = (1 - b)*dpressure - a*dun
            dpressure = (gamma - 1)*half
            q_all(l, 5) = 0
            n_all(l, 5) = 2*dpressure
            q_row(l, 5) = -a/c**2*dpressure
            n_row(l, 5) = (1 - b)*dpressure
            un(l) = un(l)*size
            s0(l) = half*s0(l)
        end do
        do column = 1, unknowns
            do row = 1, unknowns
                !$omp simd
                do l = 1, lanes
                    minus(l, row, column) = q(l, row)*q_row(l, column) + n(l, row)*n_row(l, column)
                    own(l, row, column) = own(l, row, column) &
                                          + q(l, row)*(q_all(l, column) - q_row(l, column)) &
                                          + n(l, row)*(n_all(l, column) - n_row(l, column))
                end do
            end do
            !$omp simd
            do l = 1, lanes
                minus(l, column, column) = minus(l, column, column) + 0.5_dp*un(l) - s0(l)
                own(l, column, column) = own(l, column, column) + 0.5_dp*un(l) + s0(l)
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
        real(dp), intent(in) :: matrix(lanes, unknowns, unknowns, 5, *)
        real(dp), intent(in) :: inflow(lanes, unknowns, *)
        real(dp), intent(inout) :: dq(width, *)
        real(dp), intent(out) :: change
        real(dp) :: x(lanes, unknowns), value(lanes), changes(lanes)
        integer :: block, f, m, l, row

        changes = 0
        do block = first, last
            x = inflow(:, :, block)
            do f = 1, 4
                do m = 1, unknowns
                    !$omp simd
                    do l = 1, lanes
                        value(l) = dq(m, across(l, f, block))
                    end do
                    do row = 1, unknowns
                        !$omp simd
                        do l = 1, lanes
                            x(l, row) = x(l, row) - matrix(l, row, m, f, block)*value(l)
                        end do
                    end do
                end do
            end do
            call substitute(matrix(:, :, :, 5, block), x)
            do m = 1, unknowns
                !$omp simd
                do l = 1, lanes
                    changes(l) = changes(l) + (x(l, m) - dq(m, lanes*(block - 1) + l))**2
                    dq(m, lanes*(block - 1) + l) = x(l, m)
                end do
            end do
        end do
        change = sum(changes)
    end subroutine relax

    pure subroutine substitute(a, x)
        real(dp), intent(in) :: a(lanes, unknowns, unknowns)
        real(dp), intent(inout) :: x(lanes, unknowns)
        integer :: i, j, l
        do j = 1, unknowns - 1
            do i = j + 1, unknowns
                !$omp simd
                do l = 1, lanes
                    x(l, i) = x(l, i) - a(l, i, j)*x(l, j)
                end do
            end do
        end do
        do j = unknowns, 1, -1
            !$omp simd
            do l = 1, lanes
                x(l, j) = x(l, j)*a(l, j, j)
            end do
            do i = 1, j - 1
                !$omp simd
                do l = 1, lanes
                    x(l, i) = x(l, i) - a(l, i, j)*x(l, j)
                end do
            end do
        end do
    end subroutine substitute

    !> Adds the change of the conserved quantities to the flow.
    pure subroutine advance(own, dq, w)
        integer, intent(in) :: own
        real(dp), intent(in) :: dq(width, own)
        real(dp), intent(inout) :: w(width, own)
        real(dp) :: density, u, v, z, energy
        integer :: slot
        do slot = 1, own
            density = w(1, slot) + dq(1, slot)
            energy = w(5, slot)/(gamma - 1) + dq(5, slot) &
                     + 0.5_dp*w(1, slot)*(w(2, slot)**2 + w(3, slot)**2 + w(4, slot)**2)
            u = (w(1, slot)*w(2, slot) + dq(2, slot))/density
            v = (w(1, slot)*w(3, slot) + dq(3, slot))/density
            z = (w(1, slot)*w(4, slot) + dq(4, slot))/density
            w(1, slot) = density
            w(2, slot) = u
            w(3, slot) = v
            w(4, slot) = z
            w(5, slot) = (gamma - 1)*(energy - 0.5_dp*density*(u**2 + v**2 + z**2))
        end do
    end subroutine advance

end module unstructured_implicit
