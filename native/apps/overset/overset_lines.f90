!> The implicit side of a step: scalar pentadiagonal systems along every line of a block, one axis
!> after the other (the diagonal form of approximate factorization, Pulliam and Chaussee 1981).
!>
!> Along axis a, for each characteristic variable s with speed l (u_a for three of them, u_a - c,
!> u_a + c):
!>
!>     s + dt d(l s)/da - dt n d2s/da2 + dt e h**3 d4s/da4 = what the axis before left
!>
!> n bounds the diffusion, e is the dissipation of the right-hand side; s vanishes beyond the block's
!> own points. Variables of all axes are 1: dr - dp/c**2, 5: dp/c**2 and 2 to 4: r du/c, r dv/c,
!> r dw/c, but along axis a 1 + a: the difference, 5: the sum of the last and that of the axis.
!>
!> Lines are solved `lanes` at a time in vectors of one point from each. Along y and z these are
!> neighbours in a row, in place; those along x go through a tile (lane, point, variable), to and from
!> which eight rows are turned at once. A plane is solved along x and y while it is in the
!> second-level cache.
!>
!> Exported: `lines_t`. Timed: `solve_plane`, `solve_up`. Nothing is collective.
module overset_lines

    use bl_kinds, only: dp, i8
    use bl_memory, only: aligned
    use overset_field, only: field_t, lanes
    use overset_problem, only: gamma, overset_problem_t
    use overset_residual, only: derived_values, residual_t

    implicit none(type, external)
    private

    public :: lines_t

    !> Values that elimination keeps for each point: two factors for each of three matrices.
    integer, parameter :: kept_values = 6
    !> Speeds of a point: dt/2h times u_a and c; along z also u and v.
    integer, parameter :: speed_values = 2, speed_values_up = 4

    type :: lines_t
        private
        !> Bound of the diffusion.
        real(dp) :: diffusion = 0
        real(dp), pointer, contiguous :: tile(:) => null(), speed(:) => null(), kept(:) => null()
    contains
        procedure :: setup
        procedure :: solve_plane
        procedure :: solve_up
    end type lines_t

    !> The five diagonals of a line but for the speeds.
    type :: stencil_t
        real(dp) :: centre, next, second
    end type stencil_t

contains

    subroutine setup(self, problem, fields)
        class(lines_t), intent(inout) :: self
        type(overset_problem_t), intent(in) :: problem
        type(field_t), intent(in) :: fields(:)
        integer(i8) :: most
        integer :: f

        self%diffusion = max(problem%viscosity, problem%conductivity)
        most = 0
        do f = 1, size(fields)
            most = max(most, maxval(int(fields(f)%n, i8)) + 4)
        end do
        self%tile => aligned(5*lanes*most)
        self%speed => aligned(most*max(speed_values*lanes, speed_values_up*maxval(fields%rows)))
        self%kept => aligned(kept_values*lanes*most)
    end subroutine setup

    pure type(stencil_t) function stencil(self, residual, axis)
        class(lines_t), intent(in) :: self
        type(residual_t), intent(in) :: residual
        integer, intent(in) :: axis
        associate (d2 => self%diffusion*residual%second(axis), d4 => residual%fourth(axis))
            stencil = stencil_t(1 + 2*d2 + 6*d4, -d2 - 4*d4, d4)
        end associate
    end function stencil

    !> Lines along x and y of a plane: d are its derived values. s comes in variables of x and leaves
    !> in those of y.
    subroutine solve_plane(self, n, rows, residual, d, s)
        class(lines_t), intent(inout) :: self
        integer, intent(in) :: n(3), rows
        type(residual_t), intent(in) :: residual
        real(dp), intent(in) :: d(-1:rows - 2, derived_values, 0:n(2) + 1)
        real(dp), intent(inout) :: s(-1:rows - 2, 5, -1:n(2) + 2)
        type(stencil_t) :: along_x, along_y
        integer :: i, j, tile, speed

        along_x = stencil(self, residual, 1)
        along_y = stencil(self, residual, 2)
        s(:, :, -1:0) = 0
        s(:, :, n(2) + 1:) = 0
        ! From one variable, or speed, of a tile to the next.
        tile = lanes*(n(1) + 4)
        speed = lanes*(n(1) + 2)
        do j = 1, n(2), lanes
            call take_x(n(1), rows, min(lanes, n(2) - j + 1), residual%first(1), s(1, 1, j), &
                        d(1, 1, j), self%tile, self%speed)
            call solve(n(1), along_x, lanes, self%speed, self%speed(speed + 1:), lanes, &
                       self%tile, self%tile(2*tile + 1:), self%tile(3*tile + 1:), &
                       self%tile(tile + 1:), self%tile(4*tile + 1:), self%kept)
            call give_x(n(1), rows, min(lanes, n(2) - j + 1), self%tile, s(1, 1, j))
        end do
        speed = lanes*(n(2) + 2)
        do i = 1, n(1), lanes
            call turn_y(n(2), rows, residual%first(2), d(i, 1, 1), s(i, 1, -1), self%speed)
            call solve(n(2), along_y, lanes, self%speed, self%speed(speed + 1:), 5*rows, &
                       s(i, 1, -1), s(i, 2, -1), s(i, 4, -1), s(i, 3, -1), s(i, 5, -1), self%kept)
        end do
    end subroutine solve_plane

    !> Lines along z; then the change is added to the state q.
    subroutine solve_up(self, n, rows, residual, s, q)
        class(lines_t), intent(inout) :: self
        integer, intent(in) :: n(3), rows
        type(residual_t), intent(in) :: residual
        real(dp), intent(inout), dimension(-1:rows - 2, 5, -1:n(2) + 2, -1:n(3) + 2) :: s, q
        type(stencil_t) :: along_z
        integer :: i, j, width

        along_z = stencil(self, residual, 3)
        s(:, :, :, -1:0) = 0
        s(:, :, :, n(3) + 1:) = 0
        width = 5*(n(2) + 4)
        do j = 1, n(2)
            call turn_z(n(3), rows, width, residual%first(3), q(1, 1, j, -1), s(1, 1, j, -1), &
                        self%speed)
            do i = 1, n(1), lanes
                call solve(n(3), along_z, speed_values_up*rows, self%speed(i:), &
                           self%speed(rows + i:), rows*width, s(i, 1, j, -1), s(i, 2, j, -1), &
                           s(i, 3, j, -1), s(i, 4, j, -1), s(i, 5, j, -1), self%kept)
            end do
            call add_change(n(1), n(3), rows, width, 1/residual%first(3), self%speed, &
                            s(1, 1, j, -1), q(1, 1, j, -1))
        end do
    end subroutine solve_up

    !> Lanes without a line get the last one again.
    pure subroutine take_x(n, rows, width, factor, s, d, tile, speed)
        integer, intent(in) :: n, rows, width
        real(dp), intent(in) :: factor
        real(dp), intent(in) :: s(rows, 5, width), d(rows, derived_values, width)
        real(dp), intent(inout) :: tile(lanes, -1:n + 2, 5), speed(lanes, 0:n + 1, speed_values)
        integer :: c, l, r(lanes)

        r = [(min(l, width), l=1, lanes)]
        tile(:, :0, :) = 0
        tile(:, n + 1:, :) = 0
        speed(:, 0, :) = 0
        speed(:, n + 1, :) = 0
        do c = 1, 5
            call join(n, 1.0_dp, s(1, c, r(1)), s(1, c, r(2)), s(1, c, r(3)), s(1, c, r(4)), &
                      s(1, c, r(5)), s(1, c, r(6)), s(1, c, r(7)), s(1, c, r(8)), tile(1, 1, c))
        end do
        do c = 1, speed_values
            associate (v => merge(1, 6, c == 1))
                call join(n, factor, d(1, v, r(1)), d(1, v, r(2)), d(1, v, r(3)), d(1, v, r(4)), &
                          d(1, v, r(5)), d(1, v, r(6)), d(1, v, r(7)), d(1, v, r(8)), &
                          speed(1, 1, c))
            end associate
        end do
    end subroutine take_x

    !> Eight rows side by side, times a factor. Written out, so that whole vectors are turned.
    pure subroutine join(n, factor, r1, r2, r3, r4, r5, r6, r7, r8, tile)
        integer, intent(in) :: n
        real(dp), intent(in) :: factor
        real(dp), intent(in), dimension(n) :: r1, r2, r3, r4, r5, r6, r7, r8
        real(dp), intent(inout) :: tile(lanes, n)
        integer :: i
        do i = 1, n
            tile(1, i) = factor*r1(i)
            tile(2, i) = factor*r2(i)
            tile(3, i) = factor*r3(i)
            tile(4, i) = factor*r4(i)
            tile(5, i) = factor*r5(i)
            tile(6, i) = factor*r6(i)
            tile(7, i) = factor*r7(i)
            tile(8, i) = factor*r8(i)
        end do
    end subroutine join

    pure subroutine give_x(n, rows, width, tile, s)
        integer, intent(in) :: n, rows, width
        real(dp), intent(in) :: tile(lanes, -1:n + 2, 5)
        real(dp), intent(inout) :: s(rows, 5, width)
        integer :: c, l
        do c = 1, 5
            if (width == lanes) then
                call part(n, tile(1, 1, c), s(1, c, 1), s(1, c, 2), s(1, c, 3), s(1, c, 4), &
                          s(1, c, 5), s(1, c, 6), s(1, c, 7), s(1, c, 8))
                cycle
            end if
            do l = 1, width
                s(:n, c, l) = tile(l, 1:n, c)
            end do
        end do
    end subroutine give_x

    !> The eight rows of a tile.
    pure subroutine part(n, tile, r1, r2, r3, r4, r5, r6, r7, r8)
        integer, intent(in) :: n
        real(dp), intent(in) :: tile(lanes, n)
        real(dp), intent(inout), dimension(n) :: r1, r2, r3, r4, r5, r6, r7, r8
        integer :: i
        do i = 1, n
            r1(i) = tile(1, i)
            r2(i) = tile(2, i)
            r3(i) = tile(3, i)
            r4(i) = tile(4, i)
            r5(i) = tile(5, i)
            r6(i) = tile(6, i)
            r7(i) = tile(7, i)
            r8(i) = tile(8, i)
        end do
    end subroutine part

    !> From variables of x to those of y along `lanes` lines, and the speeds.
    pure subroutine turn_y(n, rows, factor, d, s, speed)
        integer, intent(in) :: n, rows
        real(dp), intent(in) :: factor, d(rows, derived_values, *)
        real(dp), intent(inout) :: s(rows, 5, -1:*), speed(lanes, 0:n + 1, speed_values)
        real(dp) :: pressure, along
        integer :: j, l
        speed(:, 0, :) = 0
        speed(:, n + 1, :) = 0
        do j = 1, n
            !$omp simd private(pressure, along)
            do l = 1, lanes
                speed(l, j, 1) = factor*d(l, 2, j)
                speed(l, j, 2) = factor*d(l, 6, j)
                pressure = 0.5_dp*(s(l, 5, j) + s(l, 2, j))
                s(l, 2, j) = 0.5_dp*(s(l, 5, j) - s(l, 2, j))
                along = s(l, 3, j)
                s(l, 3, j) = pressure - along
                s(l, 5, j) = pressure + along
            end do
        end do
    end subroutine turn_y

    !> From variables of y to those of z in all planes of a row, one plane's row after the other, as
    !> they lie in memory; and the speeds. q and s begin with point -1.
    pure subroutine turn_z(n, rows, width, factor, q, s, speed)
        integer, intent(in) :: n, rows, width
        real(dp), intent(in) :: factor, q(rows, width, -1:n + 2)
        real(dp), intent(inout) :: s(rows, width, -1:n + 2), speed(rows, speed_values_up, 0:n + 1)
        real(dp) :: pressure, along, inverse, u, v, w
        integer :: k, l
        speed(:, :, 0) = 0
        speed(:, :, n + 1) = 0
        do k = 1, n
            !$omp simd private(pressure, along, inverse, u, v, w)
            do l = 1, rows - 8
                inverse = 1/q(l, 1, k)
                u = q(l, 2, k)*inverse
                v = q(l, 3, k)*inverse
                w = q(l, 4, k)*inverse
                speed(l, 1, k) = factor*w
                speed(l, 2, k) = factor*sqrt(gamma*(gamma - 1) &
                                             *(q(l, 5, k)*inverse - 0.5_dp*(u*u + v*v + w*w)))
                speed(l, 3, k) = u
                speed(l, 4, k) = v
                pressure = 0.5_dp*(s(l, 5, k) + s(l, 3, k))
                s(l, 3, k) = 0.5_dp*(s(l, 5, k) - s(l, 3, k))
                along = s(l, 4, k)
                s(l, 4, k) = pressure - along
                s(l, 5, k) = pressure + along
            end do
        end do
    end subroutine turn_z

    !> From variables of z to the change of the state. `factor` takes dt/2h out of the speeds.
    pure subroutine add_change(lines, n, rows, width, factor, speed, s, q)
        integer, intent(in) :: lines, n, rows, width
        real(dp), intent(in) :: factor
        real(dp), intent(in) :: speed(rows, speed_values_up, 0:n + 1), s(rows, width, -1:n + 2)
        real(dp), intent(inout) :: q(rows, width, -1:n + 2)
        real(dp) :: u, v, w, c, density, pressure, x, y, z
        integer :: k, l
        do k = 1, n
            !$omp simd private(u, v, w, c, density, pressure, x, y, z)
            do l = 1, lines
                w = factor*speed(l, 1, k)
                c = factor*speed(l, 2, k)
                u = speed(l, 3, k)
                v = speed(l, 4, k)
                pressure = 0.5_dp*(s(l, 5, k) + s(l, 4, k))
                density = s(l, 1, k) + pressure
                x = c*s(l, 2, k)
                y = c*s(l, 3, k)
                z = c*(0.5_dp*(s(l, 5, k) - s(l, 4, k)))
                q(l, 1, k) = q(l, 1, k) + density
                q(l, 2, k) = q(l, 2, k) + (u*density + x)
                q(l, 3, k) = q(l, 3, k) + (v*density + y)
                q(l, 4, k) = q(l, 4, k) + (w*density + z)
                q(l, 5, k) = q(l, 5, k) + (c*c*pressure*(1/(gamma - 1)) &
                                           + 0.5_dp*(u*u + v*v + w*w)*density &
                                           + (u*x + v*y + w*z))
            end do
        end do
    end subroutine add_change

    !> Solves `lanes` lines of n points in place, for the variables a, b and c with speed u_a, `minus`
    !> with u_a - c and `plus` with u_a + c. The next point of a line is `pitch` numbers on, its
    !> speeds (`along` is dt/2h times u_a, `sound` times c) are `apart` on. The first two points of
    !> the variables, zero, and the last two are no unknowns.
    pure subroutine solve(n, weights, apart, along, sound, pitch, a, b, c, minus, plus, kept)
        integer, intent(in) :: n, apart, pitch
        type(stencil_t), intent(in) :: weights
        real(dp), intent(in), dimension(apart, 0:*) :: along, sound
        real(dp), intent(inout), dimension(pitch, *) :: a, b, c, minus, plus
        real(dp), intent(inout) :: kept(lanes, kept_values, -1:n)
        call eliminate(n, weights, apart, along, sound, pitch, a, b, c, minus, plus, kept)
        call substitute(n, pitch, a, b, c, minus, plus, kept)
    end subroutine solve

    !> From the first point to the last: each without the two before it.
    pure subroutine eliminate(n, weights, apart, along, sound, pitch, a, b, c, minus, plus, kept)
        integer, intent(in) :: n, apart, pitch
        type(stencil_t), intent(in) :: weights
        real(dp), intent(in), dimension(apart, 0:*) :: along, sound
        real(dp), intent(inout), dimension(pitch, -1:*) :: a, b, c, minus, plus
        real(dp), intent(inout) :: kept(lanes, kept_values, -1:n)
        ! Of the point before: factors and variables. Arrays of one vector each stay in registers.
        real(dp), dimension(lanes) :: f1, f2, f3, g1, g2, g3, a1, b1, c1, minus1, plus1
        real(dp) :: low1, low2, low3, over1, over2, over3
        integer :: i, l

        kept(:, :, -1:0) = 0
        f1 = 0
        f2 = 0
        f3 = 0
        g1 = 0
        g2 = 0
        g3 = 0
        a1 = 0
        b1 = 0
        c1 = 0
        minus1 = 0
        plus1 = 0
        associate (w0 => weights%centre, w1 => weights%next, w2 => weights%second)
            do i = 1, n
                !$omp simd private(low1, low2, low3, over1, over2, over3)
                do l = 1, lanes
                    low1 = w1 - along(l, i - 1)
                    low2 = low1 + sound(l, i - 1) - w2*kept(l, 3, i - 2)
                    low3 = low1 - sound(l, i - 1) - w2*kept(l, 5, i - 2)
                    low1 = low1 - w2*kept(l, 1, i - 2)
                    over1 = 1/(w0 - w2*kept(l, 2, i - 2) - low1*f1(l))
                    over2 = 1/(w0 - w2*kept(l, 4, i - 2) - low2*f2(l))
                    over3 = 1/(w0 - w2*kept(l, 6, i - 2) - low3*f3(l))
                    f1(l) = (w1 + along(l, i + 1) - low1*g1(l))*over1
                    f2(l) = (w1 + (along(l, i + 1) - sound(l, i + 1)) - low2*g2(l))*over2
                    f3(l) = (w1 + (along(l, i + 1) + sound(l, i + 1)) - low3*g3(l))*over3
                    g1(l) = w2*over1
                    g2(l) = w2*over2
                    g3(l) = w2*over3
                    kept(l, 1, i) = f1(l)
                    kept(l, 2, i) = g1(l)
                    kept(l, 3, i) = f2(l)
                    kept(l, 4, i) = g2(l)
                    kept(l, 5, i) = f3(l)
                    kept(l, 6, i) = g3(l)
                    a1(l) = (a(l, i) - w2*a(l, i - 2) - low1*a1(l))*over1
                    b1(l) = (b(l, i) - w2*b(l, i - 2) - low1*b1(l))*over1
                    c1(l) = (c(l, i) - w2*c(l, i - 2) - low1*c1(l))*over1
                    minus1(l) = (minus(l, i) - w2*minus(l, i - 2) - low2*minus1(l))*over2
                    plus1(l) = (plus(l, i) - w2*plus(l, i - 2) - low3*plus1(l))*over3
                    a(l, i) = a1(l)
                    b(l, i) = b1(l)
                    c(l, i) = c1(l)
                    minus(l, i) = minus1(l)
                    plus(l, i) = plus1(l)
                end do
            end do
        end associate
    end subroutine eliminate

    !> From the last point to the first, with what the elimination has kept.
    pure subroutine substitute(n, pitch, a, b, c, minus, plus, kept)
        integer, intent(in) :: n, pitch
        real(dp), intent(inout), dimension(pitch, -1:*) :: a, b, c, minus, plus
        real(dp), intent(in) :: kept(lanes, kept_values, -1:n)
        ! Of the next point and of the one after it.
        real(dp), dimension(lanes) :: a1, b1, c1, minus1, plus1, a2, b2, c2, minus2, plus2
        real(dp) :: here
        integer :: i, l

        a1 = 0
        b1 = 0
        c1 = 0
        minus1 = 0
        plus1 = 0
        a2 = 0
        b2 = 0
        c2 = 0
        minus2 = 0
        plus2 = 0
        do i = n, 1, -1
            ! The next point last: it is what has just been computed.
            !$omp simd private(here)
            do l = 1, lanes
                here = a(l, i) - kept(l, 2, i)*a2(l) - kept(l, 1, i)*a1(l)
                a2(l) = a1(l)
                a1(l) = here
                a(l, i) = here
                here = b(l, i) - kept(l, 2, i)*b2(l) - kept(l, 1, i)*b1(l)
                b2(l) = b1(l)
                b1(l) = here
                b(l, i) = here
                here = c(l, i) - kept(l, 2, i)*c2(l) - kept(l, 1, i)*c1(l)
                c2(l) = c1(l)
                c1(l) = here
                c(l, i) = here
                here = minus(l, i) - kept(l, 4, i)*minus2(l) - kept(l, 3, i)*minus1(l)
                minus2(l) = minus1(l)
                minus1(l) = here
                minus(l, i) = here
                here = plus(l, i) - kept(l, 6, i)*plus2(l) - kept(l, 5, i)*plus1(l)
                plus2(l) = plus1(l)
                plus1(l) = here
                plus(l, i) = here
            end do
        end do
    end subroutine substitute

end module overset_lines
