!> Explicit step of currents, temperature and salinity: one row of columns (all levels of one y).
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
!> left to ocean_pressure.
!>
!> A tendency is a sum over the six neighbours. Through a face with the outward speed U between
!> values X and X' there goes U (X + X')/2 - kappa (X' - X)/d, and what leaves a cell with its own
!> value cancels: the U of its faces add up to nothing, since w comes from that. So G = sum of
!> (kappa/d - U/2)/d X' over the neighbours, less the sum of kappa/d^2 times X. Both cells of a face
!> use the same U, so that what leaves one enters the other, but for rounding. At lid and bottom the
!> neighbour is the level itself. At the lid, where iterations for its pressure leave some w, that
!> w is taken with its sign turned: so the flux through it drops out and the divergence remains.
!>
!> Sweeps over rows leave the new row j where the old row j - 1 was, from south to north, or j + 1,
!> from north to south: the row behind. What a row needs of the old ones is there without copies,
!> and no more memory is touched than if it were written in place. Before a row is used the first
!> time its currents are corrected by the gradient of the lid's pressure, which is left from the
!> step before.
!>
!> The currents on the east and the north faces of a process's cells, which are its neighbours', it
!> computes as well, so that the sums over depth need no messages; that takes ghosts two wide. w is
!> integrated where it is needed but in ghosts, which get it from the neighbours.
!>
!> Exported: `rows_t`, what rows share, and `make_rows`; `correct_row`, `integrate_row`,
!> `integrate_edge`, `receive_row`, `advance_row`, `advance_north`. Nothing is collective. A slab is a
!> row of columns of all fields: slab(first_i:last_i, field, level), fields being u, v, T, S.
module ocean_dynamics

    use bl_kinds, only: dp, i8
    use bl_memory, only: aligned
    use ocean_grid, only: close_level, fields, first_i, line
    use ocean_problem, only: ocean_problem_t

    implicit none(type, external)
    private

    public :: rows_t, make_rows, correct_row, integrate_row, integrate_edge, receive_row, &
              advance_row, advance_north

    type :: rows_t
        integer :: nx = 0, last_i = 0, levels = 0
        !> Whether a row's ghosts are its own cells.
        logical :: closed = .false.
        !> Of `fetch`.
        real(dp) :: found = 0
        real(dp) :: dx = 0, dy = 0, dz = 0, dt = 0
        !> Weights of the tendency and of the one before.
        real(dp) :: weight = 1, weight_before = 0
        !> w on the upper faces in units of 2 dz, that of the lid with its sign turned, and p in the
        !> centres: of two rows, odd and even ones.
        real(dp), pointer, contiguous :: w(:, :, :) => null(), p(:, :, :) => null()
    end type rows_t

    !> Weights of what a cell gets from its neighbours.
    type :: weights_t
        !> Of u on a face along x, v along y, w along z: a half or, where two speeds are added, a
        !> quarter, by the cells' size.
        real(dp) :: x = 0, y = 0, z = 0
        !> Of what diffuses through a face along x, y, z; their sum over all six faces.
        real(dp) :: mix_x = 0, mix_y = 0, mix_z = 0, mix = 0
        !> Of the tendency now and of the one before.
        real(dp) :: now = 0, before = 0
    end type weights_t

contains

    subroutine make_rows(rows)
        type(rows_t), intent(inout) :: rows
        real(dp), pointer, contiguous :: space(:)
        integer(i8) :: row

        row = rows%last_i - first_i + 1
        space => aligned(2*row*(rows%levels + 1))
        rows%w(first_i:rows%last_i, 1:rows%levels + 1, 0:1) => space
        space => aligned(4*row*rows%levels)
        rows%p(first_i:rows%last_i, 1:rows%levels, 0:3) => space
    end subroutine make_rows

    !> Subtracts the same from the currents of all levels of row j, and integrates its pressure. It
    !> is the first to need the slab, and fetches it.
    subroutine correct_row(rows, problem, j, change_u, change_v, slab)
        type(rows_t), intent(inout) :: rows
        type(ocean_problem_t), intent(in) :: problem
        integer, intent(in) :: j
        real(dp), intent(in), dimension(first_i:rows%last_i) :: change_u, change_v
        real(dp), intent(inout) :: slab(first_i:rows%last_i, fields, rows%levels)
        call fetch(size(slab), slab, rows%found)
        call correct_columns(rows%last_i, rows%levels, rows%dz*problem%expansion/2, &
                             rows%dz*problem%contraction/2, change_u, change_v, slab, &
                             rows%p(:, :, modulo(j, 4)))
    end subroutine correct_row

    pure subroutine correct_columns(last_i, levels, heat, salt, change_u, change_v, slab, p)
        integer, intent(in) :: last_i, levels
        real(dp), intent(in) :: heat, salt
        real(dp), intent(in), dimension(first_i:last_i) :: change_u, change_v
        real(dp), intent(inout) :: slab(first_i:last_i, fields, levels), p(first_i:last_i, levels)
        real(dp) :: half(first_i:last_i), weight
        integer :: i, k

        half = 0
        do k = 1, levels
            do i = first_i, last_i
                slab(i, 1, k) = slab(i, 1, k) - change_u(i)
            end do
            do i = first_i, last_i
                slab(i, 2, k) = slab(i, 2, k) - change_v(i)
            end do
            do i = first_i, last_i
                weight = salt*slab(i, 4, k) - heat*slab(i, 3, k)
                p(i, k) = half(i) + weight
                half(i) = p(i, k) + weight
            end do
        end do
    end subroutine correct_columns

    !> Vertical speed of row j, whose currents and those to the north are right, but for ghosts, which
    !> `received` holds where they are not the row's own cells.
    subroutine integrate_row(rows, j, slab, north, received)
        type(rows_t), intent(inout) :: rows
        integer, intent(in) :: j
        real(dp), intent(in), dimension(first_i:rows%last_i, fields, rows%levels) :: slab, north
        real(dp), intent(in) :: received(first_i:rows%last_i, rows%levels)
        integer :: k
        associate (nx => rows%nx, row => modulo(j, 2))
            call integrate_columns(rows%last_i, rows%levels, 0.5_dp/rows%dx, 0.5_dp/rows%dy, slab, &
                                   north, rows%w(:, :, row))
            do k = 1, rows%levels
                if (rows%closed) then
                    rows%w(0, k, row) = rows%w(nx, k, row)
                    rows%w(nx + 1, k, row) = rows%w(1, k, row)
                else
                    rows%w(0, k, row) = received(0, k)
                    rows%w(nx + 1, k, row) = received(nx + 1, k)
                end if
            end do
        end associate
    end subroutine integrate_row

    !> Vertical speed of a row of ghosts.
    pure subroutine receive_row(rows, j, received)
        type(rows_t), intent(inout) :: rows
        integer, intent(in) :: j
        real(dp), intent(in) :: received(first_i:rows%last_i, rows%levels)
        rows%w(:, :rows%levels, modulo(j, 2)) = received
    end subroutine receive_row

    !> Vertical speed of columns `first` to `last` of a row, for the neighbours. `shift` is what of the
    !> speed through each level is still to be corrected by the lid's pressure.
    pure subroutine integrate_edge(rows, first, last, slab, north, shift, w)
        type(rows_t), intent(in) :: rows
        integer, intent(in) :: first, last
        real(dp), intent(in), dimension(first_i:rows%last_i, fields, rows%levels) :: slab, north
        real(dp), intent(in) :: shift(first_i:rows%last_i)
        real(dp), intent(inout) :: w(first_i:rows%last_i, rows%levels)
        real(dp) :: over_dx, over_dy, below(first:last)
        integer :: i, k

        over_dx = 0.5_dp/rows%dx
        over_dy = 0.5_dp/rows%dy
        below = 0
        do k = rows%levels, 1, -1
            do i = first, last
                below(i) = below(i) - over_dx*(slab(i + 1, 1, k) - slab(i, 1, k)) &
                           - over_dy*(north(i, 2, k) - slab(i, 2, k)) + shift(i)
                w(i, k) = below(i)
            end do
        end do
        w(first:last, 1) = -w(first:last, 1)
    end subroutine integrate_edge

    !> Begins before the ghosts, where lines of the caches do.
    pure subroutine integrate_columns(last_i, levels, over_dx, over_dy, slab, north, w)
        integer, intent(in) :: last_i, levels
        real(dp), intent(in) :: over_dx, over_dy
        real(dp), intent(in), dimension(first_i:last_i, fields, levels) :: slab, north
        real(dp), intent(inout) :: w(first_i:last_i, levels + 1)
        integer :: i, k

        do k = levels, 1, -1
            do i = first_i, last_i - 1
                w(i, k) = w(i, k + 1) - over_dx*(slab(i + 1, 1, k) - slab(i, 1, k)) &
                          - over_dy*(north(i, 2, k) - slab(i, 2, k))
            end do
        end do
        do i = first_i, last_i
            w(i, 1) = -w(i, 1)
        end do
    end subroutine integrate_columns

    !> Advances row j by one step, from the old slabs of the row and of its neighbours behind and
    !> ahead, but for the lid's pressure, and u on the east face with it. The new slab replaces the one
    !> behind, which is that to the south if `north_ahead`. `before` and `east` hold the tendencies of
    !> the step before and get the present ones. `sum_u` and `sum_v` become the sums over depth.
    subroutine advance_row(rows, problem, j, north_ahead, slab, behind, ahead, before, east, &
                           sum_u, sum_v)
        type(rows_t), intent(inout) :: rows
        type(ocean_problem_t), intent(in) :: problem
        integer, intent(in) :: j
        logical, intent(in) :: north_ahead
        real(dp), intent(in), dimension(first_i:rows%last_i, fields, rows%levels) :: slab, ahead
        real(dp), intent(inout) :: behind(first_i:rows%last_i, fields, rows%levels)
        real(dp), intent(inout) :: before(rows%nx, fields, rows%levels), east(rows%levels)
        real(dp), intent(inout), dimension(first_i:rows%last_i) :: sum_u, sum_v

        call fetch(size(before), before, rows%found)
        call advance_levels(rows%nx, rows%last_i, rows%levels, rows%closed, north_ahead, &
                            weights_of_currents(rows, problem, north_ahead), &
                            new_weights(rows, sign_of(north_ahead), 0.5_dp, problem%diffusivity, &
                                        problem%diffusivity_z), &
                            problem%coriolis/4, 1/rows%dx, 1/rows%dy, slab, behind, ahead, &
                            rows%w(:, :, modulo(j - 1, 2)), rows%w(:, :, modulo(j, 2)), &
                            rows%p(:, :, modulo(j - 1, 4)), rows%p(:, :, modulo(j, 4)), before, &
                            east, sum_u, sum_v)
    end subroutine advance_row

    !> Advances v on the north faces of the last row, those to the south of row j, in the same way.
    subroutine advance_north(rows, problem, j, north_ahead, slab, behind, ahead, before, sum_v)
        type(rows_t), intent(inout) :: rows
        type(ocean_problem_t), intent(in) :: problem
        integer, intent(in) :: j
        logical, intent(in) :: north_ahead
        real(dp), intent(in), dimension(first_i:rows%last_i, fields, rows%levels) :: slab, ahead
        real(dp), intent(inout) :: behind(first_i:rows%last_i, fields, rows%levels)
        real(dp), intent(inout) :: before(rows%nx, rows%levels), sum_v(first_i:rows%last_i)
        real(dp) :: south(first_i:rows%last_i)
        integer :: k

        sum_v = 0
        associate (w => rows%w(:, :, modulo(j, 2)), w_south => rows%w(:, :, modulo(j - 1, 2)), &
                   p => rows%p(:, :, modulo(j, 4)), p_south => rows%p(:, :, modulo(j - 1, 4)))
            do k = 1, rows%levels
                south = merge(behind(:, 1, k), ahead(:, 1, k), north_ahead)
                call advance_v(rows%nx, rows%last_i, &
                               weights_of_currents(rows, problem, north_ahead), &
                               problem%coriolis/4, 1/rows%dy, slab(:, 2, k), ahead(:, 2, k), &
                               slab(:, 2, max(k - 1, 1)), slab(:, 2, min(k + 1, rows%levels)), &
                               slab(:, 1, k), south, w(:, k), w(:, k + 1), w_south(:, k), &
                               w_south(:, k + 1), p(:, k), p_south(:, k), before(:, k), &
                               behind(:, 2, k), sum_v)
            end do
        end associate
    end subroutine advance_north

    pure real(dp) function sign_of(north_ahead)
        logical, intent(in) :: north_ahead
        sign_of = merge(1.0_dp, -1.0_dp, north_ahead)
    end function sign_of

    pure type(weights_t) function weights_of_currents(rows, problem, north_ahead) result(weights)
        type(rows_t), intent(in) :: rows
        type(ocean_problem_t), intent(in) :: problem
        logical, intent(in) :: north_ahead
        weights = new_weights(rows, sign_of(north_ahead), 0.25_dp, problem%viscosity, &
                              problem%viscosity_z)
    end function weights_of_currents

    !> Brings numbers from memory into the second-level cache by reading one of each line, from the
    !> first to the last with nothing between. It takes less time than to compute with the numbers
    !> as they come, several rows side by side or one after the other, or to read or prefetch pieces
    !> of them a level ahead. One reading waits for the other; eight at once were slower. What is
    !> found is of no use, but must be kept, or the compiler would read nothing.
    pure subroutine fetch(many, values, found)
        integer, intent(in) :: many
        real(dp), intent(in) :: values(line, many/line)
        real(dp), intent(inout) :: found
        integer :: i

        do i = 1, size(values, 2)
            found = max(found, values(1, i))
        end do
    end subroutine fetch

    pure type(weights_t) function new_weights(rows, direction, share, mixing, mixing_z) &
        result(weights)
        type(rows_t), intent(in) :: rows
        real(dp), intent(in) :: direction, share, mixing, mixing_z
        weights%x = share/rows%dx
        weights%y = direction*share/rows%dy
        weights%z = 2*share
        weights%mix_x = mixing/rows%dx**2
        weights%mix_y = mixing/rows%dy**2
        weights%mix_z = mixing_z/rows%dz**2
        weights%mix = 2*(weights%mix_x + weights%mix_y + weights%mix_z)
        weights%now = rows%dt*rows%weight
        weights%before = rows%dt*rows%weight_before
    end function new_weights

    !> Where one field's old values of the row behind are needed by others, these come first.
    subroutine advance_levels(nx, last_i, levels, closed, north_ahead, currents, tracers, turn, &
                              over_dx, over_dy, slab, behind, ahead, w_south, w, p_south, &
                              p, before, east, sum_u, sum_v)
        integer, intent(in) :: nx, last_i, levels
        logical, intent(in) :: closed, north_ahead
        type(weights_t), intent(in) :: currents, tracers
        real(dp), intent(in) :: turn, over_dx, over_dy
        real(dp), intent(in), dimension(first_i:last_i, fields, levels) :: slab, ahead
        real(dp), intent(inout) :: behind(first_i:last_i, fields, levels)
        real(dp), intent(in), dimension(first_i:last_i, levels + 1) :: w_south, w
        real(dp), intent(in), dimension(first_i:last_i, levels) :: p_south, p
        real(dp), intent(inout) :: before(nx, fields, levels), east(levels)
        real(dp), intent(inout), dimension(first_i:last_i) :: sum_u, sum_v
        integer :: k, above, below

        sum_u = 0
        sum_v = 0
        do k = 1, levels
            above = max(k - 1, 1)
            below = min(k + 1, levels)
            if (north_ahead) then
                call advance_tracers(nx, last_i, tracers, slab(:, 1, k), slab(:, 2, k), &
                                     ahead(:, 2, k), w(:, k), w(:, k + 1), slab(:, 3:4, k), &
                                     ahead(:, 3:4, k), slab(:, 3:4, above), slab(:, 3:4, below), &
                                     before(:, 3:4, k), behind(:, 3:4, k))
                call advance_v(nx, last_i, currents, turn, over_dy, slab(:, 2, k), &
                               ahead(:, 2, k), slab(:, 2, above), slab(:, 2, below), &
                               slab(:, 1, k), behind(:, 1, k), w(:, k), w(:, k + 1), &
                               w_south(:, k), w_south(:, k + 1), p(:, k), p_south(:, k), &
                               before(:, 2, k), behind(:, 2, k), sum_v)
                call advance_all_u(slab(:, 2, k), ahead(:, 2, k))
            else
                call advance_tracers(nx, last_i, tracers, slab(:, 1, k), behind(:, 2, k), &
                                     slab(:, 2, k), w(:, k), w(:, k + 1), slab(:, 3:4, k), &
                                     ahead(:, 3:4, k), slab(:, 3:4, above), slab(:, 3:4, below), &
                                     before(:, 3:4, k), behind(:, 3:4, k))
                call advance_all_u(behind(:, 2, k), slab(:, 2, k))
                call advance_v(nx, last_i, currents, turn, over_dy, slab(:, 2, k), &
                               ahead(:, 2, k), slab(:, 2, above), slab(:, 2, below), &
                               slab(:, 1, k), ahead(:, 1, k), w(:, k), w(:, k + 1), &
                               w_south(:, k), w_south(:, k + 1), p(:, k), p_south(:, k), &
                               before(:, 2, k), behind(:, 2, k), sum_v)
            end if
            if (closed) call close_level(nx, last_i, behind(:, :, k))
        end do

    contains

        !> On the own west faces, then on the east face.
        subroutine advance_all_u(v_behind, v_ahead)
            real(dp), intent(in), dimension(first_i:last_i) :: v_behind, v_ahead
            call advance_u(1, nx, last_i, currents, turn, over_dx, slab(:, 1, k), ahead(:, 1, k), &
                           slab(:, 1, above), slab(:, 1, below), v_behind, v_ahead, w(:, k), &
                           w(:, k + 1), p(:, k), before(:, 1, k), behind(:, 1, k), sum_u)
            call advance_u(nx + 1, nx + 1, last_i, currents, turn, over_dx, slab(:, 1, k), &
                           ahead(:, 1, k), slab(:, 1, above), slab(:, 1, below), v_behind, &
                           v_ahead, w(:, k), w(:, k + 1), p(:, k), east(k:k), behind(:, 1, k), &
                           sum_u)
        end subroutine advance_all_u
    end subroutine advance_levels

    !> u of one level, of columns `first` to `last`. v on the faces towards the row behind, and ahead.
    pure subroutine advance_u(first, last, last_i, c, turn, over_dx, u, u_ahead, u_above, u_below, &
                              v_behind, v_ahead, w, w_below, p, before, behind, total)
        integer, intent(in) :: first, last, last_i
        type(weights_t), intent(in) :: c
        real(dp), intent(in) :: turn, over_dx
        real(dp), intent(in), dimension(first_i:last_i) :: u, u_ahead, u_above, u_below, v_behind, &
            v_ahead, w, w_below, p
        real(dp), intent(inout) :: before(first:last)
        real(dp), intent(inout), dimension(first_i:last_i) :: behind, total
        real(dp) :: g, v_here, v_there
        integer :: i

        do i = first, last
            v_here = v_behind(i - 1) + v_behind(i)
            v_there = v_ahead(i - 1) + v_ahead(i)
            g = (c%mix_x + c%x*(u(i - 1) + u(i)))*u(i - 1) &
                + (c%mix_x - c%x*(u(i) + u(i + 1)))*u(i + 1) &
                + (c%mix_y + c%y*v_here)*behind(i) + (c%mix_y - c%y*v_there)*u_ahead(i) &
                + (c%mix_z + c%z*(w_below(i - 1) + w_below(i)))*u_below(i) &
                + (c%mix_z - c%z*(w(i - 1) + w(i)))*u_above(i) - c%mix*u(i) &
                + turn*(v_here + v_there) + over_dx*(p(i - 1) - p(i))
            behind(i) = u(i) + c%now*g + c%before*before(i)
            before(i) = g
            total(i) = total(i) + behind(i)
        end do
    end subroutine advance_u

    !> v of one level.
    pure subroutine advance_v(nx, last_i, c, turn, over_dy, v, v_ahead, v_above, v_below, u, &
                              u_south, w, w_below, w_south, w_south_below, p, p_south, before, &
                              behind, total)
        integer, intent(in) :: nx, last_i
        type(weights_t), intent(in) :: c
        real(dp), intent(in) :: turn, over_dy
        real(dp), intent(in), dimension(first_i:last_i) :: v, v_ahead, v_above, v_below, u, &
            u_south, w, w_below, w_south, w_south_below, p, p_south
        real(dp), intent(inout) :: before(nx)
        real(dp), intent(inout), dimension(first_i:last_i) :: behind, total
        real(dp) :: g, u_west, u_east
        integer :: i

        do i = 1, nx
            u_west = u_south(i) + u(i)
            u_east = u_south(i + 1) + u(i + 1)
            g = (c%mix_x + c%x*u_west)*v(i - 1) + (c%mix_x - c%x*u_east)*v(i + 1) &
                + (c%mix_y + c%y*(behind(i) + v(i)))*behind(i) &
                + (c%mix_y - c%y*(v(i) + v_ahead(i)))*v_ahead(i) &
                + (c%mix_z + c%z*(w_south_below(i) + w_below(i)))*v_below(i) &
                + (c%mix_z - c%z*(w_south(i) + w(i)))*v_above(i) - c%mix*v(i) &
                - turn*(u_west + u_east) + over_dy*(p_south(i) - p(i))
            behind(i) = v(i) + c%now*g + c%before*before(i)
            before(i) = g
            total(i) = total(i) + behind(i)
        end do
    end subroutine advance_v

    !> T and S of one level.
    pure subroutine advance_tracers(nx, last_i, c, u, v_behind, v_ahead, w, w_below, t, t_ahead, &
                                    t_above, t_below, before, behind)
        integer, intent(in) :: nx, last_i
        type(weights_t), intent(in) :: c
        real(dp), intent(in), dimension(first_i:last_i) :: u, v_behind, v_ahead, w, w_below
        real(dp), intent(in), dimension(first_i:last_i, 2) :: t, t_ahead, t_above, t_below
        real(dp), intent(inout) :: before(nx, 2), behind(first_i:last_i, 2)
        real(dp) :: from_west, from_east, from_behind, from_ahead, from_below, from_above, g, h
        integer :: i

        do i = 1, nx
            from_west = c%mix_x + c%x*u(i)
            from_east = c%mix_x - c%x*u(i + 1)
            from_behind = c%mix_y + c%y*v_behind(i)
            from_ahead = c%mix_y - c%y*v_ahead(i)
            ! Of a w in units of twice dz the weight is 1.
            from_below = c%mix_z + w_below(i)
            from_above = c%mix_z - w(i)
            g = from_west*t(i - 1, 1) + from_east*t(i + 1, 1) + from_behind*behind(i, 1) &
                + from_ahead*t_ahead(i, 1) + from_below*t_below(i, 1) + from_above*t_above(i, 1) &
                - c%mix*t(i, 1)
            h = from_west*t(i - 1, 2) + from_east*t(i + 1, 2) + from_behind*behind(i, 2) &
                + from_ahead*t_ahead(i, 2) + from_below*t_below(i, 2) + from_above*t_above(i, 2) &
                - c%mix*t(i, 2)
            behind(i, 1) = t(i, 1) + c%now*g + c%before*before(i, 1)
            behind(i, 2) = t(i, 2) + c%now*h + c%before*before(i, 2)
            before(i, 1) = g
            before(i, 2) = h
        end do
    end subroutine advance_tracers

end module ocean_dynamics
