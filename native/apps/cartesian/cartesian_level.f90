!> One grid of the multigrid: its states, and sweeps over the cells of a brick.
!>
!> The finest level is of the second order and sees two layers of its neighbours, coarser ones are
!> of the first order and see one. A sweep goes through a brick plane by plane; split fluxes live
!> in the processor's caches only. Of the states, memory gives and takes each once for a stage, and
!> the cells beside a brick, asked for one plane ahead, once more.
!>
!> Exported: `level_t`, `new_level`. Nothing is collective.
module cartesian_level

    use bl_kinds, only: dp, i8
    use bl_memory, only: aligned, prefetch, prefetch_rows
    use cartesian_bricks, only: bricks_t
    use cartesian_cut, only: cut_t
    use cartesian_flux, only: gamma, split_first, split_limited, split_weighted
    use cartesian_planes, only: leave, leave_cut, pad_x, pad_y
    use cartesian_problem, only: side_axis, side_step

    implicit none(type, external)
    private

    public :: level_t, field_t, new_level

    integer(i8), parameter :: real_bytes = 8

    !> Layout in cartesian_bricks.
    type :: field_t
        real(dp), pointer, contiguous :: values(:, :, :, :) => null()
    end type field_t

    type :: level_t
        integer :: m = 0, depth = 0, own = 0
        !> Size of a plane with `depth` more cells on both sides along x or y.
        integer :: padded = 0
        !> Of the limiter.
        real(dp) :: eps = 0
        !> Fields: the state now, at the begin of the step, and a further one; on coarser levels the
        !> state that came from the finer one and what is added to the residual.
        type(field_t) :: now, old, spare, restricted, forcing
        !> ghost(values of a face, ghosts), and what is sent.
        real(dp), pointer, contiguous :: ghost(:, :) => null()
        real(dp), allocatable :: buffer(:, :)
        !> By own brick; allocated components where `is_cut`.
        type(cut_t), allocatable :: cut(:)
        logical, allocatable :: is_cut(:)
        !> Force on the sphere by the sweeps since it was set to zero.
        real(dp) :: force(3) = 0
        !> Open areas of cells without wall.
        real(dp), pointer, contiguous :: whole(:, :) => null()
        !> Scratch: a plane padded along x and along y, and its split fluxes. The first numbers to be
        !> worked on begin a cache line: vectors that straddle two take twice the time.
        real(dp), pointer, contiguous, dimension(:) :: plane_x => null(), up_x => null(), &
            down_x => null(), plane_y => null(), up_y => null(), down_y => null()
        !> Split fluxes across z of the last planes: plane k is the column mod(k, 3) or mod(k, 2).
        real(dp), pointer, contiguous, dimension(:, :) :: up_z => null(), down_z => null()
    contains
        procedure :: new_field
        procedure :: sweep_plane
        procedure :: sweep_brick
        procedure, private :: look_ahead
        procedure, private :: pad
        procedure, private :: split_x
        procedure, private :: split_y
        procedure, private :: split_z
        procedure, private :: add_up
        procedure, private :: add_walls
        procedure, private :: z_plane
        procedure, private :: weighted
    end type level_t

contains

    function new_level(bricks, m, depth, eps) result(level)
        type(bricks_t), intent(in) :: bricks
        integer, intent(in) :: m, depth
        real(dp), intent(in) :: eps
        type(level_t) :: level
        real(dp), pointer, contiguous :: space(:)

        level%m = m
        level%depth = depth
        level%own = bricks%own
        level%padded = m*(m + 2*depth)
        level%eps = eps
        allocate (level%is_cut(bricks%own), source=bricks%cut)
        allocate (level%cut(bricks%own))
        space => aligned(5_i8*m*m*depth*bricks%ghosts)
        level%ghost(1:5*m*m*depth, 1:bricks%ghosts) => space
        level%ghost = 1
        allocate (level%buffer(m*m*5*depth, size(bricks%sent, 2)), source=1.0_dp)
        space => aligned(3_i8*m*m)
        level%whole(1:m*m, 1:3) => space
        level%whole = 1
        level%plane_x => scratch(5*level%padded, depth)
        level%up_x => scratch(5*level%padded, depth)
        level%down_x => scratch(5*level%padded, depth)
        level%plane_y => scratch(5*level%padded, 1)
        level%up_y => scratch(5*level%padded, 1)
        level%down_y => scratch(5*level%padded, 1)
        space => aligned(15_i8*m*m)
        level%up_z(1:5*m*m, 0:2) => space
        space => aligned(10_i8*m*m)
        level%down_z(1:5*m*m, 0:1) => space
    end function new_level

    !> Zeros of which number `first`, 1 or 2, begins a cache line.
    function scratch(values, first)
        integer, intent(in) :: values, first
        real(dp), pointer, contiguous :: scratch(:)
        real(dp), pointer, contiguous :: space(:)
        space => aligned(values + 8_i8)
        scratch => space(10 - first:)
    end function scratch

    subroutine new_field(self, field)
        class(level_t), intent(in) :: self
        type(field_t), intent(out) :: field
        real(dp), pointer, contiguous :: values(:)
        values => aligned(5_i8*self%m**3*self%own)
        field%values(1:self%m**2, 1:5, 1:self%m, 1:self%own) => values
    end subroutine new_field

    !> Residuals r of all cells of brick b for the states x.
    subroutine sweep_brick(self, neighbour, b, x, r)
        class(level_t), intent(inout) :: self
        integer, intent(in) :: neighbour(6), b
        real(dp), intent(in), target, contiguous :: x(:, :, :, :)
        real(dp), intent(inout) :: r(self%m**2, 5, self%m)
        integer :: k
        do k = 1, self%m
            call self%sweep_plane(neighbour, b, k, x, r(:, :, k))
        end do
    end subroutine sweep_brick

    !> Residuals r of the cells of plane k, which come one after the other from 1 on: the sums of
    !> fluxes out of them. `neighbour` as in bricks_t.
    subroutine sweep_plane(self, neighbour, b, k, x, r)
        class(level_t), intent(inout) :: self
        integer, intent(in) :: neighbour(6), b, k
        real(dp), intent(in), target, contiguous :: x(:, :, :, :)
        real(dp), intent(inout) :: r(self%m**2, 5)

        call self%look_ahead(neighbour, b, k, x)
        call self%pad(neighbour, b, k, x)
        if (k == 1) then
            call self%split_z(neighbour, b, 0, x)
            call self%split_z(neighbour, b, 1, x)
        end if
        call self%split_x(b, k)
        call self%split_y(b, k)
        call self%split_z(neighbour, b, k + 1, x)
        call self%add_up(b, k, r)
        if (self%is_cut(b)) call self%add_walls(neighbour, b, k, x, r)
    end subroutine sweep_plane

    !> Asks for what the next planes need from memory. The cells beside a brick are pieces that the
    !> processor does not foresee: one or two of a row, one or two rows of each variable.
    subroutine look_ahead(self, neighbour, b, k, x)
        class(level_t), intent(in) :: self
        integer, intent(in) :: neighbour(6), b, k
        real(dp), intent(in), target, contiguous :: x(:, :, :, :)
        real(dp), pointer, contiguous :: states(:)
        integer :: side, width, first, variable

        associate (m => self%m, d => self%depth)
            if (k + 3 <= m + d) then
                call self%z_plane(neighbour, b, k + 3, x, states)
                call prefetch(states, real_bytes*5*m*m)
            end if
            if (k == m) return
            do side = 1, 4
                call find_beside(self, neighbour(side), x, states, width)
                first = 1 + merge(width - d, 0, side_step(side) < 0)
                if (side <= 2) then
                    call prefetch_rows(states(first + 5*m*width*k:), real_bytes*width, 5_i8*m)
                else
                    do variable = 0, 4
                        call prefetch(states(1 + m*(first - 1 + width*(variable + 5*k)):), &
                                      real_bytes*m*d)
                    end do
                end if
            end do
        end associate
    end subroutine look_ahead

    !> Fills the padded planes.
    subroutine pad(self, neighbour, b, k, x)
        class(level_t), intent(in) :: self
        integer, intent(in) :: neighbour(6), b, k
        real(dp), intent(in), target, contiguous :: x(:, :, :, :)
        real(dp), pointer, contiguous :: below(:), above(:)
        integer :: below_width, above_width

        call find_beside(self, neighbour(1), x, below, below_width)
        call find_beside(self, neighbour(2), x, above, above_width)
        call pad_x(self%m, self%depth, k, x(:, :, k, b), below_width, below, above_width, above, &
                   self%plane_x)
        call find_beside(self, neighbour(3), x, below, below_width)
        call find_beside(self, neighbour(4), x, above, above_width)
        call pad_y(self%m, self%depth, k, x(:, :, k, b), below_width, below, above_width, above, &
                   self%plane_y)
    end subroutine pad

    !> A neighbour's states, of a brick or a ghost face, and how many cells wide it is.
    subroutine find_beside(self, neighbour, x, states, width)
        class(level_t), intent(in) :: self
        integer, intent(in) :: neighbour
        real(dp), intent(in), target, contiguous :: x(:, :, :, :)
        real(dp), pointer, contiguous, intent(out) :: states(:)
        integer, intent(out) :: width
        if (neighbour > 0) then
            states(1:5*self%m**3) => x(:, :, :, neighbour)
            width = self%m
        else
            states => self%ghost(:, -neighbour)
            width = self%depth
        end if
    end subroutine find_beside

    !> Split fluxes by whatever routine is right; `weights` of slopes where a wall is.
    pure subroutine split(depth, eps, count, stride, axis, before, here, after, up, down, weights)
        integer, intent(in) :: depth, count, stride, axis
        real(dp), intent(in) :: eps
        real(dp), intent(in), dimension(stride, *) :: before, here, after
        real(dp), intent(inout), dimension(stride, *) :: up, down
        real(dp), intent(in), optional :: weights(stride, *)
        real(dp), allocatable :: even(:, :)
        logical :: faster

        if (present(weights)) then
            call split_weighted(count, stride, axis, eps, weights, before, here, after, up, down)
            return
        end if
        if (depth == 1) then
            call split_first(count, stride, axis, here, up, down, faster)
        else
            call split_limited(count, stride, axis, eps, before, here, after, up, down, faster)
        end if
        if (.not. faster) return
        allocate (even(stride, 2), source=merge(0.0_dp, 0.5_dp, depth == 1))
        call split_weighted(count, stride, axis, eps, even, before, here, after, up, down)
    end subroutine split

    !> Split fluxes across x of plane k and the cells beside it.
    subroutine split_x(self, b, k)
        class(level_t), intent(inout) :: self
        integer, intent(in) :: b, k
        integer :: start, count

        associate (d => self%depth, n => self%padded)
            start = d
            count = n - 2*(d - 1)
            if (self%weighted(b, 1, k)) then
                call split(d, self%eps, count, n, 1, self%plane_x(start - 1:), &
                           self%plane_x(start:), self%plane_x(start + 1:), self%up_x(start:), &
                           self%down_x(start:), self%cut(b)%slope_x(start, 1, k))
            else
                call split(d, self%eps, count, n, 1, self%plane_x(start - d + 1:), &
                           self%plane_x(start:), self%plane_x(start + d - 1:), &
                           self%up_x(start:), self%down_x(start:))
            end if
        end associate
    end subroutine split_x

    !> Split fluxes across y of plane k and the rows beside it.
    subroutine split_y(self, b, k)
        class(level_t), intent(inout) :: self
        integer, intent(in) :: b, k
        integer :: start, count

        associate (d => self%depth, m => self%m, n => self%padded)
            start = m*(d - 1) + 1
            count = m*(m + 2)
            if (self%weighted(b, 2, k)) then
                call split(d, self%eps, count, n, 2, self%plane_y(start - m:), &
                           self%plane_y(start:), self%plane_y(start + m:), self%up_y(start:), &
                           self%down_y(start:), self%cut(b)%slope_y(start, 1, k))
            else
                call split(d, self%eps, count, n, 2, self%plane_y(start - m*(d - 1):), &
                           self%plane_y(start:), self%plane_y(start + m*(d - 1):), &
                           self%up_y(start:), self%down_y(start:))
            end if
        end associate
    end subroutine split_y

    !> Split fluxes across z of plane k, 0 to m + 1.
    subroutine split_z(self, neighbour, b, k, x)
        class(level_t), intent(inout) :: self
        integer, intent(in) :: neighbour(6), b, k
        real(dp), intent(in), target, contiguous :: x(:, :, :, :)
        real(dp), pointer, contiguous, dimension(:) :: below, here, above

        associate (d => self%depth, m => self%m, up => self%up_z(:, mod(k, 3)), &
                   down => self%down_z(:, mod(k, 2)))
            call self%z_plane(neighbour, b, k, x, here)
            below => here
            above => here
            if (d > 1) call self%z_plane(neighbour, b, k - 1, x, below)
            if (d > 1) call self%z_plane(neighbour, b, k + 1, x, above)
            if (self%weighted(b, 3, k)) then
                call split(d, self%eps, m*m, m*m, 3, below, here, above, up, down, &
                           self%cut(b)%slope_z(1, 1, k))
            else
                call split(d, self%eps, m*m, m*m, 3, below, here, above, up, down)
            end if
        end associate
    end subroutine split_z

    !> Sets r of plane k from split fluxes.
    subroutine add_up(self, b, k, r)
        class(level_t), intent(in) :: self
        integer, intent(in) :: b, k
        real(dp), intent(inout) :: r(self%m**2, 5)

        associate (up => self%up_z(:, mod(k, 3)), down => self%down_z(:, mod(k, 2)), &
                   up_below => self%up_z(:, mod(k + 2, 3)), &
                   down_above => self%down_z(:, mod(k + 1, 2)))
            if (self%is_cut(b)) then
                call leave_cut(self%m, self%depth, self%cut(b)%x(:, :, k), &
                               self%cut(b)%y(:, :, k), self%cut(b)%z(:, :, k - 1), &
                               self%cut(b)%z(:, :, k), self%up_x, self%down_x, self%up_y, &
                               self%down_y, up_below, up, down, down_above, r)
            else
                call leave(self%m, self%depth, self%up_x, self%down_x, self%up_y, &
                           self%down_y, up_below, up, down, down_above, r)
            end if
        end associate
    end subroutine add_up

    !> Whether slopes along an axis in plane k of brick b are other than central somewhere.
    pure logical function weighted(self, b, axis, k)
        class(level_t), intent(in) :: self
        integer, intent(in) :: b, axis, k
        weighted = self%is_cut(b) .and. self%depth > 1
        if (weighted) weighted = .not. self%cut(b)%plain(axis, k)
    end function weighted

    !> Plane k, 1 - depth to m + depth, of brick b and its neighbours.
    subroutine z_plane(self, neighbour, b, k, x, plane)
        class(level_t), intent(in) :: self
        integer, intent(in) :: neighbour(6), b, k
        real(dp), intent(in), target, contiguous :: x(:, :, :, :)
        real(dp), pointer, contiguous, intent(out) :: plane(:)
        integer :: other, layer

        associate (m => self%m)
            if (k >= 1 .and. k <= m) then
                plane(1:5*m*m) => x(:, :, k, b)
                return
            end if
            other = merge(neighbour(5), neighbour(6), k < 1)
            if (other > 0) then
                plane(1:5*m*m) => x(:, :, modulo(k - 1, m) + 1, other)
            else
                layer = merge(k + self%depth, k - m, k < 1)
                plane => self%ghost(5*m*m*(layer - 1) + 1:5*m*m*layer, -other)
            end if
        end associate
    end subroutine z_plane

    !> Adds to r the pressure of the wall in plane k, and to the force on the sphere; or the fluxes
    !> that are given.
    subroutine add_walls(self, neighbour, b, k, x, r)
        class(level_t), intent(inout) :: self
        integer, intent(in) :: neighbour(6), b, k
        real(dp), intent(in), contiguous :: x(:, :, :, :)
        real(dp), intent(inout) :: r(self%m**2, 5)
        real(dp) :: pressure, change, beside(5)
        integer :: c, side, at(3)

        associate (cut => self%cut(b), m => self%m)
            do c = cut%first(k), cut%first(k + 1) - 1
                associate (cell => cut%cell(c), area => cut%area(:, c))
                    if (allocated(cut%given)) then
                        r(cell, :) = r(cell, :) + cut%given(:, c)
                        cycle
                    end if
                    pressure = pressure_of(x(cell, 1, k, b), x(cell, 5, k, b))
                    at = [mod(cell - 1, m) + 1, (cell - 1)/m + 1, k]
                    change = 0
                    do side = 1, 6
                        if (abs(cut%pull(side, c)) <= 0) cycle
                        beside = state_beside(self, neighbour, b, at, side, x)
                        change = change + cut%pull(side, c) &
                                 *(pressure_of(beside(1), beside(5)) - pressure)
                    end do
                    pressure = max(pressure + change, 0.0_dp)
                    r(cell, 2:4) = r(cell, 2:4) + pressure*area
                    self%force = self%force + (pressure - 1/gamma)*area
                end associate
            end do
        end associate
    end subroutine add_walls

    pure real(dp) function pressure_of(q, c) result(pressure)
        real(dp), intent(in) :: q, c
        pressure = q*c**3/gamma
    end function pressure_of

    !> State of the cell on one side of cell `at` of brick b.
    pure function state_beside(self, neighbour, b, at, side, x) result(state)
        class(level_t), intent(in) :: self
        integer, intent(in) :: neighbour(6), b, at(3), side
        real(dp), intent(in), contiguous :: x(:, :, :, :)
        real(dp) :: state(5)
        integer :: other(3), axis, brick, layer, j

        axis = side_axis(side)
        other = at
        other(axis) = other(axis) + side_step(side)
        brick = b
        associate (m => self%m, d => self%depth)
            if (other(axis) < 1 .or. other(axis) > m) brick = neighbour(side)
            if (brick > 0) then
                other = modulo(other - 1, m) + 1
                state = x(other(1) + m*(other(2) - 1), :, other(3), brick)
                return
            end if
            layer = merge(d, 1, side_step(side) < 0)
            do j = 1, 5
                select case (axis)
                case (1)
                    state(j) = self%ghost(layer + d*(at(2) - 1 + m*(j - 1 + 5*(at(3) - 1))), -brick)
                case (2)
                    state(j) = self%ghost(at(1) + m*(layer - 1 + d*(j - 1 + 5*(at(3) - 1))), -brick)
                case default
                    state(j) = self%ghost(at(1) + m*(at(2) - 1 + m*(j - 1 + 5*(layer - 1))), -brick)
                end select
            end do
        end associate
    end function state_beside

end module cartesian_level
