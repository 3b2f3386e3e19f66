!> A hydrostatic ocean under a rigid lid: time steps, initial state, invariants.
!>
!> The basin is a unit square, periodic along x and y, of constant depth. A step takes explicit
!> tendencies of all fields (ocean_dynamics), then the lid's pressure such that the flow summed over
!> depth has no divergence (ocean_pressure), and corrects the currents by its gradient:
!>
!>     D div(grad p) = div(sum of u dz)/dt,   u = u - dt grad p
!>
!> Exported: `ocean_t`. Timed: `step`. Collective over the job: all but `restart`, which only sets
!> values. A step sends 4 exchanges of fields with levels, 3 + iterations + 1 of fields without, and
!> sums 8 bytes 2 iterations + 2 times.
!>
!> Reference: J. Marshall, A. Adcroft, C. Hill, L. Perelman, C. Heisey (1997): A finite-volume,
!> incompressible Navier Stokes model for studies of the ocean on parallel computers. J. Geophys.
!> Res. 102(C3), doi:10.1029/96JC02775.
module ocean_kernel

    use bl_kinds, only: dp, i8
    use bl_messages, only: comm_sum
    use ocean_dynamics, only: advance_row, begin_rows, field_t, rows_t
    use ocean_grid, only: first_i, ghosts_t, grid_t
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

    type :: ocean_t
        type(ocean_problem_t) :: problem
        type(grid_t) :: grid
        !> Of fields with levels, of those without.
        type(ghosts_t) :: ghosts, ghosts_of_sums
        type(rows_t) :: rows
        type(pressure_t) :: lid
        !> u, v, T, S: now, and the tendencies of the step before.
        type(field_t) :: x(4), before(4)
        !> Forces beside those of the equations; only where a step is given some.
        type(field_t), allocatable :: forcing(:)
        !> Sums over depth of u and v.
        real(dp), pointer, contiguous :: sum_u(:, :, :) => null(), sum_v(:, :, :) => null()
        !> Steps that were taken.
        integer :: steps = 0
    contains
        procedure :: setup
        procedure :: restart
        procedure :: step
        procedure :: refresh
        procedure :: invariants
        procedure, private :: add_tendencies
        procedure, private :: add_forces
        procedure, private :: gather_divergence
        procedure, private :: correct
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
        integer :: f

        self%problem = problem
        self%grid = grid_t(comm, rank, ranks, problem%n)
        do f = 1, 4
            call self%grid%new_field(problem%levels, 1, self%x(f)%values)
            call self%grid%new_field(problem%levels, 1, self%before(f)%values)
        end do
        call self%grid%new_ghosts(problem%levels, 1, self%ghosts)
        call self%grid%new_ghosts(1, 1, self%ghosts_of_sums)
        call self%grid%new_field(1, 1, self%sum_u)
        call self%grid%new_field(1, 1, self%sum_v)
        self%rows%nx = self%grid%nx
        self%rows%last_i = self%grid%last_i
        self%rows%levels = problem%levels
        self%rows%dx = 1.0_dp/problem%n
        self%rows%dy = 1.0_dp/problem%n
        self%rows%dz = problem%depth/problem%levels
        self%rows%dt = problem%courant/problem%n
        call self%lid%setup(self%grid, self%rows%dx, self%rows%dy, problem%depth)
    end subroutine setup

    !> The initial state: a stratified ocean with eddies. Ghosts are not set.
    subroutine restart(self)
        class(ocean_t), intent(inout) :: self
        real(dp) :: x, y, z
        integer :: i, j, k

        self%steps = 0
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
        integer :: f
        do f = 1, 4
            call self%ghosts%exchange(self%x(f)%values)
        end do
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
        call self%correct()
        call self%refresh()
        self%steps = self%steps + 1
    end subroutine step

    !> Takes all rows to the new time but for the lid's pressure.
    subroutine add_tendencies(self)
        class(ocean_t), intent(inout) :: self
        integer :: j

        call begin_rows(self%rows, self%problem, self%x)
        do j = 1, self%grid%ny
            call advance_row(self%rows, self%problem, j, self%x, self%before, &
                             self%sum_u(:, 1, j), self%sum_v(:, 1, j))
        end do
    end subroutine add_tendencies

    !> Adds given forces to the tendencies, as if they had been part of them.
    subroutine add_forces(self, force)
        class(ocean_t), intent(inout) :: self
        procedure(force_i) :: force
        integer :: f, k

        if (.not. allocated(self%forcing)) then
            allocate (self%forcing(4))
            do f = 1, 4
                call self%grid%new_field(self%problem%levels, 1, self%forcing(f)%values)
            end do
        end if
        call force(self)
        do f = 1, 4
            self%x(f)%values = self%x(f)%values &
                               + self%rows%dt*self%rows%weight*self%forcing(f)%values
            self%before(f)%values = self%before(f)%values + self%forcing(f)%values
        end do
        associate (factor => self%rows%dt*self%rows%weight)
            do k = 1, self%problem%levels
                self%sum_u(:, 1, 1:self%grid%ny) = self%sum_u(:, 1, 1:self%grid%ny) &
                    + factor*self%forcing(1)%values(:, k, 1:self%grid%ny)
                self%sum_v(:, 1, 1:self%grid%ny) = self%sum_v(:, 1, 1:self%grid%ny) &
                    + factor*self%forcing(2)%values(:, k, 1:self%grid%ny)
            end do
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
                    r(i, 1, j) = -factor*((u(i + 1, 1, j) - u(i, 1, j))/rows%dx &
                                          + (v(i, 1, j + 1) - v(i, 1, j))/rows%dy)
                end do
            end do
        end associate
    end subroutine gather_divergence

    subroutine correct(self)
        class(ocean_t), intent(inout) :: self
        real(dp) :: change_u(first_i:self%grid%last_i), change_v(first_i:self%grid%last_i)
        integer :: i, j, k

        do j = 1, self%grid%ny
            do i = 1, self%grid%nx
                change_u(i) = self%rows%dt/self%rows%dx*(self%lid%p(i, 1, j) &
                                                         - self%lid%p(i - 1, 1, j))
                change_v(i) = self%rows%dt/self%rows%dy*(self%lid%p(i, 1, j) &
                                                         - self%lid%p(i, 1, j - 1))
            end do
            do k = 1, self%problem%levels
                call subtract(self%grid%nx, self%grid%last_i, change_u, self%x(1)%values(:, k, j))
                call subtract(self%grid%nx, self%grid%last_i, change_v, self%x(2)%values(:, k, j))
            end do
        end do
    end subroutine correct

    pure subroutine subtract(nx, last_i, change, values)
        integer, intent(in) :: nx, last_i
        real(dp), intent(in) :: change(first_i:last_i)
        real(dp), intent(inout) :: values(first_i:last_i)
        integer :: i
        do i = 1, nx
            values(i) = values(i) - change(i)
        end do
    end subroutine subtract

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
                self%sum_u(:, 1, j) = sum(self%x(1)%values(:, :, j), 2)
                self%sum_v(:, 1, j) = sum(self%x(2)%values(:, :, j), 2)
            end do
            call self%gather_divergence(self%rows%dx/self%problem%levels)
            divergence = sum(self%lid%r(1:nx, 1, 1:ny)**2)/self%problem%n**2
            call comm_sum(invariants%heat, grid%comm)
            call comm_sum(invariants%salt, grid%comm)
            call comm_sum(invariants%kinetic, grid%comm)
            call comm_sum(invariants%variance, grid%comm)
            call comm_sum(divergence, grid%comm)
            invariants%divergence = sqrt(divergence)
        end associate
    end function invariants

end module ocean_kernel
