!> Problem classes of EP.
module ep_problem

    use bl_kinds, only: i8

    implicit none(type, external)
    private

    public :: ep_problem_t, ep_classes, find_ep_problem

    !> The classes that EP has; the position of a letter is that of its row in the table.
    character(*), parameter :: ep_classes = 'SWABCDEF'

    !> Pairs of numbers in each class: 2**m.
    integer, parameter :: table_m(len(ep_classes)) = [24, 25, 28, 30, 32, 36, 40, 44]

    type :: ep_problem_t
        !> Logarithm of the number of pairs to the base 2.
        integer :: m = 0
        !> Pairs of random numbers.
        integer(i8) :: pairs = 0
    end type ep_problem_t

contains

    pure function find_ep_problem(class_name) result(problem)
        character(1), intent(in) :: class_name
        type(ep_problem_t) :: problem
        problem%m = table_m(index(ep_classes, class_name))
        problem%pairs = 2_i8**problem%m
    end function find_ep_problem

end module ep_problem
