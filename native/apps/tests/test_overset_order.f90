!> Overlapping zones against a flow that is known, and a free stream that has to stay one.
!>
!> Forces are added that keep a given steady flow going. The zones advance from it to the flow that
!> their differences and interpolations make of it, and its errors must fall as the square of the
!> cells' size, on any number of processes. Zones overlap by the same width at any size of cells:
!> where the overlap shrinks with them, linear interpolation costs some of the order (Chesshire and
!> Henshaw 1990), as it does in the classes. With X, Y and Z in units of 1/2 of the box's height:
!>
!>     r = 1 + cos(X + Y)/10                 u = 0.3 + sin(X - Z)/10
!>     v = 0.2 + cos(Y + Z)/10               w = 0.1 + sin(X + Y + Z)/10
!>     p = 1/gamma + cos(X - Y + Z)/10
program test_overset_order

    use bl_check, only: check, finish_checks
    use bl_kinds, only: dp
    use bl_messages, only: comm_allreduce, comm_rank, comm_size, job_finalize, job_init
    use mpi, only: MPI_COMM_WORLD, MPI_DOUBLE_PRECISION, MPI_SUM
    use overset_field, only: field_t
    use overset_kernel, only: norms_t, overset_points, overset_t
    use overset_problem, only: find_overset_problem, gamma, overset_problem_t

    implicit none(type, external)

    real(dp), parameter :: end_time = 4
    real(dp) :: coarse(5), fine(5)

    call job_init()
    call test_free_stream()
    coarse = errors(12)
    fine = errors(24)
    if (comm_rank(MPI_COMM_WORLD) == 0) print '(a, 5es10.2, a, 5f6.2)', &
        'errors', fine, ', orders', log(coarse/fine)/log(2.0_dp)
    call check(all(fine < 4.0e-4_dp), 'errors of all components are small')
    call check(all(coarse/fine > 3.5_dp), 'errors fall as the square of the cells'' size')
    call job_finalize()
    call finish_checks()

contains

    subroutine test_free_stream()
        type(overset_problem_t) :: problem
        type(overset_t) :: overset
        type(norms_t) :: norms
        integer :: step

        problem = find_overset_problem('S')
        problem%disturbance = 0
        call start(overset, problem)
        call overset%restart()
        do step = 1, 10
            call overset%step()
        end do
        norms = overset%norms()
        call check(norms%largest < 1.0e-13_dp, 'a free stream stays one')
        ! What one wrong number among the ghosts does to it.
        overset%fields(1)%q(0, 1, 1, 1) = 1.01_dp
        call overset%advance()
        norms = overset%norms()
        call check(norms%largest > 1.0e-6_dp, 'a wrong ghost shows')
    end subroutine test_free_stream

    subroutine start(overset, problem)
        type(overset_t), intent(inout) :: overset
        type(overset_problem_t), intent(in) :: problem
        call overset%setup(MPI_COMM_WORLD, comm_rank(MPI_COMM_WORLD), comm_size(MPI_COMM_WORLD), &
                           problem)
    end subroutine start

    !> Root mean square errors of the five components.
    function errors(n) result(error)
        integer, intent(in) :: n
        real(dp) :: error(5)
        type(overset_problem_t) :: problem
        type(overset_t) :: overset
        integer :: f, step

        problem = overset_problem_t(n, 0, 2000, granule=1, overlap=n/6)
        problem%viscosity = 0.02_dp
        problem%conductivity = 0.03_dp
        call start(overset, problem)
        do f = 1, size(overset%fields)
            call set_exact(overset, overset%fields(f))
        end do
        do step = 1, nint(end_time/problem%time_step())
            call overset%step()
        end do
        error = 0
        do f = 1, size(overset%fields)
            call add_errors(overset, overset%fields(f), error)
        end do
        call comm_allreduce(error, 5, MPI_DOUBLE_PRECISION, MPI_SUM, MPI_COMM_WORLD)
        error = sqrt(error/overset_points(problem))
    end function errors

    !> The flow, ghosts included, and the forces that keep it going.
    subroutine set_exact(overset, field)
        type(overset_t), intent(in) :: overset
        type(field_t), intent(inout) :: field
        integer :: i, j, k
        allocate (field%force(field%n(1), 5, field%n(2), field%n(3)))
        call field%fill(exact([0.0_dp, 0.0_dp, 0.0_dp]))
        do k = -1, field%n(3) + 2
            do j = -1, field%n(2) + 2
                do i = -1, field%n(1) + 2
                    field%q(i, :, j, k) = exact(place(overset, field, [i, j, k]))
                end do
            end do
        end do
        do k = 1, field%n(3)
            do j = 1, field%n(2)
                do i = 1, field%n(1)
                    field%force(i, :, j, k) = force(overset%problem, &
                                                    place(overset, field, [i, j, k]))
                end do
            end do
        end do
    end subroutine set_exact

    subroutine add_errors(overset, field, error)
        type(overset_t), intent(in) :: overset
        type(field_t), intent(in) :: field
        real(dp), intent(inout) :: error(5)
        integer :: i, j, k
        do k = 1, field%n(3)
            do j = 1, field%n(2)
                do i = 1, field%n(1)
                    error = error + (field%q(i, :, j, k) &
                                     - exact(place(overset, field, [i, j, k])))**2
                end do
            end do
        end do
    end subroutine add_errors

    pure function place(overset, field, point) result(at)
        type(overset_t), intent(in) :: overset
        type(field_t), intent(in) :: field
        integer, intent(in) :: point(3)
        real(dp) :: at(3)
        at = overset%zones(field%zone)%place([1, 2, 3], point + field%before)
    end function place

    !> r, u, v, w, p.
    pure function primitive(at) result(values)
        real(dp), intent(in) :: at(3)
        real(dp) :: values(5)
        associate (x => 2*at(1), y => 2*at(2), z => 2*at(3))
            values = [1.0_dp, 0.3_dp, 0.2_dp, 0.1_dp, 1/gamma] &
                     + [cos(x + y), sin(x - z), cos(y + z), sin(x + y + z), cos(x - y + z)]/10
        end associate
    end function primitive

    pure function exact(at) result(state)
        real(dp), intent(in) :: at(3)
        real(dp) :: state(5), v(5)
        v = primitive(at)
        state = [v(1), v(1)*v(2:4), v(5)/(gamma - 1) + v(1)*dot_product(v(2:4), v(2:4))/2]
    end function exact

    !> What the equations leave of the flow, derivatives by fourth-order differences so fine that
    !> their error is of no account.
    pure function force(problem, at)
        type(overset_problem_t), intent(in) :: problem
        real(dp), intent(in) :: at(3)
        real(dp) :: force(5), h(3)
        real(dp), parameter :: width = 1.0e-3_dp
        integer :: axis
        force = 0
        do axis = 1, 3
            h = 0
            h(axis) = width
            force = force + (8*(flux(axis, at + h) - flux(axis, at - h)) &
                             - flux(axis, at + 2*h) + flux(axis, at - 2*h))/(12*width) &
                    - (16*(viscous(problem, at + h) + viscous(problem, at - h)) &
                       - viscous(problem, at + 2*h) - viscous(problem, at - 2*h) &
                       - 30*viscous(problem, at))/(12*width**2)
        end do
    end function force

    pure function flux(axis, at)
        integer, intent(in) :: axis
        real(dp), intent(in) :: at(3)
        real(dp) :: flux(5), v(5)
        v = primitive(at)
        flux = v(1 + axis)*exact(at)
        flux(1 + axis) = flux(1 + axis) + v(5)
        flux(5) = flux(5) + v(1 + axis)*v(5)
    end function flux

    !> Of which viscosity takes the Laplacian.
    pure function viscous(problem, at)
        type(overset_problem_t), intent(in) :: problem
        real(dp), intent(in) :: at(3)
        real(dp) :: viscous(5), v(5)
        v = primitive(at)
        viscous = [0.0_dp, problem%viscosity*v(2:4), &
                   problem%viscosity*dot_product(v(2:4), v(2:4))/2 &
                   + problem%conductivity*v(5)/((gamma - 1)*v(1))]
    end function viscous

end program test_overset_order
