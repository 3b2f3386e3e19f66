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
    use overset_field, only: field_t
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
        !> What is computed of a row: as the state, its first point begins a cache line.
        real(dp), pointer, contiguous :: row(:, :) => null()
        !> Room for both in the largest block.
        real(dp), pointer, contiguous :: space(:) => null(), row_space(:) => null()
        !> Sum of the squares of dt R over what was computed since `begin`.
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
        self%row_space => aligned(5_i8*maxval(fields%rows))
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
        self%row(1:field%rows, 1:5) => self%row_space
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
            if (k < field%n(3)) call prefetch(field%q(:, :, j, k + 3), 8*size(self%row, kind=i8))
            call difference_row(self, field%n, field%rows, j, k, field%q, self%derived)
            if (associated(field%force)) &
                self%row(:field%n(1), :) = self%row(:field%n(1), :) &
                                           + self%dt*field%force(1:field%n(1), :, j, k)
            call enter_x(field%n(1), field%rows, self%derived(:, :, j, mod(k, 3)), self%row, &
                         s(:, :, j), self%square)
        end do
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

    !> The right-hand side of row j of plane k.
    subroutine difference_row(self, n, rows, j, k, q, d)
        class(residual_t), intent(inout) :: self
        integer, intent(in) :: n(3), rows, j, k
        real(dp), intent(in) :: q(-1:rows - 2, 5, -1:n(2) + 2, -1:n(3) + 2)
        real(dp), intent(in) :: d(-1:rows - 2, derived_values, 0:n(2) + 1, 0:2)
        integer :: here, below, above

        here = mod(k, 3)
        below = mod(k - 1, 3)
        above = mod(k + 1, 3)
        associate (viscous => self%second*self%viscosity)
            call dissipate(n(1), rows, 5*rows, 5*rows*(n(2) + 4), self%fourth, &
                           q(-1, 1, j - 2, k - 2), self%row)
            call difference(n(1), rows, 2, self%first(1), viscous(1), self%second(1), &
                            q(0, 1, j, k), q(2, 1, j, k), d(0, 1, j, here), d(1, 1, j, here), &
                            d(2, 1, j, here), self%row)
            call difference(n(1), rows, 3, self%first(2), viscous(2), self%second(2), &
                            q(1, 1, j - 1, k), q(1, 1, j + 1, k), d(1, 1, j - 1, here), &
                            d(1, 1, j, here), d(1, 1, j + 1, here), self%row)
            call difference(n(1), rows, 4, self%first(3), viscous(3), self%second(3), &
                            q(1, 1, j, k - 1), q(1, 1, j, k + 1), d(1, 1, j, below), &
                            d(1, 1, j, here), d(1, 1, j, above), self%row)
        end associate
    end subroutine difference_row

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

    !> Sets the result to -s_a times the fourth differences. q begins two points below along each
    !> axis; `across` and `up` are the distances to the next point along y and z.
    pure subroutine dissipate(n, rows, across, up, s, q, r)
        integer, intent(in) :: n, rows, across, up
        real(dp), intent(in) :: s(3), q(*)
        real(dp), intent(inout) :: r(rows, 5)
        integer :: i, c, o
        do c = 1, 5
            o = (c - 1)*rows + 2 + 2*across + 2*up
            !$omp simd
            do i = 1, n
                r(i, c) = s(1)*(4*(q(o + i - 1) + q(o + i + 1)) - (q(o + i - 2) + q(o + i + 2))) &
                          + s(2)*(4*(q(o + i - across) + q(o + i + across)) &
                                  - (q(o + i - 2*across) + q(o + i + 2*across))) &
                          + s(3)*(4*(q(o + i - up) + q(o + i + up)) &
                                  - (q(o + i - 2*up) + q(o + i + 2*up))) &
                          - 6*(s(1) + s(2) + s(3))*q(o + i)
            end do
        end do
    end subroutine dissipate

    !> Adds flux and viscous differences along an axis whose momentum is component m. `qb` and `qa`
    !> are the state one point before and after, `db`, `d` and `da` what is derived there and here.
    pure subroutine difference(n, rows, m, first, viscous, second, qb, qa, db, d, da, r)
        integer, intent(in) :: n, rows, m
        real(dp), intent(in) :: first, viscous, second
        real(dp), intent(in), dimension(rows, 5) :: qb, qa
        real(dp), intent(in), dimension(rows, derived_values) :: db, d, da
        real(dp), intent(inout) :: r(rows, 5)
        real(dp) :: ub, ua
        integer :: i
        !$omp simd private(ub, ua)
        do i = 1, n
            ub = first*db(i, m - 1)
            ua = first*da(i, m - 1)
            r(i, 1) = r(i, 1) + first*(qb(i, m) - qa(i, m))
            r(i, 2) = r(i, 2) + ub*qb(i, 2) - ua*qa(i, 2) &
                      + viscous*(db(i, 1) - 2*d(i, 1) + da(i, 1))
            r(i, 3) = r(i, 3) + ub*qb(i, 3) - ua*qa(i, 3) &
                      + viscous*(db(i, 2) - 2*d(i, 2) + da(i, 2))
            r(i, 4) = r(i, 4) + ub*qb(i, 4) - ua*qa(i, 4) &
                      + viscous*(db(i, 3) - 2*d(i, 3) + da(i, 3))
            r(i, m) = r(i, m) + first*(db(i, 4) - da(i, 4))
            r(i, 5) = r(i, 5) + ub*(qb(i, 5) + db(i, 4)) - ua*(qa(i, 5) + da(i, 4)) &
                      + second*(db(i, 5) - 2*d(i, 5) + da(i, 5))
        end do
    end subroutine difference

    !> To characteristic variables.
    pure subroutine enter_x(n, rows, d, r, s, square)
        integer, intent(in) :: n, rows
        real(dp), intent(in) :: d(-1:rows - 2, derived_values), r(rows, 5)
        real(dp), intent(inout) :: s(-1:rows - 2, 5)
        real(dp), intent(inout) :: square
        real(dp) :: inverse, pressure, along, total
        integer :: i
        total = 0
        !$omp simd private(inverse, pressure, along) reduction(+: total)
        do i = 1, n
            total = total + r(i, 1)**2 + r(i, 2)**2 + r(i, 3)**2 + r(i, 4)**2 + r(i, 5)**2
            inverse = 1/d(i, 6)
            pressure = (gamma - 1)*(inverse*inverse) &
                       *(0.5_dp*(d(i, 1)*d(i, 1) + d(i, 2)*d(i, 2) + d(i, 3)*d(i, 3))*r(i, 1) &
                         - d(i, 1)*r(i, 2) - d(i, 2)*r(i, 3) - d(i, 3)*r(i, 4) + r(i, 5))
            along = inverse*(r(i, 2) - d(i, 1)*r(i, 1))
            s(i, 1) = r(i, 1) - pressure
            s(i, 2) = pressure - along
            s(i, 3) = inverse*(r(i, 3) - d(i, 2)*r(i, 1))
            s(i, 4) = inverse*(r(i, 4) - d(i, 3)*r(i, 1))
            s(i, 5) = pressure + along
        end do
        ! The rest of the last vector.
        s(n + 1:, :) = 0
        square = square + total
    end subroutine enter_x

end module overset_residual
