!> One run of BT or SP once its problem and its line systems are known: all that the drivers share.
!>
!> Collective: all. Timed: the steps, after one as a warm-up.
module adi_run

    use adi_grid, only: grid_memory_bytes
    use adi_kernel, only: adi_t
    use adi_problem, only: adi_problem_t, adi_reference_t
    use adi_sweep, only: lines_t
    use bl_kinds, only: dp, i8
    use bl_report, only: parameter_t, report_header, report_point
    use bl_run, only: run_t
    use bl_timing, only: timing_begin, timing_end, timing_t
    use bl_verification, only: quantity_t

    implicit none(type, external)
    private

    public :: run_adi

    !> Largest relative deviation of a norm.
    real(dp), parameter :: tolerance = 1.0e-8_dp

contains

    subroutine run_adi(run, problem, lines, reference)
        type(run_t), intent(inout) :: run
        type(adi_problem_t), intent(in) :: problem
        class(lines_t), intent(in) :: lines
        type(adi_reference_t), intent(in) :: reference
        type(adi_t) :: flow
        type(timing_t) :: timing
        real(dp) :: residual(5), error(5)
        integer :: step, iterations

        iterations = run%iterations(problem%niter)
        call run%require_square()
        call run%require_at_most((problem%n/3)**2)
        call run%require_memory(grid_memory_bytes(run%ranks, problem%n, lines%kept))
        call report_header(run, [parameter_t('n', int(problem%n, i8)), &
                                 parameter_t('niter', int(problem%niter, i8))])

        call flow%setup(run%comm, run%rank, run%ranks, problem%n, problem%dt, lines)
        call flow%step() ! warm-up
        call flow%restart()

        call timing_begin(run%comm)
        do step = 1, iterations
            call flow%step()
        end do
        timing = timing_end()

        call flow%norms(residual, error)
        call report_point(run, timing, iterations, problem%operations(), &
                          [compared('residual_', residual, reference%residual), &
                           compared('error_', error, reference%error)])
        call run%close()
    end subroutine run_adi

    pure function compared(name, norms, published) result(quantities)
        character(*), intent(in) :: name
        real(dp), intent(in) :: norms(5), published(5)
        type(quantity_t) :: quantities(5)
        integer :: m
        quantities = [(quantity_t(name//achar(iachar('0') + m), norms(m), published(m), &
                                  tolerance), m=1, 5)]
    end function compared

end module adi_run
