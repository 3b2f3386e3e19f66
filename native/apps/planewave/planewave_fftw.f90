!> The functions of FFTW 3 that the transforms need. Arrays are C addresses: some transforms are in
!> place, which FFTW's own Fortran interface passes as one array twice.
module planewave_fftw

    use, intrinsic :: iso_c_binding, only: c_int, c_ptr, c_size_t

    implicit none(type, external)
    private

    public :: fftw_plan_many_dft, fftw_execute_dft, fftw_alloc_complex, forwards, backwards, measure

    !> Signs of the exponent, and the effort of planning: FFTW_FORWARD and so on of fftw3.h.
    integer(c_int), parameter :: forwards = -1, backwards = 1, measure = 0

    interface

        type(c_ptr) function fftw_plan_many_dft(rank, n, many, in, in_embed, in_stride, &
                                                in_distance, out, out_embed, out_stride, &
                                                out_distance, sign, flags) bind(C)
            import :: c_int, c_ptr
            integer(c_int), value :: rank, many, in_stride, in_distance, out_stride, &
                out_distance, sign, flags
            integer(c_int), intent(in) :: n(*), in_embed(*), out_embed(*)
            type(c_ptr), value :: in, out
        end function fftw_plan_many_dft

        !> On arrays that are aligned as those of the plan.
        subroutine fftw_execute_dft(plan, in, out) bind(C)
            import :: c_ptr
            type(c_ptr), value :: plan, in, out
        end subroutine fftw_execute_dft

        type(c_ptr) function fftw_alloc_complex(count) bind(C)
            import :: c_ptr, c_size_t
            integer(c_size_t), value :: count
        end function fftw_alloc_complex

    end interface

end module planewave_fftw
