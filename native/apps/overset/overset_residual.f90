!> The right-hand side of a step: row by row along x, dt R(Q) in characteristic variables of x.
!>
!> Q = (density r, momenta m = r (u, v, w), energy E); p = (gamma - 1) (E - r q), q = |u|**2/2:
!>
!>     R(Q) = -sum over axes a of d/da [m_a, m u_a + p e_a, (E + p) u_a]
!>            + sum over a of d2/da2 [0, mu u, mu v, mu w, mu q + k T] + dissipation,  T = E/r - q
!>
!> the compressible Navier-Stokes equations with the stress mu grad u (what is left of it in a flow of
!> constant viscosity and small dilatation; it looks the same along all axes). First and second
!> differences are central; the dissipation is -s_a times the fourth difference along each axis.
!>
!> The characteristic variables of x (Pulliam and Chaussee 1981; scaled so that those of one axis
!> come from another's without a coefficient) are, c the speed of sound,
!>
!>     1: dr - dp/c**2     2: dp/c**2 - r du/c     3: r dv/c     4: r dw/c     5: dp/c**2 + r du/c
!>
!> Exported: `residual_t`. Timed: `begin`, `plane`. Nothing is collective.
module overset_residual

    use bl_kinds, only: dp, i8
    use bl_memory, only: aligned, prefetch
    use overset_field, only: field_t, lanes
    use overset_problem, only: gamma, overset_problem_t

    implicit none(type, external)
    private

    public :: residual_t, derived_values

    !> What is derived at a point: u, v, w, p, mu q + k T, c.
    integer, parameter :: derived_values = 6

    type :: residual_t
        real(dp) :: dt = 0, viscosity = 0, conductivity = 0
        !> Factors of first, second and fourth differences by axis, dt included.
        real(dp) :: first(3) = 0, second(3) = 0, fourth(3) = 0
        !> (-1:rows - 2, derived_values, 0:n2 + 1, plane modulo 3)
        real(dp), pointer, contiguous :: derived(:, :, :, :) => null()
        !> Room for it in the largest block.
        real(dp), pointer, contiguous :: space(:) => null()
        !> Sum of the squares of dt R, forces left out, over what was computed since `begin`.
        real(dp) :: square = 0
    contains
        procedure :: setup
        procedure :: begin
        procedure :: plane
        procedure, private :: derive
    end type residual_t

contains

    subroutine setup(self, problem, fields)
        class(residual_t), intent(inout) :: self
        type(overset_problem_t), intent(in) :: problem
        type(field_t), intent(in) :: fields(:)
        integer(i8) :: most
        integer :: f

        self%dt = problem%time_step()
        self%viscosity = problem%viscosity
        self%conductivity = problem%conductivity
        most = 0
        do f = 1, size(fields)
            most = max(most, 3_i8*derived_values*fields(f)%rows*(fields(f)%n(2) + 2))
        end do
        self%space => aligned(6 + most)
    end subroutine setup

    !> Before the first plane of a block.
    subroutine begin(self, problem, field)
        class(residual_t), intent(inout) :: self
        type(overset_problem_t), intent(in) :: problem
        type(field_t), intent(in) :: field

        self%first = self%dt/(2*field%h)
        self%second = self%dt/field%h**2
        self%fourth = self%dt*problem%dissipation*(1 + norm2(problem%stream))/field%h
        self%square = 0
        self%derived(-1:field%rows - 2, 1:derived_values, 0:field%n(2) + 1, 0:2) => self%space(7:)
        call self%derive(field, 0)
        call self%derive(field, 1)
    end subroutine begin

    !> Plane k of a block, after the one below: s gets dt R in characteristic variables of x.
    subroutine plane(self, field, k, s)
        class(residual_t), intent(inout) :: self
        type(field_t), intent(in) :: field
        integer, intent(in) :: k
        real(dp), intent(inout) :: s(-1:field%rows - 2, 5, -1:field%n(2) + 2)
        integer :: j
        call self%derive(field, k + 1)
        do j = 1, field%n(2)
            ! A row of the plane after the next, which no near cache has: rows are too short for the
            ! processor to foresee the next one.
            if (k < field%n(3)) call prefetch(field%q(:, :, j, k + 3), 8_i8*5*field%rows)
            call change_row(self, field%n, field%rows, j, k, field%q, self%derived, s(:, :, j))
        end do
        if (associated(field%force)) call add_force(field%n(1), field%n(2), field%rows, self%dt, &
                                                    self%derived(:, :, :, mod(k, 3)), &
                                                    field%force(:, :, :, k), s)
    end subroutine plane

    subroutine derive(self, field, k)
        class(residual_t), intent(inout) :: self
        type(field_t), intent(in) :: field
        integer, intent(in) :: k
        integer :: j
        do j = 0, field%n(2) + 1
            call derive_row(field%rows, self%viscosity, self%conductivity, &
                            field%q(:, :, j, k), self%derived(:, :, j, mod(k, 3)))
        end do
    end subroutine derive

    !> Row j of plane k.
    subroutine change_row(self, n, rows, j, k, q, d, s)
        class(residual_t), intent(inout) :: self
        integer, intent(in) :: n(3), rows, j, k
        real(dp), intent(in) :: q(-1:rows - 2, 5, -1:n(2) + 2, -1:n(3) + 2)
        real(dp), intent(in) :: d(-1:rows - 2, derived_values, 0:n(2) + 1, 0:2)
        real(dp), intent(inout) :: s(-1:rows - 2, 5)
        integer :: here, below, above

        here = mod(k, 3)
        below = mod(k - 1, 3)
        above = mod(k + 1, 3)
        call change(n(1), rows, self%first, self%second, self%fourth, self%viscosity, &
                    q(-1, 1, j, k), q(-1, 1, j - 2, k), q(-1, 1, j - 1, k), q(-1, 1, j + 1, k), &
                    q(-1, 1, j + 2, k), q(-1, 1, j, k - 2), q(-1, 1, j, k - 1), &
                    q(-1, 1, j, k + 1), q(-1, 1, j, k + 2), d(-1, 1, j, here), &
                    d(-1, 1, j - 1, here), d(-1, 1, j + 1, here), d(-1, 1, j, below), &
                    d(-1, 1, j, above), s, self%square)
    end subroutine change_row

    !> The whole row: no remainder of a vector.
    pure subroutine derive_row(rows, viscosity, conductivity, q, d)
        integer, intent(in) :: rows
        real(dp), intent(in) :: viscosity, conductivity, q(-1:rows - 2, 5)
        real(dp), intent(inout) :: d(-1:rows - 2, derived_values)
        real(dp) :: inverse, u, v, w, square, heat
        integer :: i
        !$omp simd private(inverse, u, v, w, square, heat)
        do i = -1, rows - 2
            inverse = 1/q(i, 1)
            u = q(i, 2)*inverse
            v = q(i, 3)*inverse
            w = q(i, 4)*inverse
            square = 0.5_dp*(u*u + v*v + w*w)
            heat = q(i, 5)*inverse - square
            d(i, 1) = u
            d(i, 2) = v
            d(i, 3) = w
            d(i, 4) = (gamma - 1)*q(i, 1)*heat
            d(i, 5) = viscosity*square + conductivity*heat
            d(i, 6) = sqrt(gamma*(gamma - 1)*heat)
        end do
    end subroutine derive_row

    !> The right-hand side of a row in characteristic variables of x: q and d are the state and what
    !> is derived from it, of the row itself, of those to the south and north, of those down and up,
    !> and (2) of those after the next: one loop, in which a sum never leaves the registers and a
    !> number is loaded for all that needs it. Whole vectors; what comes after point n is of no use.
    pure subroutine change(n, rows, first, second, fourth, viscosity, q, qs2, qs, qn, qn2, &
                           qd2, qd, qu, qu2, d, ds, dn, dd, du, s, square)
        integer, intent(in) :: n, rows
        real(dp), intent(in) :: first(3), second(3), fourth(3), viscosity
        real(dp), intent(in), dimension(-1:rows - 2, 5) :: q, qs2, qs, qn, qn2, qd2, qd, qu, qu2
        real(dp), intent(in), dimension(-1:rows - 2, derived_values) :: d, ds, dn, dd, du
        real(dp), intent(inout) :: s(-1:rows - 2, 5)
        real(dp), intent(inout) :: square
        real(dp) :: total(lanes), f1, f2, f3, d0, d1, d2, d3, s0, s1, s2, s3
        real(dp) :: ub, ua, vb, va, wb, wa, x, y, z, rest, r1, r2, r3, r4, r5
        real(dp) :: inverse, pressure, along
        integer :: i, l, v, part, whole

        f1 = first(1)
        f2 = first(2)
        f3 = first(3)
        d1 = second(1)
        d2 = second(2)
        d3 = second(3)
        d0 = 2*(d1 + d2 + d3)
        s1 = fourth(1)
        s2 = fourth(2)
        s3 = fourth(3)
        s0 = 6*(s1 + s2 + s3)
        whole = lanes*(n/lanes)
        ! Whole vectors; then, if there is one, that of which the first points alone count.
        do part = 1, merge(1, 2, whole == n)
            total = 0
            do v = merge(1, whole + 1, part == 1), merge(whole, n, part == 1), lanes
                !$omp simd private(i, ub, ua, vb, va, wb, wa, x, y, z, rest, r1, r2, r3, r4, r5, &
                !$omp inverse, pressure, along)
                do l = 1, lanes
                    i = v + l - 1
                    ub = f1*d(i - 1, 1)
                    ua = f1*d(i + 1, 1)
                    vb = f2*ds(i, 2)
                    va = f2*dn(i, 2)
                    wb = f3*dd(i, 3)
                    wa = f3*du(i, 3)
                    x = s1*(4*(q(i - 1, 1) + q(i + 1, 1)) - (q(i - 2, 1) + q(i + 2, 1))) &
                        + ub*q(i - 1, 1) - ua*q(i + 1, 1)
                    y = s2*(4*(qs(i, 1) + qn(i, 1)) - (qs2(i, 1) + qn2(i, 1))) &
                        + vb*qs(i, 1) - va*qn(i, 1)
                    z = s3*(4*(qd(i, 1) + qu(i, 1)) - (qd2(i, 1) + qu2(i, 1))) &
                        + wb*qd(i, 1) - wa*qu(i, 1)
                    r1 = (x - s0*q(i, 1)) + (y + z)
                    x = s1*(4*(q(i - 1, 2) + q(i + 1, 2)) - (q(i - 2, 2) + q(i + 2, 2))) &
                        + ub*q(i - 1, 2) - ua*q(i + 1, 2)
                    y = s2*(4*(qs(i, 2) + qn(i, 2)) - (qs2(i, 2) + qn2(i, 2))) &
                        + vb*qs(i, 2) - va*qn(i, 2)
                    z = s3*(4*(qd(i, 2) + qu(i, 2)) - (qd2(i, 2) + qu2(i, 2))) &
                        + wb*qd(i, 2) - wa*qu(i, 2)
                    x = x + f1*(d(i - 1, 4) - d(i + 1, 4))
                    rest = d1*(d(i - 1, 1) + d(i + 1, 1)) + d2*(ds(i, 1) + dn(i, 1)) &
                           + (d3*(dd(i, 1) + du(i, 1)) - d0*d(i, 1))
                    r2 = (x - s0*q(i, 2)) + (y + z) + viscosity*rest
                    x = s1*(4*(q(i - 1, 3) + q(i + 1, 3)) - (q(i - 2, 3) + q(i + 2, 3))) &
                        + ub*q(i - 1, 3) - ua*q(i + 1, 3)
                    y = s2*(4*(qs(i, 3) + qn(i, 3)) - (qs2(i, 3) + qn2(i, 3))) &
                        + vb*qs(i, 3) - va*qn(i, 3)
                    z = s3*(4*(qd(i, 3) + qu(i, 3)) - (qd2(i, 3) + qu2(i, 3))) &
                        + wb*qd(i, 3) - wa*qu(i, 3)
                    y = y + f2*(ds(i, 4) - dn(i, 4))
                    rest = d1*(d(i - 1, 2) + d(i + 1, 2)) + d2*(ds(i, 2) + dn(i, 2)) &
                           + (d3*(dd(i, 2) + du(i, 2)) - d0*d(i, 2))
                    r3 = (x - s0*q(i, 3)) + (y + z) + viscosity*rest
                    x = s1*(4*(q(i - 1, 4) + q(i + 1, 4)) - (q(i - 2, 4) + q(i + 2, 4))) &
                        + ub*q(i - 1, 4) - ua*q(i + 1, 4)
                    y = s2*(4*(qs(i, 4) + qn(i, 4)) - (qs2(i, 4) + qn2(i, 4))) &
                        + vb*qs(i, 4) - va*qn(i, 4)
                    z = s3*(4*(qd(i, 4) + qu(i, 4)) - (qd2(i, 4) + qu2(i, 4))) &
                        + wb*qd(i, 4) - wa*qu(i, 4)
                    z = z + f3*(dd(i, 4) - du(i, 4))
                    rest = d1*(d(i - 1, 3) + d(i + 1, 3)) + d2*(ds(i, 3) + dn(i, 3)) &
                           + (d3*(dd(i, 3) + du(i, 3)) - d0*d(i, 3))
                    r4 = (x - s0*q(i, 4)) + (y + z) + viscosity*rest
                    x = s1*(4*(q(i - 1, 5) + q(i + 1, 5)) - (q(i - 2, 5) + q(i + 2, 5))) &
                        + ub*(q(i - 1, 5) + d(i - 1, 4)) - ua*(q(i + 1, 5) + d(i + 1, 4))
                    y = s2*(4*(qs(i, 5) + qn(i, 5)) - (qs2(i, 5) + qn2(i, 5))) &
                        + vb*(qs(i, 5) + ds(i, 4)) - va*(qn(i, 5) + dn(i, 4))
                    z = s3*(4*(qd(i, 5) + qu(i, 5)) - (qd2(i, 5) + qu2(i, 5))) &
                        + wb*(qd(i, 5) + dd(i, 4)) - wa*(qu(i, 5) + du(i, 4))
                    rest = d1*(d(i - 1, 5) + d(i + 1, 5)) + d2*(ds(i, 5) + dn(i, 5)) &
                           + (d3*(dd(i, 5) + du(i, 5)) - d0*d(i, 5))
                    r5 = (x - s0*q(i, 5)) + (y + z) + rest
                    total(l) = total(l) + (r1*r1 + r2*r2 + (r3*r3 + r4*r4) + r5*r5)
                    inverse = 1/d(i, 6)
                    pressure = (gamma - 1)*(inverse*inverse) &
                               *(0.5_dp*(d(i, 1)*d(i, 1) + d(i, 2)*d(i, 2) + d(i, 3)*d(i, 3))*r1 &
                                 - d(i, 1)*r2 - d(i, 2)*r3 - d(i, 3)*r4 + r5)
                    along = inverse*(r2 - d(i, 1)*r1)
                    s(i, 1) = r1 - pressure
                    s(i, 2) = pressure - along
                    s(i, 3) = inverse*(r3 - d(i, 2)*r1)
                    s(i, 4) = inverse*(r4 - d(i, 3)*r1)
                    s(i, 5) = pressure + along
                end do
            end do
            square = square + sum(total(:merge(lanes, n - whole, part == 1)))
        end do
    end subroutine change

    !> Adds dt times the forces of a plane, in characteristic variables of x.
    pure subroutine add_force(n1, n2, rows, dt, d, force, s)
        integer, intent(in) :: n1, n2, rows
        real(dp), intent(in) :: dt, d(-1:rows - 2, derived_values, 0:n2 + 1), force(n1, 5, n2)
        real(dp), intent(inout) :: s(-1:rows - 2, 5, -1:n2 + 2)
        real(dp) :: f(5), pressure, along
        integer :: i, j
        do j = 1, n2
            do i = 1, n1
                f = dt*force(i, :, j)
                associate (c => d(i, 6, j), u => d(i, 1:3, j))
                    pressure = (gamma - 1)/c**2*(0.5_dp*dot_product(u, u)*f(1) &
                                                 - dot_product(u, f(2:4)) + f(5))
                    along = (f(2) - u(1)*f(1))/c
                    s(i, :, j) = s(i, :, j) + [f(1) - pressure, pressure - along, &
                                               (f(3:4) - u(2:3)*f(1))/c, pressure + along]
                end associate
            end do
        end do
    end subroutine add_force

end module overset_residual
