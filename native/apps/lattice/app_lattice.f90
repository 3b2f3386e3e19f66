!> Driver of the lattice.
program app_lattice

    use bl_kinds, only: i8
    use bl_report, only: parameter_t, report_header, report_point
    use bl_run, only: run_t
    use bl_timing, only: timing_begin, timing_end, timing_t
    use lattice_grid, only: can_cut
    use lattice_kernel, only: lattice_memory_bytes, lattice_t
    use lattice_problem, only: find_lattice_problem, lattice_classes, lattice_problem_t
    use lattice_reference, only: verify_lattice

    implicit none(type, external)

    integer, parameter :: warm_up = 3
    type(run_t) :: run
    type(lattice_problem_t) :: problem
    type(lattice_t) :: lattice
    type(timing_t) :: timing

    call run%open('app', 'lattice', lattice_classes)
    problem = find_lattice_problem(run%class_name)
    call run%require(can_cut(problem%extent, run%ranks), 'the number of processes must be a '// &
                     'product of factors that divide the lattice of class '//run%class_name// &
                     ' along y, z or t; start a power of two')
    call run%require_memory(lattice_memory_bytes(problem, run%ranks))
    call report_header(run, [parameter_t('nx', int(problem%extent(1), i8)), &
                             parameter_t('ny', int(problem%extent(2), i8)), &
                             parameter_t('nz', int(problem%extent(3), i8)), &
                             parameter_t('nt', int(problem%extent(4), i8)), &
                             parameter_t('iterations', int(problem%iterations, i8))])

    call lattice%setup(run%comm, run%rank, run%ranks, problem)
    call lattice%reset()
    call lattice%solve(warm_up)
    call lattice%reset()

    call timing_begin(run%comm)
    call lattice%solve(problem%iterations)
    timing = timing_end()

    call report_point(run, timing, problem%iterations, problem%site_iterations(), &
                      verify_lattice(problem, lattice%solution_at_source(), &
                                     lattice%solution_square(), lattice%residuals()))
    call run%close()

end program app_lattice
