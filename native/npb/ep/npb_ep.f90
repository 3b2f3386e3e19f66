!> Driver of EP: shares the batches out and sums what the processes found.
program npb_ep

    use ep_kernel, only: annuli, batch_pairs, ep_compute, ep_tally_t
    use ep_problem, only: ep_classes, ep_problem_t, find_ep_problem
    use ep_reference, only: verify_ep
    use mpi, only: MPI_DOUBLE_PRECISION, MPI_SUM
    use bl_kinds, only: dp, i8
    use bl_messages, only: comm_allreduce
    use bl_report, only: parameter_t, report_header, report_point
    use bl_run, only: run_t
    use bl_timing, only: timing_begin, timing_end, timing_t
    use bl_verification, only: quantity_t

    implicit none(type, external)

    type(run_t) :: run
    type(ep_problem_t) :: problem
    type(ep_tally_t) :: tally
    type(timing_t) :: timing
    real(dp) :: sum_x(1), sum_y(1), counts(0:annuli - 1)
    integer(i8) :: batches, own, extra

    call run%open('npb', 'ep', ep_classes)
    problem = find_ep_problem(run%class_name)
    batches = problem%pairs/batch_pairs
    call run%require_at_most(int(min(batches, int(huge(1), i8))))
    call report_header(run, [parameter_t('pairs', problem%pairs)])

    ! The first processes get one batch more if the number cannot be divided.
    own = batches/run%ranks
    extra = mod(batches, int(run%ranks, i8))

    tally = ep_compute(0_i8, 1_i8) ! warm-up
    call timing_begin(run%comm)
    if (run%rank < extra) then
        tally = ep_compute(run%rank*(own + 1), own + 1)
    else
        tally = ep_compute(run%rank*own + extra, own)
    end if
    sum_x = tally%sum_x
    sum_y = tally%sum_y
    counts = real(tally%counts, dp)
    call comm_allreduce(sum_x, 1, MPI_DOUBLE_PRECISION, MPI_SUM, run%comm)
    call comm_allreduce(sum_y, 1, MPI_DOUBLE_PRECISION, MPI_SUM, run%comm)
    call comm_allreduce(counts, annuli, MPI_DOUBLE_PRECISION, MPI_SUM, run%comm)
    timing = timing_end()

    call report_point(run, timing, 1, 2.0_dp*real(problem%pairs, dp), &
                      verify_ep(run%class_name, sum_x(1), sum_y(1), sum(counts)))
    call run%close()

end program npb_ep
