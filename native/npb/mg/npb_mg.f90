!> Driver of MG.
program npb_mg

    use mg_charges, only: place_charges
    use mg_kernel, only: mg_state_t
    use mg_level, only: level_memory_bytes, new_field, new_levels, process_grid
    use mg_problem, only: find_mg_problem, mg_classes, mg_problem_t
    use mg_reference, only: verify_mg
    use bl_kinds, only: i8
    use bl_report, only: parameter_t, report_header, report_point
    use bl_run, only: run_t
    use bl_timing, only: timing_begin, timing_end, timing_t

    implicit none(type, external)

    type(run_t) :: run
    type(mg_problem_t) :: problem
    type(mg_state_t) :: state
    type(timing_t) :: timing
    integer :: iteration, iterations

    call run%open('npb', 'mg', mg_classes, in_part=.true.)
    problem = find_mg_problem(run%class_name)
    iterations = run%iterations(problem%niter)
    call run%require_power_of_two()
    call run%require(2*maxval(process_grid(run%ranks)) <= 2**problem%levels, 'class '// &
                     run%class_name//' would leave processes with less than two points in a '// &
                     'direction, start fewer or take a larger class')
    call run%require_memory(level_memory_bytes(run%ranks, problem%levels))
    call report_header(run, [parameter_t('n', 2_i8**problem%levels), &
                             parameter_t('niter', int(problem%niter, i8))])

    state%smoother = problem%smoother
    state%levels = new_levels(run%comm, run%rank, run%ranks, problem%levels)
    associate (finest => state%levels(problem%levels))
        call new_field(finest, state%v)
        call place_charges(finest, state%v)
    end associate
    call state%residual() ! warm-up
    call state%cycle()
    call state%reset()

    call timing_begin(run%comm)
    call state%residual()
    call state%norm()
    do iteration = 1, iterations
        call state%cycle()
    end do
    call state%norm()
    timing = timing_end()

    call report_point(run, timing, iterations, problem%operations(), &
                      verify_mg(run%class_name, state%residual_rms))
    call run%close()

end program npb_mg
