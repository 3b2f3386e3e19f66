!> Driver of the flow around a sphere.
program app_cartesian

    use bl_kinds, only: dp, i8
    use bl_report, only: parameter_t, report_header, report_point
    use bl_run, only: run_t
    use bl_timing, only: timing_begin, timing_end, timing_t
    use cartesian_bricks, only: brick_count
    use cartesian_kernel, only: cartesian_memory_bytes, flow_t
    use cartesian_problem, only: brick_cells, cartesian_classes, cartesian_problem_t, &
                                 find_cartesian_problem
    use cartesian_reference, only: verify_cartesian

    implicit none(type, external)

    type(run_t) :: run
    type(cartesian_problem_t) :: problem
    type(flow_t) :: flow
    type(timing_t) :: timing
    real(dp) :: unbalance
    integer :: i

    call run%open('app', 'cartesian', cartesian_classes)
    problem = find_cartesian_problem(run%class_name)
    call run%require_at_most(brick_count(problem%n/brick_cells, brick_cells, &
                                         problem%radius*problem%n))
    call run%require_memory(cartesian_memory_bytes(problem, run%ranks))
    call report_header(run, [parameter_t('n', int(problem%n, i8)), &
                             parameter_t('levels', int(problem%levels, i8)), &
                             parameter_t('visits', int(problem%visits, i8)), &
                             parameter_t('cycles', int(problem%cycles, i8))])

    call flow%setup(run%comm, run%rank, run%ranks, problem)
    unbalance = flow%unbalance()
    call flow%restart()
    call flow%cycle() ! warm-up
    call flow%restart()

    call timing_begin(run%comm)
    do i = 1, problem%cycles
        call flow%cycle()
    end do
    timing = timing_end()

    call report_point(run, timing, problem%cycles, problem%cell_cycles(), &
                      verify_cartesian(run%class_name, unbalance, flow%outcome()))
    call run%close()

end program app_cartesian
