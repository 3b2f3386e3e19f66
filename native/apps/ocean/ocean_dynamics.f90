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
!> Exported: `fields_t`; `rows_t`, what rows share; `begin_rows`, then `advance_row` from south to
!> north. Nothing is collective. Fields are u, v, T, S in this order, with right ghosts, one wide.
module ocean_dynamics

    use bl_kinds, only: dp
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
        real(dp), allocatable :: w(:, :), p(:, :), w_south(:, :), p_south(:, :)
        !> u of the row to the south, before its step.
        real(dp), allocatable :: u_south(:, :)
        !> Fluxes of the four fields through the southern faces of this row and of the next, by
        !> level, which change places from row to row.
        real(dp), allocatable :: edge(:, :, :, :)
        integer :: south = 1
    end type rows_t

contains

    !> Prepares the southern edge of row 1.
    subroutine begin_rows(rows, problem, x)
        type(rows_t), intent(inout) :: rows
        type(ocean_problem_t), intent(in) :: problem
        type(field_t), intent(in) :: x(4)
        integer :: k

        if (.not. allocated(rows%w)) then
            associate (last => rows%last_i, nz => rows%levels)
                allocate (rows%w(first_i:last, nz + 1), rows%w_south(first_i:last, nz + 1), &
                          rows%p(first_i:last, nz), rows%p_south(first_i:last, nz), &
                          rows%u_south(first_i:last, nz), rows%edge(first_i:last, 4, nz, 2), &
                          source=0.0_dp)
            end associate
        end if
        call integrate(rows, problem, x, 0)
        rows%u_south = x(1)%values(:, :, 0)
        rows%south = 1
        do k = 1, rows%levels
            call fluxes_north(rows%nx, rows%last_i, problem, 1/rows%dy, &
                              x(1)%values(:, k, 0), x(1)%values(:, k, 1), &
                              x(2)%values(:, k, 0), x(2)%values(:, k, 1), &
                              x(3)%values(:, k, 0), x(3)%values(:, k, 1), &
                              x(4)%values(:, k, 0), x(4)%values(:, k, 1), rows%edge(:, :, k, 1))
        end do
    end subroutine begin_rows

    !> Advances row j by one step, in place, but for the lid's pressure. `before` holds the
    !> tendencies of the step before and gets the present ones. `sum_u` and `sum_v` become the sums
    !> over depth.
    subroutine advance_row(rows, problem, j, x, before, sum_u, sum_v)
        type(rows_t), intent(inout) :: rows
        type(ocean_problem_t), intent(in) :: problem
        integer, intent(in) :: j
        type(field_t), intent(in) :: x(4), before(4)
        real(dp), intent(inout), dimension(first_i:rows%last_i) :: sum_u, sum_v
        real(dp), dimension(first_i:rows%last_i, 4) :: along
        real(dp) :: faces(first_i:rows%last_i, 4, 2)
        integer :: k, upper, lower, north

        call integrate(rows, problem, x, j)
        sum_u = 0
        sum_v = 0
        faces(:, :, 1) = 0
        upper = 1
        north = 3 - rows%south
        associate (u => x(1)%values, v => x(2)%values, t => x(3)%values, s => x(4)%values, &
                   nx => rows%nx, last => rows%last_i, edge => rows%edge)
            do k = 1, rows%levels
                lower = 3 - upper
                call fluxes_along(nx, last, problem, 1/rows%dx, rows%u_south(:, k), u(:, k, j), &
                                  v(:, k, j), t(:, k, j), s(:, k, j), along)
                call fluxes_north(nx, last, problem, 1/rows%dy, u(:, k, j), u(:, k, j + 1), &
                                  v(:, k, j), v(:, k, j + 1), t(:, k, j), t(:, k, j + 1), &
                                  s(:, k, j), s(:, k, j + 1), edge(:, :, k, north))
                if (k < rows%levels) then
                    call fluxes_up(nx, last, problem, 1/rows%dz, rows%w_south(:, k + 1), &
                                   rows%w(:, k + 1), u(:, k, j), u(:, k + 1, j), v(:, k, j), &
                                   v(:, k + 1, j), t(:, k, j), t(:, k + 1, j), s(:, k, j), &
                                   s(:, k + 1, j), faces(:, :, lower))
                else
                    faces(:, :, lower) = 0
                end if
                call advance_currents(rows, problem%coriolis, rows%u_south(:, k), u(:, k, j), &
                                      v(:, k, j), v(:, k, j + 1), rows%p_south(:, k), &
                                      rows%p(:, k), along, edge(:, :, k, rows%south), &
                                      edge(:, :, k, north), faces(:, :, upper), &
                                      faces(:, :, lower), before(1)%values(:, k, j), &
                                      before(2)%values(:, k, j), sum_u, sum_v)
                call advance_tracers(rows, along, edge(:, :, k, rows%south), &
                                     edge(:, :, k, north), faces(:, :, upper), &
                                     faces(:, :, lower), t(:, k, j), s(:, k, j), &
                                     before(3)%values(:, k, j), before(4)%values(:, k, j))
                upper = lower
            end do
        end associate
        rows%south = north
    end subroutine advance_row

    !> Vertical speed and pressure of row j; those of the row before are kept.
    subroutine integrate(rows, problem, x, j)
        type(rows_t), intent(inout) :: rows
        type(ocean_problem_t), intent(in) :: problem
        type(field_t), intent(in) :: x(4)
        integer, intent(in) :: j
        real(dp), allocatable :: kept(:, :)

        call move_alloc(rows%w_south, kept)
        call move_alloc(rows%w, rows%w_south)
        call move_alloc(kept, rows%w)
        call move_alloc(rows%p_south, kept)
        call move_alloc(rows%p, rows%p_south)
        call move_alloc(kept, rows%p)
        call integrate_columns(rows%nx, rows%last_i, rows%levels, rows%dz/rows%dx, &
                               rows%dz/rows%dy, rows%dz*problem%expansion/2, &
                               rows%dz*problem%contraction/2, x(1)%values(:, :, j), &
                               x(2)%values(:, :, j), x(2)%values(:, :, j + 1), &
                               x(3)%values(:, :, j), x(4)%values(:, :, j), rows%w, rows%p)
    end subroutine integrate

    pure subroutine integrate_columns(nx, last_i, levels, over_dx, over_dy, heat, salt, u, v, &
                                      v_north, t, s, w, p)
        integer, intent(in) :: nx, last_i, levels
        real(dp), intent(in) :: over_dx, over_dy, heat, salt
        real(dp), intent(in), dimension(first_i:last_i, levels) :: u, v, v_north, t, s
        real(dp), intent(inout) :: w(first_i:last_i, levels + 1), p(first_i:last_i, levels)
        integer :: i, k

        do i = 0, nx
            w(i, levels + 1) = 0
            p(i, 1) = salt*s(i, 1) - heat*t(i, 1)
        end do
        do k = levels, 1, -1
            do i = 0, nx
                w(i, k) = w(i, k + 1) - over_dx*(u(i + 1, k) - u(i, k)) &
                          - over_dy*(v_north(i, k) - v(i, k))
            end do
        end do
        do k = 2, levels
            do i = 0, nx
                p(i, k) = p(i, k - 1) - heat*(t(i, k - 1) + t(i, k)) &
                          + salt*(s(i, k - 1) + s(i, k))
            end do
        end do
    end subroutine integrate_columns

    !> Of u in the centres of cells 0 to nx; of v at the corners, T and S at u, west of cells 1 to
    !> nx + 1.
    pure subroutine fluxes_along(nx, last_i, problem, over_dx, u_south, u, v, t, s, flux)
        integer, intent(in) :: nx, last_i
        type(ocean_problem_t), intent(in) :: problem
        real(dp), intent(in) :: over_dx
        real(dp), intent(in), dimension(first_i:last_i) :: u_south, u, v, t, s
        real(dp), intent(inout) :: flux(first_i:last_i, 4)
        real(dp) :: viscous, diffusive
        integer :: i

        viscous = problem%viscosity*over_dx
        diffusive = problem%diffusivity*over_dx
        do i = 0, nx
            flux(i, 1) = 0.25_dp*(u(i) + u(i + 1))**2 - viscous*(u(i + 1) - u(i))
        end do
        do i = 1, nx + 1
            flux(i, 2) = 0.25_dp*(u_south(i) + u(i))*(v(i - 1) + v(i)) - viscous*(v(i) - v(i - 1))
            flux(i, 3) = 0.5_dp*u(i)*(t(i - 1) + t(i)) - diffusive*(t(i) - t(i - 1))
            flux(i, 4) = 0.5_dp*u(i)*(s(i - 1) + s(i)) - diffusive*(s(i) - s(i - 1))
        end do
    end subroutine fluxes_along

    !> Of u at the corners north of a row, of v in the centres of the row, of T and S at v to the
    !> north.
    pure subroutine fluxes_north(nx, last_i, problem, over_dy, u, u_north, v, v_north, t, t_north, &
                                 s, s_north, flux)
        integer, intent(in) :: nx, last_i
        type(ocean_problem_t), intent(in) :: problem
        real(dp), intent(in) :: over_dy
        real(dp), intent(in), dimension(first_i:last_i) :: u, u_north, v, v_north, t, t_north, s, &
            s_north
        real(dp), intent(inout) :: flux(first_i:last_i, 4)
        real(dp) :: viscous, diffusive
        integer :: i

        viscous = problem%viscosity*over_dy
        diffusive = problem%diffusivity*over_dy
        do i = 1, nx
            flux(i, 1) = 0.25_dp*(v_north(i - 1) + v_north(i))*(u(i) + u_north(i)) &
                         - viscous*(u_north(i) - u(i))
            flux(i, 2) = 0.25_dp*(v(i) + v_north(i))**2 - viscous*(v_north(i) - v(i))
            flux(i, 3) = 0.5_dp*v_north(i)*(t(i) + t_north(i)) - diffusive*(t_north(i) - t(i))
            flux(i, 4) = 0.5_dp*v_north(i)*(s(i) + s_north(i)) - diffusive*(s_north(i) - s(i))
        end do
    end subroutine fluxes_north

    !> Through the faces between a level and the one below; w is on these faces.
    pure subroutine fluxes_up(nx, last_i, problem, over_dz, w_south, w, u, u_below, v, v_below, t, &
                              t_below, s, s_below, flux)
        integer, intent(in) :: nx, last_i
        type(ocean_problem_t), intent(in) :: problem
        real(dp), intent(in) :: over_dz
        real(dp), intent(in), dimension(first_i:last_i) :: w_south, w, u, u_below, v, v_below, t, &
            t_below, s, s_below
        real(dp), intent(inout) :: flux(first_i:last_i, 4)
        real(dp) :: viscous, diffusive
        integer :: i

        viscous = problem%viscosity_z*over_dz
        diffusive = problem%diffusivity_z*over_dz
        do i = 1, nx
            flux(i, 1) = 0.25_dp*(w(i - 1) + w(i))*(u(i) + u_below(i)) - viscous*(u(i) - u_below(i))
            flux(i, 2) = 0.25_dp*(w_south(i) + w(i))*(v(i) + v_below(i)) &
                         - viscous*(v(i) - v_below(i))
            flux(i, 3) = 0.5_dp*w(i)*(t(i) + t_below(i)) - diffusive*(t(i) - t_below(i))
            flux(i, 4) = 0.5_dp*w(i)*(s(i) + s_below(i)) - diffusive*(s(i) - s_below(i))
        end do
    end subroutine fluxes_up

    !> u_south becomes this row's u before the step.
    pure subroutine advance_currents(rows, coriolis, u_south, u, v, v_north, p_south, p, along, &
                                     south, north, upper, lower, before_u, before_v, sum_u, sum_v)
        type(rows_t), intent(in) :: rows
        real(dp), intent(in) :: coriolis
        real(dp), intent(in), dimension(first_i:rows%last_i) :: v_north, p_south, p
        real(dp), intent(in), dimension(first_i:rows%last_i, 4) :: along, south, north, upper, lower
        real(dp), intent(inout), dimension(first_i:rows%last_i) :: u_south, u, v, before_u, &
            before_v, sum_u, sum_v
        real(dp), dimension(rows%nx) :: new_u, new_v
        real(dp) :: over_dx, over_dy, over_dz, turn, now, then, g_u, g_v
        integer :: i

        over_dx = 1/rows%dx
        over_dy = 1/rows%dy
        over_dz = 1/rows%dz
        turn = 0.25_dp*coriolis
        now = rows%dt*rows%weight
        then = rows%dt*rows%weight_before
        do i = 1, rows%nx
            g_u = over_dx*(along(i - 1, 1) - along(i, 1) + p(i - 1) - p(i)) &
                  + over_dy*(south(i, 1) - north(i, 1)) + over_dz*(lower(i, 1) - upper(i, 1)) &
                  + turn*(v(i - 1) + v(i) + v_north(i - 1) + v_north(i))
            g_v = over_dx*(along(i, 2) - along(i + 1, 2)) &
                  + over_dy*(south(i, 2) - north(i, 2) + p_south(i) - p(i)) &
                  + over_dz*(lower(i, 2) - upper(i, 2)) &
                  - turn*(u_south(i) + u_south(i + 1) + u(i) + u(i + 1))
            new_u(i) = u(i) + now*g_u + then*before_u(i)
            new_v(i) = v(i) + now*g_v + then*before_v(i)
            before_u(i) = g_u
            before_v(i) = g_v
        end do
        u_south(rows%nx + 1) = u(rows%nx + 1)
        do i = 1, rows%nx
            u_south(i) = u(i)
            u(i) = new_u(i)
            v(i) = new_v(i)
            sum_u(i) = sum_u(i) + new_u(i)
            sum_v(i) = sum_v(i) + new_v(i)
        end do
    end subroutine advance_currents

    pure subroutine advance_tracers(rows, along, south, north, upper, lower, t, s, before_t, &
                                    before_s)
        type(rows_t), intent(in) :: rows
        real(dp), intent(in), dimension(first_i:rows%last_i, 4) :: along, south, north, upper, lower
        real(dp), intent(inout), dimension(first_i:rows%last_i) :: t, s, before_t, before_s
        real(dp) :: over_dx, over_dy, over_dz, now, then, g_t, g_s
        integer :: i

        over_dx = 1/rows%dx
        over_dy = 1/rows%dy
        over_dz = 1/rows%dz
        now = rows%dt*rows%weight
        then = rows%dt*rows%weight_before
        do i = 1, rows%nx
            g_t = over_dx*(along(i, 3) - along(i + 1, 3)) + over_dy*(south(i, 3) - north(i, 3)) &
                  + over_dz*(lower(i, 3) - upper(i, 3))
            g_s = over_dx*(along(i, 4) - along(i + 1, 4)) + over_dy*(south(i, 4) - north(i, 4)) &
                  + over_dz*(lower(i, 4) - upper(i, 4))
            t(i) = t(i) + now*g_t + then*before_t(i)
            s(i) = s(i) + now*g_s + then*before_s(i)
            before_t(i) = g_t
            before_s(i) = g_s
        end do
    end subroutine advance_tracers

end module ocean_dynamics
