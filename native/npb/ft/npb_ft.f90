!> Driver of FT.
program npb_ft

    use ft_kernel, only: ft_memory_bytes, ft_state_t
    use ft_problem, only: find_ft_problem, ft_classes, ft_problem_t
    use ft_reference, only: verify_ft
    use mpi, only: MPI_DOUBLE_COMPLEX
    use bl_kinds, only: dp, i8
    use bl_messages, only: comm_bcast
    use bl_report, only: parameter_t, report_header, report_point
    use bl_run, only: run_t
    use bl_timing, only: timing_begin, timing_end, timing_t

    implicit none(type, external)

    type(run_t) :: run
    type(ft_problem_t) :: problem
    type(ft_state_t) :: state
    type(timing_t) :: timing
    complex(dp), allocatable :: checksums(:)
    integer :: t, iterations

    call run%open('npb', 'ft', ft_classes, in_part=.true.)
    problem = find_ft_problem(run%class_name)
    iterations = run%iterations(problem%niter)
    call run%require_power_of_two()
    call run%require_at_most(problem%n(3)**2)
    call run%require(run%ranks == 1 .or. 2*problem%points()/int(run%ranks, i8)**2 <= huge(1), &
                     'class '//run%class_name//' on so few processes has messages of more '// &
                     'numbers than MPI counts, start more')
    call run%require_memory(ft_memory_bytes(problem%points(), run%ranks))
    call report_header(run, [parameter_t('nx', int(problem%n(1), i8)), &
                             parameter_t('ny', int(problem%n(2), i8)), &
                             parameter_t('nz', int(problem%n(3), i8)), &
                             parameter_t('niter', int(problem%niter, i8))])

    call state%layout(run%comm, run%rank, run%ranks, problem%n)
    allocate (checksums(problem%niter), source=(0.0_dp, 0.0_dp))
    call state%prepare() ! warm-up
    call state%start()

    call timing_begin(run%comm)
    call state%prepare()
    call state%start()
    do t = 1, iterations
        call state%evolve_and_invert()
        checksums(t) = state%checksum()
    end do
    timing = timing_end()

    ! Only rank 0 has the sums, but every process's exit code depends on them.
    call comm_bcast(checksums, size(checksums), MPI_DOUBLE_COMPLEX, 0, run%comm)
    call report_point(run, timing, iterations, problem%operations(), &
                      verify_ft(run%class_name, checksums))
    call run%close()

end program npb_ft
