!> Driver of IS.
program npb_is

    use is_kernel, only: sorter_memory_bytes, sorter_t
    use is_problem, only: find_is_problem, is_classes, is_iterations, is_problem_t
    use is_reference, only: expected_ranks, probe_indices, verify_is
    use mpi, only: MPI_INTEGER8, MPI_SUM
    use bl_kinds, only: i8
    use bl_messages, only: comm_allreduce
    use bl_report, only: parameter_t, report_header, report_point
    use bl_run, only: run_t
    use bl_timing, only: timing_begin, timing_end, timing_t

    implicit none(type, external)

    type(run_t) :: run
    type(is_problem_t) :: problem
    type(sorter_t) :: sorter
    type(timing_t) :: timing
    integer(i8) :: passed(2)
    integer :: iteration, iterations

    call run%open('npb', 'is', is_classes, in_part=.true.)
    problem = find_is_problem(run%class_name)
    iterations = run%iterations(is_iterations)
    call run%require_power_of_two()
    call run%require_at_least(problem%processes_min)
    call run%require_at_most(problem%processes_max)
    call run%require_memory(sorter_memory_bytes(problem, run%ranks))
    call report_header(run, [parameter_t('total_keys', problem%total_keys()), &
                             parameter_t('max_key', problem%max_key()), &
                             parameter_t('buckets', int(problem%buckets(), i8))])

    call sorter%prepare(problem, run, probe_indices(run%class_name))
    call sorter%rank_keys(run, 1) ! warm-up

    passed = 0
    call timing_begin(run%comm, barrier=.false.)
    do iteration = 1, iterations
        call sorter%rank_keys(run, iteration)
        passed(1) = passed(1) + &
                    sorter%count_right_ranks(expected_ranks(run%class_name, iteration))
    end do
    timing = timing_end()

    if (sorter%is_sorted(run)) passed(2) = 1
    call comm_allreduce(passed, size(passed), MPI_INTEGER8, MPI_SUM, run%comm)
    call report_point(run, timing, iterations, problem%operations(), &
                      verify_is(passed(1), passed(2), run%ranks))
    call run%close()

end program npb_is
