!> A hydrostatic ocean under a rigid lid: time steps, initial state, invariants.
!>
!> The basin is a unit square, periodic along x and y, of constant depth. A step takes explicit
!> tendencies of all fields (ocean_dynamics), then the lid's pressure such that the flow summed over
!> depth has no divergence (ocean_pressure), and corrects the currents by its gradient:
!>
!>     D div(grad p) = div(sum of u dz)/dt,   u = u - dt grad p
!>
!> The next step corrects them, row by row, before it uses a row; after the last one `correct` does.
!>
!> Exported: `ocean_t`. Timed: `step`, `correct`. Collective over the job: all but `restart` and
!> `correct`, which only set values. A step exchanges u, v, w, T and S, one after the other, as MITgcm
!> does; what the lid sends stands in its modules.
!>
!> Reference: J. Marshall, A. Adcroft, C. Hill, L. Perelman, C. Heisey (1997): A finite-volume,
!> incompressible Navier Stokes model for studies of the ocean on parallel computers. J. Geophys.
!> Res. 102(C3), doi:10.1029/96JC02775.
module ocean_kernel

    use bl_kinds, only: dp, i8
    use bl_memory, only: aligned
    use bl_messages, only: comm_sum
    use ocean_dynamics, only: advance_north, advance_row, correct_row, integrate_edge, &
                              integrate_row, make_rows, receive_row, rows_t
    use ocean_gradients, only: gradients_t
    use ocean_grid, only: close_level, fields, first_i, grid_t, slab_ghosts_t, width
    use ocean_pressure, only: pressure_t
    use ocean_problem, only: ocean_problem_t, saving, tiles
    use ocean_saving, only: saving_t

    implicit none(type, external)
    private

    public :: ocean_t, invariants_t, ocean_memory_bytes

    real(dp), parameter :: pi = acos(-1.0_dp)

    !> Sums over the basin, by its volume.
    type :: invariants_t
        real(dp) :: heat = 0, salt = 0
        !> Square of the currents, half of it; variance of the temperature.
        real(dp) :: kinetic = 0, variance = 0
        !> Root mean square divergence of the flow summed over depth, in units of what an error of
        !> 1 in a current would make of it.
        real(dp) :: divergence = 0
        !> 1 if what was sent since `restart` is not what was received; processes that got other sums
        !> for the lid than the first.
        integer :: lost = 0, differing = 0
    end type invariants_t

    !> values(first_i:last_i, levels, -1:ny + 2).
    type :: field_t
        real(dp), pointer :: values(:, :, :) => null()
    end type field_t

    type :: ocean_t
        type(ocean_problem_t) :: problem
        type(grid_t) :: grid
        type(slab_ghosts_t) :: ghosts
        type(rows_t) :: rows
        class(pressure_t), allocatable :: lid
        !> u, v, T, S: parts of `slabs`.
        type(field_t) :: x(fields)
        !> The fields and a slab that is free, before them (`first` = 1) or behind (`first` = 0). A
        !> step moves the fields from there to here.
        real(dp), pointer, contiguous :: store(:, :, :, :) => null()
        integer :: first = 0
        !> The fields: slabs(first_i:last_i, field, level, -1:ny + 2).
        real(dp), pointer, contiguous :: slabs(:, :, :, :) => null()
        !> w on the upper faces, in units of 2 dz, that of the lid with its sign turned, where
        !> neighbours need it, and in ghosts.
        real(dp), pointer, contiguous :: w(:, :, :) => null()
        !> Tendencies of the step before: before(nx, field, level, ny), of u on the east faces
        !> east(level, ny), of v on the north ones north(nx, level).
        real(dp), pointer, contiguous :: before(:, :, :, :) => null()
        real(dp), allocatable :: east(:, :), north(:, :)
        !> Forces beside those of the equations; only where a step is given some.
        type(field_t), allocatable :: forcing(:)
        !> Sums over depth of u and v.
        real(dp), pointer, contiguous :: sum_u(:, :) => null(), sum_v(:, :) => null()
        !> Steps that were taken.
        integer :: steps = 0
        !> Whether the currents have still to be corrected by the lid's pressure.
        logical :: uncorrected = .false.
    contains
        procedure :: setup
        procedure :: restart
        procedure :: step
        procedure :: correct
        procedure :: refresh
        procedure :: invariants
        procedure, private :: add_tendencies
        procedure, private :: add_forces
        procedure, private :: gather_divergence
        procedure, private :: move_to
        procedure, private :: correct_at
        procedure, private :: integrate_at
        procedure, private :: integrate_edges
        procedure, private :: changes
        procedure, private :: close_columns
    end type ocean_t

    abstract interface
        !> Sets `forcing` for the present time.
        subroutine force_i(ocean)
            import :: ocean_t
            class(ocean_t), intent(inout) :: ocean
        end subroutine force_i
    end interface

contains

    !> What a process needs.
    pure integer(i8) function ocean_memory_bytes(problem, ranks) result(size_bytes)
        type(ocean_problem_t), intent(in) :: problem
        integer, intent(in) :: ranks
        integer(i8), parameter :: fields = 10, real_bytes = 8, pad = 16
        size_bytes = fields*real_bytes*problem%levels*(problem%n + pad)**2/ranks
    end function ocean_memory_bytes

    subroutine setup(self, comm, rank, ranks, problem)
        class(ocean_t), intent(inout) :: self
        integer, intent(in) :: comm, rank, ranks
        type(ocean_problem_t), intent(in) :: problem
        real(dp), pointer, contiguous :: space(:)

        self%problem = problem
        self%grid = grid_t(comm, rank, ranks, problem%n)
        call self%grid%new_slabs(problem%levels, self%store)
        call self%move_to(0)
        associate (nx => self%grid%nx, ny => self%grid%ny)
            space => aligned(int(nx, i8)*fields*problem%levels*ny)
            self%before(1:nx, 1:fields, 1:problem%levels, 1:ny) => space
        end associate
        if (allocated(self%east)) deallocate (self%east, self%north)
        allocate (self%east(problem%levels, self%grid%ny), self%north(self%grid%nx, &
                                                                     problem%levels), source=0.0_dp)
        call self%grid%new_speed(problem%levels, self%w)
        call self%grid%new_slab_ghosts(problem%levels, self%ghosts)
        call self%grid%new_field(1, self%sum_u)
        call self%grid%new_field(1, self%sum_v)
        self%rows%closed = self%ghosts%closed_x
        self%rows%nx = self%grid%nx
        self%rows%last_i = self%grid%last_i
        self%rows%levels = problem%levels
        self%rows%dx = 1.0_dp/problem%n
        self%rows%dy = 1.0_dp/problem%n
        self%rows%dz = problem%depth/problem%levels
        self%rows%dt = problem%courant/problem%n
        call make_rows(self%rows)
        if (allocated(self%lid)) deallocate (self%lid)
        if (problem%variant == saving) then
            allocate (saving_t :: self%lid)
        else
            allocate (gradients_t :: self%lid)
        end if
        self%lid%by_tiles = problem%variant == tiles
        call self%lid%setup(self%grid, self%rows%dx, self%rows%dy, problem%depth)
    end subroutine setup

    !> The fields begin at this slab of the store.
    subroutine move_to(self, first)
        class(ocean_t), intent(inout) :: self
        integer, intent(in) :: first
        integer :: f

        self%first = first
        associate (row => 1 - width, last_row => self%grid%ny + width)
            self%slabs(first_i:, 1:, 1:, row:) => &
                self%store(:, :, :, row + first:last_row + first)
            do f = 1, fields
                self%x(f)%values(first_i:, 1:, row:) => self%slabs(:, f, :self%problem%levels, :)
            end do
        end associate
    end subroutine move_to

    !> The initial state: a stratified ocean with eddies. Ghosts are not set.
    subroutine restart(self)
        class(ocean_t), intent(inout) :: self
        real(dp) :: x, y, z
        integer :: i, j, k

        self%steps = 0
        self%uncorrected = .false.
        self%lid%p = 0
        call self%lid%agreement%forget()
        associate (grid => self%grid, rows => self%rows)
            do j = 1, grid%ny
                do k = 1, self%problem%levels
                    do i = 1, grid%nx
                        x = 2*pi*(grid%x_before + i - 0.5_dp)*rows%dx
                        y = 2*pi*(grid%y_before + j - 0.5_dp)*rows%dy
                        z = pi*(k - 0.5_dp)/self%problem%levels
                        self%x(1)%values(i, k, j) = 0.5_dp*sin(y) + 0.2_dp*cos(2*y) &
                                                    + 0.2_dp*cos(z)*sin(x - 0.5_dp*rows%dx)*cos(y)
                        self%x(2)%values(i, k, j) = 0.3_dp*cos(x) + 0.2_dp*cos(z)*sin(2*x)
                        self%x(3)%values(i, k, j) = cos(z) + 0.1_dp*sin(z)*cos(x)*sin(2*y)
                        self%x(4)%values(i, k, j) = 0.2_dp*sin(z)*sin(2*x)*cos(y) - 0.5_dp*cos(z)
                    end do
                end do
            end do
        end associate
    end subroutine restart

    !> Refreshes the ghosts of all fields, and of w.
    subroutine refresh(self)
        class(ocean_t), intent(inout) :: self
        call self%close_columns()
        call self%ghosts%exchange(self%slabs, self%w, self%lid%agreement)
        call self%integrate_edges()
        call self%ghosts%exchange(self%slabs, self%w, self%lid%agreement)
    end subroutine refresh

    !> The ghosts of columns from the own cells, where x is not cut.
    subroutine close_columns(self)
        class(ocean_t), intent(inout) :: self
        integer :: j, k

        if (.not. self%rows%closed) return
        do j = 1, self%grid%ny
            do k = 1, self%problem%levels
                call close_level(self%grid%nx, self%grid%last_i, self%slabs(:, :, k, j))
            end do
        end do
    end subroutine close_columns

    !> One step, from right ghosts to right ghosts. The first one is Euler's.
    subroutine step(self, force)
        class(ocean_t), intent(inout) :: self
        procedure(force_i), optional :: force

        self%rows%weight = merge(1.0_dp, 1.5_dp, self%steps == 0)
        self%rows%weight_before = merge(0.0_dp, -0.5_dp, self%steps == 0)
        call self%add_tendencies()
        if (present(force)) call self%add_forces(force)
        call self%gather_divergence(self%rows%dz/self%rows%dt)
        call self%lid%solve(self%problem%iterations)
        self%uncorrected = .true.
        call self%integrate_edges()
        call self%ghosts%exchange(self%slabs, self%w, self%lid%agreement)
        self%steps = self%steps + 1
    end subroutine step

    !> Takes all rows to the new time but for the lid's pressure: from south to north if the free
    !> slab is in the south, else from north to south.
    subroutine add_tendencies(self)
        class(ocean_t), intent(inout) :: self
        real(dp), pointer, contiguous :: old(:, :, :, :)
        integer :: j, ny

        ny = self%grid%ny
        old => self%slabs
        call self%move_to(1 - self%first)
        if (self%first == 0) then
            call self%correct_at(0, old)
            call self%correct_at(1, old)
            call self%integrate_at(0, old)
            do j = 1, ny
                call self%correct_at(j + 1, old)
                call self%integrate_at(j, old)
                call advance(j, .true., j - 1, j + 1)
            end do
            call self%correct_at(ny + 2, old)
            call self%integrate_at(ny + 1, old)
            call advance_edge(.true., ny, ny + 2)
        else
            do j = ny + 2, ny, -1
                call self%correct_at(j, old)
            end do
            call self%integrate_at(ny + 1, old)
            call self%integrate_at(ny, old)
            call advance_edge(.false., ny + 2, ny)
            do j = ny, 1, -1
                call self%correct_at(j - 1, old)
                call self%integrate_at(j - 1, old)
                call advance(j, .false., j + 1, j - 1)
            end do
        end if
        self%uncorrected = .false.

    contains

        subroutine advance(j, north_ahead, behind, ahead)
            integer, intent(in) :: j, behind, ahead
            logical, intent(in) :: north_ahead
            call advance_row(self%rows, self%problem, j, north_ahead, old(:, :, :, j), &
                             old(:, :, :, behind), old(:, :, :, ahead), self%before(:, :, :, j), &
                             self%east(:, j), self%sum_u(:, j), self%sum_v(:, j))
        end subroutine advance

        subroutine advance_edge(north_ahead, behind, ahead)
            integer, intent(in) :: behind, ahead
            logical, intent(in) :: north_ahead
            call advance_north(self%rows, self%problem, ny + 1, north_ahead, &
                               old(:, :, :, ny + 1), old(:, :, :, behind), old(:, :, :, ahead), &
                               self%north, self%sum_v(:, ny + 1))
        end subroutine advance_edge
    end subroutine add_tendencies

    !> The vertical speed of row j.
    subroutine integrate_at(self, j, slabs)
        class(ocean_t), intent(inout) :: self
        integer, intent(in) :: j
        real(dp), intent(in), contiguous :: slabs(first_i:, :, :, 1 - width:)

        if (j == 0 .or. j == self%grid%ny + 1) then
            call receive_row(self%rows, j, self%w(:, :, j))
        else
            call integrate_row(self%rows, j, slabs(:, :, :, j), slabs(:, :, :, j + 1), &
                               self%w(:, :, j))
        end if
    end subroutine integrate_at

    !> The vertical speed of the new time, as the lid's pressure makes it, where neighbours need it.
    subroutine integrate_edges(self)
        class(ocean_t), intent(inout) :: self
        real(dp), dimension(first_i:self%grid%last_i) :: change_u, change_v, change_north, shift, &
            unused
        integer :: i, j
        logical :: whole

        associate (nx => self%grid%nx, ny => self%grid%ny, rows => self%rows)
            shift = 0
            do j = 1, ny
                whole = j <= width .or. j > ny - width
                if (rows%closed .and. .not. whole) cycle
                call self%changes(j, change_u, change_v)
                call self%changes(j + 1, unused, change_north)
                do i = 1, nx
                    shift(i) = (change_u(i + 1) - change_u(i))/(2*rows%dx) &
                               + (change_north(i) - change_v(i))/(2*rows%dy)
                end do
                if (whole) then
                    call edge(1, nx)
                else
                    call edge(1, width)
                    call edge(nx - width + 1, nx)
                end if
            end do
        end associate

    contains

        subroutine edge(first, last)
            integer, intent(in) :: first, last
            call integrate_edge(self%rows, first, last, self%slabs(:, :, :, j), &
                                self%slabs(:, :, :, j + 1), shift, self%w(:, :, j))
        end subroutine edge
    end subroutine integrate_edges

    !> Adds given forces to the tendencies, as if they had been part of them.
    subroutine add_forces(self, force)
        class(ocean_t), intent(inout) :: self
        procedure(force_i) :: force
        integer :: f, k, last(2)

        if (.not. allocated(self%forcing)) then
            allocate (self%forcing(fields))
            do f = 1, fields
                allocate (self%forcing(f)%values(self%grid%nx + 1, self%problem%levels, &
                                                 self%grid%ny + 1))
            end do
        end if
        call force(self)
        associate (factor => self%rows%dt*self%rows%weight, nx => self%grid%nx, ny => self%grid%ny)
            do f = 1, fields
                self%before(:, f, :, :) = self%before(:, f, :, :) &
                                          + self%forcing(f)%values(:nx, :, :ny)
                ! u on the east faces and v on the north ones are computed, too.
                last = [nx, ny] + merge(1, 0, f == [1, 2])
                self%x(f)%values(1:last(1), :, 1:last(2)) = &
                    self%x(f)%values(1:last(1), :, 1:last(2)) &
                    + factor*self%forcing(f)%values(:last(1), :, :last(2))
            end do
            self%east = self%east + self%forcing(1)%values(nx + 1, :, :ny)
            self%north = self%north + self%forcing(2)%values(:nx, :, ny + 1)
            do k = 1, self%problem%levels
                self%sum_u(1:nx + 1, 1:ny) = self%sum_u(1:nx + 1, 1:ny) &
                                             + factor*self%forcing(1)%values(:, k, :ny)
                self%sum_v(1:nx, 1:ny + 1) = self%sum_v(1:nx, 1:ny + 1) &
                                             + factor*self%forcing(2)%values(:nx, k, :)
            end do
            call self%close_columns()
        end associate
    end subroutine add_forces

    !> The right-hand side for the lid, sign turned, from the sums over depth.
    subroutine gather_divergence(self, factor)
        class(ocean_t), intent(inout) :: self
        real(dp), intent(in) :: factor
        integer :: i, j

        associate (u => self%sum_u, v => self%sum_v, r => self%lid%r, rows => self%rows)
            do j = 1, self%grid%ny
                do i = 1, self%grid%nx
                    r(i, j) = -factor*((u(i + 1, j) - u(i, j))/rows%dx &
                                       + (v(i, j + 1) - v(i, j))/rows%dy)
                end do
            end do
        end associate
    end subroutine gather_divergence

    !> Corrects the currents of all rows, if that is left to do.
    subroutine correct(self)
        class(ocean_t), intent(inout) :: self
        integer :: j

        do j = 0, self%grid%ny + width
            call self%correct_at(j, self%slabs)
        end do
        self%uncorrected = .false.
    end subroutine correct

    !> The currents of row j, with their ghosts but the outer ones in the west.
    subroutine correct_at(self, j, slabs)
        class(ocean_t), intent(inout) :: self
        integer, intent(in) :: j
        real(dp), intent(inout), contiguous :: slabs(first_i:, :, :, 1 - width:)
        real(dp), dimension(first_i:self%grid%last_i) :: change_u, change_v

        call self%changes(j, change_u, change_v)
        call correct_row(self%rows, self%problem, j, change_u, change_v, slabs(:, :, :, j))
    end subroutine correct_at

    !> What the lid's pressure takes from the currents of row j, if that is left to do.
    subroutine changes(self, j, change_u, change_v)
        class(ocean_t), intent(in) :: self
        integer, intent(in) :: j
        real(dp), intent(out), dimension(first_i:self%grid%last_i) :: change_u, change_v
        integer :: i

        change_u = 0
        change_v = 0
        if (.not. self%uncorrected) return
        associate (p => self%lid%p, rows => self%rows)
            do i = 0, self%grid%nx + width
                change_u(i) = rows%dt/rows%dx*(p(i, j) - p(i - 1, j))
                change_v(i) = rows%dt/rows%dy*(p(i, j) - p(i, j - 1))
            end do
        end associate
    end subroutine changes

    type(invariants_t) function invariants(self)
        class(ocean_t), intent(inout) :: self
        real(dp) :: cells, divergence
        integer :: j

        associate (grid => self%grid, nx => self%grid%nx, ny => self%grid%ny)
            cells = real(self%problem%n, dp)**2*self%problem%levels
            invariants%heat = sum(self%x(3)%values(1:nx, :, 1:ny))/cells
            invariants%salt = sum(self%x(4)%values(1:nx, :, 1:ny))/cells
            invariants%kinetic = (sum(self%x(1)%values(1:nx, :, 1:ny)**2) &
                                  + sum(self%x(2)%values(1:nx, :, 1:ny)**2))/(2*cells)
            invariants%variance = sum(self%x(3)%values(1:nx, :, 1:ny)**2)/cells
            do j = 0, ny + 1
                self%sum_u(:, j) = sum(self%x(1)%values(:, :, j), 2)
                self%sum_v(:, j) = sum(self%x(2)%values(:, :, j), 2)
            end do
            call self%gather_divergence(self%rows%dx/self%problem%levels)
            divergence = sum(self%lid%r(1:nx, 1:ny)**2)/self%problem%n**2
            call comm_sum(invariants%heat, grid%comm)
            call comm_sum(invariants%salt, grid%comm)
            call comm_sum(invariants%kinetic, grid%comm)
            call comm_sum(invariants%variance, grid%comm)
            call comm_sum(divergence, grid%comm)
            invariants%divergence = sqrt(divergence)
        end associate
        invariants%lost = self%lid%agreement%lost(self%grid%comm)
        invariants%differing = self%lid%agreement%differing(self%grid%comm, self%grid%rank)
    end function invariants

end module ocean_kernel
