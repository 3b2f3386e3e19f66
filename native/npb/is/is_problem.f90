!> Problem classes of IS.
module is_problem

    use bl_kinds, only: dp, i8

    implicit none(type, external)
    private

    public :: is_problem_t, is_classes, find_is_problem, is_iterations

    character(*), parameter :: is_classes = 'SWABCDE'

    !> Rankings of the timed part.
    integer, parameter :: is_iterations = 10

    type :: is_problem_t
        !> Logarithms to the base 2 of the number of keys, of the bound that all keys are below,
        !> and of the number of buckets.
        integer :: total_keys_log2, max_key_log2, buckets_log2
        !> Numbers of processes for which the receive buffers and counters suffice.
        integer :: processes_min, processes_max
    contains
        procedure :: total_keys => problem_total_keys
        procedure :: max_key => problem_max_key
        procedure :: buckets => problem_buckets
        procedure :: operations => problem_operations
    end type is_problem_t

    !> In the order of the classes.
    type(is_problem_t), parameter :: table(len(is_classes)) = [ &
                                     is_problem_t(16, 11, 9, 1, 128), &
                                     is_problem_t(20, 16, 10, 1, 1024), &
                                     is_problem_t(23, 19, 10, 1, 1024), &
                                     is_problem_t(25, 21, 10, 1, 1024), &
                                     is_problem_t(27, 23, 10, 1, 1024), &
                                     is_problem_t(31, 27, 10, 4, 1024), &
                                     is_problem_t(35, 31, 10, 64, 1024)]

contains

    pure type(is_problem_t) function find_is_problem(class_name) result(problem)
        character(1), intent(in) :: class_name
        problem = table(index(is_classes, class_name))
    end function find_is_problem

    pure integer(i8) function problem_total_keys(self) result(keys)
        class(is_problem_t), intent(in) :: self
        keys = 2_i8**self%total_keys_log2
    end function problem_total_keys

    pure integer(i8) function problem_max_key(self) result(bound)
        class(is_problem_t), intent(in) :: self
        bound = 2_i8**self%max_key_log2
    end function problem_max_key

    pure integer function problem_buckets(self) result(buckets)
        class(is_problem_t), intent(in) :: self
        buckets = 2**self%buckets_log2
    end function problem_buckets

    !> Keys ranked in all iterations, as the benchmark counts its operations.
    pure real(dp) function problem_operations(self) result(operations)
        class(is_problem_t), intent(in) :: self
        operations = real(is_iterations*self%total_keys(), dp)
    end function problem_operations

end module is_problem
