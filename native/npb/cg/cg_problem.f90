!> Problem classes of CG.
module cg_problem

    use bl_kinds, only: dp

    implicit none(type, external)
    private

    public :: cg_problem_t, cg_classes, find_cg_problem, cg_steps

    character(*), parameter :: cg_classes = 'SWABCDEF'

    !> Steps of the conjugate gradient method in each outer iteration.
    integer, parameter :: cg_steps = 25

    type :: cg_problem_t
        !> Order of the matrix.
        integer :: na
        !> Nonzeros of each random vector of which the matrix is made.
        integer :: nonzer
        !> Outer iterations.
        integer :: niter
        !> The eigenvalue nearest to it is looked for.
        real(dp) :: shift
    contains
        procedure :: operations => problem_operations
    end type cg_problem_t

    !> In the order of the classes.
    type(cg_problem_t), parameter :: table(len(cg_classes)) = [ &
                                     cg_problem_t(1400, 7, 15, 10.0_dp), &
                                     cg_problem_t(7000, 8, 15, 12.0_dp), &
                                     cg_problem_t(14000, 11, 15, 20.0_dp), &
                                     cg_problem_t(75000, 13, 75, 60.0_dp), &
                                     cg_problem_t(150000, 15, 75, 110.0_dp), &
                                     cg_problem_t(1500000, 21, 100, 500.0_dp), &
                                     cg_problem_t(9000000, 26, 100, 1500.0_dp), &
                                     cg_problem_t(54000000, 31, 100, 5000.0_dp)]

contains

    pure type(cg_problem_t) function find_cg_problem(class_name) result(problem)
        character(1), intent(in) :: class_name
        problem = table(index(cg_classes, class_name))
    end function find_cg_problem

    !> Operations of all outer iterations, as the benchmark counts them.
    pure real(dp) function problem_operations(self) result(operations)
        class(cg_problem_t), intent(in) :: self
        real(dp) :: row
        row = real(self%nonzer, dp)*(self%nonzer + 1)
        operations = 2.0_dp*self%niter*self%na*(3 + row + cg_steps*(5 + row) + 3)
    end function problem_operations

end module cg_problem
