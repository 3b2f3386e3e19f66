!> States that are given at every place: the undisturbed flow, and that before the first cycle.
!>
!> Exported: `potential_flow`; `fill_level`, which sets a level's states and those beyond the cube.
!> Nothing is collective.
module cartesian_state

    use bl_kinds, only: dp
    use cartesian_bricks, only: bricks_t
    use cartesian_level, only: level_t
    use cartesian_problem, only: brick_cells, side_axis, side_step

    implicit none(type, external)
    private

    public :: state_i, potential_flow, fill_level

    abstract interface
        !> State at a place relative to the sphere's centre, in cells of the finest level.
        pure function state_i(velocity, radius, place) result(state)
            import :: dp
            real(dp), intent(in) :: velocity(3), radius, place(3)
            real(dp) :: state(5)
        end function state_i
    end interface

contains

    !> The flow of an incompressible fluid around the sphere, with the speed of sound and the
    !> density that Bernoulli's law gives without change of entropy. Radius 0: undisturbed.
    pure function potential_flow(velocity, radius, place) result(state)
        real(dp), intent(in) :: velocity(3), radius, place(3)
        real(dp) :: state(5), distance, dipole
        distance = max(norm2(place), radius, 1.0_dp)
        dipole = 0.5_dp*(radius/distance)**3
        state(2:4) = velocity + dipole*(velocity - 3*place*dot_product(velocity, place)/distance**2)
        state(5) = sqrt(1 + 0.2_dp*(sum(velocity**2) - sum(state(2:4)**2)))
        state(1) = state(5)**4
    end function potential_flow

    !> Sets the states of a level and the ghosts at the cube's boundary.
    subroutine fill_level(bricks, level, state, velocity, radius)
        type(bricks_t), intent(in) :: bricks
        type(level_t), intent(inout) :: level
        procedure(state_i) :: state
        real(dp), intent(in) :: velocity(3), radius
        real(dp) :: low(3), width
        integer :: b, side, i, j, k

        associate (m => level%m)
            width = real(brick_cells, dp)/m
            do b = 1, bricks%own
                low = bricks%low_corner(b)
                do k = 1, m
                    do j = 1, m
                        do i = 1, m
                            level%now%values(i + m*(j - 1), :, k, b) = &
                                state(velocity, radius, low + width*([i, j, k] - 0.5_dp))
                        end do
                    end do
                end do
                do side = 1, 6
                    if (-bricks%neighbour(side, b) > bricks%received) &
                        call fill_face(m, level%depth, side, low, width, state, velocity, radius, &
                                       level%ghost(:, -bricks%neighbour(side, b)))
                end do
            end do
        end associate
    end subroutine fill_level

    subroutine fill_face(m, depth, side, low, width, state, velocity, radius, face)
        integer, intent(in) :: m, depth, side
        real(dp), intent(in) :: low(3), width, velocity(3), radius
        procedure(state_i) :: state
        real(dp), intent(inout) :: face(m*m*5*depth)
        real(dp) :: x(5)
        integer :: at(3), first(3), last(3), axis, i, j, k, v, place

        axis = side_axis(side)
        first = 1
        last = m
        first(axis) = merge(1 - depth, m + 1, side_step(side) < 0)
        last(axis) = first(axis) + depth - 1
        do k = first(3), last(3)
            do j = first(2), last(2)
                do i = first(1), last(1)
                    x = state(velocity, radius, low + width*([i, j, k] - 0.5_dp))
                    at = [i, j, k] - first
                    associate (many => last - first + 1)
                        do v = 0, 4
                            place = 1 + at(1) + many(1)*(at(2) + many(2)*(v + 5*at(3)))
                            face(place) = x(v + 1)
                        end do
                    end associate
                end do
            end do
        end do
    end subroutine fill_face

end module cartesian_state
