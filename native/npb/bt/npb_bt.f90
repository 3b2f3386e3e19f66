!> Driver of BT.
program npb_bt

    use adi_grid, only: grid_memory_bytes
    use adi_kernel, only: adi_t
    use bt_lines, only: bt_lines_t
    use bt_problem, only: bt_classes, bt_problem_t, find_bt_problem
    use bt_reference, only: verify_bt
    use npb_kinds, only: dp, i8
    use npb_report, only: parameter_t, report_header, report_point
    use npb_run, only: run_t
    use npb_timing, only: timing_begin, timing_end, timing_t

    implicit none(type, external)

    type(run_t) :: run
    type(bt_problem_t) :: problem
    type(bt_lines_t) :: lines
    type(adi_t) :: flow
    type(timing_t) :: timing
    real(dp) :: residual(5), error(5)
    integer :: step

    call run%open('bt', bt_classes)
    problem = find_bt_problem(run%class_name)
    call run%require_square()
    call run%require_at_most((problem%n/3)**2)
    lines = bt_lines_t(problem%n, problem%dt)
    call run%require_memory(grid_memory_bytes(run%ranks, problem%n, lines%kept))
    call report_header(run, [parameter_t('n', int(problem%n, i8)), &
                             parameter_t('niter', int(problem%niter, i8))])

    call flow%setup(run%comm, run%rank, run%ranks, problem%n, problem%dt, lines)
    call flow%step() ! warm-up
    call flow%restart()

    call timing_begin(run%comm)
    do step = 1, problem%niter
        call flow%step()
    end do
    timing = timing_end()

    call flow%norms(residual, error)
    call report_point(run, timing, problem%niter, problem%operations(), &
                      verify_bt(run%class_name, residual, error))
    call run%close()

end program npb_bt
