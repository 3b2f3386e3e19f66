!> The flow around a sphere: inviscid, compressible, steady; finite volumes on a Cartesian grid
!> whose cells the sphere cuts, Runge-Kutta steps, multigrid.
!>
!>     sum over the faces of a cell of F(x_below, x_above).n A + wall pressure times wall area = 0
!>
!> A step has five stages x(s) = x(0) - a(s) dt/V R(x(s - 1)) with the time step of each cell, which
!> keeps cells that are nearly cut away stable: their volume does not enter. A cycle of the full
!> approximation scheme takes a step, restricts states and residuals R, visits the next level, whose
!> residuals are shifted by P = restricted R - R(restricted x), adds what it changed, and takes
!> another step.
!>
!> Exported: `flow_t`. Timed: `cycle`. Collective over the job: all but `fill` and
!> `give_wall_fluxes`. A cycle with three levels, each visited twice from the finer one, exchanges
!> the ghosts of the levels 11, 22 and 20 times and sums 32 bytes once over all processes. Those of a
!> coarse level that is left are not exchanged: nothing reads them.
!>
!> References: M. Aftosmis, M. Berger, G. Adomavicius (2000): A parallel multilevel method for
!> adaptively refined Cartesian grids with embedded boundaries. AIAA 2000-0808,
!> doi:10.2514/6.2000-808. B. van Leer, C. Tai, K. Powell (1989): Design of optimally smoothing
!> multi-stage schemes for the Euler equations. AIAA 89-1933, doi:10.2514/6.1989-1933.
module cartesian_kernel

    use bl_kinds, only: dp, i8
    use bl_memory, only: aligned, prefetch
    use bl_messages, only: comm_allreduce
    use cartesian_bricks, only: bricks_t, new_bricks
    use cartesian_cut, only: coarser_cut, new_cut
    use cartesian_flux, only: full_flux, take_stage
    use cartesian_level, only: field_t, level_t, new_level
    use cartesian_problem, only: brick_cells, cartesian_problem_t
    use cartesian_state, only: fill_level, potential_flow, state_i
    use cartesian_transfer, only: prolong_brick, restrict_brick
    use mpi, only: MPI_DOUBLE_PRECISION, MPI_MAX, MPI_SUM

    implicit none(type, external)
    private

    public :: flow_t, outcome_t, cartesian_memory_bytes

    real(dp), parameter :: pi = acos(-1.0_dp)
    integer, parameter :: stages = 5
    integer(i8), parameter :: real_bytes = 8
    !> Of the finest level and of the others.
    real(dp), parameter :: stage_weights(stages, 2) = reshape( &
        [0.0695_dp, 0.1602_dp, 0.2898_dp, 0.5060_dp, 1.0_dp, &
         0.0533_dp, 0.1263_dp, 0.2375_dp, 0.4414_dp, 1.0_dp], [stages, 2])
    !> Differences of c over a cell of 1/n from which the limiter acts: eps = (this/n)**3.
    real(dp), parameter :: limiter_length = 5

    !> What a flow has become.
    type :: outcome_t
        !> Root mean square residual of mass, of a cell with faces of area 1.
        real(dp) :: residual = 0
        !> Force on the sphere over its frontal area and the dynamic pressure: along the flow, and
        !> the larger one of the two across.
        real(dp) :: drag = 0, lift = 0
        !> Root mean square change of p/rho**gamma, which would stay in an ideal flow.
        real(dp) :: entropy = 0
        !> How far the processes' histories of convergence are apart, of their largest.
        real(dp) :: disagreement = 0
    end type outcome_t

    type :: flow_t
        type(cartesian_problem_t) :: problem
        type(bricks_t) :: bricks
        type(level_t), allocatable :: levels(:)
        !> Sum of squares of the residual of mass and force on the sphere in the last cycle.
        real(dp) :: square = 0, force(3) = 0
        !> The same of all cycles since the start, added up: the history of convergence.
        real(dp) :: history = 0
        !> Residuals of a plane or brick; volumes of a brick without wall.
        real(dp), pointer, contiguous :: residual(:) => null(), whole(:) => null()
    contains
        procedure :: setup
        procedure :: fill
        procedure :: exchange
        procedure :: restart
        procedure :: cycle => cycle_finest
        procedure :: outcome
        procedure :: unbalance
        procedure :: give_wall_fluxes
        procedure, private :: visit
        procedure, private :: take_step
        procedure, private :: take_brick
        procedure, private :: restrict
        procedure, private :: prolong
    end type flow_t

contains

    !> What a process needs.
    pure integer(i8) function cartesian_memory_bytes(problem, ranks) result(size_bytes)
        type(cartesian_problem_t), intent(in) :: problem
        integer, intent(in) :: ranks
        !> Reals of a cell: three states, and what a quarter more cells of coarser levels and the
        !> wall add; of a face, in ghosts and in what is sent: two layers, one on coarser levels.
        integer(i8), parameter :: cell_reals = 5*3 + 6, face_reals = 2*(2*5 + 3)
        integer(i8) :: bricks, faces
        bricks = (int(problem%n, i8)/brick_cells)**3/ranks + 1
        faces = 6*(nint(real(bricks)**(2.0/3)) + 1)
        size_bytes = real_bytes*(bricks*brick_cells**3*cell_reals + faces*brick_cells**2*face_reals)
    end function cartesian_memory_bytes

    subroutine setup(self, comm, rank, ranks, problem)
        class(flow_t), intent(inout) :: self
        integer, intent(in) :: comm, rank, ranks
        type(cartesian_problem_t), intent(in) :: problem
        real(dp) :: radius
        integer :: l, b

        self%problem = problem
        radius = problem%radius*problem%n
        self%bricks = new_bricks(comm, rank, ranks, problem%n/brick_cells, brick_cells, radius)
        allocate (self%levels(problem%levels))
        do l = 1, problem%levels
            self%levels(l) = new_level(self%bricks, brick_cells/2**(l - 1), merge(2, 1, l == 1), &
                                       (limiter_length/problem%n)**3)
            associate (level => self%levels(l))
                call level%new_field(level%now)
                call level%new_field(level%old)
                call level%new_field(level%spare)
                if (l > 1) call level%new_field(level%restricted)
                if (l > 1) call level%new_field(level%forcing)
                do b = 1, self%bricks%own
                    if (.not. self%bricks%cut(b)) cycle
                    if (l == 1) level%cut(b) = new_cut(level%m, self%bricks%low_corner(b), radius)
                    if (l > 1) level%cut(b) = coarser_cut(level%m, self%levels(l - 1)%cut(b))
                end do
            end associate
        end do
        self%residual => aligned(5_i8*brick_cells**3)
        self%whole => aligned(int(brick_cells, i8)**3)
        self%whole = 1
    end subroutine setup

    !> Sets the states of a level and the ghosts at the cube's boundary.
    subroutine fill(self, l, state, velocity, radius)
        class(flow_t), intent(inout) :: self
        integer, intent(in) :: l
        procedure(state_i) :: state
        real(dp), intent(in) :: velocity(3), radius
        call fill_level(self%bricks, self%levels(l), state, velocity, radius)
    end subroutine fill

    !> Refreshes the ghosts of a level's states.
    subroutine exchange(self, l, field)
        class(flow_t), intent(inout) :: self
        integer, intent(in) :: l
        type(field_t), intent(in) :: field
        associate (level => self%levels(l))
            call self%bricks%exchange(level%m, level%depth, l, field%values, level%ghost, &
                                      level%buffer)
        end associate
    end subroutine exchange

    !> The flow before the first cycle.
    subroutine restart(self)
        class(flow_t), intent(inout) :: self
        integer :: l
        self%history = 0
        do l = self%problem%levels, 1, -1
            call self%fill(l, potential_flow, [self%problem%mach, 0.0_dp, 0.0_dp], &
                           self%problem%radius*self%problem%n)
            call self%exchange(l, self%levels(l)%now)
        end do
    end subroutine restart

    !> One cycle of the multigrid. The norm of the residual and the force are those after its first
    !> step.
    subroutine cycle_finest(self)
        class(flow_t), intent(inout) :: self
        real(dp) :: sums(4)
        call self%visit(1, .false., .true.)
        sums = [self%square, self%force]
        call comm_allreduce(sums, 4, MPI_DOUBLE_PRECISION, MPI_SUM, self%bricks%comm)
        self%square = sums(1)
        self%force = sums(2:4)
        self%history = self%history + sqrt(self%square) + sum(abs(self%force))
    end subroutine cycle_finest

    !> A step, coarser levels if there are any, a step. `anew` tells that `forcing` still holds the
    !> restricted residuals, `again` that the level's ghosts will be read once more.
    recursive subroutine visit(self, l, anew, again)
        class(flow_t), intent(inout) :: self
        integer, intent(in) :: l
        logical, intent(in) :: anew, again
        integer :: repeat
        logical :: is_coarsest

        is_coarsest = l == self%problem%levels
        call self%take_step(l, anew, again .or. .not. is_coarsest)
        if (is_coarsest) return
        call self%restrict(l)
        do repeat = 1, self%problem%visits
            call self%visit(l + 1, repeat == 1, repeat < self%problem%visits)
        end do
        call self%prolong(l)
        call self%take_step(l, .false., again)
    end subroutine visit

    !> All stages of a step, from right ghosts to right ghosts if they are wanted (`again`).
    subroutine take_step(self, l, anew, again)
        class(flow_t), intent(inout) :: self
        integer, intent(in) :: l
        logical, intent(in) :: anew, again
        type(field_t) :: from, to
        real(dp) :: courant
        integer :: stage, b

        from = self%levels(l)%now
        self%levels(l)%now = self%levels(l)%old
        self%levels(l)%old = from
        courant = merge(self%problem%courant, self%problem%courant_coarse, l == 1)
        do stage = 1, stages
            to = self%levels(l)%now
            if (mod(stage, 2) == 0) to = self%levels(l)%spare
            do b = 1, self%bricks%own
                call self%take_brick(l, b, anew .and. stage == 1, courant &
                                     *stage_weights(stage, min(l, 2)), from%values, to%values)
            end do
            if (again .or. stage < stages) call self%exchange(l, to)
            from = to
        end do
    end subroutine take_step

    !> One stage in one brick.
    subroutine take_brick(self, l, b, anew, courant, from, to)
        class(flow_t), intent(inout) :: self
        integer, intent(in) :: l, b
        logical, intent(in) :: anew
        real(dp), intent(in) :: courant
        real(dp), intent(in), contiguous, target :: from(:, :, :, :)
        real(dp), intent(inout), contiguous :: to(:, :, :, :)
        integer :: k

        associate (level => self%levels(l), count => self%levels(l)%m**2, r => self%residual)
            do k = 1, level%m
                call prefetch(level%old%values(:, :, k, b), real_bytes*5*count)
                call level%sweep_plane(self%bricks%neighbour(:, b), b, k, from, r)
                if (associated(level%forcing%values)) &
                    call shift(5*count, anew, level%forcing%values(:, :, k, b), r)
                if (level%is_cut(b)) then
                    call take_stage(count, courant, level%cut(b)%areas(:, :, k), &
                                    level%old%values(:, :, k, b), r, to(:, :, k, b))
                else
                    call take_stage(count, courant, level%whole, level%old%values(:, :, k, b), r, &
                                    to(:, :, k, b))
                end if
            end do
        end associate
    end subroutine take_brick

    !> Adds `forcing` to the residual. If it is still the restricted residual, what it has to be is
    !> such that their sum is the restricted residual.
    pure subroutine shift(count, anew, forcing, r)
        integer, intent(in) :: count
        logical, intent(in) :: anew
        real(dp), intent(inout) :: forcing(count), r(count)
        real(dp) :: own
        integer :: i
        if (anew) then
            do i = 1, count
                own = r(i)
                r(i) = forcing(i)
                forcing(i) = forcing(i) - own
            end do
        else
            r = r + forcing
        end if
    end subroutine shift

    !> From level l to the next. On the finest one the norm of the residual and the force come out.
    subroutine restrict(self, l)
        class(flow_t), intent(inout) :: self
        integer, intent(in) :: l
        integer :: b

        if (l == 1) self%square = 0
        self%levels(l)%force = 0
        associate (level => self%levels(l), coarse => self%levels(l + 1), &
                   x => self%levels(l)%now%values, m => self%levels(l + 1)%m, r => self%residual, &
                   coarse_x => self%levels(l + 1)%now%values, &
                   coarse_r => self%levels(l + 1)%forcing%values)
            do b = 1, self%bricks%own
                call level%sweep_brick(self%bricks%neighbour(:, b), b, x, r)
                if (associated(level%forcing%values)) &
                    call shift(5*level%m**3, .false., level%forcing%values(:, :, :, b), r)
                if (l == 1) self%square = self%square + square_of_mass(level%m, r)
                if (level%is_cut(b)) then
                    call restrict_brick(m, level%cut(b)%volume, x(:, :, :, b), r, &
                                        coarse_x(:, :, :, b), coarse_r(:, :, :, b))
                else
                    call restrict_brick(m, self%whole, x(:, :, :, b), r, &
                                        coarse_x(:, :, :, b), coarse_r(:, :, :, b))
                end if
            end do
            coarse%restricted%values = coarse%now%values
            if (l == 1) self%force = level%force
        end associate
        call self%exchange(l + 1, self%levels(l + 1)%now)
    end subroutine restrict

    pure real(dp) function square_of_mass(m, r)
        integer, intent(in) :: m
        real(dp), intent(in) :: r(m*m, 5, m)
        square_of_mass = sum(r(:, 1, :)**2)
    end function square_of_mass

    !> Adds to level l what the next one has changed.
    subroutine prolong(self, l)
        class(flow_t), intent(inout) :: self
        integer, intent(in) :: l
        integer :: b

        associate (level => self%levels(l), coarse => self%levels(l + 1))
            do b = 1, self%bricks%own
                if (level%is_cut(b)) then
                    call prolong_brick(coarse%m, level%cut(b)%volume, &
                                       coarse%now%values(:, :, :, b), &
                                       coarse%restricted%values(:, :, :, b), &
                                       level%now%values(:, :, :, b))
                else
                    call prolong_brick(coarse%m, self%whole, coarse%now%values(:, :, :, b), &
                                       coarse%restricted%values(:, :, :, b), &
                                       level%now%values(:, :, :, b))
                end if
            end do
        end associate
        call self%exchange(l, self%levels(l)%now)
    end subroutine prolong

    !> What the present states are, by a sweep of their own.
    type(outcome_t) function outcome(self)
        class(flow_t), intent(inout) :: self
        real(dp) :: sums(6), ends(2), volume, ratio
        integer :: b, i, k

        sums = 0
        self%levels(1)%force = 0
        associate (level => self%levels(1), x => self%levels(1)%now%values, m => brick_cells)
            do b = 1, self%bricks%own
                call level%sweep_brick(self%bricks%neighbour(:, b), b, x, self%residual)
                if (associated(level%forcing%values)) &
                    call shift(5*m**3, .false., level%forcing%values(:, :, :, b), self%residual)
                sums(1) = sums(1) + square_of_mass(m, self%residual)
                do k = 1, m
                    do i = 1, m*m
                        volume = 1
                        if (level%is_cut(b)) volume = level%cut(b)%volume(i, k)
                        ratio = x(i, 5, k, b)**1.6_dp/x(i, 1, k, b)**0.4_dp
                        sums(5) = sums(5) + volume*(ratio - 1)**2
                        sums(6) = sums(6) + volume
                    end do
                end do
            end do
            sums(2:4) = level%force
        end associate
        call comm_allreduce(sums, 6, MPI_DOUBLE_PRECISION, MPI_SUM, self%bricks%comm)
        outcome%residual = sqrt(sums(1)/sums(6))
        outcome%entropy = sqrt(sums(5)/sums(6))
        associate (p => self%problem)
            sums(2:4) = sums(2:4)/(0.5_dp*p%mach**2*pi*max(p%radius*p%n, 1.0_dp)**2)
        end associate
        outcome%drag = sums(2)
        outcome%lift = maxval(abs(sums(3:4)))
        ends = [self%history, -self%history]
        call comm_allreduce(ends, 2, MPI_DOUBLE_PRECISION, MPI_MAX, self%bricks%comm)
        outcome%disagreement = (ends(1) + ends(2))/ends(1)
    end function outcome

    !> Makes the wall pass given states instead of holding them back: what a test needs.
    subroutine give_wall_fluxes(self, state, velocity, radius)
        class(flow_t), intent(inout) :: self
        procedure(state_i), optional :: state
        real(dp), intent(in), optional :: velocity(3), radius
        real(dp) :: place(3)
        integer :: l, b, c

        do l = 1, self%problem%levels
            do b = 1, self%bricks%own
                if (.not. self%bricks%cut(b)) cycle
                associate (cut => self%levels(l)%cut(b))
                    if (allocated(cut%given)) deallocate (cut%given)
                    if (.not. present(state)) cycle
                    allocate (cut%given(5, size(cut%cell)))
                    do c = 1, size(cut%cell)
                        place = -self%problem%radius*self%problem%n*cut%area(:, c) &
                                /norm2(cut%area(:, c))
                        cut%given(:, c) = full_flux(state(velocity, radius, place), cut%area(:, c))
                    end do
                end associate
            end do
        end do
    end subroutine give_wall_fluxes

    !> Largest residual, on all levels, of an undisturbed flow that the wall lets pass: 0 if the
    !> surfaces of all cells are closed. It overwrites the states.
    real(dp) function unbalance(self)
        class(flow_t), intent(inout) :: self
        real(dp), parameter :: velocity(3) = [0.4_dp, 0.3_dp, -0.2_dp]
        real(dp) :: largest(1)
        integer :: l, b

        largest = 0
        call self%give_wall_fluxes(potential_flow, velocity, 0.0_dp)
        do l = 1, self%problem%levels
            call self%fill(l, potential_flow, velocity, 0.0_dp)
            call self%exchange(l, self%levels(l)%now)
            do b = 1, self%bricks%own
                self%residual = 0
                call self%levels(l)%sweep_brick(self%bricks%neighbour(:, b), b, &
                                                self%levels(l)%now%values, self%residual)
                largest = max(largest, maxval(abs(self%residual)))
            end do
        end do
        call self%give_wall_fluxes()
        call comm_allreduce(largest, 1, MPI_DOUBLE_PRECISION, MPI_MAX, self%bricks%comm)
        unbalance = largest(1)
    end function unbalance

end module cartesian_kernel
