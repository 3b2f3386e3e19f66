!> The unstructured flow solver: its mesh is whole however it is cut, a flow that is known and kept by
!> sources is approached as the square of the cells' size, and the flow over the bump has the same
!> bits on all processes together as on one alone.
!>
!> The known flow, with X = pi x and so on:
!>
!>     density 1 + sin(X + Y)/10,  velocity (1/2 + sin(Y + Z)/10, cos(X - Z)/10, sin(X + Y)/10),
!>     pressure (1 + cos(Y - Z)/10)/gamma
program test_unstructured_flow

    use bl_check, only: check, finish_checks
    use bl_kinds, only: dp, i8
    use bl_messages, only: comm_allreduce, comm_free, comm_rank, comm_size, comm_split, &
                            job_finalize, job_init
    use mpi, only: MPI_BXOR, MPI_COMM_WORLD, MPI_DOUBLE_PRECISION, MPI_INTEGER8, MPI_SUM
    use unstructured_box, only: cell_number
    use unstructured_kernel, only: flow_t
    use unstructured_numbering, only: lanes
    use unstructured_problem, only: gamma, unstructured_problem_t

    implicit none(type, external)

    real(dp), parameter :: pi = acos(-1.0_dp)
    real(dp) :: coarse(5), fine(5)

    call job_init()
    call test_mesh(8)
    coarse = errors(8, 30)
    fine = errors(16, 40)
    if (comm_rank(MPI_COMM_WORLD) == 0) print '(a, 5es10.2, a, 5f6.2)', &
        'errors', fine, ', orders', log(coarse/fine)/log(2.0_dp)
    call check(all(fine < 1.0e-3_dp), 'errors are small')
    call check(all(coarse/fine > 3.4_dp), 'errors fall as the square of the cells'' size')
    call test_bits(6)
    call job_finalize()
    call finish_checks()

contains

    !> Volumes add up to the box with its bump, processes have equal shares with short boundaries,
    !> and a uniform flow stays.
    subroutine test_mesh(n)
        integer, intent(in) :: n
        type(flow_t) :: flow
        real(dp) :: volumes(2), share
        integer :: ranks, slot

        ranks = comm_size(MPI_COMM_WORLD)
        call flow%setup(MPI_COMM_WORLD, comm_rank(MPI_COMM_WORLD), ranks, &
                        unstructured_problem_t(n, 1))
        volumes = [0.0_dp, -huge(1.0_dp)]
        associate (numbers => flow%mesh%numbering)
            do slot = 1, numbers%own
                if (numbers%is_empty(slot)) cycle
                volumes = [volumes(1) + volume(flow, slot), max(volumes(2), -volume(flow, slot))]
            end do
        end associate
        call check(volumes(2) < 0, 'no cell is turned inside out')
        call comm_allreduce(volumes, 1, MPI_DOUBLE_PRECISION, MPI_SUM, MPI_COMM_WORLD)
        ! The bump is (sin(X) sin(Y))**4/10 high, and nodes on the floor are 1/n apart.
        call check(abs(volumes(1) - (1 - 0.1_dp*(3.0_dp/8)**2)) < 1.0e-3_dp, 'the box is full')
        share = real(flow%problem%cells(), dp)/ranks
        call check(flow%mesh%cells_most < share + 3, 'equal shares')
        call check(flow%mesh%cut_faces <= 6*n**2, 'short boundaries')
        call check(ranks == 1 .or. flow%mesh%cut_faces >= 2*n**2, 'boundaries')
        call check(flow%uniform_residual() < 1.0e-13_dp, 'a uniform flow stays')
        flow%mesh%area(1, 1, 1, 1) = 1.001_dp*flow%mesh%area(1, 1, 1, 1)
        call check(flow%uniform_residual() > 1.0e-6_dp, 'not in an open cell')
    end subroutine test_mesh

    !> Root mean square errors of density, velocity and pressure in a box of n**3 hexahedra.
    function errors(n, steps) result(error)
        integer, intent(in) :: n, steps
        real(dp) :: error(5)
        type(flow_t) :: flow
        integer :: step, slot, ghost

        call flow%setup(MPI_COMM_WORLD, comm_rank(MPI_COMM_WORLD), comm_size(MPI_COMM_WORLD), &
                        unstructured_problem_t(n, steps, has_wall=.false.))
        call flow%reset()
        associate (mesh => flow%mesh, numbers => flow%mesh%numbering)
            do ghost = 1, mesh%ghosts
                flow%w(:5, mesh%ghost_slot + ghost) = exact(mesh%ghost_centre(:, ghost))
                if (ghost > mesh%ghosts_own) cycle
                flow%sides(:5, mesh%ghost_side + ghost) = exact(mesh%ghost_centre(:, ghost))
            end do
            allocate (flow%source(lanes, 5, numbers%own/lanes), source=0.0_dp)
            do slot = 1, numbers%own
                if (numbers%is_empty(slot)) cycle
                flow%source(mod(slot - 1, lanes) + 1, :, (slot - 1)/lanes + 1) = &
                    volume(flow, slot)*divergence(numbers%nodes%centre(numbers%cells(slot)))
            end do
            call flow%refresh()
            do step = 1, steps
                call flow%step()
            end do
            call check(flow%residual < 2.0e-3_dp*flow%residual_first, 'the known flow is steady')
            error = 0
            do slot = 1, numbers%own
                if (numbers%is_empty(slot)) cycle
                error = error + (flow%w(:5, slot) &
                                 - exact(numbers%nodes%centre(numbers%cells(slot))))**2
            end do
        end associate
        call comm_allreduce(error, 5, MPI_DOUBLE_PRECISION, MPI_SUM, MPI_COMM_WORLD)
        error = sqrt(error/real(flow%problem%cells(), dp))
    end function errors

    pure real(dp) function volume(flow, slot)
        type(flow_t), intent(in) :: flow
        integer, intent(in) :: slot
        real(dp) :: x(3, 4), a(3), b(3), c(3)
        associate (numbers => flow%mesh%numbering)
            x = numbers%nodes%of_cell(numbers%cells(slot))
            a = x(:, 2) - x(:, 1)
            b = x(:, 3) - x(:, 1)
            c = x(:, 4) - x(:, 1)
            volume = (a(1)*(b(2)*c(3) - b(3)*c(2)) + a(2)*(b(3)*c(1) - b(1)*c(3)) &
                      + a(3)*(b(1)*c(2) - b(2)*c(1)))/6
            ! Even orders of the axes turn to the right, odd ones to the left.
            if (numbers%cells(slot)%kind > 3) volume = -volume
        end associate
    end function volume

    pure function exact(at) result(w)
        real(dp), intent(in) :: at(3)
        real(dp) :: w(5)
        associate (x => pi*at(1), y => pi*at(2), z => pi*at(3))
            w(1) = 1 + sin(x + y)/10
            w(2) = 0.5_dp + sin(y + z)/10
            w(3) = cos(x - z)/10
            w(4) = sin(x + y)/10
            w(5) = (1 + cos(y - z)/10)/gamma
        end associate
    end function exact

    !> Divergence of the flux of the known flow, by fourth-order differences so fine that their error
    !> is of no account.
    pure function divergence(at) result(total)
        real(dp), intent(in) :: at(3)
        real(dp) :: total(5), h(3)
        integer :: axis
        total = 0
        do axis = 1, 3
            h = 0
            h(axis) = 1.0e-3_dp
            total = total + (8*(flux(axis, exact(at + h)) - flux(axis, exact(at - h))) &
                             - flux(axis, exact(at + 2*h)) + flux(axis, exact(at - 2*h))) &
                    /(12*h(axis))
        end do
    end function divergence

    pure function flux(axis, w) result(f)
        integer, intent(in) :: axis
        real(dp), intent(in) :: w(5)
        real(dp) :: f(5)
        f(1) = w(1)*w(1 + axis)
        f(2:4) = f(1)*w(2:4)
        f(1 + axis) = f(1 + axis) + w(5)
        f(5) = w(1 + axis)*(w(5)*gamma/(gamma - 1) + 0.5_dp*w(1)*sum(w(2:4)**2))
    end function flux

    !> A few steps over the bump, on all processes and by each alone.
    subroutine test_bits(n)
        integer, intent(in) :: n
        integer(i8) :: together, alone
        integer :: self

        self = comm_split(MPI_COMM_WORLD, comm_rank(MPI_COMM_WORLD), 0)
        together = bits_of_flow(MPI_COMM_WORLD, n, 5)
        alone = bits_of_flow(self, n, 5)
        call check(together == alone, 'the same bits on one process')
        call check(bits_of_flow(self, n, 4) /= alone, 'other bits after fewer steps')
        call comm_free(self)
    end subroutine test_bits

    integer(i8) function bits_of_flow(comm, n, steps) result(bits)
        integer, intent(in) :: comm, n, steps
        type(flow_t) :: flow
        integer(i8) :: sums(1)
        integer :: step, slot, m

        call flow%setup(comm, comm_rank(comm), comm_size(comm), unstructured_problem_t(n, steps))
        call flow%reset()
        call flow%refresh()
        do step = 1, steps
            call flow%step()
        end do
        sums = 0
        associate (numbers => flow%mesh%numbering)
            do slot = 1, numbers%own
                if (numbers%is_empty(slot)) cycle
                do m = 1, 5
                    ! Turned by the cell's number, so that the cells' order matters.
                    sums = ieor(sums, ishftc(transfer(flow%w(m, slot), sums(1)), &
                                             int(mod(cell_number(n, numbers%cells(slot)) + m, &
                                                     64_i8))))
                end do
            end do
        end associate
        call comm_allreduce(sums, 1, MPI_INTEGER8, MPI_BXOR, comm)
        bits = sums(1)
    end function bits_of_flow

end program test_unstructured_flow
