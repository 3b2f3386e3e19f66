!> Arrays that begin on a cache line, so that vectors of eight reals do not straddle two lines.
!> Fortran's ALLOCATE promises no such thing.
module adi_memory

    use, intrinsic :: iso_c_binding, only: c_intptr_t, c_loc
    use npb_kinds, only: dp, i8
    use npb_memory, only: prefer_large_pages

    implicit none(type, external)
    private

    public :: aligned

    integer, parameter :: line_bytes = 64

contains

    !> So many zeros, in large pages if the system has them. They last as long as the program.
    function aligned(values) result(array)
        integer(i8), intent(in) :: values
        real(dp), pointer, contiguous :: array(:)
        real(dp), pointer, contiguous :: space(:)
        integer(c_intptr_t) :: address
        integer(i8) :: skip
        allocate (space(values + line_bytes/8))
        call prefer_large_pages(space, 8*size(space, kind=i8))
        space = 0
        address = transfer(c_loc(space(1)), address)
        skip = modulo(-address, int(line_bytes, c_intptr_t))/8
        array => space(skip + 1:skip + values)
    end function aligned

end module adi_memory
