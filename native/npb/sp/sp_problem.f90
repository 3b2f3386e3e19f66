!> Problem classes of SP.
module sp_problem

    use npb_kinds, only: dp

    implicit none(type, external)
    private

    public :: sp_classes, sp_problem_t, find_sp_problem

    character(*), parameter :: sp_classes = 'SWABCDEF'

    type :: sp_problem_t
        !> Points in each direction.
        integer :: n
        !> Time steps.
        integer :: niter
        !> Length of a time step, dimensionless.
        real(dp) :: dt
    contains
        procedure :: operations => problem_operations
    end type sp_problem_t

    !> In the order of the classes.
    type(sp_problem_t), parameter :: table(len(sp_classes)) = [ &
                                     sp_problem_t(12, 100, 1.50e-02_dp), &
                                     sp_problem_t(36, 400, 1.50e-03_dp), &
                                     sp_problem_t(64, 400, 1.50e-03_dp), &
                                     sp_problem_t(102, 400, 1.00e-03_dp), &
                                     sp_problem_t(162, 400, 6.70e-04_dp), &
                                     sp_problem_t(408, 500, 3.00e-04_dp), &
                                     sp_problem_t(1020, 500, 1.00e-04_dp), &
                                     sp_problem_t(2560, 500, 1.50e-05_dp)]

contains

    pure type(sp_problem_t) function find_sp_problem(class_name) result(problem)
        character(1), intent(in) :: class_name
        problem = table(index(sp_classes, class_name))
    end function find_sp_problem

    !> Operations of all steps, as the benchmark counts them: a polynomial in n.
    pure real(dp) function problem_operations(self) result(operations)
        class(sp_problem_t), intent(in) :: self
        real(dp), parameter :: c(4) = [881.174_dp, -4683.91_dp, 11484.5_dp, -19272.4_dp]
        real(dp) :: n
        n = self%n
        operations = self%niter*(((c(1)*n + c(2))*n + c(3))*n + c(4))
    end function problem_operations

end module sp_problem
