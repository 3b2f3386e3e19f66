!> Problem classes of LU, and how its processes divide the grid.
module lu_problem

    use bl_kinds, only: dp

    implicit none(type, external)
    private

    public :: find_lu_problem, lu_classes, lu_problem_t, process_grid, fewest_points

    character(*), parameter :: lu_classes = 'SWABCDEF'

    !> Points that a process needs in x and in y: the fourth differences reach two points far.
    integer, parameter :: fewest_points = 3

    type :: lu_problem_t
        !> Points in each direction.
        integer :: n
        !> Iterations.
        integer :: itmax
        !> Step of the pseudo-time, dimensionless.
        real(dp) :: dt
    contains
        procedure :: operations => problem_operations
    end type lu_problem_t

    !> In the order of the classes.
    type(lu_problem_t), parameter :: table(len(lu_classes)) = [ &
                                     lu_problem_t(12, 50, 0.5_dp), &
                                     lu_problem_t(33, 300, 1.5e-3_dp), &
                                     lu_problem_t(64, 250, 2.0_dp), &
                                     lu_problem_t(102, 250, 2.0_dp), &
                                     lu_problem_t(162, 250, 2.0_dp), &
                                     lu_problem_t(408, 300, 1.0_dp), &
                                     lu_problem_t(1020, 300, 0.5_dp), &
                                     lu_problem_t(2560, 300, 0.2_dp)]

contains

    pure type(lu_problem_t) function find_lu_problem(class_name) result(problem)
        character(1), intent(in) :: class_name
        problem = table(index(lu_classes, class_name))
    end function find_lu_problem

    !> Operations of all iterations, as the benchmark counts them.
    pure real(dp) function problem_operations(self) result(operations)
        class(lu_problem_t), intent(in) :: self
        real(dp) :: n
        n = real(self%n, dp)
        operations = self%itmax*(1984.77_dp*n**3 - 10923.3_dp*n**2 + 27770.9_dp*n - 144010)
    end function problem_operations

    !> Processes in x and in y, the former at most twice the latter and not fewer; zeros where the
    !> number of processes has no such factors.
    pure function process_grid(ranks) result(processes)
        integer, intent(in) :: ranks
        integer :: processes(2), py
        processes = 0
        do py = 1, ranks
            if (py*py > ranks) exit
            if (mod(ranks, py) == 0 .and. ranks/py <= 2*py) processes = [ranks/py, py]
        end do
    end function process_grid

end module lu_problem
