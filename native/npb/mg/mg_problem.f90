!> Problem classes of MG.
module mg_problem

    use bl_kinds, only: dp, i8

    implicit none(type, external)
    private

    public :: mg_classes, mg_problem_t, find_mg_problem

    character(*), parameter :: mg_classes = 'SWABCDEF'

    !> Weights of the smoother for the centre, its 6 face and its 12 edge neighbours; the corners
    !> have none.
    real(dp), parameter :: smoother_a(3) = [-3.0_dp/8, 1.0_dp/32, -1.0_dp/64]
    real(dp), parameter :: smoother_b(3) = [-3.0_dp/17, 1.0_dp/33, -1.0_dp/61]

    type :: mg_problem_t
        !> The finest grid has (2**levels)**3 points, grid k has (2**k)**3.
        integer :: levels
        !> V-cycles.
        integer :: niter
        real(dp) :: smoother(3)
    contains
        procedure :: points => problem_points
        procedure :: operations => problem_operations
    end type mg_problem_t

    !> In the order of the classes.
    type(mg_problem_t), parameter :: table(len(mg_classes)) = [ &
                                     mg_problem_t(5, 4, smoother_a), &
                                     mg_problem_t(7, 4, smoother_a), &
                                     mg_problem_t(8, 4, smoother_a), &
                                     mg_problem_t(8, 20, smoother_b), &
                                     mg_problem_t(9, 20, smoother_b), &
                                     mg_problem_t(10, 50, smoother_b), &
                                     mg_problem_t(11, 50, smoother_b), &
                                     mg_problem_t(12, 50, smoother_b)]

contains

    pure type(mg_problem_t) function find_mg_problem(class_name) result(problem)
        character(1), intent(in) :: class_name
        problem = table(index(mg_classes, class_name))
    end function find_mg_problem

    !> Points of the finest grid.
    pure integer(i8) function problem_points(self) result(points)
        class(mg_problem_t), intent(in) :: self
        points = 2_i8**(3*self%levels)
    end function problem_points

    !> Operations of all V-cycles, as the benchmark counts them.
    pure real(dp) function problem_operations(self) result(operations)
        class(mg_problem_t), intent(in) :: self
        operations = 58.0_dp*self%niter*real(self%points(), dp)
    end function problem_operations

end module mg_problem
