!> Driver of the plane waves.
program app_planewave

    use bl_kinds, only: i8
    use bl_report, only: parameter_t, remark_t, report_header, report_point
    use bl_run, only: run_t
    use bl_timing, only: timing_begin, timing_end, timing_t
    use planewave_kernel, only: bands_t, planewave_memory_bytes
    use planewave_lapack, only: bl_blas_names
    use planewave_problem, only: find_planewave_problem, planewave_classes, planewave_problem_t
    use planewave_reference, only: verify_planewave

    implicit none(type, external)

    type(run_t) :: run
    type(planewave_problem_t) :: problem
    type(bands_t) :: bands
    type(timing_t) :: timing
    character(256) :: library, kernels
    integer :: iteration

    call run%open('app', 'planewave', planewave_classes)
    problem = find_planewave_problem(run%class_name)
    call run%require_at_most(problem%n)
    call run%require_memory(planewave_memory_bytes(problem, run%ranks))
    call bl_blas_names(library, kernels, len(library))
    call report_header(run, [parameter_t('n', int(problem%n, i8)), &
                             parameter_t('cutoff', int(problem%cutoff, i8)), &
                             parameter_t('bands', int(problem%bands, i8)), &
                             parameter_t('iterations', int(problem%iterations, i8))], &
                       [remark_t('blas', library), remark_t('blas_kernels', kernels)])

    call bands%setup(run%comm, run%rank, run%ranks, problem)
    call bands%restart()
    call bands%iterate() ! warm-up
    call bands%restart()

    call timing_begin(run%comm)
    do iteration = 1, problem%iterations
        call bands%iterate()
    end do
    timing = timing_end()

    call report_point(run, timing, problem%iterations, problem%fourier() + problem%products(), &
                      verify_planewave(problem, bands%energy, &
                                       bands%residual_norm(problem%converged), &
                                       bands%disagreement()))
    call run%close()

end program app_planewave
