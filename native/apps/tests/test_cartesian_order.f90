!> The flow around a sphere against what is known: places along the curve are neighbours; volumes
!> and areas are those of the sphere; split fluxes add up to the whole one; and forces that keep a
!> given flow going let the error fall as the square of the cells' size, with whole cells, with
!> cells that the sphere cuts, and where the flow is supersonic. Multigrid converges faster than
!> steps, and all processes together get the states that each gets alone, to the last bit.
!>
!> The given flow, with s = sin(2 x/L) cos(y/L + z/L), t = cos(x/L) sin(2 y/L - z/L), L a length:
!>
!>     q = 1 + 0.2 s, (u, v, w) = velocity + 0.1 (t, s, s t), c = 1 + 0.1 t
!>
!> Around a sphere the flow has the velocity ((velocity + 0.3 (t, s, s t)) x place)/L instead, which
!> is along the wall everywhere.
program test_cartesian_order

    use bl_check, only: check, finish_checks
    use bl_kinds, only: dp, i8
    use bl_messages, only: comm_allreduce, comm_rank, comm_size, job_finalize, job_init
    use cartesian_body, only: open_area, open_cell
    use cartesian_curve, only: hilbert_key, shares
    use cartesian_flux, only: full_flux, split_first, split_limited, split_weighted
    use cartesian_kernel, only: flow_t, outcome_t
    use cartesian_problem, only: brick_cells, cartesian_problem_t
    use mpi, only: MPI_COMM_SELF, MPI_COMM_WORLD, MPI_DOUBLE_PRECISION, MPI_INTEGER8, MPI_SUM

    implicit none(type, external)

    real(dp), parameter :: pi = acos(-1.0_dp)

    call job_init()
    call test_curve()
    call test_body()
    call test_fluxes()
    call test_order('whole cells', given_state, 0.0_dp, [0.4_dp, 0.3_dp, -0.2_dp], 3.5_dp)
    call test_order('cut cells', given_whirl, 0.2_dp, [1.0_dp, 0.7_dp, -0.8_dp], 3.0_dp)
    call test_order('supersonic', given_state, 0.0_dp, [1.5_dp, 1.4_dp, -1.3_dp], 3.5_dp)
    call test_multigrid()
    call test_processes()
    call job_finalize()
    call finish_checks()

contains

    subroutine test_curve()
        integer :: along(3, 0:511), i, j, k, owner(10)
        do k = 0, 7
            do j = 0, 7
                do i = 0, 7
                    along(:, hilbert_key([i, j, k], 3)) = [i, j, k]
                end do
            end do
        end do
        call check(all(sum(abs(along(:, 1:) - along(:, :510)), 1) == 1), 'neighbours on the curve')
        owner = shares([9, 1, 1, 1, 1, 1, 1, 1, 1, 1], 4)
        call check(owner(1) == 0 .and. owner(10) == 3 .and. all(owner(2:) - owner(:9) <= 1) &
                   .and. all(owner(2:) >= owner(:9)), 'shares are contiguous, none is empty')
        call check(count(owner == 0) == 1, 'what is heavy is alone')
    end subroutine test_curve

    !> A sphere that is not in the middle of anything, in a cube of 12 cells.
    subroutine test_body()
        real(dp), parameter :: radius = 4.3_dp, low(3) = [-6.2_dp, -5.7_dp, -6.05_dp]
        real(dp) :: volume, total, frontal, centre(3), moment(3)
        integer :: i, j, k
        total = 0
        moment = 0
        frontal = 0
        do k = 0, 11
            do j = 0, 11
                do i = 0, 11
                    call open_cell(low + [i, j, k], radius, volume, centre)
                    total = total + volume
                    moment = moment + volume*(low + [i, j, k] + 0.5_dp + centre)
                end do
                frontal = frontal + 1 - open_area(low(2) + j, low(3) + k, radius**2)
            end do
        end do
        call check(abs(total - 12.0_dp**3 + 4*pi/3*radius**3) < 1.0e-6_dp, 'volume of a sphere')
        call check(all(abs(moment - 12.0_dp**3*(low + 6)) < 1.0e-5_dp), 'centre of a sphere')
        call check(abs(frontal - pi*radius**2) < 1.0e-11_dp, 'area of a disc')
    end subroutine test_body

    subroutine test_fluxes()
        real(dp), parameter :: half(3, 2) = 0.5_dp, none(3, 2) = 0
        real(dp) :: x(3, 5), up(3, 5), down(3, 5), other(3, 5), another(3, 5), area(3)
        logical :: faster
        integer :: axis, i
        x(:, 1) = [0.9_dp, 1.1_dp, 1.2_dp]
        x(:, 2) = [0.3_dp, 1.7_dp, -1.4_dp]
        x(:, 3) = [-0.5_dp, -1.9_dp, 2.0_dp]
        x(:, 4) = [0.2_dp, 1.3_dp, -1.6_dp]
        x(:, 5) = [1.05_dp, 0.95_dp, 1.01_dp]
        do axis = 1, 3
            area = 0
            area(axis) = 1
            call split_weighted(3, 3, axis, 1.0_dp, none, x, x, x, up, down)
            do i = 1, 3
                call check(maxval(abs(up(i, :) + down(i, :) - full_flux(x(i, :), area))) &
                           < 1.0e-13_dp, 'split fluxes add up')
            end do
            call check(maxval(abs(down(2:2, :))) < merge(1.0e-14_dp, 99.0_dp, axis /= 2), &
                       'nothing goes upwind')
            call split_limited(3, 3, axis, 1.0_dp, x, x, x, other, another, faster)
            call check(faster, 'a supersonic cell is noticed')
            call split_limited(1, 3, axis, 1.0_dp, x(3:1:-1, :), x, x(2:1:-1, :), other, another, &
                               faster)
            call split_weighted(1, 3, axis, 1.0_dp, half, x(3:1:-1, :), x, x(2:1:-1, :), up, down)
            if (.not. faster) call check(maxval(abs(up(1, :) - other(1, :))) &
                                         + maxval(abs(down(1, :) - another(1, :))) < 1.0e-14_dp, &
                                         'subsonic fluxes are those of any speed')
            call split_first(1, 3, axis, x, other, another, faster)
            call split_weighted(1, 3, axis, 1.0_dp, none, x, x, x, up, down)
            call check(.not. faster .and. maxval(abs(up(1, :) - other(1, :))) < 1.0e-14_dp, &
                       'without slopes the first order')
        end do
    end subroutine test_fluxes

    subroutine test_order(name, state, radius, velocity, ratio_min)
        character(*), intent(in) :: name
        procedure(given_state) :: state
        real(dp), intent(in) :: radius, velocity(3), ratio_min
        real(dp) :: coarse(5), fine(5)
        coarse = errors(32, state, radius, velocity)
        fine = errors(64, state, radius, velocity)
        if (comm_rank(MPI_COMM_WORLD) == 0) print '(2a, 5es9.1, a, 5f6.2)', name, ', errors', &
            fine, ', orders', log(coarse/fine)/log(2.0_dp)
        call check(all(fine < 1.0e-3_dp), name//': errors are small')
        call check(all(coarse/fine > ratio_min), name//': order')
    end subroutine test_order

    !> Mean errors of the five variables on a grid of n cells along an edge.
    function errors(n, state, radius, velocity) result(error)
        integer, intent(in) :: n
        procedure(given_state) :: state
        real(dp), intent(in) :: radius, velocity(3)
        real(dp) :: error(5)
        type(flow_t) :: flow
        type(cartesian_problem_t) :: problem
        integer :: i, l

        problem = cartesian_problem_t(n, 8)
        problem%radius = radius
        call flow%setup(MPI_COMM_WORLD, comm_rank(MPI_COMM_WORLD), comm_size(MPI_COMM_WORLD), &
                        problem)
        do l = problem%levels, 1, -1
            call flow%fill(l, state, velocity, real(n, dp))
            call flow%exchange(l, flow%levels(l)%now)
        end do
        call flow%levels(1)%new_field(flow%levels(1)%forcing)
        call force(flow, state, velocity)
        do i = 1, problem%cycles
            call flow%cycle()
        end do
        error = mean_error(flow, state, velocity)
    end function errors

    !> Place of a cell relative to the sphere's centre, in cells.
    pure function place_of(flow, b, i, k) result(place)
        type(flow_t), intent(in) :: flow
        integer, intent(in) :: b, i, k
        real(dp) :: place(3)
        place = flow%bricks%low_corner(b) &
                + [1 + mod(i - 1, brick_cells), 1 + (i - 1)/brick_cells, k] - 0.5_dp
    end function place_of

    pure real(dp) function volume_of(flow, b, i, k) result(volume)
        type(flow_t), intent(in) :: flow
        integer, intent(in) :: b, i, k
        volume = 1
        if (flow%bricks%cut(b)) volume = flow%levels(1)%cut(b)%volume(i, k)
    end function volume_of

    !> Takes from every residual what the given flow leaves: the divergence of its fluxes.
    subroutine force(flow, state, velocity)
        type(flow_t), intent(inout) :: flow
        procedure(given_state) :: state
        real(dp), intent(in) :: velocity(3)
        integer :: b, i, k
        do b = 1, flow%bricks%own
            do k = 1, brick_cells
                do i = 1, brick_cells**2
                    flow%levels(1)%forcing%values(i, :, k, b) = -volume_of(flow, b, i, k) &
                        *divergence(state, velocity, real(flow%problem%n, dp), &
                                    place_of(flow, b, i, k))
                end do
            end do
        end do
    end subroutine force

    !> By differences of the fourth order, so fine that their error is of no account.
    pure function divergence(state, velocity, length, place)
        procedure(given_state) :: state
        real(dp), intent(in) :: velocity(3), length, place(3)
        real(dp) :: divergence(5), h(3)
        integer :: axis
        divergence = 0
        do axis = 1, 3
            h = 0
            h(axis) = 1.0e-3_dp*length
            divergence = divergence + &
                         (8*(flux_at(state, velocity, length, place + h, axis) &
                             - flux_at(state, velocity, length, place - h, axis)) &
                          - flux_at(state, velocity, length, place + 2*h, axis) &
                          + flux_at(state, velocity, length, place - 2*h, axis))/(12*h(axis))
        end do
    end function divergence

    pure function flux_at(state, velocity, length, place, axis) result(flux)
        procedure(given_state) :: state
        real(dp), intent(in) :: velocity(3), length, place(3)
        integer, intent(in) :: axis
        real(dp) :: flux(5), area(3)
        area = 0
        area(axis) = 1
        flux = full_flux(state(velocity, length, place), area)
    end function flux_at

    pure function given_state(velocity, length, place) result(state)
        real(dp), intent(in) :: velocity(3), length, place(3)
        real(dp) :: state(5), s, t
        associate (x => place/length)
            s = sin(2*x(1))*cos(x(2) + x(3))
            t = cos(x(1))*sin(2*x(2) - x(3))
        end associate
        state = [1 + 0.2_dp*s, velocity + 0.1_dp*[t, s, s*t], 1 + 0.1_dp*t]
    end function given_state

    pure function given_whirl(velocity, length, place) result(state)
        real(dp), intent(in) :: velocity(3), length, place(3)
        real(dp) :: state(5)
        state = given_state(0*velocity, length, place)
        associate (a => velocity + 3*state(2:4), x => place/length)
            state(2:4) = [a(2)*x(3) - a(3)*x(2), a(3)*x(1) - a(1)*x(3), a(1)*x(2) - a(2)*x(1)]
        end associate
    end function given_whirl

    function mean_error(flow, state, velocity) result(error)
        type(flow_t), intent(in) :: flow
        procedure(given_state) :: state
        real(dp), intent(in) :: velocity(3)
        real(dp) :: error(5), total(6), volume
        integer :: b, i, k
        total = 0
        do b = 1, flow%bricks%own
            do k = 1, brick_cells
                do i = 1, brick_cells**2
                    volume = volume_of(flow, b, i, k)
                    total = total + volume*[abs(flow%levels(1)%now%values(i, :, k, b) &
                        - state(velocity, real(flow%problem%n, dp), &
                                place_of(flow, b, i, k))), 1.0_dp]
                end do
            end do
        end do
        call comm_allreduce(total, 6, MPI_DOUBLE_PRECISION, MPI_SUM, MPI_COMM_WORLD)
        error = total(:5)/total(6)
    end function mean_error

    !> Three levels must reach in eight cycles what one level does not in as many steps.
    subroutine test_multigrid()
        real(dp) :: alone, together
        alone = residual_after(1, 32)
        together = residual_after(3, 8)
        if (comm_rank(MPI_COMM_WORLD) == 0) print '(a, 2es10.2)', 'residuals', alone, together
        call check(together < 0.3_dp*alone, 'multigrid converges faster')
    end subroutine test_multigrid

    real(dp) function residual_after(levels, cycles)
        integer, intent(in) :: levels, cycles
        type(flow_t) :: flow
        type(outcome_t) :: outcome
        call run_sphere(flow, MPI_COMM_WORLD, levels, cycles)
        outcome = flow%outcome()
        residual_after = outcome%residual
    end function residual_after

    subroutine run_sphere(flow, comm, levels, cycles)
        type(flow_t), intent(inout) :: flow
        integer, intent(in) :: comm, levels, cycles
        type(cartesian_problem_t) :: problem
        integer :: i
        problem = cartesian_problem_t(32, cycles)
        problem%levels = levels
        call flow%setup(comm, comm_rank(comm), comm_size(comm), problem)
        call flow%restart()
        do i = 1, cycles
            call flow%cycle()
        end do
    end subroutine run_sphere

    !> The sum of all states' bits, which does not depend on an order.
    subroutine test_processes()
        type(flow_t) :: flow, alone
        integer(i8) :: bits(1), bits_alone(1)
        call run_sphere(flow, MPI_COMM_WORLD, 3, 3)
        call run_sphere(alone, MPI_COMM_SELF, 3, 3)
        bits = bits_of(flow)
        bits_alone = bits_of(alone)
        call comm_allreduce(bits, 1, MPI_INTEGER8, MPI_SUM, MPI_COMM_WORLD)
        call check(bits(1) == bits_alone(1), 'the same states on all processes as on one')
        associate (x => alone%levels(1)%now%values(1, 1, 1, 1))
            x = nearest(x, 1.0)
        end associate
        bits_alone = bits_of(alone)
        call check(bits(1) /= bits_alone(1), 'a changed bit is noticed')
    end subroutine test_processes

    pure integer(i8) function bits_of(flow) result(bits)
        type(flow_t), intent(in) :: flow
        integer :: b, i, j, k
        bits = 0
        do b = 1, flow%bricks%own
            do k = 1, brick_cells
                do j = 1, 5
                    do i = 1, brick_cells**2
                        bits = bits + ibits(transfer(flow%levels(1)%now%values(i, j, k, b), bits), &
                                            0, 40)
                    end do
                end do
            end do
        end do
    end function bits_of

end program test_cartesian_order
