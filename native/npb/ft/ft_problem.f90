!> Problem classes of FT.
module ft_problem

    use bl_kinds, only: dp, i8

    implicit none(type, external)
    private

    public :: find_ft_problem, ft_classes, ft_problem_t

    character(*), parameter :: ft_classes = 'SWABCDEF'

    type :: ft_problem_t
        !> Points in each direction, powers of two.
        integer :: n(3)
        !> Iterations.
        integer :: niter
    contains
        procedure :: points => problem_points
        procedure :: operations => problem_operations
    end type ft_problem_t

    !> In the order of the classes.
    type(ft_problem_t), parameter :: table(len(ft_classes)) = [ &
                                     ft_problem_t([64, 64, 64], 6), &
                                     ft_problem_t([128, 128, 32], 6), &
                                     ft_problem_t([256, 256, 128], 6), &
                                     ft_problem_t([512, 256, 256], 20), &
                                     ft_problem_t([512, 512, 512], 20), &
                                     ft_problem_t([2048, 1024, 1024], 25), &
                                     ft_problem_t([4096, 2048, 2048], 25), &
                                     ft_problem_t([8192, 4096, 4096], 25)]

contains

    pure type(ft_problem_t) function find_ft_problem(class_name) result(problem)
        character(1), intent(in) :: class_name
        problem = table(index(ft_classes, class_name))
    end function find_ft_problem

    pure integer(i8) function problem_points(self) result(points)
        class(ft_problem_t), intent(in) :: self
        points = product(int(self%n, i8))
    end function problem_points

    !> Operations of the whole timed part, as the benchmark counts them.
    pure real(dp) function problem_operations(self) result(operations)
        class(ft_problem_t), intent(in) :: self
        real(dp) :: points
        points = real(self%points(), dp)
        operations = points*(14.8157_dp + 7.19641_dp*log(points) &
                             + (5.23518_dp + 7.21113_dp*log(points))*self%niter)
    end function problem_operations

end module ft_problem
