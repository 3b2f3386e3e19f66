!> Problem classes of SP.
module sp_problem

    use adi_problem, only: adi_classes, adi_problem_t
    use bl_kinds, only: dp

    implicit none(type, external)
    private

    public :: find_sp_problem

    integer, parameter :: classes = len(adi_classes)
    integer, parameter :: points(classes) = [12, 36, 64, 102, 162, 408, 1020, 2560]
    integer, parameter :: steps(classes) = [100, 400, 400, 400, 400, 500, 500, 500]
    real(dp), parameter :: dt(classes) = [1.50e-02_dp, 1.50e-03_dp, 1.50e-03_dp, 1.00e-03_dp, &
                                          6.70e-04_dp, 3.00e-04_dp, 1.00e-04_dp, 1.50e-05_dp]
    real(dp), parameter :: step_operations(4) = [881.174_dp, -4683.91_dp, 11484.5_dp, -19272.4_dp]

contains

    pure type(adi_problem_t) function find_sp_problem(class_name) result(problem)
        character(1), intent(in) :: class_name
        integer :: row
        row = index(adi_classes, class_name)
        problem = adi_problem_t(points(row), steps(row), dt(row), step_operations)
    end function find_sp_problem

end module sp_problem
