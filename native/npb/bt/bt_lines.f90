!> The line systems of BT: block tridiagonal with 5 by 5 blocks, along each axis
!> (I + dt L) x = r with block row i
!>
!>     lower: -dt t2 A(i-1) - dt t1 (N(i-1) + d I)
!>     diagonal: I + 2 dt t1 (N(i) + d I)
!>     upper: dt t2 A(i+1) - dt t1 (N(i+1) + d I)
!>
!> A the Jacobian of the convective flux, N that of the viscous one, t1 = 1/h**2, t2 = 1/(2h), d the
!> diffusion of the axis. Solved by block Thomas elimination; each diagonal block is factored
!> without pivoting.
!>
!> The unknowns are in the order density, momentum along the axis, the other two, energy. So A and N
!> have the same form along all axes, and only the 18 entries of the off-diagonal blocks that can
!> be other than zero take part in products. The blocks of a point are formed when elimination
!> reaches it and live until it is two rows further: matrices never leave the first-level cache,
!> except for the eliminated upper blocks.
!>
!> Every statement in the loops works on `lanes` lines at once. Timed: all. Nothing is collective.
module bt_lines

    use adi_flow, only: c1, c2, diffusion, kappa, kappa_e
    use adi_grid, only: lanes
    use adi_sweep, only: lines_t
    use bl_kinds, only: dp

    implicit none(type, external)
    private

    public :: bt_lines_t

    type, extends(lines_t) :: bt_lines_t
        integer :: n = 0
        real(dp) :: dt = 0
    contains
        procedure :: order => bt_order
        procedure :: eliminate => bt_eliminate
        procedure :: substitute => bt_substitute
        procedure :: finish => bt_finish
    end type bt_lines_t

    interface bt_lines_t
        module procedure new_bt_lines
    end interface bt_lines_t

contains

    function new_bt_lines(n, dt) result(self)
        integer, intent(in) :: n
        real(dp), intent(in) :: dt
        type(bt_lines_t) :: self
        self%n = n
        self%dt = dt
        self%depth = 1
        self%kept = 30
    end function new_bt_lines

    pure function bt_order(self, axis) result(order)
        class(bt_lines_t), intent(in) :: self
        integer, intent(in) :: axis
        integer :: order(5)
        integer, parameter :: orders(5, 3) = reshape([ &
                              1, 2, 3, 4, 5, 1, 3, 4, 2, 5, 1, 4, 2, 3, 5], [5, 3])
        order = orders(:, axis)
    end function bt_order

    subroutine bt_eliminate(self, axis, first, lo, hi, u, r, kept)
        class(bt_lines_t), intent(inout) :: self
        integer, intent(in) :: axis, first, lo, hi
        real(dp), intent(in) :: u(lanes, 5, lo - 1:hi + 1)
        real(dp), intent(inout) :: r(lanes, 5, lo:hi)
        real(dp), intent(inout) :: kept(lanes, *)
        real(dp) :: t1, t2
        t1 = self%dt*real(self%n - 1, dp)**2
        t2 = self%dt*0.5_dp*(self%n - 1)
        call eliminate(lo, hi, t1, t2, diffusion(axis), u, r, kept)
    end subroutine bt_eliminate

    !> kept holds in row i the eliminated upper block (columns 1 ... 5) and right-hand side (6).
    pure subroutine eliminate(lo, hi, t1, t2, d, u, r, kept)
        integer, intent(in) :: lo, hi
        real(dp), intent(in) :: t1, t2, d
        real(dp), intent(in) :: u(lanes, 5, lo - 1:hi + 1), r(lanes, 5, lo:hi)
        real(dp), intent(inout) :: kept(lanes, 5, 6, lo - 1:hi)
        real(dp) :: lower(lanes, 5, 5, 0:2), diagonal(lanes, 5, 5, 0:2), upper(lanes, 5, 5)
        real(dp) :: factors(lanes, 5, 5)
        integer :: i, c

        diagonal = 0
        upper = 0
        call form_blocks(t1, t2, d, u(:, :, lo - 1), lower(:, :, :, modulo(lo - 1, 3)), &
                         diagonal(:, :, :, modulo(lo - 1, 3)), upper)
        call form_blocks(t1, t2, d, u(:, :, lo), lower(:, :, :, modulo(lo, 3)), &
                         diagonal(:, :, :, modulo(lo, 3)), upper)
        do i = lo, hi
            call form_blocks(t1, t2, d, u(:, :, i + 1), lower(:, :, :, modulo(i + 1, 3)), &
                             diagonal(:, :, :, modulo(i + 1, 3)), upper)
            associate (l => lower(:, :, :, modulo(i - 1, 3)))
                do c = 1, 5
                    call subtract_product(l, kept(:, :, c, i - 1), &
                                          diagonal(:, :, c, modulo(i, 3)), factors(:, :, c))
                end do
                call subtract_product(l, kept(:, :, 6, i - 1), r(:, :, i), kept(:, :, 6, i))
            end associate
            call factor(factors)
            do c = 1, 5
                call solve(factors, upper(:, :, c), kept(:, :, c, i))
            end do
            call solve(factors, kept(:, :, 6, i), kept(:, :, 6, i))
        end do
    end subroutine eliminate

    !> What a point contributes to the block rows after, at and before it. Entries that are always
    !> zero are not touched.
    pure subroutine form_blocks(t1, t2, d, u, lower, diagonal, upper)
        real(dp), intent(in) :: t1, t2, d, u(lanes, 5)
        real(dp), intent(inout) :: lower(lanes, 5, 5), diagonal(lanes, 5, 5), upper(lanes, 5, 5)
        real(dp), parameter :: kappa_n = 4*kappa/3
        real(dp) :: inverse, wn, ws, wt, q, e, a, v, tv
        integer :: l

        !$omp simd private(inverse, wn, ws, wt, q, e, a, v, tv)
        do l = 1, lanes
            inverse = 1/u(l, 1)
            wn = u(l, 2)*inverse
            ws = u(l, 3)*inverse
            wt = u(l, 4)*inverse
            e = u(l, 5)*inverse
            q = 0.5_dp*(wn*wn + ws*ws + wt*wt)
            tv = t1*inverse

            lower(l, 1, 1) = -t1*d
            diagonal(l, 1, 1) = 1 + 2*t1*d
            upper(l, 1, 1) = -t1*d
            lower(l, 1, 2) = -t2
            upper(l, 1, 2) = t2

            a = t2*(c2*q - wn*wn)
            v = -kappa_n*wn*tv
            lower(l, 2, 1) = -a - v
            diagonal(l, 2, 1) = 2*v
            upper(l, 2, 1) = a - v
            a = t2*(2 - c2)*wn
            v = kappa_n*tv + t1*d
            lower(l, 2, 2) = -a - v
            diagonal(l, 2, 2) = 1 + 2*v
            upper(l, 2, 2) = a - v
            a = t2*c2*ws
            lower(l, 2, 3) = a
            upper(l, 2, 3) = -a
            a = t2*c2*wt
            lower(l, 2, 4) = a
            upper(l, 2, 4) = -a
            lower(l, 2, 5) = -t2*c2
            upper(l, 2, 5) = t2*c2

            a = -t2*ws*wn
            v = -kappa*ws*tv
            lower(l, 3, 1) = -a - v
            diagonal(l, 3, 1) = 2*v
            upper(l, 3, 1) = a - v
            lower(l, 3, 2) = -t2*ws
            upper(l, 3, 2) = t2*ws
            a = t2*wn
            v = kappa*tv + t1*d
            lower(l, 3, 3) = -a - v
            diagonal(l, 3, 3) = 1 + 2*v
            upper(l, 3, 3) = a - v
            lower(l, 4, 4) = -a - v
            diagonal(l, 4, 4) = 1 + 2*v
            upper(l, 4, 4) = a - v
            a = -t2*wt*wn
            v = -kappa*wt*tv
            lower(l, 4, 1) = -a - v
            diagonal(l, 4, 1) = 2*v
            upper(l, 4, 1) = a - v
            lower(l, 4, 2) = -t2*wt
            upper(l, 4, 2) = t2*wt

            a = t2*(2*c2*q - c1*e)*wn
            v = -((kappa_n - kappa_e)*wn*wn + (kappa - kappa_e)*(ws*ws + wt*wt) + kappa_e*e)*tv
            lower(l, 5, 1) = -a - v
            diagonal(l, 5, 1) = 2*v
            upper(l, 5, 1) = a - v
            a = t2*(c1*e - c2*(q + wn*wn))
            v = (kappa_n - kappa_e)*wn*tv
            lower(l, 5, 2) = -a - v
            diagonal(l, 5, 2) = 2*v
            upper(l, 5, 2) = a - v
            a = -t2*c2*ws*wn
            v = (kappa - kappa_e)*ws*tv
            lower(l, 5, 3) = -a - v
            diagonal(l, 5, 3) = 2*v
            upper(l, 5, 3) = a - v
            a = -t2*c2*wt*wn
            v = (kappa - kappa_e)*wt*tv
            lower(l, 5, 4) = -a - v
            diagonal(l, 5, 4) = 2*v
            upper(l, 5, 4) = a - v
            a = t2*c1*wn
            v = kappa_e*tv + t1*d
            lower(l, 5, 5) = -a - v
            diagonal(l, 5, 5) = 1 + 2*v
            upper(l, 5, 5) = a - v
        end do
    end subroutine form_blocks

    !> result = b - a x, with an off-diagonal block a.
    pure subroutine subtract_product(a, x, b, result)
        real(dp), intent(in) :: a(lanes, 5, 5), x(lanes, 5), b(lanes, 5)
        real(dp), intent(out) :: result(lanes, 5)
        real(dp) :: x1, x2, x3, x4, x5
        integer :: l
        !$omp simd private(x1, x2, x3, x4, x5)
        do l = 1, lanes
            x1 = x(l, 1)
            x2 = x(l, 2)
            x3 = x(l, 3)
            x4 = x(l, 4)
            x5 = x(l, 5)
            result(l, 1) = b(l, 1) - a(l, 1, 1)*x1 - a(l, 1, 2)*x2
            result(l, 2) = b(l, 2) - a(l, 2, 1)*x1 - a(l, 2, 2)*x2 - a(l, 2, 3)*x3 &
                           - a(l, 2, 4)*x4 - a(l, 2, 5)*x5
            result(l, 3) = b(l, 3) - a(l, 3, 1)*x1 - a(l, 3, 2)*x2 - a(l, 3, 3)*x3
            result(l, 4) = b(l, 4) - a(l, 4, 1)*x1 - a(l, 4, 2)*x2 - a(l, 4, 4)*x4
            result(l, 5) = b(l, 5) - a(l, 5, 1)*x1 - a(l, 5, 2)*x2 - a(l, 5, 3)*x3 &
                           - a(l, 5, 4)*x4 - a(l, 5, 5)*x5
        end do
    end subroutine subtract_product

    !> Factors blocks in place: below the diagonal the multipliers, on it the inverse pivots, above
    !> it the rows that elimination leaves.
    pure subroutine factor(m)
        real(dp), intent(inout) :: m(lanes, 5, 5)
        integer :: l
        !$omp simd
        do l = 1, lanes
            m(l, 1, 1) = 1/m(l, 1, 1)
            m(l, 2, 1) = m(l, 2, 1)*m(l, 1, 1)
            m(l, 3, 1) = m(l, 3, 1)*m(l, 1, 1)
            m(l, 4, 1) = m(l, 4, 1)*m(l, 1, 1)
            m(l, 5, 1) = m(l, 5, 1)*m(l, 1, 1)
            m(l, 2, 2) = 1/(m(l, 2, 2) - m(l, 2, 1)*m(l, 1, 2))
            m(l, 2, 3) = m(l, 2, 3) - m(l, 2, 1)*m(l, 1, 3)
            m(l, 2, 4) = m(l, 2, 4) - m(l, 2, 1)*m(l, 1, 4)
            m(l, 2, 5) = m(l, 2, 5) - m(l, 2, 1)*m(l, 1, 5)
            m(l, 3, 2) = (m(l, 3, 2) - m(l, 3, 1)*m(l, 1, 2))*m(l, 2, 2)
            m(l, 4, 2) = (m(l, 4, 2) - m(l, 4, 1)*m(l, 1, 2))*m(l, 2, 2)
            m(l, 5, 2) = (m(l, 5, 2) - m(l, 5, 1)*m(l, 1, 2))*m(l, 2, 2)
            m(l, 3, 3) = 1/(m(l, 3, 3) - m(l, 3, 1)*m(l, 1, 3) - m(l, 3, 2)*m(l, 2, 3))
            m(l, 3, 4) = m(l, 3, 4) - m(l, 3, 1)*m(l, 1, 4) - m(l, 3, 2)*m(l, 2, 4)
            m(l, 3, 5) = m(l, 3, 5) - m(l, 3, 1)*m(l, 1, 5) - m(l, 3, 2)*m(l, 2, 5)
            m(l, 4, 3) = (m(l, 4, 3) - m(l, 4, 1)*m(l, 1, 3) - m(l, 4, 2)*m(l, 2, 3))*m(l, 3, 3)
            m(l, 5, 3) = (m(l, 5, 3) - m(l, 5, 1)*m(l, 1, 3) - m(l, 5, 2)*m(l, 2, 3))*m(l, 3, 3)
            m(l, 4, 4) = 1/(m(l, 4, 4) - m(l, 4, 1)*m(l, 1, 4) - m(l, 4, 2)*m(l, 2, 4) &
                            - m(l, 4, 3)*m(l, 3, 4))
            m(l, 4, 5) = m(l, 4, 5) - m(l, 4, 1)*m(l, 1, 5) - m(l, 4, 2)*m(l, 2, 5) &
                         - m(l, 4, 3)*m(l, 3, 5)
            m(l, 5, 4) = (m(l, 5, 4) - m(l, 5, 1)*m(l, 1, 4) - m(l, 5, 2)*m(l, 2, 4) &
                          - m(l, 5, 3)*m(l, 3, 4))*m(l, 4, 4)
            m(l, 5, 5) = 1/(m(l, 5, 5) - m(l, 5, 1)*m(l, 1, 5) - m(l, 5, 2)*m(l, 2, 5) &
                            - m(l, 5, 3)*m(l, 3, 5) - m(l, 5, 4)*m(l, 4, 5))
        end do
    end subroutine factor

    !> Solves with what `factor` left.
    pure subroutine solve(m, b, x)
        real(dp), intent(in) :: m(lanes, 5, 5), b(lanes, 5)
        real(dp), intent(inout) :: x(lanes, 5)
        real(dp) :: x1, x2, x3, x4, x5
        integer :: l
        !$omp simd private(x1, x2, x3, x4, x5)
        do l = 1, lanes
            x1 = b(l, 1)
            x2 = b(l, 2) - m(l, 2, 1)*x1
            x3 = b(l, 3) - m(l, 3, 1)*x1 - m(l, 3, 2)*x2
            x4 = b(l, 4) - m(l, 4, 1)*x1 - m(l, 4, 2)*x2 - m(l, 4, 3)*x3
            x5 = b(l, 5) - m(l, 5, 1)*x1 - m(l, 5, 2)*x2 - m(l, 5, 3)*x3 - m(l, 5, 4)*x4
            x5 = x5*m(l, 5, 5)
            x4 = (x4 - m(l, 4, 5)*x5)*m(l, 4, 4)
            x3 = (x3 - m(l, 3, 5)*x5 - m(l, 3, 4)*x4)*m(l, 3, 3)
            x2 = (x2 - m(l, 2, 5)*x5 - m(l, 2, 4)*x4 - m(l, 2, 3)*x3)*m(l, 2, 2)
            x1 = (x1 - m(l, 1, 5)*x5 - m(l, 1, 4)*x4 - m(l, 1, 3)*x3 - m(l, 1, 2)*x2)*m(l, 1, 1)
            x(l, 1) = x1
            x(l, 2) = x2
            x(l, 3) = x3
            x(l, 4) = x4
            x(l, 5) = x5
        end do
    end subroutine solve

    subroutine bt_substitute(self, lo, hi, kept, x)
        class(bt_lines_t), intent(in) :: self
        integer, intent(in) :: lo, hi
        real(dp), intent(in) :: kept(lanes, *)
        real(dp), intent(inout) :: x(lanes, 5, *)
        call substitute(lo, hi, kept, x)
    end subroutine bt_substitute

    pure subroutine substitute(lo, hi, kept, x)
        integer, intent(in) :: lo, hi
        real(dp), intent(in) :: kept(lanes, 5, 6, lo - 1:hi)
        real(dp), intent(inout) :: x(lanes, 5, lo:hi + 1)
        integer :: i, m, l
        do i = hi, lo, -1
            do m = 1, 5
                !$omp simd
                do l = 1, lanes
                    x(l, m, i) = kept(l, m, 6, i) &
                                 - kept(l, m, 1, i)*x(l, 1, i + 1) &
                                 - kept(l, m, 2, i)*x(l, 2, i + 1) &
                                 - kept(l, m, 3, i)*x(l, 3, i + 1) &
                                 - kept(l, m, 4, i)*x(l, 4, i + 1) &
                                 - kept(l, m, 5, i)*x(l, 5, i + 1)
                end do
            end do
        end do
    end subroutine substitute

    !> The solution of one axis is the right-hand side of the next as it is.
    subroutine bt_finish(self, axis, lo, hi, u, x)
        class(bt_lines_t), intent(in) :: self
        integer, intent(in) :: axis, lo, hi
        real(dp), intent(in) :: u(lanes, 5, lo - 1:hi + 1)
        real(dp), intent(inout) :: x(lanes, 5, *)
    end subroutine bt_finish

end module bt_lines
