!> Comparison of what a kernel computed with published values.
module bl_verification

    use bl_kinds, only: dp

    implicit none(type, external)
    private

    public :: quantity_t

    !> One verified quantity. A complex one is judged by the modulus of its deviation.
    type :: quantity_t
        character(:), allocatable :: name
        complex(dp) :: value = 0
        complex(dp) :: reference = 0
        !> Largest permitted deviation.
        real(dp) :: tolerance = 0
        logical :: is_complex = .false.
    contains
        procedure :: deviation
        procedure :: passed
    end type quantity_t

    interface quantity_t
        module procedure real_quantity, complex_quantity
    end interface quantity_t

contains

    pure function real_quantity(name, value, reference, tolerance) result(quantity)
        character(*), intent(in) :: name
        real(dp), intent(in) :: value, reference, tolerance
        type(quantity_t) :: quantity
        quantity%name = name
        quantity%value = cmplx(value, 0, dp)
        quantity%reference = cmplx(reference, 0, dp)
        quantity%tolerance = tolerance
    end function real_quantity

    pure function complex_quantity(name, value, reference, tolerance) result(quantity)
        character(*), intent(in) :: name
        complex(dp), intent(in) :: value, reference
        real(dp), intent(in) :: tolerance
        type(quantity_t) :: quantity
        quantity%name = name
        quantity%value = value
        quantity%reference = reference
        quantity%tolerance = tolerance
        quantity%is_complex = .true.
    end function complex_quantity

    !> Relative to the reference, absolute where that is zero.
    elemental real(dp) function deviation(self)
        class(quantity_t), intent(in) :: self
        deviation = abs(self%value - self%reference)
        if (abs(self%reference) > 0) deviation = deviation/abs(self%reference)
    end function deviation

    !> A value that is not a number does not pass.
    elemental logical function passed(self)
        class(quantity_t), intent(in) :: self
        passed = self%deviation() <= self%tolerance
    end function passed

end module bl_verification
