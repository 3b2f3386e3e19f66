!> Driver of the ocean.
program app_ocean

    use bl_kinds, only: i8
    use bl_report, only: parameter_t, report_header, report_point
    use bl_run, only: run_t
    use bl_timing, only: timing_begin, timing_end, timing_t
    use ocean_grid, only: process_grid
    use ocean_kernel, only: invariants_t, ocean_memory_bytes, ocean_t
    use ocean_problem, only: find_ocean_problem, ocean_classes, ocean_problem_t, ocean_variants
    use ocean_reference, only: verify_ocean

    implicit none(type, external)

    !> Cells that a process must have in each direction: ghosts are two wide.
    integer, parameter :: cells_min = 4
    type(run_t) :: run
    type(ocean_problem_t) :: problem
    type(ocean_t) :: ocean
    type(invariants_t) :: begin
    type(timing_t) :: timing
    integer :: step

    call run%open('app', 'ocean', ocean_classes, variants=ocean_variants)
    problem = find_ocean_problem(run%class_name)
    problem%variant = run%variant_number
    call run%require(cells_min*maxval(process_grid(run%ranks)) <= problem%n, 'class '// &
                     run%class_name//' would leave processes with less than four cells in a '// &
                     'direction, start fewer or take a larger class')
    call run%require_memory(ocean_memory_bytes(problem, run%ranks))
    call report_header(run, [parameter_t('n', int(problem%n, i8)), &
                             parameter_t('levels', int(problem%levels, i8)), &
                             parameter_t('steps', int(problem%steps, i8)), &
                             parameter_t('iterations', int(problem%iterations, i8))])

    call ocean%setup(run%comm, run%rank, run%ranks, problem)
    call ocean%restart()
    call ocean%refresh()
    begin = ocean%invariants()
    call ocean%step() ! warm-up
    call ocean%restart()
    call ocean%refresh()

    call timing_begin(run%comm)
    do step = 1, problem%steps
        call ocean%step()
    end do
    call ocean%correct()
    timing = timing_end()

    call report_point(run, timing, problem%steps, problem%cell_steps(), &
                      verify_ocean(run%class_name, begin, ocean%invariants()))
    call run%close()

end program app_ocean
