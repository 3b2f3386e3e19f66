!> Sorting, and an order of the hexahedra in which neighbours are near each other.
module unstructured_order

    use bl_kinds, only: i8

    implicit none(type, external)
    private

    public :: sorted_order, curve_place

contains

    !> Places of the keys from the smallest to the largest; equal ones keep their order.
    function sorted_order(keys) result(order)
        integer(i8), intent(in) :: keys(:)
        integer, allocatable :: order(:), before(:)
        integer :: width, begin, middle, end, left, right, i

        order = [(i, i=1, size(keys))]
        allocate (before(size(keys)))
        width = 1
        do while (width < size(keys))
            before = order
            do begin = 1, size(keys), 2*width
                middle = min(begin + width, size(keys) + 1)
                end = min(begin + 2*width, size(keys) + 1)
                left = begin
                right = middle
                do i = begin, end - 1
                    if (takes_left(left, middle, right, end)) then
                        order(i) = before(left)
                        left = left + 1
                    else
                        order(i) = before(right)
                        right = right + 1
                    end if
                end do
            end do
            width = 2*width
        end do

    contains

        pure logical function takes_left(left, middle, right, end)
            integer, intent(in) :: left, middle, right, end
            takes_left = .false.
            if (left >= middle) return
            takes_left = .true.
            if (right >= end) return
            takes_left = keys(before(left)) <= keys(before(right))
        end function takes_left

    end function sorted_order

    !> Place on Morton's curve: the bits of the three coordinates in turn, 48 in all.
    pure integer(i8) function curve_place(at) result(place)
        integer, intent(in) :: at(3)
        integer :: bit, axis
        place = 0
        do bit = 0, 15
            do axis = 1, 3
                if (btest(at(axis), bit)) place = ibset(place, 3*bit + axis - 1)
            end do
        end do
    end function curve_place

end module unstructured_order
