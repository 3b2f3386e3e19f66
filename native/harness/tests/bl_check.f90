!> Assertions of the unit tests: all are tried, and the program fails at the end if one did.
module bl_check

    use, intrinsic :: iso_fortran_env, only: error_unit

    implicit none(type, external)
    private

    public :: check, finish_checks

    integer :: failures = 0

contains

    subroutine check(condition, what)
        logical, intent(in) :: condition
        character(*), intent(in) :: what
        if (condition) return
        failures = failures + 1
        write (error_unit, '(2a)') 'does not hold: ', what
    end subroutine check

    subroutine finish_checks()
        if (failures > 0) error stop 1, quiet = .true.
    end subroutine finish_checks

end module bl_check
