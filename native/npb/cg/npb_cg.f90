!> Driver of CG.
program npb_cg

    use cg_grid, only: grid_t
    use cg_kernel, only: cg_state_t
    use cg_matrix, only: generate_matrix, matrix_memory_bytes, matrix_t
    use cg_problem, only: cg_classes, cg_problem_t, find_cg_problem
    use cg_reference, only: verify_cg
    use cg_slices, only: slice_memory_bytes, slices_t
    use bl_kinds, only: i8
    use bl_report, only: parameter_t, report_header, report_point
    use bl_run, only: run_t
    use bl_timing, only: timing_begin, timing_end, timing_t

    implicit none(type, external)

    integer(i8), parameter :: vectors = 7, real_bytes = 8
    type(run_t) :: run
    type(cg_problem_t) :: problem
    type(cg_state_t) :: state
    type(timing_t) :: timing
    integer :: iteration, iterations

    call run%open('npb', 'cg', cg_classes, in_part=.true.)
    problem = find_cg_problem(run%class_name)
    iterations = run%iterations(problem%niter)
    call run%require_power_of_two()
    call run%require_at_most(problem%na)
    call run%require_memory(matrix_memory_bytes(nonzeros_max(), problem%na) &
                            + slice_memory_bytes(nonzeros_max()) + vectors*real_bytes*problem%na)
    call report_header(run, [parameter_t('na', int(problem%na, i8)), &
                             parameter_t('nonzer', int(problem%nonzer, i8)), &
                             parameter_t('niter', int(problem%niter, i8))])

    state%grid = grid_t(run%comm, run%rank, run%ranks, problem%na)
    state%shift = problem%shift
    call make_matrix(state)
    call state%reset()
    call state%iterate() ! warm-up
    call state%reset()

    call timing_begin(run%comm)
    do iteration = 1, iterations
        call state%iterate()
    end do
    timing = timing_end()

    call report_point(run, timing, iterations, problem%operations(), &
                      verify_cg(run%class_name, state%zeta))
    call run%close()

contains

    !> Nonzeros of a block at most, equal positions counted more than once.
    integer(i8) function nonzeros_max()
        nonzeros_max = problem%na*(int(problem%nonzer + 1, i8)**2 + 1)/run%ranks
    end function nonzeros_max

    !> Makes the block of this process; its rows are freed once the slices are made of them.
    subroutine make_matrix(cg)
        type(cg_state_t), intent(inout) :: cg
        type(matrix_t) :: matrix
        associate (grid => cg%grid)
            call generate_matrix(problem%na, problem%nonzer, problem%shift, grid%first_row, &
                                 grid%last_row, grid%first_column, grid%last_column, matrix)
        end associate
        cg%matrix = slices_t(matrix)
    end subroutine make_matrix

end program npb_cg
