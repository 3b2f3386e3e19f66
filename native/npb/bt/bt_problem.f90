!> Problem classes of BT.
module bt_problem

    use npb_kinds, only: dp

    implicit none(type, external)
    private

    public :: bt_classes, bt_problem_t, find_bt_problem

    character(*), parameter :: bt_classes = 'SWABCDEF'

    type :: bt_problem_t
        !> Points in each direction.
        integer :: n
        !> Time steps.
        integer :: niter
        !> Length of a time step, dimensionless.
        real(dp) :: dt
    contains
        procedure :: operations => problem_operations
    end type bt_problem_t

    !> In the order of the classes.
    type(bt_problem_t), parameter :: table(len(bt_classes)) = [ &
                                     bt_problem_t(12, 60, 1.00e-02_dp), &
                                     bt_problem_t(24, 200, 8.00e-04_dp), &
                                     bt_problem_t(64, 200, 8.00e-04_dp), &
                                     bt_problem_t(102, 200, 3.00e-04_dp), &
                                     bt_problem_t(162, 200, 1.00e-04_dp), &
                                     bt_problem_t(408, 250, 2.00e-05_dp), &
                                     bt_problem_t(1020, 250, 4.00e-06_dp), &
                                     bt_problem_t(2560, 250, 6.00e-07_dp)]

contains

    pure type(bt_problem_t) function find_bt_problem(class_name) result(problem)
        character(1), intent(in) :: class_name
        problem = table(index(bt_classes, class_name))
    end function find_bt_problem

    !> Operations of all steps, as the benchmark counts them: a polynomial in n.
    pure real(dp) function problem_operations(self) result(operations)
        class(bt_problem_t), intent(in) :: self
        real(dp), parameter :: c(4) = [3478.8_dp, -17655.7_dp, 28023.7_dp, 0.0_dp]
        real(dp) :: n
        n = self%n
        operations = self%niter*(((c(1)*n + c(2))*n + c(3))*n + c(4))
    end function problem_operations

end module bt_problem
