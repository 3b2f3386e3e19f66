!> Problem classes of the unstructured flow solver, and its constants.
!>
!> Lengths are in units of the box's width, densities and the speed of sound those of the free
!> stream.
module unstructured_problem

    use bl_kinds, only: dp, i8

    implicit none(type, external)
    private

    public :: unstructured_classes, unstructured_problem_t, find_unstructured_problem
    public :: gamma, cells_min

    character(*), parameter :: unstructured_classes = 'SWABC'

    !> Ratio of the specific heats of air.
    real(dp), parameter :: gamma = 1.4_dp

    !> Cells that a process must have, so that each has some of every colour.
    integer, parameter :: cells_min = 48

    type :: unstructured_problem_t
        !> Hexahedra along an edge of the box, each of six tetrahedra; steps of pseudo-time; sweeps
        !> of the linear solver in a step.
        integer :: n, steps, sweeps = 12
        !> Whether the floor is a wall; else all faces of the box are far away.
        logical :: has_wall = .true.
        !> Mach number of the free stream, which flows along x.
        real(dp) :: mach = 0.5_dp
        !> Courant number of the first step, by what it grows in each, and its limit.
        real(dp) :: courant = 10, growth = 1.5_dp, courant_max = 200
    contains
        procedure :: cells => problem_cells
        procedure :: cell_steps => problem_cell_steps
        procedure :: courant_of => problem_courant_of
    end type unstructured_problem_t

    !> In the order of the classes.
    type(unstructured_problem_t), parameter :: table(len(unstructured_classes)) = [ &
                                               unstructured_problem_t(8, 20), &
                                               unstructured_problem_t(16, 30), &
                                               unstructured_problem_t(32, 40), &
                                               unstructured_problem_t(64, 50), &
                                               unstructured_problem_t(112, 50)]

contains

    pure type(unstructured_problem_t) function find_unstructured_problem(class_name) &
        result(problem)
        character(1), intent(in) :: class_name
        problem = table(index(unstructured_classes, class_name))
    end function find_unstructured_problem

    pure integer(i8) function problem_cells(self) result(cells)
        class(unstructured_problem_t), intent(in) :: self
        cells = 6*int(self%n, i8)**3
    end function problem_cells

    !> What the rate counts: cells times steps.
    pure real(dp) function problem_cell_steps(self) result(cell_steps)
        class(unstructured_problem_t), intent(in) :: self
        cell_steps = real(self%steps, dp)*real(self%cells(), dp)
    end function problem_cell_steps

    !> Courant number of a step, 0 the first.
    pure real(dp) function problem_courant_of(self, step) result(courant)
        class(unstructured_problem_t), intent(in) :: self
        integer, intent(in) :: step
        courant = min(self%courant*self%growth**min(step, 100), self%courant_max)
    end function problem_courant_of

end module unstructured_problem
