!> Driver of the unstructured flow solver.
program app_unstructured

    use bl_kinds, only: dp, i8
    use bl_report, only: parameter_t, report_header, report_point
    use bl_run, only: run_t
    use bl_timing, only: timing_begin, timing_end, timing_t
    use unstructured_kernel, only: flow_t, unstructured_memory_bytes
    use unstructured_problem, only: cells_min, find_unstructured_problem, unstructured_classes, &
                                    unstructured_problem_t
    use unstructured_reference, only: verify_unstructured

    implicit none(type, external)

    type(run_t) :: run
    type(unstructured_problem_t) :: problem
    type(flow_t) :: flow
    type(timing_t) :: timing
    real(dp) :: uniform
    integer :: step

    call run%open('app', 'unstructured', unstructured_classes)
    problem = find_unstructured_problem(run%class_name)
    call run%require_at_most(int(problem%cells())/cells_min)
    call run%require_memory(unstructured_memory_bytes(problem, run%ranks))
    call flow%setup(run%comm, run%rank, run%ranks, problem)
    call report_header(run, [parameter_t('n', int(problem%n, i8)), &
                             parameter_t('cells', problem%cells()), &
                             parameter_t('steps', int(problem%steps, i8)), &
                             parameter_t('sweeps', int(problem%sweeps, i8)), &
                             parameter_t('cells_most', flow%mesh%cells_most), &
                             parameter_t('cut_faces', flow%mesh%cut_faces)])

    uniform = flow%uniform_residual()
    call flow%refresh()
    call flow%step() ! warm-up
    call flow%reset()
    call flow%refresh()

    call timing_begin(run%comm)
    do step = 1, problem%steps
        call flow%step()
    end do
    timing = timing_end()

    call report_point(run, timing, problem%steps, problem%cell_steps(), &
                      verify_unstructured(run%class_name, flow, uniform, &
                                          flow%agreement%lost(run%comm), &
                                          flow%agreement%differing(run%comm, run%rank)))
    call run%close()

end program app_unstructured
