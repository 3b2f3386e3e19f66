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
!> neighbours in a row, in place; those along x go through a tile (lane, variable, point). A plane
!> is solved along x and y while it is in the second-level cache.
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
    !> Values of the tile of speeds: dt/2h times u_a and c; along z also u and v.
    integer, parameter :: speed_values = 4

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
        self%speed => aligned(speed_values*most*max(lanes, maxval(fields%rows)))
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
        integer :: j, i

        along_x = stencil(self, residual, 1)
        along_y = stencil(self, residual, 2)
        s(:, :, -1:0) = 0
        s(:, :, n(2) + 1:) = 0
        do j = 1, n(2), lanes
            call take_x(n(1), rows, min(lanes, n(2) - j + 1), residual%first(1), s(1, 1, j), &
                        d(1, 1, j), self%tile, self%speed)
            call solve(n(1), lanes, 5, [1, 3, 4], 2, along_x, lanes, self%speed, self%kept, &
                       self%tile)
            call give_x(n(1), rows, min(lanes, n(2) - j + 1), self%tile, s(1, 1, j))
        end do
        call turn_y(n(2), rows, residual%first(2), d(1, 1, 1), s(1, 1, -1), self%speed)
        do i = 1, n(1), lanes
            call solve(n(2), rows, 5, [1, 2, 4], 3, along_y, rows, self%speed(i:), self%kept, &
                       s(i, 1, -1))
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
                call solve(n(3), rows, width, [1, 2, 3], 4, along_z, rows, self%speed(i:), &
                           self%kept, s(i, 1, j, -1))
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
        real(dp), intent(inout) :: tile(lanes, 5, -1:n + 2), speed(lanes, speed_values, 0:n + 1)
        integer :: i, c, l, from

        tile(:, :, :0) = 0
        tile(:, :, n + 1:) = 0
        speed(:, :, 0) = 0
        speed(:, :, n + 1) = 0
        do l = 1, lanes
            from = min(l, width)
            do c = 1, 5
                do i = 1, n
                    tile(l, c, i) = s(i, c, from)
                end do
            end do
            do i = 1, n
                speed(l, 1, i) = factor*d(i, 1, from)
                speed(l, 2, i) = factor*d(i, 6, from)
            end do
        end do
    end subroutine take_x

    pure subroutine give_x(n, rows, width, tile, s)
        integer, intent(in) :: n, rows, width
        real(dp), intent(in) :: tile(lanes, 5, -1:n + 2)
        real(dp), intent(inout) :: s(rows, 5, width)
        integer :: i, c, l
        do l = 1, width
            do c = 1, 5
                do i = 1, n
                    s(i, c, l) = tile(l, c, i)
                end do
            end do
        end do
    end subroutine give_x

    !> From variables of x to those of y in a plane, and the speeds.
    pure subroutine turn_y(n, rows, factor, d, s, speed)
        integer, intent(in) :: n, rows
        real(dp), intent(in) :: factor, d(rows, derived_values, n)
        real(dp), intent(inout) :: s(rows, 5, -1:n + 2), speed(rows, speed_values, 0:n + 1)
        real(dp) :: pressure, along
        integer :: j, l
        speed(:, :, 0) = 0
        speed(:, :, n + 1) = 0
        do j = 1, n
            !$omp simd private(pressure, along)
            do l = 1, rows - 8
                speed(l, 1, j) = factor*d(l, 2, j)
                speed(l, 2, j) = factor*d(l, 6, j)
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
        real(dp), intent(inout) :: s(rows, width, -1:n + 2), speed(rows, speed_values, 0:n + 1)
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
        real(dp), intent(in) :: speed(rows, speed_values, 0:n + 1), s(rows, width, -1:n + 2)
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

    !> Solves lines of n points in place. `same` are the variables with speed u_a, `m` the one with
    !> u_a - c; 5 has u_a + c. The first two, zero, and the last two points of s are no unknowns.
    pure subroutine solve(n, rows, width, same, m, weights, wide, speed, kept, s)
        integer, intent(in) :: n, rows, width, same(3), m, wide
        type(stencil_t), intent(in) :: weights
        real(dp), intent(in) :: speed(wide, speed_values, 0:*)
        real(dp), intent(inout) :: kept(lanes, kept_values, -1:n), s(rows, width, -1:n + 2)
        real(dp) :: low1, low2, low3, pivot1, pivot2, pivot3, inverse, both
        integer :: i, l, a, b, c

        a = same(1)
        b = same(2)
        c = same(3)
        associate (w0 => weights%centre, w1 => weights%next, w2 => weights%second)
            do i = 1, n
                !$omp simd private(low1, low2, low3, pivot1, pivot2, pivot3, inverse, both)
                do l = 1, lanes
                    low1 = w1 - speed(l, 1, i - 1)
                    low2 = low1 + speed(l, 2, i - 1) - w2*kept(l, 3, i - 2)
                    low3 = low1 - speed(l, 2, i - 1) - w2*kept(l, 5, i - 2)
                    low1 = low1 - w2*kept(l, 1, i - 2)
                    pivot1 = w0 - w2*kept(l, 2, i - 2) - low1*kept(l, 1, i - 1)
                    pivot2 = w0 - w2*kept(l, 4, i - 2) - low2*kept(l, 3, i - 1)
                    pivot3 = w0 - w2*kept(l, 6, i - 2) - low3*kept(l, 5, i - 1)
                    ! One division for three pivots, none of which is far from w0.
                    both = pivot1*pivot2
                    inverse = 1/(both*pivot3)
                    both = both*inverse
                    inverse = inverse*pivot3
                    pivot3 = both
                    both = inverse*pivot2
                    pivot2 = inverse*pivot1
                    pivot1 = both
                    kept(l, 1, i) = (w1 + speed(l, 1, i + 1) - low1*kept(l, 2, i - 1))*pivot1
                    kept(l, 2, i) = w2*pivot1
                    kept(l, 3, i) = (w1 + (speed(l, 1, i + 1) - speed(l, 2, i + 1)) &
                                     - low2*kept(l, 4, i - 1))*pivot2
                    kept(l, 4, i) = w2*pivot2
                    kept(l, 5, i) = (w1 + (speed(l, 1, i + 1) + speed(l, 2, i + 1)) &
                                     - low3*kept(l, 6, i - 1))*pivot3
                    kept(l, 6, i) = w2*pivot3
                    s(l, a, i) = (s(l, a, i) - w2*s(l, a, i - 2) - low1*s(l, a, i - 1))*pivot1
                    s(l, b, i) = (s(l, b, i) - w2*s(l, b, i - 2) - low1*s(l, b, i - 1))*pivot1
                    s(l, c, i) = (s(l, c, i) - w2*s(l, c, i - 2) - low1*s(l, c, i - 1))*pivot1
                    s(l, m, i) = (s(l, m, i) - w2*s(l, m, i - 2) - low2*s(l, m, i - 1))*pivot2
                    s(l, 5, i) = (s(l, 5, i) - w2*s(l, 5, i - 2) - low3*s(l, 5, i - 1))*pivot3
                end do
            end do
            do i = n - 1, 1, -1
                !$omp simd
                do l = 1, lanes
                    s(l, a, i) = s(l, a, i) - kept(l, 1, i)*s(l, a, i + 1) &
                                 - kept(l, 2, i)*s(l, a, i + 2)
                    s(l, b, i) = s(l, b, i) - kept(l, 1, i)*s(l, b, i + 1) &
                                 - kept(l, 2, i)*s(l, b, i + 2)
                    s(l, c, i) = s(l, c, i) - kept(l, 1, i)*s(l, c, i + 1) &
                                 - kept(l, 2, i)*s(l, c, i + 2)
                    s(l, m, i) = s(l, m, i) - kept(l, 3, i)*s(l, m, i + 1) &
                                 - kept(l, 4, i)*s(l, m, i + 2)
                    s(l, 5, i) = s(l, 5, i) - kept(l, 5, i)*s(l, 5, i + 1) &
                                 - kept(l, 6, i)*s(l, 5, i + 2)
                end do
            end do
        end associate
    end subroutine solve

end module overset_lines
