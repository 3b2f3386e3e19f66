!> From cells to lanes: values of scattered columns, one column a cell, as vectors of one value from
!> each of `lanes` cells.
!>
!> A column is a line of the cache and a vector of the processor, so that columns are read whole and
!> turned where they lie next to each other; read value by value they would be fetched five times.
!>
!> Nothing here is collective.
module unstructured_lanes

    use bl_kinds, only: dp
    use unstructured_exchange, only: unknowns, width
    use unstructured_numbering, only: lanes

    implicit none(type, external)
    private

    public :: gather_columns, gather_differences, turn_back

contains

    !> The unknowns (lane, unknown) of the columns at some places.
    pure subroutine gather_columns(places, columns, values)
        integer, intent(in) :: places(lanes)
        real(dp), intent(in) :: columns(width, *)
        real(dp), intent(out) :: values(lanes, unknowns)
        real(dp) :: beside(width, lanes)
        integer :: l
        do l = 1, lanes
            beside(:, l) = columns(:, places(l))
        end do
        call turn(beside, values)
    end subroutine gather_columns

    !> The same of columns less others.
    pure subroutine gather_differences(places, columns, less_places, less, values)
        integer, intent(in) :: places(lanes), less_places(lanes)
        real(dp), intent(in) :: columns(width, *), less(width, *)
        real(dp), intent(out) :: values(lanes, unknowns)
        real(dp) :: beside(width, lanes)
        integer :: l
        do l = 1, lanes
            beside(:, l) = columns(:, places(l)) - less(:, less_places(l))
        end do
        call turn(beside, values)
    end subroutine gather_differences

    pure subroutine turn(columns, values)
        real(dp), intent(in) :: columns(width, lanes)
        real(dp), intent(out) :: values(lanes, unknowns)
        integer :: l
        !$omp simd
        do l = 1, lanes
            values(l, 1) = columns(1, l)
            values(l, 2) = columns(2, l)
            values(l, 3) = columns(3, l)
            values(l, 4) = columns(4, l)
            values(l, 5) = columns(5, l)
        end do
    end subroutine turn

    !> The columns whose unknowns these are; whole ones, as a column is written whole.
    pure subroutine turn_back(values, columns)
        real(dp), intent(in) :: values(lanes, unknowns)
        real(dp), intent(out) :: columns(width, lanes)
        integer :: l
        !$omp simd
        do l = 1, lanes
            columns(1, l) = values(l, 1)
            columns(2, l) = values(l, 2)
            columns(3, l) = values(l, 3)
            columns(4, l) = values(l, 4)
            columns(5, l) = values(l, 5)
            columns(6, l) = 0
            columns(7, l) = 0
            columns(8, l) = 0
        end do
    end subroutine turn_back

end module unstructured_lanes
