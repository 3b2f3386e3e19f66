!> Problem classes of the flow around a sphere, and its constants.
!>
!> Lengths are in units of a cell of the finest level; density and speed of sound of the undisturbed
!> flow are 1.
module cartesian_problem

    use bl_kinds, only: dp

    implicit none(type, external)
    private

    public :: cartesian_classes, cartesian_problem_t, find_cartesian_problem, brick_cells, &
              side_axis, side_step

    character(*), parameter :: cartesian_classes = 'SWABC'
    !> Cells along an edge of a brick, the unit that processes share out, on the finest level.
    integer, parameter :: brick_cells = 16

    !> Sides of a cell or brick: below and above along x, y, z.
    integer, parameter :: side_axis(6) = [1, 1, 2, 2, 3, 3]
    integer, parameter :: side_step(6) = [-1, 1, -1, 1, -1, 1]

    type :: cartesian_problem_t
        !> Cells along an edge of the cube, a multiple of `brick_cells`; multigrid cycles, more of
        !> them for more cells, since the coarsest of so few grids becomes finer, too.
        integer :: n, cycles
        !> Grids of the multigrid; each coarser one has half the cells along an edge.
        integer :: levels = 3
        !> How often a level has the next coarser one visited in a cycle: twice (W) or once (V).
        integer :: visits = 2
        !> Mach number of the undisturbed flow, along x.
        real(dp) :: mach = 0.4_dp
        !> Radius of the sphere, in the middle of the cube, over the cube's edge; 0 for no sphere.
        real(dp) :: radius = 0.125_dp
        !> Courant numbers of the finest and of the coarser levels.
        real(dp) :: courant = 1.4_dp, courant_coarse = 2.5_dp
    contains
        procedure :: cell_cycles => problem_cell_cycles
    end type cartesian_problem_t

    !> In the order of the classes.
    type(cartesian_problem_t), parameter :: table(len(cartesian_classes)) = [ &
                                            cartesian_problem_t(32, 20), &
                                            cartesian_problem_t(64, 30), &
                                            cartesian_problem_t(128, 40), &
                                            cartesian_problem_t(256, 100), &
                                            cartesian_problem_t(320, 130)]

contains

    pure type(cartesian_problem_t) function find_cartesian_problem(class_name) result(problem)
        character(1), intent(in) :: class_name
        problem = table(index(cartesian_classes, class_name))
    end function find_cartesian_problem

    !> What the rate counts: cells of the finest level, those in the sphere as well, times cycles.
    pure real(dp) function problem_cell_cycles(self) result(cell_cycles)
        class(cartesian_problem_t), intent(in) :: self
        cell_cycles = self%cycles*real(self%n, dp)**3
    end function problem_cell_cycles

end module cartesian_problem
