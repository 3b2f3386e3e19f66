!> Flow through overlapping zones: a step of all blocks, and what it must be.
!>
!> A step brings ghosts up to date, first between the blocks of a zone, then between zones; then
!> each block is advanced by itself, its ghosts as they are: right-hand side, lines along x, y and z.
!> At last the squares of the right-hand sides are summed up, zone by zone, over all processes.
!>
!> At the begin a vortex with a bump of pressure lies in a free stream, which is held at the faces of
!> the whole box.
!>
!> Exported: `overset_t`, `norms_t`, `overset_memory_bytes`, `overset_blocks`. Collective:
!> `step`, `norms`. Timed: `step`.
module overset_kernel

    use mpi, only: MPI_DOUBLE_PRECISION, MPI_MAX, MPI_SUM
    use bl_agreement, only: agreement_t
    use bl_kinds, only: dp, i8
    use bl_memory, only: aligned
    use bl_messages, only: comm_allreduce
    use overset_exchange, only: copies, exchange_t, overlaps
    use overset_field, only: field_t, field_values, stream_state
    use overset_lines, only: lines_t
    use overset_problem, only: gamma, overset_problem_t
    use overset_residual, only: residual_t
    use overset_zones, only: block_t, blocks_of, zone_count, zone_t, zones_of

    implicit none(type, external)
    private

    public :: overset_t, norms_t, overset_memory_bytes, overset_blocks, overset_points

    !> Root mean squares over all points, and a largest value.
    type :: norms_t
        !> Of what the right-hand sides of the last step were, of the five components together.
        real(dp) :: residual = 0
        !> Of the deviation from the free stream: density, momentum, energy.
        real(dp) :: density = 0, momentum = 0, energy = 0
        !> Largest deviation of any component.
        real(dp) :: largest = 0
    end type norms_t

    type :: overset_t
        type(overset_problem_t) :: problem
        integer :: comm = 0
        type(zone_t) :: zones(zone_count)
        type(block_t), allocatable :: blocks(:)
        !> Blocks of this process.
        type(field_t), allocatable :: fields(:)
        type(exchange_t) :: within, between
        !> Sum of squares of each zone's right-hand side in the last step.
        real(dp) :: squares(zone_count) = 0
        !> On the sums since `restart`.
        type(agreement_t) :: agreement
        type(residual_t), private :: residual
        type(lines_t), private :: lines
        !> The change of a block, in the shape of a state.
        real(dp), pointer, contiguous, private :: space(:) => null()
    contains
        procedure :: setup
        procedure :: restart
        procedure :: exchange
        procedure :: advance
        procedure :: step
        procedure :: norms
    end type overset_t

contains

    subroutine setup(self, comm, rank, ranks, problem)
        class(overset_t), intent(inout) :: self
        integer, intent(in) :: comm, rank, ranks
        type(overset_problem_t), intent(in) :: problem
        integer, allocatable :: local(:)
        real(dp), pointer, contiguous :: space(:)
        integer(i8) :: total, most, first
        integer :: b, f

        self%problem = problem
        self%comm = comm
        self%zones = zones_of(problem)
        self%blocks = blocks_of(self%zones, problem, ranks)
        allocate (self%fields(count(self%blocks%owner == rank)))
        allocate (local(size(self%blocks)), source=0)
        ! All states and the change in one piece, for which the system gives large pages: an exchange
        ! goes through more small ones than the processor's address translation remembers.
        most = 0
        total = 0
        do b = 1, size(self%blocks)
            if (self%blocks(b)%owner /= rank) cycle
            associate (its => field_values(self%blocks(b)%hi - self%blocks(b)%lo + 1))
                total = total + its
                most = max(most, its)
            end associate
        end do
        space => aligned(total + most)
        f = 0
        first = 1
        do b = 1, size(self%blocks)
            if (self%blocks(b)%owner /= rank) cycle
            f = f + 1
            local(b) = f
            call self%fields(f)%setup(b, self%blocks(b), self%zones(self%blocks(b)%zone), &
                                      space(first:))
            first = first + field_values(self%fields(f)%n)
        end do
        self%space => space(first:)
        associate (zones => self%zones, blocks => self%blocks)
            call self%within%setup(comm, rank, ranks, 1, blocks, local, &
                                   copies(zones, blocks, rank, .true.), &
                                   copies(zones, blocks, rank, .false.))
            call self%between%setup(comm, rank, ranks, 2, blocks, local, &
                                    overlaps(zones, blocks, rank, .true.), &
                                    overlaps(zones, blocks, rank, .false.))
        end associate
        call self%residual%setup(problem, self%fields)
        call self%lines%setup(problem, self%fields)
    end subroutine setup

    !> The state at the begin.
    subroutine restart(self)
        class(overset_t), intent(inout) :: self
        real(dp) :: place(3)
        integer :: f, i, j, k

        call self%agreement%forget()
        do f = 1, size(self%fields)
            associate (field => self%fields(f), zone => self%zones(self%fields(f)%zone))
                call field%fill(stream_state(self%problem))
                do k = 1, field%n(3)
                    do j = 1, field%n(2)
                        do i = 1, field%n(1)
                            place = zone%place([1, 2, 3], [i, j, k] + field%before)
                            field%q(i, :, j, k) = disturbed(self%problem, place)
                        end do
                    end do
                end do
            end associate
        end do
    end subroutine restart

    !> A Gaussian vortex about a slanting axis, and more pressure at constant entropy, in the middle.
    pure function disturbed(problem, place) result(state)
        type(overset_problem_t), intent(in) :: problem
        real(dp), intent(in) :: place(3)
        real(dp) :: state(5), away(3), speed(3), bell
        real(dp), parameter :: middle(3) = [0.75_dp, 0.625_dp, 0.5_dp], width = 0.2_dp
        away = (place - middle)/width
        bell = problem%disturbance*exp(-dot_product(away, away))
        speed = problem%stream + bell*[away(3) - away(2), away(1), -away(1)]
        state(1) = 1 + bell
        state(2:4) = state(1)*speed
        state(5) = state(1)**gamma/(gamma*(gamma - 1)) + 0.5_dp*dot_product(state(2:4), speed)
    end function disturbed

    !> Brings the ghosts up to date.
    subroutine exchange(self)
        class(overset_t), intent(inout) :: self
        call self%within%run(self%fields)
        call self%between%run(self%fields)
    end subroutine exchange

    subroutine step(self)
        class(overset_t), intent(inout) :: self
        call self%exchange()
        call self%advance()
    end subroutine step

    !> All blocks, ghosts as they are.
    subroutine advance(self)
        class(overset_t), intent(inout) :: self
        integer :: f

        self%squares = 0
        do f = 1, size(self%fields)
            call advance_block(self, self%fields(f))
            associate (square => self%squares(self%fields(f)%zone))
                square = square + self%residual%square
            end associate
        end do
        call comm_allreduce(self%squares, zone_count, MPI_DOUBLE_PRECISION, MPI_SUM, self%comm)
        call self%agreement%hear(self%squares)
    end subroutine advance

    subroutine advance_block(self, field)
        class(overset_t), intent(inout) :: self
        type(field_t), intent(inout) :: field
        real(dp), pointer, contiguous :: s(:, :, :, :)
        integer :: k

        associate (n => field%n, rows => field%rows, residual => self%residual, &
                   lines => self%lines)
            s(-1:rows - 2, 1:5, -1:n(2) + 2, -1:n(3) + 2) => self%space(7:)
            call residual%begin(self%problem, field)
            do k = 1, n(3)
                call residual%plane(field, k, s(:, :, :, k))
                call lines%solve_plane(n, rows, residual, residual%derived(:, :, :, mod(k, 3)), &
                                       s(:, :, :, k))
            end do
            call lines%solve_up(n, rows, residual, s, field%q)
        end associate
    end subroutine advance_block

    type(norms_t) function norms(self)
        class(overset_t), intent(in) :: self
        real(dp) :: total(3), largest(1), stream(5), points
        integer :: f, c

        total = 0
        largest = 0
        stream = stream_state(self%problem)
        do f = 1, size(self%fields)
            associate (q => self%fields(f)%q, n => self%fields(f)%n)
                do c = 1, 5
                    associate (own => q(1:n(1), c, 1:n(2), 1:n(3)), &
                               its => total(merge(1, merge(3, 2, c == 5), c == 1)))
                        its = its + sum((own - stream(c))**2)
                        largest = max(largest(1), maxval(abs(own - stream(c))))
                    end associate
                end do
            end associate
        end do
        points = real(overset_points(self%problem), dp)
        call comm_allreduce(total, 3, MPI_DOUBLE_PRECISION, MPI_SUM, self%comm)
        call comm_allreduce(largest, 1, MPI_DOUBLE_PRECISION, MPI_MAX, self%comm)
        norms = norms_t(sqrt(sum(self%squares)/points), sqrt(total(1)/points), &
                        sqrt(total(2)/points), sqrt(total(3)/points), largest(1))
    end function norms

    !> Points of all zones.
    integer(i8) function overset_points(problem) result(points)
        type(overset_problem_t), intent(in) :: problem
        type(zone_t) :: zones(zone_count)
        integer :: z
        zones = zones_of(problem)
        points = 0
        do z = 1, zone_count
            points = points + product(int(zones(z)%n, i8))
        end do
    end function overset_points

    !> Blocks of all zones: more processes would have none.
    integer function overset_blocks(problem) result(blocks)
        type(overset_problem_t), intent(in) :: problem
        type(zone_t) :: zones(zone_count)
        integer :: z
        zones = zones_of(problem)
        blocks = sum([(product(zones(z)%parts), z=1, zone_count)])
    end function overset_blocks

    !> What the process that needs most needs: state, a tenth for what goes to and fro, work space.
    integer(i8) function overset_memory_bytes(problem, ranks) result(size_bytes)
        type(overset_problem_t), intent(in) :: problem
        integer, intent(in) :: ranks
        type(zone_t) :: zones(zone_count)
        type(block_t), allocatable :: blocks(:)
        integer(i8) :: values(0:ranks - 1), most
        integer :: b

        zones = zones_of(problem)
        allocate (blocks, source=blocks_of(zones, problem, ranks))
        values = 0
        most = 0
        do b = 1, size(blocks)
            associate (its => field_values(blocks(b)%hi - blocks(b)%lo + 1))
                values(blocks(b)%owner) = values(blocks(b)%owner) + its
                most = max(most, its)
            end associate
        end do
        size_bytes = 8*(maxval(values) + maxval(values)/2 + 2*most)
    end function overset_memory_bytes

end module overset_kernel
