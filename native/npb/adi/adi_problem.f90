!> What defines a problem class of BT or SP.
module adi_problem

    use bl_kinds, only: dp

    implicit none(type, external)
    private

    public :: adi_classes, adi_problem_t, adi_reference_t

    !> The classes that both have; the position of a letter is that of its row in the tables.
    character(*), parameter :: adi_classes = 'SWABCDEF'

    type :: adi_problem_t
        !> Points in each direction.
        integer :: n
        !> Time steps.
        integer :: niter
        real(dp) :: dt
        !> Operations of a step as a polynomial of n, cubic term first.
        real(dp) :: step_operations(4)
    contains
        procedure :: operations => problem_operations
    end type adi_problem_t

    !> Published norms of residual and error after the last step, for each component.
    type :: adi_reference_t
        real(dp) :: residual(5), error(5)
    end type adi_reference_t

contains

    !> Operations that the benchmark's rate counts.
    pure real(dp) function problem_operations(self) result(operations)
        class(adi_problem_t), intent(in) :: self
        real(dp) :: n
        n = self%n
        associate (c => self%step_operations)
            operations = self%niter*(((c(1)*n + c(2))*n + c(3))*n + c(4))
        end associate
    end function problem_operations

end module adi_problem
