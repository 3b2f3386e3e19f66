!> Driver of LU.
program npb_lu

    use lu_block, only: block_memory_bytes, block_t, new_block, set_initial
    use lu_exchange, only: exchange_ghosts
    use lu_norms, only: error_norm, field_norm, surface_integral
    use lu_problem, only: fewest_points, find_lu_problem, lu_classes, lu_problem_t, process_grid
    use lu_reference, only: verify_lu
    use lu_residual, only: compute_forcing, compute_residual, new_stencils, stencils_t
    use lu_sweeps, only: new_sweeps, sweep_backward, sweep_forward, sweeps_t
    use bl_kinds, only: dp, i8
    use bl_report, only: parameter_t, report_header, report_point
    use bl_run, only: run_t
    use bl_timing, only: timing_begin, timing_end, timing_t

    implicit none(type, external)

    type(run_t) :: run
    type(lu_problem_t) :: problem
    type(block_t) :: block
    type(stencils_t) :: stencils
    type(sweeps_t) :: sweeps
    type(timing_t) :: timing
    real(dp) :: correction(5), residual(5)
    integer :: iteration, iterations, processes(2)

    call run%open('npb', 'lu', lu_classes, in_part=.true.)
    problem = find_lu_problem(run%class_name)
    iterations = run%iterations(problem%itmax)
    processes = process_grid(run%ranks)
    call run%require(all(processes > 0), 'the number of processes must be a product of two '// &
                     'factors, the larger at most twice the smaller; start 1, 2, 4, 6, 8, 9, '// &
                     '12 or 16')
    call run%require(all(problem%n >= fewest_points*processes), 'class '//run%class_name// &
                     ' would leave processes with less than three points in a direction; start '// &
                     'fewer or take a larger class')
    call run%require_memory(block_memory_bytes(run%ranks, problem%n))
    call report_header(run, [parameter_t('n', int(problem%n, i8)), &
                             parameter_t('itmax', int(problem%itmax, i8))])

    block = new_block(run%comm, run%rank, run%ranks, problem%n)
    stencils = new_stencils(block)
    sweeps = new_sweeps(block, problem%dt)
    call compute_forcing(block, stencils)
    call set_initial(block)
    call update_residual()
    call iterate() ! warm-up
    call set_initial(block)
    call update_residual()

    call timing_begin(run%comm)
    do iteration = 1, iterations
        call sweep_forward(block, sweeps)
        call sweep_backward(block, sweeps)
        if (iteration == iterations) correction = field_norm(block, block%residual)
        call update_residual()
    end do
    residual = field_norm(block, block%residual)
    timing = timing_end()

    call report_point(run, timing, iterations, problem%operations(), &
                      verify_lu(run%class_name, residual, error_norm(block), &
                                surface_integral(block)))
    call run%close()

contains

    subroutine iterate()
        call sweep_forward(block, sweeps)
        call sweep_backward(block, sweeps)
        call update_residual()
    end subroutine iterate

    subroutine update_residual()
        call exchange_ghosts(block)
        call compute_residual(block, stencils)
    end subroutine update_residual

end program npb_lu
