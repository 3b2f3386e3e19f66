!> Driver of the overlapping zones.
program app_overset

    use bl_kinds, only: dp, i8
    use bl_report, only: parameter_t, report_header, report_point
    use bl_run, only: run_t
    use bl_timing, only: timing_begin, timing_end, timing_t
    use overset_kernel, only: overset_blocks, overset_memory_bytes, overset_points, overset_t
    use overset_problem, only: find_overset_problem, overset_classes, overset_problem_t
    use overset_reference, only: verify_overset
    use overset_zones, only: zone_count

    implicit none(type, external)

    type(run_t) :: run
    type(overset_problem_t) :: problem
    type(overset_t) :: overset
    type(timing_t) :: timing
    integer :: step

    call run%open('app', 'overset', overset_classes)
    problem = find_overset_problem(run%class_name)
    call run%require_at_most(overset_blocks(problem))
    call run%require_memory(overset_memory_bytes(problem, run%ranks))
    call report_header(run, [parameter_t('zones', int(zone_count, i8)), &
                             parameter_t('blocks', int(overset_blocks(problem), i8)), &
                             parameter_t('points', overset_points(problem)), &
                             parameter_t('steps', int(problem%steps, i8))])

    call overset%setup(run%comm, run%rank, run%ranks, problem)
    call overset%restart()
    call overset%step() ! warm-up
    call overset%restart()

    call timing_begin(run%comm)
    do step = 1, problem%steps
        call overset%step()
    end do
    timing = timing_end()

    call report_point(run, timing, problem%steps, &
                      real(problem%steps, dp)*overset_points(problem), &
                      verify_overset(run%class_name, overset%norms(), &
                                     overset%agreement%differing(run%comm, run%rank)))
    call run%close()

end program app_overset
