!> The ocean against a flow that is known: forces are added that keep a given flow going, and the
!> error must fall as the square of the cells' size, on any number of processes.
!>
!> The flow, with X = 2 pi x, Y = 2 pi y, Z = pi (1 + z/D), z from -D to 0, and c = 1 + sin(3 t)/2:
!>
!>     u = c (sin X cos Y cos Z/4 + cos Y/3)      v = c (cos X sin Y cos Z/4 + sin X/2)
!>     w = -c D cos X cos Y sin Z
!>     T = (c cos X sin Y - 3) cos Z    S = c sin X cos Y cos Z
!>     p = (a T - b S) D tan Z/pi + c P sin X sin Y
!>
!> in which sums over depth of u and v have no divergence, w and dT/dz vanish at lid and bottom, and
!> the water is stably stratified (a = 3, b = 2).
program test_ocean_order

    use bl_check, only: check, finish_checks
    use bl_kinds, only: dp
    use bl_messages, only: comm_allreduce, comm_rank, comm_size, job_finalize, job_init
    use mpi, only: MPI_COMM_WORLD, MPI_DOUBLE_PRECISION, MPI_SUM
    use ocean_kernel, only: ocean_t
    use ocean_problem, only: ocean_problem_t

    implicit none(type, external)

    real(dp), parameter :: pi = acos(-1.0_dp), turn = 2*pi, lid = 0.3_dp
    real(dp), parameter :: end_time = 0.1_dp
    !> A flow that is taken for right: finer by two, errors smaller by four.
    real(dp) :: coarse(4), fine(4)

    call job_init()
    coarse = errors(16, 6)
    fine = errors(32, 12)
    if (comm_rank(MPI_COMM_WORLD) == 0) print '(a, 4es10.2, a, 4f6.2)', &
        'errors', fine, ', orders', log(coarse/fine)/log(2.0_dp)
    call check(all(fine < 0.02_dp), 'errors of u, v, T and S are small')
    call check(all(coarse/fine > 3.5_dp), 'errors fall as the square of the cells'' size')
    call job_finalize()
    call finish_checks()

contains

    !> Root mean square errors of u, v, T and S on a grid of n by n cells.
    function errors(n, levels) result(error)
        integer, intent(in) :: n, levels
        real(dp) :: error(4)
        type(ocean_problem_t) :: problem
        type(ocean_t) :: ocean
        integer :: f, step

        problem = ocean_problem_t(n, levels, nint(end_time*n/0.1_dp), 2*n)
        problem%viscosity = 0.02_dp
        problem%diffusivity = 0.03_dp
        problem%viscosity_z = 1.0e-3_dp
        problem%diffusivity_z = 2.0e-3_dp
        problem%expansion = 3
        problem%contraction = 2
        call ocean%setup(MPI_COMM_WORLD, comm_rank(MPI_COMM_WORLD), comm_size(MPI_COMM_WORLD), &
                         problem)
        call ocean%restart()
        do f = 1, 4
            call set_exact(ocean, f, 0.0_dp)
        end do
        call ocean%refresh()
        do step = 1, problem%steps
            call ocean%step(force)
        end do
        call ocean%correct()
        do f = 1, 4
            error(f) = rms_error(ocean, f, problem%steps*ocean%rows%dt)
        end do
    end function errors

    !> The force, of all four fields, that keeps the flow going, added as a tendency.
    subroutine force(ocean)
        class(ocean_t), intent(inout) :: ocean
        real(dp) :: at(4), time
        integer :: f, i, j, k
        time = ocean%steps*ocean%rows%dt
        do f = 1, 4
            do j = 1, ocean%grid%ny + 1
                do k = 1, ocean%problem%levels
                    do i = 1, ocean%grid%nx + 1
                        at = [place(ocean, f, i, j, k), time]
                        ocean%forcing(f)%values(i, k, j) = residual(ocean%problem, f, at)
                    end do
                end do
            end do
        end do
    end subroutine force

    subroutine set_exact(ocean, f, time)
        type(ocean_t), intent(inout) :: ocean
        integer, intent(in) :: f
        real(dp), intent(in) :: time
        integer :: i, j, k
        do j = 1, ocean%grid%ny
            do k = 1, ocean%problem%levels
                do i = 1, ocean%grid%nx
                    ocean%x(f)%values(i, k, j) = exact(ocean%problem, f, &
                                                       [place(ocean, f, i, j, k), time])
                end do
            end do
        end do
    end subroutine set_exact

    real(dp) function rms_error(ocean, f, time)
        type(ocean_t), intent(in) :: ocean
        integer, intent(in) :: f
        real(dp), intent(in) :: time
        real(dp) :: total(1)
        integer :: i, j, k
        total = 0
        do j = 1, ocean%grid%ny
            do k = 1, ocean%problem%levels
                do i = 1, ocean%grid%nx
                    total = total + (ocean%x(f)%values(i, k, j) &
                                     - exact(ocean%problem, f, &
                                             [place(ocean, f, i, j, k), time]))**2
                end do
            end do
        end do
        call comm_allreduce(total, 1, MPI_DOUBLE_PRECISION, MPI_SUM, MPI_COMM_WORLD)
        rms_error = sqrt(total(1)/(ocean%problem%n**2*ocean%problem%levels))
    end function rms_error

    !> Where field f of cell (i, j), level k lies: u on the west face, v on the south face.
    pure function place(ocean, f, i, j, k) result(at)
        class(ocean_t), intent(in) :: ocean
        integer, intent(in) :: f, i, j, k
        real(dp) :: at(3)
        at(1) = (ocean%grid%x_before + i - merge(1.0_dp, 0.5_dp, f == 1))*ocean%rows%dx
        at(2) = (ocean%grid%y_before + j - merge(1.0_dp, 0.5_dp, f == 2))*ocean%rows%dy
        at(3) = -(k - 0.5_dp)*ocean%rows%dz
    end function place

    !> u, v, T, S, w, p for f = 1, 2, ... at (x, y, z, t).
    pure real(dp) function exact(problem, f, at) result(value)
        type(ocean_problem_t), intent(in) :: problem
        integer, intent(in) :: f
        real(dp), intent(in) :: at(4)
        real(dp) :: c, x, y, z
        c = 1 + sin(3*at(4))/2
        x = turn*at(1)
        y = turn*at(2)
        z = pi*(1 + at(3)/problem%depth)
        select case (f)
        case (1)
            value = c*(sin(x)*cos(y)*cos(z)/4 + cos(y)/3)
        case (2)
            value = c*(cos(x)*sin(y)*cos(z)/4 + sin(x)/2)
        case (3)
            value = (c*cos(x)*sin(y) - 3)*cos(z)
        case (4)
            value = c*sin(x)*cos(y)*cos(z)
        case (5)
            value = -c*problem%depth*cos(x)*cos(y)*sin(z)
        case default
            value = problem%depth/pi*sin(z)*(problem%expansion*(c*cos(x)*sin(y) - 3) &
                                             - problem%contraction*c*sin(x)*cos(y)) &
                    + c*lid*sin(x)*sin(y)
        end select
    end function exact

    !> What the equations leave of the flow, derivatives by fourth-order differences so fine that
    !> their error is of no account.
    pure real(dp) function residual(problem, f, at)
        type(ocean_problem_t), intent(in) :: problem
        integer, intent(in) :: f
        real(dp), intent(in) :: at(4)
        real(dp) :: mixing(3)
        integer :: axis

        if (f <= 2) then
            mixing = [problem%viscosity, problem%viscosity, problem%viscosity_z]
        else
            mixing = [problem%diffusivity, problem%diffusivity, problem%diffusivity_z]
        end if
        residual = first(problem, f, 4, at)
        do axis = 1, 3
            residual = residual + exact(problem, merge(5, axis, axis == 3), at) &
                       *first(problem, f, axis, at) - mixing(axis)*second(problem, f, axis, at)
        end do
        if (f == 1) residual = residual - problem%coriolis*exact(problem, 2, at) &
                               + first(problem, 6, 1, at)
        if (f == 2) residual = residual + problem%coriolis*exact(problem, 1, at) &
                               + first(problem, 6, 2, at)
    end function residual

    pure real(dp) function step_along(problem, axis) result(h)
        type(ocean_problem_t), intent(in) :: problem
        integer, intent(in) :: axis
        h = 1.0e-3_dp*merge(problem%depth, 1.0_dp, axis == 3)
    end function step_along

    pure real(dp) function first(problem, f, axis, at)
        type(ocean_problem_t), intent(in) :: problem
        integer, intent(in) :: f, axis
        real(dp), intent(in) :: at(4)
        real(dp) :: h(4)
        h = 0
        h(axis) = step_along(problem, axis)
        first = (8*(exact(problem, f, at + h) - exact(problem, f, at - h)) &
                 - exact(problem, f, at + 2*h) + exact(problem, f, at - 2*h))/(12*h(axis))
    end function first

    pure real(dp) function second(problem, f, axis, at)
        type(ocean_problem_t), intent(in) :: problem
        integer, intent(in) :: f, axis
        real(dp), intent(in) :: at(4)
        real(dp) :: h(4)
        h = 0
        h(axis) = step_along(problem, axis)
        second = (16*(exact(problem, f, at + h) + exact(problem, f, at - h)) &
                  - exact(problem, f, at + 2*h) - exact(problem, f, at - 2*h) &
                  - 30*exact(problem, f, at))/(12*h(axis)**2)
    end function second

end program test_ocean_order
