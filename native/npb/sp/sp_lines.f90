!> The line systems of SP: for each component one scalar pentadiagonal system along each axis, with
!> row i
!>
!>     [0, -dt t2 w(i-1) - dt t1 s(i-1), 1 + 2 dt t1 s(i), dt t2 w(i+1) - dt t1 s(i+1), 0]
!>     + dt dissipation D4
!>
!> w the characteristic speed: the velocity along the axis for components 1 to 3, which share the
!> matrix, that plus and minus the speed of sound for 4 and 5; s the largest diffusion at the
!> point; D4 the rows of adi_residual. Eliminated without pivoting, two rows ahead.
!>
!> Between the axes the right-hand side changes from one set of characteristic variables to the
!> next: before x, after x, after y, and back after z. Those pointwise transforms are done on the
!> tile, where it is in the first-level cache.
!>
!> Every statement in the loops works on `lanes` lines at once. Timed: all. Nothing is collective.
module sp_lines

    use adi_flow, only: c1, c2, diffusion, dissipation, kappa, kappa_e
    use adi_grid, only: lanes
    use adi_residual, only: fourth_difference
    use adi_sweep, only: lines_t
    use bl_memory, only: aligned
    use bl_kinds, only: dp, i8

    implicit none(type, external)
    private

    public :: sp_lines_t

    real(dp), parameter :: beta = sqrt(0.5_dp)

    type, extends(lines_t) :: sp_lines_t
        integer :: n = 0
        real(dp) :: dt = 0
        !> dt dissipation D4, for each row of a line.
        real(dp), allocatable :: weights(:, :)
        !> Work space of `eliminate`.
        real(dp), pointer, contiguous :: work(:) => null()
    contains
        procedure :: order => sp_order
        procedure :: eliminate => sp_eliminate
        procedure :: substitute => sp_substitute
        procedure :: finish => sp_finish
    end type sp_lines_t

    interface sp_lines_t
        module procedure new_sp_lines
    end interface sp_lines_t

contains

    function new_sp_lines(n, dt) result(self)
        integer, intent(in) :: n
        real(dp), intent(in) :: dt
        type(sp_lines_t) :: self
        integer :: i
        self%n = n
        self%dt = dt
        self%depth = 2
        self%kept = 11
        self%finish_reads_u(3) = .true.
        allocate (self%weights(-2:2, 0:n - 1))
        do i = 0, n - 1
            self%weights(:, i) = dt*dissipation*fourth_difference(i, n)
        end do
        self%work => aligned(3_i8*lanes*(n + 2))
    end function new_sp_lines

    !> Characteristic variables have no direction.
    pure function sp_order(self, axis) result(order)
        class(sp_lines_t), intent(in) :: self
        integer, intent(in) :: axis
        integer :: order(5)
        order = [1, 2, 3, 4, 5]
    end function sp_order

    subroutine sp_eliminate(self, axis, first, lo, hi, u, r, kept)
        class(sp_lines_t), intent(inout) :: self
        integer, intent(in) :: axis, first, lo, hi
        real(dp), intent(in) :: u(lanes, 5, lo - 1:hi + 1)
        real(dp), intent(inout) :: r(lanes, 5, lo:hi)
        real(dp), intent(inout) :: kept(lanes, *)
        real(dp) :: t1, t2
        t1 = self%dt*real(self%n - 1, dp)**2
        t2 = self%dt*0.5_dp*(self%n - 1)
        if (axis == 1) call enter_x(lo, hi, u, r)
        call eliminate(lo, hi, t1, t2, diffusion(axis), self%weights(:, first + lo:first + hi), &
                       u, r, kept, self%work)
    end subroutine sp_eliminate

    !> kept holds in row i, for each matrix, what multiplies the next and the next but one unknown,
    !> and the right-hand sides: matrix of components 1 to 3, right-hand sides 1, 2, 3; matrix,
    !> right-hand side 4; matrix, right-hand side 5.
    pure subroutine eliminate(lo, hi, t1, t2, d, weights, u, r, kept, work)
        integer, intent(in) :: lo, hi
        real(dp), intent(in) :: t1, t2, d, weights(-2:2, lo:hi)
        real(dp), intent(in) :: u(lanes, 5, lo - 1:hi + 1), r(lanes, 5, lo:hi)
        real(dp), intent(inout) :: kept(lanes, 11, lo - 2:hi)
        !> t2 times velocity and speed of sound, t1 times diffusion.
        real(dp), intent(out) :: work(lanes, 3, lo - 1:hi + 1)
        real(dp) :: inverse, square, below, here, above, lower, pivot, wb, wa, sb, sa
        real(dp) :: w(-2:2)
        integer :: i, l

        do i = lo - 1, hi + 1
            !$omp simd private(inverse, square)
            do l = 1, lanes
                inverse = 1/u(l, 1, i)
                square = u(l, 2, i)*u(l, 2, i) + u(l, 3, i)*u(l, 3, i) + u(l, 4, i)*u(l, 4, i)
                work(l, 1, i) = t2*u(l, 2, i)*inverse
                work(l, 2, i) = t2*sqrt(c1*c2*inverse*(u(l, 5, i) - 0.5_dp*square*inverse))
                work(l, 3, i) = t1*(d + max(4*kappa/3, kappa_e)*inverse)
            end do
        end do
        do i = lo, hi
            associate (p => kept(:, :, i - 2), k => kept(:, :, i - 1))
                w = weights(:, i)
                !$omp simd private(below, here, above, lower, pivot, wb, wa, sb, sa)
                do l = 1, lanes
                    below = w(-1) - work(l, 3, i - 1)
                    here = w(0) + 1 + 2*work(l, 3, i)
                    above = w(1) - work(l, 3, i + 1)
                    wb = work(l, 1, i - 1)
                    wa = work(l, 1, i + 1)
                    sb = work(l, 2, i - 1)
                    sa = work(l, 2, i + 1)

                    lower = below - wb - w(-2)*p(l, 1)
                    pivot = 1/(here - w(-2)*p(l, 2) - lower*k(l, 1))
                    kept(l, 1, i) = (above + wa - lower*k(l, 2))*pivot
                    kept(l, 2, i) = w(2)*pivot
                    kept(l, 3, i) = (r(l, 1, i) - w(-2)*p(l, 3) - lower*k(l, 3))*pivot
                    kept(l, 4, i) = (r(l, 2, i) - w(-2)*p(l, 4) - lower*k(l, 4))*pivot
                    kept(l, 5, i) = (r(l, 3, i) - w(-2)*p(l, 5) - lower*k(l, 5))*pivot

                    lower = below - (wb + sb) - w(-2)*p(l, 6)
                    pivot = 1/(here - w(-2)*p(l, 7) - lower*k(l, 6))
                    kept(l, 6, i) = (above + (wa + sa) - lower*k(l, 7))*pivot
                    kept(l, 7, i) = w(2)*pivot
                    kept(l, 8, i) = (r(l, 4, i) - w(-2)*p(l, 8) - lower*k(l, 8))*pivot

                    lower = below - (wb - sb) - w(-2)*p(l, 9)
                    pivot = 1/(here - w(-2)*p(l, 10) - lower*k(l, 9))
                    kept(l, 9, i) = (above + (wa - sa) - lower*k(l, 10))*pivot
                    kept(l, 10, i) = w(2)*pivot
                    kept(l, 11, i) = (r(l, 5, i) - w(-2)*p(l, 11) - lower*k(l, 11))*pivot
                end do
            end associate
        end do
    end subroutine eliminate

    subroutine sp_substitute(self, lo, hi, kept, x)
        class(sp_lines_t), intent(in) :: self
        integer, intent(in) :: lo, hi
        real(dp), intent(in) :: kept(lanes, *)
        real(dp), intent(inout) :: x(lanes, 5, *)
        call substitute(lo, hi, kept, x)
    end subroutine sp_substitute

    pure subroutine substitute(lo, hi, kept, x)
        integer, intent(in) :: lo, hi
        real(dp), intent(in) :: kept(lanes, 11, lo - 2:hi)
        real(dp), intent(inout) :: x(lanes, 5, lo:hi + 2)
        integer :: i, l
        do i = hi, lo, -1
            !$omp simd
            do l = 1, lanes
                x(l, 1, i) = kept(l, 3, i) - kept(l, 1, i)*x(l, 1, i + 1) &
                             - kept(l, 2, i)*x(l, 1, i + 2)
                x(l, 2, i) = kept(l, 4, i) - kept(l, 1, i)*x(l, 2, i + 1) &
                             - kept(l, 2, i)*x(l, 2, i + 2)
                x(l, 3, i) = kept(l, 5, i) - kept(l, 1, i)*x(l, 3, i + 1) &
                             - kept(l, 2, i)*x(l, 3, i + 2)
                x(l, 4, i) = kept(l, 8, i) - kept(l, 6, i)*x(l, 4, i + 1) &
                             - kept(l, 7, i)*x(l, 4, i + 2)
                x(l, 5, i) = kept(l, 11, i) - kept(l, 9, i)*x(l, 5, i + 1) &
                             - kept(l, 10, i)*x(l, 5, i + 2)
            end do
        end do
    end subroutine substitute

    subroutine sp_finish(self, axis, lo, hi, u, x)
        class(sp_lines_t), intent(in) :: self
        integer, intent(in) :: axis, lo, hi
        real(dp), intent(in) :: u(lanes, 5, lo - 1:hi + 1)
        real(dp), intent(inout) :: x(lanes, 5, *)
        select case (axis)
        case (1)
            call from_x_to_y(hi - lo + 1, x)
        case (2)
            call from_y_to_z(hi - lo + 1, x)
        case default
            call leave_z(lo, hi, u, x)
        end select
    end subroutine sp_finish

    !> To the characteristic variables of x. u is in natural order.
    pure subroutine enter_x(lo, hi, u, r)
        integer, intent(in) :: lo, hi
        real(dp), intent(in) :: u(lanes, 5, lo - 1:hi + 1)
        real(dp), intent(inout) :: r(lanes, 5, lo:hi)
        real(dp) :: inverse, wx, wy, wz, q, square, s, p, g, r1, r2, r3, r4, r5
        integer :: i, l
        do i = lo, hi
            !$omp simd private(inverse, wx, wy, wz, q, square, s, p, g, r1, r2, r3, r4, r5)
            do l = 1, lanes
                inverse = 1/u(l, 1, i)
                wx = u(l, 2, i)*inverse
                wy = u(l, 3, i)*inverse
                wz = u(l, 4, i)*inverse
                q = 0.5_dp*(wx*wx + wy*wy + wz*wz)
                square = c1*c2*(u(l, 5, i)*inverse - q)
                r1 = r(l, 1, i)
                r2 = r(l, 2, i)
                r3 = r(l, 3, i)
                r4 = r(l, 4, i)
                r5 = r(l, 5, i)
                s = c2*(q*r1 - wx*r2 - wy*r3 - wz*r4 + r5)/square
                p = beta*inverse*(wx*r1 - r2)
                g = beta*inverse*sqrt(square)*s
                r(l, 1, i) = r1 - s
                r(l, 2, i) = (r4 - wz*r1)*inverse
                r(l, 3, i) = (wy*r1 - r3)*inverse
                r(l, 4, i) = g - p
                r(l, 5, i) = g + p
            end do
        end do
    end subroutine enter_x

    pure subroutine from_x_to_y(rows, x)
        integer, intent(in) :: rows
        real(dp), intent(inout) :: x(lanes, 5, rows)
        real(dp) :: x1, x2, x3, difference, half
        integer :: i, l
        do i = 1, rows
            !$omp simd private(x1, x2, x3, difference, half)
            do l = 1, lanes
                x1 = x(l, 1, i)
                x2 = x(l, 2, i)
                x3 = beta*x(l, 3, i)
                difference = beta*(x(l, 4, i) - x(l, 5, i))
                half = 0.5_dp*(x(l, 4, i) + x(l, 5, i))
                x(l, 1, i) = -x2
                x(l, 2, i) = x1
                x(l, 3, i) = difference
                x(l, 4, i) = half - x3
                x(l, 5, i) = half + x3
            end do
        end do
    end subroutine from_x_to_y

    pure subroutine from_y_to_z(rows, x)
        integer, intent(in) :: rows
        real(dp), intent(inout) :: x(lanes, 5, rows)
        real(dp) :: x1, x2, x3, difference, half
        integer :: i, l
        do i = 1, rows
            !$omp simd private(x1, x2, x3, difference, half)
            do l = 1, lanes
                x1 = beta*x(l, 1, i)
                x2 = x(l, 2, i)
                x3 = x(l, 3, i)
                difference = beta*(x(l, 4, i) - x(l, 5, i))
                half = 0.5_dp*(x(l, 4, i) + x(l, 5, i))
                x(l, 1, i) = difference
                x(l, 2, i) = -x3
                x(l, 3, i) = x2
                x(l, 4, i) = half - x1
                x(l, 5, i) = half + x1
            end do
        end do
    end subroutine from_y_to_z

    !> Back to the change of u. u has the momenta in the order z, x, y; the result is in natural
    !> order.
    pure subroutine leave_z(lo, hi, u, x)
        integer, intent(in) :: lo, hi
        real(dp), intent(in) :: u(lanes, 5, lo - 1:hi + 1)
        real(dp), intent(inout) :: x(lanes, 5, lo:hi)
        real(dp) :: density, inverse, wx, wy, wz, q, square, s, p, g, x1, x2
        integer :: i, l
        do i = lo, hi
            !$omp simd private(density, inverse, wx, wy, wz, q, square, s, p, g, x1, x2)
            do l = 1, lanes
                density = u(l, 1, i)
                inverse = 1/density
                wz = u(l, 2, i)*inverse
                wx = u(l, 3, i)*inverse
                wy = u(l, 4, i)*inverse
                q = 0.5_dp*(wx*wx + wy*wy + wz*wz)
                square = c1*c2*(u(l, 5, i)*inverse - q)
                x1 = x(l, 1, i)
                x2 = x(l, 2, i)
                s = beta*density/sqrt(square)*(x(l, 4, i) + x(l, 5, i))
                g = beta*density*(x(l, 4, i) - x(l, 5, i))
                p = x(l, 3, i) + s
                x(l, 1, i) = p
                x(l, 2, i) = wx*p - density*x2
                x(l, 3, i) = wy*p + density*x1
                x(l, 4, i) = wz*p + g
                x(l, 5, i) = density*(wy*x1 - wx*x2) + q*p + square*s/c2 + wz*g
            end do
        end do
    end subroutine leave_z

end module sp_lines
