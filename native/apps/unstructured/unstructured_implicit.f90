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
!> cell, which each sweep reads from memory and asks for a block ahead.
!>
!> Nothing here is collective.
module unstructured_implicit

    use bl_kinds, only: dp, i8
    use bl_memory, only: prefetch, prefetch_columns
    use unstructured_exchange, only: unknowns, width
    use unstructured_lanes, only: gather_columns
    use unstructured_numbering, only: lanes
    use unstructured_problem, only: gamma
    use unstructured_residual, only: smoothing

    implicit none(type, external)
    private

    public :: assemble, relax, advance

    !> What an empty slot, without area, has for its fastest wave.
    real(dp), parameter :: empty = 1.0e-30_dp
    !> Of a block's matrix of one face.
    integer(i8), parameter :: face_bytes = 8*lanes*unknowns**2

contains

    !> The matrix for a Courant number, its diagonal blocks factorized.
    pure subroutine assemble(blocks, across, area, w, courant, matrix)
        integer, intent(in) :: blocks, across(lanes, 4, blocks)
        real(dp), intent(in) :: area(lanes, 3, 4, blocks), w(width, *), courant
        real(dp), intent(inout) :: matrix(lanes, unknowns, unknowns, 5, blocks)
        real(dp), dimension(lanes, unknowns) :: here, there, mean
        real(dp) :: own(lanes, unknowns, unknowns), speed(lanes)
        integer :: block, f, m, l

        do block = 1, blocks
            own = 0
            speed = 0
            call gather_columns([(lanes*(block - 1) + l, l=1, lanes)], w, here)
            do f = 1, 4
                call gather_columns(across(:, f, block), w, there)
                mean = 0.5_dp*(here + there)
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
        real(dp) :: size, half, over_size, square, c_square, c, over_c, a, b, dpressure, dun
        integer :: l, row, column

        !$omp simd
        do l = 1, lanes
            size = sqrt(area(l, 1)**2 + area(l, 2)**2 + area(l, 3)**2)
            half = 0.5_dp*size
            over_size = 1/max(size, tiny(size))
            n(l, 1) = 0
            n(l, 2) = area(l, 1)*over_size
            n(l, 3) = area(l, 2)*over_size
            n(l, 4) = area(l, 3)*over_size
            un(l) = mean(l, 2)*n(l, 2) + mean(l, 3)*n(l, 3) + mean(l, 4)*n(l, 4)
            n(l, 5) = un(l)
            square = 0.5_dp*(mean(l, 2)**2 + mean(l, 3)**2 + mean(l, 4)**2)
            c_square = gamma*mean(l, 5)/mean(l, 1)
            c = sqrt(c_square)
            over_c = 1/c
            q(l, 1) = 1
            q(l, 2) = mean(l, 2)
            q(l, 3) = mean(l, 3)
            q(l, 4) = mean(l, 4)
            q(l, 5) = c_square*(1/(gamma - 1)) + square
            s0(l) = sqrt(un(l)**2 + smoothing**2*c_square)
            a = 0.5_dp*(abs(un(l) + c) + abs(un(l) - c)) - s0(l)
            b = 1 - 0.5_dp*(abs(un(l) + c) - abs(un(l) - c))*over_c
            speed(l) = speed(l) + (abs(un(l)) + c)*size
            ! The rows times b, here what is left of 1, and a; q_all and n_all are those of A.
            do column = 1, unknowns
                dpressure = (gamma - 1)*half
                dun = half
                select case (column)
                case (1)
                    dpressure = dpressure*square
                    dun = -dun*un(l)
                case (2:4)
                    dpressure = -dpressure*mean(l, column)
                    dun = dun*n(l, column)
                case default
                    dun = 0
                end select
                q_all(l, column) = 2*dun
                n_all(l, column) = 2*dpressure
                q_row(l, column) = b*dun - a*over_c**2*dpressure
                n_row(l, column) = b*dpressure - a*dun
            end do
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
        real(dp) :: x(lanes, unknowns), values(lanes, unknowns, 4), changes(lanes)
        integer :: block, next, f, l, row, slot

        changes = 0
        do block = first, last
            next = min(block + 1, last)
            x = inflow(:, :, block)
            ! All four at once, so that they are on their way together.
            do f = 1, 4
                call gather_columns(across(:, f, block), dq, values(:, :, f))
            end do
            do f = 1, 4
                call prefetch(matrix(1, 1, 1, f, next), face_bytes)
                call prefetch_columns(dq, 8*width, lanes, across(:, f, next))
                do row = 1, unknowns
                    !$omp simd
                    do l = 1, lanes
                        x(l, row) = x(l, row) - matrix(l, row, 1, f, block)*values(l, 1, f) &
                                    - matrix(l, row, 2, f, block)*values(l, 2, f) &
                                    - matrix(l, row, 3, f, block)*values(l, 3, f) &
                                    - matrix(l, row, 4, f, block)*values(l, 4, f) &
                                    - matrix(l, row, 5, f, block)*values(l, 5, f)
                    end do
                end do
            end do
            call prefetch(matrix(1, 1, 1, 5, next), face_bytes)
            call substitute(matrix(:, :, :, 5, block), x)
            ! Columns are read and written whole: see unstructured_lanes.
            !$omp simd private(slot)
            do l = 1, lanes
                slot = lanes*(block - 1) + l
                changes(l) = changes(l) + (x(l, 1) - dq(1, slot))**2 + (x(l, 2) - dq(2, slot))**2 &
                             + (x(l, 3) - dq(3, slot))**2 + (x(l, 4) - dq(4, slot))**2 &
                             + (x(l, 5) - dq(5, slot))**2
                dq(1, slot) = x(l, 1)
                dq(2, slot) = x(l, 2)
                dq(3, slot) = x(l, 3)
                dq(4, slot) = x(l, 4)
                dq(5, slot) = x(l, 5)
                dq(6, slot) = 0
                dq(7, slot) = 0
                dq(8, slot) = 0
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
