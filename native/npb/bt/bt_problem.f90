!> Problem classes of BT.
module bt_problem

    use adi_problem, only: adi_classes, adi_problem_t
    use bl_kinds, only: dp

    implicit none(type, external)
    private

    public :: find_bt_problem

    integer, parameter :: classes = len(adi_classes)
    integer, parameter :: points(classes) = [12, 24, 64, 102, 162, 408, 1020, 2560]
    integer, parameter :: steps(classes) = [60, 200, 200, 200, 200, 250, 250, 250]
    real(dp), parameter :: dt(classes) = [1.00e-02_dp, 8.00e-04_dp, 8.00e-04_dp, 3.00e-04_dp, &
                                          1.00e-04_dp, 2.00e-05_dp, 4.00e-06_dp, 6.00e-07_dp]
    real(dp), parameter :: step_operations(4) = [3478.8_dp, -17655.7_dp, 28023.7_dp, 0.0_dp]

contains

    pure type(adi_problem_t) function find_bt_problem(class_name) result(problem)
        character(1), intent(in) :: class_name
        integer :: row
        row = index(adi_classes, class_name)
        problem = adi_problem_t(points(row), steps(row), dt(row), step_operations)
    end function find_bt_problem

end module bt_problem
