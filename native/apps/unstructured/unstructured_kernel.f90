!> The steady flow over a bump on the floor of a box: implicit finite volumes on tetrahedra.
!>
!> The Euler equations by cells, from the free stream towards the steady state by backward Euler steps
!> of a pseudo-time of each cell's own: residual of second order (unstructured_residual), Jacobian of
!> first order solved by Gauss-Seidel sweeps over two colours (unstructured_implicit).
!>
!> Exported: `flow_t`. Timed: `step`. Collective over the job: all but `reset` and `set_ghosts`. A
!> step sends one message to each neighbour for its sides of shared faces, one in each sweep and
!> colour for the changes of cells across them, one for the flow in the halo; and it sums 64 bytes over
!> all processes once and 8 bytes in each sweep.
!>
!> The flow is the same to the last bit on any number of processes; sums over processes are not.
module unstructured_kernel

    use bl_agreement, only: agreement_t
    use bl_kinds, only: dp, i8
    use bl_memory, only: aligned
    use bl_messages, only: comm_allreduce
    use mpi, only: MPI_DOUBLE_PRECISION, MPI_MAX, MPI_SUM
    use unstructured_box, only: colours
    use unstructured_exchange, only: unknowns, width
    use unstructured_implicit, only: advance, assemble, relax
    use unstructured_mesh, only: mesh_t
    use unstructured_numbering, only: lanes
    use unstructured_problem, only: gamma, unstructured_problem_t
    use unstructured_residual, only: average, gather_fluxes, reconstruct

    implicit none(type, external)
    private

    public :: flow_t, unstructured_memory_bytes, free_stream

    type :: flow_t
        type(unstructured_problem_t) :: problem
        type(mesh_t) :: mesh
        integer :: comm = 0
        !> Flow (density, velocity, pressure) of slots, a third of it at nodes, on sides of faces (see
        !> unstructured_mesh); change of the conserved quantities.
        real(dp), pointer, contiguous :: w(:, :) => null(), at_nodes(:, :) => null(), &
            sides(:, :) => null(), dq(:, :) => null()
        !> What flows into the cells, in the sweeps solved for the cells' own change; and the matrix.
        real(dp), pointer, contiguous :: inflow(:, :, :) => null(), matrix(:, :, :, :, :) => null()
        !> What is added to the inflow, if anything (lane, unknown, block).
        real(dp), allocatable :: source(:, :, :)
        !> Norms of the residual at the begin of the first and of the last step, force on the wall
        !> then, and by what factor the sweeps of that step made their changes smaller.
        real(dp) :: residual_first = 0, residual = 0, force(3) = 0, reduction = 0
        integer :: steps = 0
        !> On messages and sums since `reset`.
        type(agreement_t) :: agreement
    contains
        procedure :: setup
        procedure :: reset
        procedure :: refresh
        procedure :: step
        procedure :: find_inflow
        procedure :: uniform_residual
        procedure, private :: measure
        procedure, private :: sweep
    end type flow_t

contains

    !> What a process needs, lists of the mesh and their making included.
    pure integer(i8) function unstructured_memory_bytes(problem, ranks) result(size_bytes)
        type(unstructured_problem_t), intent(in) :: problem
        integer, intent(in) :: ranks
        integer(i8), parameter :: cell_bytes = 1550, halo_bytes = 300
        integer(i8) :: cells
        cells = problem%cells()/ranks
        size_bytes = cell_bytes*cells + halo_bytes*nint(36*(real(cells)/6)**(2.0/3.0), i8)
    end function unstructured_memory_bytes

    subroutine setup(self, comm, rank, ranks, problem)
        class(flow_t), intent(inout) :: self
        integer, intent(in) :: comm, rank, ranks
        type(unstructured_problem_t), intent(in) :: problem

        self%problem = problem
        self%comm = comm
        call self%mesh%setup(comm, rank, ranks, problem%n, problem%has_wall)
        associate (mesh => self%mesh)
            call new_columns(mesh%slots, self%w)
            call new_columns(mesh%slots, self%dq)
            call new_columns(mesh%no_node, self%at_nodes)
            call new_columns(mesh%sides, self%sides)
            call new_blocks(mesh%numbering%own/lanes, self%inflow, self%matrix)
        end associate
    end subroutine setup

    subroutine new_columns(columns, values)
        integer, intent(in) :: columns
        real(dp), pointer, contiguous, intent(out) :: values(:, :)
        real(dp), pointer, contiguous :: space(:)
        space => aligned(int(width, i8)*columns)
        values(1:width, 1:columns) => space
    end subroutine new_columns

    subroutine new_blocks(blocks, inflow, matrix)
        integer, intent(in) :: blocks
        real(dp), pointer, contiguous, intent(out) :: inflow(:, :, :), matrix(:, :, :, :, :)
        real(dp), pointer, contiguous :: space(:)
        space => aligned(int(lanes*unknowns, i8)*blocks)
        inflow(1:lanes, 1:unknowns, 1:blocks) => space
        space => aligned(int(lanes*unknowns**2*4, i8)*blocks)
        matrix(1:lanes, 1:unknowns, 1:unknowns, 1:4, 1:blocks) => space
    end subroutine new_blocks

    !> Density, velocity and pressure of the free stream.
    pure function free_stream(problem) result(w)
        type(unstructured_problem_t), intent(in) :: problem
        real(dp) :: w(width)
        w = 0
        w(1) = 1
        w(2) = problem%mach
        w(5) = 1/gamma
    end function free_stream

    !> The free stream everywhere.
    subroutine reset(self)
        class(flow_t), intent(inout) :: self
        real(dp) :: w(width)
        integer :: i
        w = free_stream(self%problem)
        do i = 1, self%mesh%slots
            self%w(:, i) = w
        end do
        do i = 1, self%mesh%sides
            self%sides(:, i) = w
        end do
        self%dq = 0
        self%steps = 0
        call self%agreement%forget()
    end subroutine reset

    !> Halo and mirror images of the flow from the cells.
    subroutine refresh(self)
        class(flow_t), intent(inout) :: self
        call self%mesh%halo%refresh(self%w, self%agreement)
        associate (walls => self%mesh%walls)
            call mirror(1, walls%last(colours + 1), walls%cell, walls%ghost, walls%normal, self%w)
        end associate
    end subroutine refresh

    !> One step, from a right halo to a right halo.
    subroutine step(self)
        class(flow_t), intent(inout) :: self
        real(dp) :: change, change_first
        integer :: sweep

        call self%find_inflow(.true.)
        call self%measure()
        call assemble(self%mesh%numbering%block_end(colours), self%mesh%across, self%mesh%area, &
                      self%w, self%problem%courant_of(self%steps), self%matrix, self%inflow)
        self%dq = 0
        change_first = 0
        change = 0
        do sweep = 1, self%problem%sweeps
            call self%sweep(change)
            if (sweep == 1) change_first = change
        end do
        self%reduction = 0
        if (change_first > 0) self%reduction = sqrt(change/change_first)
        call advance(self%mesh%numbering%own, self%dq, self%w)
        call self%refresh()
        self%steps = self%steps + 1
    end subroutine step

    !> The inflow, negative residual, of the flow; mirror images at walls if asked for.
    subroutine find_inflow(self, mirrored)
        class(flow_t), intent(inout) :: self
        logical, intent(in) :: mirrored
        associate (mesh => self%mesh, blocks => self%mesh%numbering%block_end(colours))
            call average(size(mesh%first) - 1, mesh%first, mesh%member, mesh%weight, self%w, &
                         self%at_nodes)
            call reconstruct(blocks, mesh%corner, self%w, self%at_nodes, mesh%edge_side, &
                             mesh%edge_cell, mesh%edge_node, self%sides)
            call mesh%shared%refresh(self%sides, self%agreement)
            if (mirrored) call mirror(1, mesh%walls%last(colours), mesh%walls%cell_side, &
                                      mesh%walls%ghost_side, mesh%walls%normal, self%sides)
            call gather_fluxes(blocks, mesh%corner, mesh%side, mesh%opposite, mesh%area, &
                               self%at_nodes, self%sides, self%inflow)
        end associate
        if (allocated(self%source)) self%inflow = self%inflow + self%source
    end subroutine find_inflow

    !> Norm of the residual, and force on the wall: one sum of 64 bytes.
    subroutine measure(self)
        class(flow_t), intent(inout) :: self
        real(dp) :: squares(lanes, unknowns), sums(unknowns + 3)
        integer :: i

        squares = 0
        do i = 1, size(self%inflow, 3)
            squares = squares + self%inflow(:, :, i)**2
        end do
        sums = [sum(squares, 1), 0.0_dp, 0.0_dp, 0.0_dp]
        associate (walls => self%mesh%walls)
            do i = 1, walls%last(colours)
                sums(unknowns + 1:) = sums(unknowns + 1:) + walls%normal(:, i) &
                                      *walls%area(i)*self%sides(5, walls%cell_side(i))
            end do
        end associate
        call comm_allreduce(sums, size(sums), MPI_DOUBLE_PRECISION, MPI_SUM, self%comm)
        call self%agreement%hear(sums)
        self%residual = sqrt(sum(sums(:unknowns)))
        if (self%steps == 0) self%residual_first = self%residual
        self%force = sums(unknowns + 1:)
    end subroutine measure

    !> One sweep over all colours; `change` is the square of what it changes.
    subroutine sweep(self, change)
        class(flow_t), intent(inout) :: self
        real(dp), intent(out) :: change
        real(dp) :: changes(1), part
        integer :: colour

        changes = 0
        associate (mesh => self%mesh, walls => self%mesh%walls, &
                   ends => self%mesh%numbering%block_end)
            do colour = 1, colours
                call relax(ends(colour - 1) + 1, ends(colour), mesh%across, self%matrix, &
                           self%inflow, self%dq, part)
                changes = changes + part
                call mesh%colour(colour)%refresh(self%dq, self%agreement)
                call mirror(walls%last(colour - 1) + 1, walls%last(colour), walls%cell, &
                            walls%ghost, walls%normal, self%dq)
            end do
        end associate
        call comm_allreduce(changes, 1, MPI_DOUBLE_PRECISION, MPI_SUM, self%comm)
        call self%agreement%hear(changes)
        change = changes(1)
    end subroutine sweep

    !> Puts the mirror images of some faces of walls in place.
    pure subroutine mirror(first, last, from, to, normal, values)
        integer, intent(in) :: first, last, from(:), to(:)
        real(dp), intent(in) :: normal(:, :)
        real(dp), intent(inout) :: values(:, :)
        integer :: i
        do i = first, last
            values(:, to(i)) = values(:, from(i))
            values(2:4, to(i)) = values(2:4, from(i)) &
                                 - 2*dot_product(values(2:4, from(i)), normal(:, i))*normal(:, i)
        end do
    end subroutine mirror

    !> The largest residual of the free stream in a box without walls, over the area of a
    !> hexahedron's face. Resets the flow.
    real(dp) function uniform_residual(self) result(largest)
        class(flow_t), intent(inout) :: self
        real(dp) :: values(1)
        call self%reset()
        call self%mesh%halo%refresh(self%w, self%agreement)
        call self%find_inflow(.false.)
        values = maxval(abs(self%inflow))*self%problem%n**2
        call comm_allreduce(values, 1, MPI_DOUBLE_PRECISION, MPI_MAX, self%comm)
        largest = values(1)
        call self%reset()
    end function uniform_residual

end module unstructured_kernel
