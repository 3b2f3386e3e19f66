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

    public :: gather_columns

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
        !$omp simd
        do l = 1, lanes
            values(l, 1) = beside(1, l)
            values(l, 2) = beside(2, l)
            values(l, 3) = beside(3, l)
            values(l, 4) = beside(4, l)
            values(l, 5) = beside(5, l)
        end do
    end subroutine gather_columns

end module unstructured_lanes
