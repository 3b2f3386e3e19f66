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
!> `correct`, which only set values. A step sends 4 exchanges of fields with levels, 3 + iterations
!> of fields without, and sums 8 bytes 2 iterations + 2 times.
!>
!> Reference: J. Marshall, A. Adcroft, C. Hill, L. Perelman, C. Heisey (1997): A finite-volume,
!> incompressible Navier Stokes model for studies of the ocean on parallel computers. J. Geophys.
!> Res. 102(C3), doi:10.1029/96JC02775.
module ocean_kernel

    use bl_kinds, only: dp, i8
    use bl_memory, only: aligned
    use bl_messages, only: comm_sum
    use ocean_dynamics, only: advance_row, correct_row, integrate_row, make_rows, rows_t
    use ocean_grid, only: close_level, fields, first_i, ghosts_t, grid_t, slab_ghosts_t
    use ocean_pressure, only: pressure_t
    use ocean_problem, only: ocean_problem_t

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
    end type invariants_t

    !> values(first_i:last_i, levels, 0:ny + 1).
    type :: field_t
        real(dp), pointer :: values(:, :, :) => null()
    end type field_t

    type :: ocean_t
        type(ocean_problem_t) :: problem
        type(grid_t) :: grid
        !> Of fields with levels, of those without.
        type(slab_ghosts_t) :: ghosts
        type(ghosts_t) :: ghosts_of_sums
        type(rows_t) :: rows
        type(pressure_t) :: lid
        !> u, v, T, S: parts of `slabs`.
        type(field_t) :: x(fields)
        !> The fields and a slab that is free, before them (`first` = 1) or behind (`first` = 0). A
        !> step moves the fields from there to here.
        real(dp), pointer, contiguous :: store(:, :, :, :) => null()
        integer :: first = 0
        !> The fields: slabs(first_i:last_i, field, level, 0:ny + 1).
        real(dp), pointer, contiguous :: slabs(:, :, :, :) => null()
        !> Tendencies of the step before: before(nx, field, level, ny).
        real(dp), pointer, contiguous :: before(:, :, :, :) => null()
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
        integer(i8), parameter :: fields = 9, real_bytes = 8, pad = 16
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
        call self%grid%new_slab_ghosts(problem%levels, self%ghosts)
        call self%grid%new_ghosts(1, self%ghosts_of_sums)
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
        call self%lid%setup(self%grid, self%rows%dx, self%rows%dy, problem%depth)
    end subroutine setup

    !> The fields begin at this slab of the store.
    subroutine move_to(self, first)
        class(ocean_t), intent(inout) :: self
        integer, intent(in) :: first
        integer :: f

        self%first = first
        associate (last_i => self%grid%last_i, last_j => self%grid%ny + 1)
            self%slabs(first_i:, 1:, 1:, 0:) => self%store(:, :, :, first:first + last_j)
            do f = 1, fields
                self%x(f)%values(first_i:, 1:, 0:) => self%slabs(:, f, :self%problem%levels, :)
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

    !> Refreshes the ghosts of all fields.
    subroutine refresh(self)
        class(ocean_t), intent(inout) :: self
        integer :: j, k

        if (self%rows%closed) then
            do j = 1, self%grid%ny
                do k = 1, self%problem%levels
                    call close_level(self%grid%nx, self%grid%last_i, self%slabs(:, :, k, j))
                end do
            end do
        end if
        call self%ghosts%exchange(self%slabs)
    end subroutine refresh

    !> One step, from right ghosts to right ghosts. The first one is Euler's.
    subroutine step(self, force)
        class(ocean_t), intent(inout) :: self
        procedure(force_i), optional :: force

        self%rows%weight = merge(1.0_dp, 1.5_dp, self%steps == 0)
        self%rows%weight_before = merge(0.0_dp, -0.5_dp, self%steps == 0)
        call self%add_tendencies()
        if (present(force)) call self%add_forces(force)
        call self%ghosts_of_sums%exchange(self%sum_u)
        call self%ghosts_of_sums%exchange(self%sum_v)
        call self%gather_divergence(self%rows%dz/self%rows%dt)
        call self%lid%solve(self%problem%iterations)
        self%uncorrected = .true.
        call self%ghosts%exchange(self%slabs)
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
            call integrate_row(self%rows, 0, old(:, :, :, 0), old(:, :, :, 1))
            do j = 1, ny
                call self%correct_at(j + 1, old)
                call integrate_row(self%rows, j, old(:, :, :, j), old(:, :, :, j + 1))
                call advance(j, .true., j - 1, j + 1)
            end do
        else
            call self%correct_at(ny + 1, old)
            call self%correct_at(ny, old)
            call integrate_row(self%rows, ny, old(:, :, :, ny), &
                               old(:, :, :, ny + 1))
            do j = ny, 1, -1
                call self%correct_at(j - 1, old)
                call integrate_row(self%rows, j - 1, old(:, :, :, j - 1), &
                                   old(:, :, :, j))
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
                             self%sum_u(:, j), self%sum_v(:, j))
        end subroutine advance
    end subroutine add_tendencies

    !> Adds given forces to the tendencies, as if they had been part of them.
    subroutine add_forces(self, force)
        class(ocean_t), intent(inout) :: self
        procedure(force_i) :: force
        integer :: f, k

        if (.not. allocated(self%forcing)) then
            allocate (self%forcing(fields))
            do f = 1, fields
                allocate (self%forcing(f)%values(self%grid%nx, self%problem%levels, self%grid%ny))
            end do
        end if
        call force(self)
        associate (factor => self%rows%dt*self%rows%weight, nx => self%grid%nx, ny => self%grid%ny)
            do f = 1, fields
                self%x(f)%values(1:nx, :, 1:ny) = self%x(f)%values(1:nx, :, 1:ny) &
                                                  + factor*self%forcing(f)%values
                self%before(:, f, :, :) = self%before(:, f, :, :) + self%forcing(f)%values
            end do
            do k = 1, self%problem%levels
                self%sum_u(1:nx, 1:ny) = self%sum_u(1:nx, 1:ny) &
                                         + factor*self%forcing(1)%values(:, k, :)
                self%sum_v(1:nx, 1:ny) = self%sum_v(1:nx, 1:ny) &
                                         + factor*self%forcing(2)%values(:, k, :)
            end do
            if (self%rows%closed) call self%refresh()
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

        do j = 0, self%grid%ny + 1
            call self%correct_at(j, self%slabs)
        end do
        self%uncorrected = .false.
    end subroutine correct

    !> The currents of row j, with their ghosts.
    subroutine correct_at(self, j, slabs)
        class(ocean_t), intent(inout) :: self
        integer, intent(in) :: j
        real(dp), intent(inout) :: slabs(first_i:self%grid%last_i, fields, &
                                         self%problem%levels + 1, 0:self%grid%ny + 1)
        real(dp) :: change_u(first_i:self%grid%last_i), change_v(first_i:self%grid%last_i)
        integer :: i

        change_u = 0
        change_v = 0
        if (self%uncorrected) then
            associate (p => self%lid%p, rows => self%rows)
            do i = 0, self%grid%nx + 1
                change_u(i) = rows%dt/rows%dx*(p(i, j) - p(i - 1, j))
                change_v(i) = rows%dt/rows%dy*(p(i, j) - p(i, j - 1))
            end do
            end associate
        end if
        call correct_row(self%rows, self%problem, j, change_u, change_v, slabs(:, :, :, j))
    end subroutine correct_at

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
    end function invariants

end module ocean_kernel
