!> Tendencies of currents, temperature and salinity: one row of columns (all levels of one y).
!>
!> On a staggered grid (u on the west faces of cells, v on the south faces, w on the upper ones,
!> T, S and the pressure p in the centres), level 1 at the top:
!>
!>     du/dt = -div(u U) + f v - dp/dx + nu (d2/dx2 + d2/dy2) u + nu_z d2u/dz2
!>     dv/dt = -div(v U) - f u - dp/dy + ...
!>     dT/dt = -div(T U) + kappa (d2/dx2 + d2/dy2) T + kappa_z d2T/dz2,   S as T
!>     dp/dz = a T - b S,   dw/dz = -du/dx - dv/dy,   w = 0 at the bottom
!>
!> with second-order fluxes through the faces, none through the lid and the bottom, and steps by
!> Adams and Bashforth: X = X + dt (3/2 G - 1/2 G of the step before). The pressure at the lid is
!> left to ocean_pressure. Fluxes are positive towards east, north and up.
!>
!> Exported: `field_t`; `rows_t`, what rows share; `begin_rows`, then `advance_row` from south to
!> north. Nothing is collective. Fields are u, v, T, S in this order, with right ghosts, one wide.
module ocean_dynamics

    use bl_kinds, only: dp, i8
    use bl_memory, only: aligned, prefetch
    use ocean_grid, only: first_i
    use ocean_problem, only: ocean_problem_t

    implicit none(type, external)
    private

    public :: field_t, rows_t, begin_rows, advance_row

    !> values(first_i:last_i, levels, 0:ny + 1).
    type :: field_t
        real(dp), pointer, contiguous :: values(:, :, :) => null()
    end type field_t

    type :: rows_t
        integer :: nx = 0, last_i = 0, levels = 0
        real(dp) :: dx = 0, dy = 0, dz = 0, dt = 0
        !> Weights of the tendency and of the one before.
        real(dp) :: weight = 1, weight_before = 0
        !> w on the upper faces and p in the centres: this row and the one to the south.
        real(dp), pointer, contiguous :: w(:, :) => null(), p(:, :) => null(), &
            w_south(:, :) => null(), p_south(:, :) => null()
        !> u of the row to the south, before its step.
        real(dp), pointer, contiguous :: u_south(:, :) => null()
        !> Fluxes of u and v (1), T and S (2) through the southern faces of a row, by level; a row
        !> leaves there those through its northern faces.
        real(dp), pointer, contiguous :: edge(:, :, :, :) => null()
        !> Fluxes through the upper faces of a level, which leaves there those through the lower.
        real(dp), pointer, contiguous :: faces(:, :, :) => null()
        !> A row of two fields after the step: before it is written all of the old row is needed.
        real(dp), pointer, contiguous :: new(:, :) => null()
    end type rows_t

contains

    !> Prepares the southern edge of row 1.
    subroutine begin_rows(rows, problem, x)
        type(rows_t), intent(inout) :: rows
        type(ocean_problem_t), intent(in) :: problem
        type(field_t), intent(in) :: x(4)
        integer :: k

        if (.not. associated(rows%w)) call make_space(rows)
        call integrate(rows, problem, x, 0)
        rows%u_south = x(1)%values(:, :, 0)
        do k = 1, rows%levels
            call fluxes_north(rows%nx, rows%last_i, problem, 1/rows%dy, &
                              x(1)%values(:, k, 0), x(1)%values(:, k, 1), &
                              x(2)%values(:, k, 0), x(2)%values(:, k, 1), &
                              x(3)%values(:, k, 0), x(3)%values(:, k, 1), &
                              x(4)%values(:, k, 0), x(4)%values(:, k, 1), &
                              rows%edge(:, :, k, 1), rows%edge(:, :, k, 2))
        end do
    end subroutine begin_rows

    subroutine make_space(rows)
        type(rows_t), intent(inout) :: rows
        real(dp), pointer, contiguous :: space(:)
        integer(i8) :: row

        row = rows%last_i - first_i + 1
        associate (last => rows%last_i, nz => rows%levels)
            space => aligned(row*(nz + 1))
            rows%w(first_i:last, 1:nz + 1) => space
            space => aligned(row*(nz + 1))
            rows%w_south(first_i:last, 1:nz + 1) => space
            space => aligned(row*nz)
            rows%p(first_i:last, 1:nz) => space
            space => aligned(row*nz)
            rows%p_south(first_i:last, 1:nz) => space
            space => aligned(row*nz)
            rows%u_south(first_i:last, 1:nz) => space
            space => aligned(row*nz*4)
            rows%edge(first_i:last, 1:2, 1:nz, 1:2) => space
            space => aligned(row*4)
            rows%faces(first_i:last, 1:2, 1:2) => space
            space => aligned(row*2)
            rows%new(first_i:last, 1:2) => space
        end associate
    end subroutine make_space

    !> Advances row j by one step, in place, but for the lid's pressure. `before` holds the
    !> tendencies of the step before and gets the present ones. `sum_u` and `sum_v` become the sums
    !> over depth.
    subroutine advance_row(rows, problem, j, x, before, sum_u, sum_v)
        type(rows_t), intent(inout) :: rows
        type(ocean_problem_t), intent(in) :: problem
        integer, intent(in) :: j
        type(field_t), intent(in) :: x(4), before(4)
        real(dp), intent(inout), dimension(first_i:rows%last_i) :: sum_u, sum_v

        call integrate(rows, problem, x, j)
        sum_u = 0
        sum_v = 0
        rows%faces = 0
        call advance_levels(rows%last_i, rows%levels, ubound(x(1)%values, 3), rows, problem, j, &
                            x(1)%values, x(2)%values, x(3)%values, x(4)%values, &
                            before(1)%values, before(2)%values, before(3)%values, &
                            before(4)%values, rows%u_south, rows%w, rows%w_south, rows%p, &
                            rows%p_south, rows%edge, rows%faces, sum_u, sum_v, rows%new)
    end subroutine advance_row

    !> All levels of row j. The arrays are arguments so that the compiler knows them to be contiguous
    !> and distinct: of a pointer's rows it would make copies.
    !> What is not in a cache yet, the fields of the row to the north and the tendencies before, is
    !> asked for a level ahead: too many streams for the processor's own prediction.
    subroutine advance_levels(last_i, levels, last_j, rows, problem, j, u, v, t, s, before_u, &
                              before_v, before_t, before_s, u_south, w, w_south, p, p_south, &
                              edge, faces, sum_u, sum_v, new)
        integer, intent(in) :: last_i, levels, last_j, j
        type(rows_t), intent(in) :: rows
        type(ocean_problem_t), intent(in) :: problem
        real(dp), intent(inout), dimension(first_i:last_i, levels, 0:last_j) :: u, v, t, s, &
            before_u, before_v, before_t, before_s
        real(dp), intent(inout), dimension(first_i:last_i, levels) :: u_south
        real(dp), intent(in), dimension(first_i:last_i, levels + 1) :: w, w_south
        real(dp), intent(in), dimension(first_i:last_i, levels) :: p, p_south
        real(dp), intent(inout) :: edge(first_i:last_i, 2, levels, 2), faces(first_i:last_i, 2, 2)
        real(dp), intent(inout), dimension(first_i:last_i) :: sum_u, sum_v
        real(dp), intent(inout) :: new(first_i:last_i, 2)
        integer :: k, below, next
        integer(i8) :: row_bytes
        real(dp) :: open

        row_bytes = 8*(last_i - first_i + 1)
        do k = 1, levels
            ! The bottom is closed: of the level below, any other one, nothing comes.
            below = merge(k + 1, 1, k < levels)
            open = merge(1.0_dp, 0.0_dp, k < levels)
            next = min(k + 1, levels)
            call prefetch(before_t(first_i, next, j), row_bytes)
            call prefetch(before_s(first_i, next, j), row_bytes)
            call prefetch(t(first_i, next, j + 1), row_bytes)
            call prefetch(s(first_i, next, j + 1), row_bytes)
            ! Tracers first: they need the currents before the step.
            call advance_tracers(rows%nx, last_i, rows, problem, open, u(:, k, j), &
                                 v(:, k, j + 1), w(:, k + 1), t(:, k, j), t(:, k, j + 1), &
                                 t(:, below, j), s(:, k, j), s(:, k, j + 1), s(:, below, j), &
                                 edge(:, :, k, 2), faces(:, :, 2), before_t(:, k, j), &
                                 before_s(:, k, j), new)
            call prefetch(before_u(first_i, next, j), row_bytes)
            call prefetch(before_v(first_i, next, j), row_bytes)
            call prefetch(u(first_i, next, j + 1), row_bytes)
            call prefetch(v(first_i, next, j + 1), row_bytes)
            call advance_currents(rows%nx, last_i, rows, problem, open, u_south(:, k), &
                                  u(:, k, j), u(:, k, j + 1), u(:, below, j), v(:, k, j), &
                                  v(:, k, j + 1), v(:, below, j), w(:, k + 1), &
                                  w_south(:, k + 1), p(:, k), p_south(:, k), edge(:, :, k, 1), &
                                  faces(:, :, 1), before_u(:, k, j), before_v(:, k, j), sum_u, &
                                  sum_v, new)
        end do
    end subroutine advance_levels

    !> Vertical speed and pressure of row j; those of the row before are kept.
    subroutine integrate(rows, problem, x, j)
        type(rows_t), intent(inout) :: rows
        type(ocean_problem_t), intent(in) :: problem
        type(field_t), intent(in) :: x(4)
        integer, intent(in) :: j
        real(dp), pointer, contiguous :: kept(:, :)

        kept => rows%w_south
        rows%w_south => rows%w
        rows%w => kept
        kept => rows%p_south
        rows%p_south => rows%p
        rows%p => kept
        ! Own cells begin a cache line; loops that began at the ghost would straddle two with
        ! each vector.
        call columns(1, rows%nx)
        call columns(0, 0)

    contains

        subroutine columns(first, last)
            integer, intent(in) :: first, last
            call integrate_columns(first, last, rows%last_i, rows%levels, rows%dz/rows%dx, &
                                   rows%dz/rows%dy, rows%dz*problem%expansion/2, &
                                   rows%dz*problem%contraction/2, j, ubound(x(1)%values, 3), &
                                   x(1)%values, x(2)%values, x(3)%values, x(4)%values, rows%w, &
                                   rows%p)
        end subroutine columns
    end subroutine integrate

    pure subroutine integrate_columns(first, last, last_i, levels, over_dx, over_dy, heat, salt, &
                                      j, last_j, u, v, t, s, w, p)
        integer, intent(in) :: first, last, last_i, levels, j, last_j
        real(dp), intent(in) :: over_dx, over_dy, heat, salt
        real(dp), intent(in), dimension(first_i:last_i, levels, 0:last_j) :: u, v, t, s
        real(dp), intent(inout) :: w(first_i:last_i, levels + 1), p(first_i:last_i, levels)
        integer :: i, k

        do i = first, last
            w(i, levels + 1) = 0
            p(i, 1) = salt*s(i, 1, j) - heat*t(i, 1, j)
        end do
        do k = levels, 1, -1
            do i = first, last
                w(i, k) = w(i, k + 1) - over_dx*(u(i + 1, k, j) - u(i, k, j)) &
                          - over_dy*(v(i, k, j + 1) - v(i, k, j))
            end do
        end do
        do k = 2, levels
            do i = first, last
                p(i, k) = p(i, k - 1) - heat*(t(i, k - 1, j) + t(i, k, j)) &
                          + salt*(s(i, k - 1, j) + s(i, k, j))
            end do
        end do
    end subroutine integrate_columns

    !> Of u at the corners north of a row, of v in the centres of the row, of T and S at v to the
    !> north.
    pure subroutine fluxes_north(nx, last_i, problem, over_dy, u, u_north, v, v_north, t, t_north, &
                                 s, s_north, flux, tracer_flux)
        integer, intent(in) :: nx, last_i
        type(ocean_problem_t), intent(in) :: problem
        real(dp), intent(in) :: over_dy
        real(dp), intent(in), dimension(first_i:last_i) :: u, u_north, v, v_north, t, t_north, s, &
            s_north
        real(dp), intent(inout), dimension(first_i:last_i, 2) :: flux, tracer_flux
        real(dp) :: viscous, diffusive
        integer :: i

        viscous = problem%viscosity*over_dy
        diffusive = problem%diffusivity*over_dy
        do i = 1, nx
            flux(i, 1) = 0.25_dp*(v_north(i - 1) + v_north(i))*(u(i) + u_north(i)) &
                         - viscous*(u_north(i) - u(i))
            flux(i, 2) = 0.25_dp*(v(i) + v_north(i))**2 - viscous*(v_north(i) - v(i))
            tracer_flux(i, 1) = 0.5_dp*v_north(i)*(t(i) + t_north(i)) &
                                - diffusive*(t_north(i) - t(i))
            tracer_flux(i, 2) = 0.5_dp*v_north(i)*(s(i) + s_north(i)) &
                                - diffusive*(s_north(i) - s(i))
        end do
    end subroutine fluxes_north

    !> u and v of one level. u_south becomes this row's u before the step. `open` is 1 where there is
    !> a level below and 0 at the bottom.
    pure subroutine advance_currents(nx, last_i, rows, problem, open, u_south, u, u_north, &
                                     u_below, v, v_north, v_below, w, w_south, p, p_south, &
                                     edge, faces, before_u, before_v, sum_u, sum_v, new)
        integer, intent(in) :: nx, last_i
        type(rows_t), intent(in) :: rows
        type(ocean_problem_t), intent(in) :: problem
        real(dp), intent(in) :: open
        real(dp), intent(in), dimension(first_i:last_i) :: u_north, u_below, v_north, v_below, w, &
            w_south, p, p_south
        real(dp), intent(inout), dimension(first_i:last_i) :: u_south, u, v, before_u, before_v, &
            sum_u, sum_v
        real(dp), intent(inout), dimension(first_i:last_i, 2) :: edge, faces, new
        real(dp) :: over_dx, over_dy, over_dz, nu_x, nu_y, nu_z, turn, now, then, quarter
        real(dp) :: g_u, g_v, west, east, north, lower
        integer :: i

        over_dx = 1/rows%dx
        over_dy = 1/rows%dy
        over_dz = 1/rows%dz
        nu_x = problem%viscosity*over_dx
        nu_y = problem%viscosity*over_dy
        nu_z = open*problem%viscosity_z*over_dz
        quarter = 0.25_dp*open
        turn = 0.25_dp*problem%coriolis
        now = rows%dt*rows%weight
        then = rows%dt*rows%weight_before
        do i = 1, nx
            west = 0.25_dp*(u(i - 1) + u(i))**2 - nu_x*(u(i) - u(i - 1))
            east = 0.25_dp*(u(i) + u(i + 1))**2 - nu_x*(u(i + 1) - u(i))
            north = 0.25_dp*(v_north(i - 1) + v_north(i))*(u(i) + u_north(i)) &
                    - nu_y*(u_north(i) - u(i))
            lower = quarter*(w(i - 1) + w(i))*(u(i) + u_below(i)) - nu_z*(u(i) - u_below(i))
            g_u = over_dx*(west - east + p(i - 1) - p(i)) + over_dy*(edge(i, 1) - north) &
                  + over_dz*(lower - faces(i, 1)) &
                  + turn*(v(i - 1) + v(i) + v_north(i - 1) + v_north(i))
            edge(i, 1) = north
            faces(i, 1) = lower
            new(i, 1) = u(i) + now*g_u + then*before_u(i)
            before_u(i) = g_u

            west = 0.25_dp*(u_south(i) + u(i))*(v(i - 1) + v(i)) - nu_x*(v(i) - v(i - 1))
            east = 0.25_dp*(u_south(i + 1) + u(i + 1))*(v(i) + v(i + 1)) - nu_x*(v(i + 1) - v(i))
            north = 0.25_dp*(v(i) + v_north(i))**2 - nu_y*(v_north(i) - v(i))
            lower = quarter*(w_south(i) + w(i))*(v(i) + v_below(i)) - nu_z*(v(i) - v_below(i))
            g_v = over_dx*(west - east) + over_dy*(edge(i, 2) - north + p_south(i) - p(i)) &
                  + over_dz*(lower - faces(i, 2)) &
                  - turn*(u_south(i) + u_south(i + 1) + u(i) + u(i + 1))
            edge(i, 2) = north
            faces(i, 2) = lower
            new(i, 2) = v(i) + now*g_v + then*before_v(i)
            before_v(i) = g_v
        end do
        u_south(nx + 1) = u(nx + 1)
        do i = 1, nx
            u_south(i) = u(i)
            u(i) = new(i, 1)
            v(i) = new(i, 2)
            sum_u(i) = sum_u(i) + new(i, 1)
            sum_v(i) = sum_v(i) + new(i, 2)
        end do
    end subroutine advance_currents

    !> T and S of one level.
    pure subroutine advance_tracers(nx, last_i, rows, problem, open, u, v_north, w, t, t_north, &
                                    t_below, s, s_north, s_below, edge, faces, before_t, &
                                    before_s, new)
        integer, intent(in) :: nx, last_i
        type(rows_t), intent(in) :: rows
        type(ocean_problem_t), intent(in) :: problem
        real(dp), intent(in) :: open
        real(dp), intent(in), dimension(first_i:last_i) :: u, v_north, w, t_north, t_below, &
            s_north, s_below
        real(dp), intent(inout), dimension(first_i:last_i) :: t, s, before_t, before_s
        real(dp), intent(inout), dimension(first_i:last_i, 2) :: edge, faces, new
        real(dp) :: over_dx, over_dy, over_dz, kappa_x, kappa_y, kappa_z, now, then, half
        real(dp) :: g, west, east, north, lower
        integer :: i

        over_dx = 1/rows%dx
        over_dy = 1/rows%dy
        over_dz = 1/rows%dz
        kappa_x = problem%diffusivity*over_dx
        kappa_y = problem%diffusivity*over_dy
        kappa_z = open*problem%diffusivity_z*over_dz
        half = 0.5_dp*open
        now = rows%dt*rows%weight
        then = rows%dt*rows%weight_before
        do i = 1, nx
            west = 0.5_dp*u(i)*(t(i - 1) + t(i)) - kappa_x*(t(i) - t(i - 1))
            east = 0.5_dp*u(i + 1)*(t(i) + t(i + 1)) - kappa_x*(t(i + 1) - t(i))
            north = 0.5_dp*v_north(i)*(t(i) + t_north(i)) - kappa_y*(t_north(i) - t(i))
            lower = half*w(i)*(t(i) + t_below(i)) - kappa_z*(t(i) - t_below(i))
            g = over_dx*(west - east) + over_dy*(edge(i, 1) - north) + over_dz*(lower - faces(i, 1))
            edge(i, 1) = north
            faces(i, 1) = lower
            new(i, 1) = t(i) + now*g + then*before_t(i)
            before_t(i) = g

            west = 0.5_dp*u(i)*(s(i - 1) + s(i)) - kappa_x*(s(i) - s(i - 1))
            east = 0.5_dp*u(i + 1)*(s(i) + s(i + 1)) - kappa_x*(s(i + 1) - s(i))
            north = 0.5_dp*v_north(i)*(s(i) + s_north(i)) - kappa_y*(s_north(i) - s(i))
            lower = half*w(i)*(s(i) + s_below(i)) - kappa_z*(s(i) - s_below(i))
            g = over_dx*(west - east) + over_dy*(edge(i, 2) - north) + over_dz*(lower - faces(i, 2))
            edge(i, 2) = north
            faces(i, 2) = lower
            new(i, 2) = s(i) + now*g + then*before_s(i)
            before_s(i) = g
        end do
        do i = 1, nx
            t(i) = new(i, 1)
            s(i) = new(i, 2)
        end do
    end subroutine advance_tracers

end module ocean_dynamics
