!> Driver of SP.
program npb_sp

    use adi_problem, only: adi_classes, adi_problem_t
    use adi_run, only: run_adi
    use sp_lines, only: sp_lines_t
    use sp_problem, only: find_sp_problem
    use sp_reference, only: find_sp_reference
    use bl_run, only: run_t

    implicit none(type, external)

    type(run_t) :: run
    type(adi_problem_t) :: problem

    call run%open('npb', 'sp', adi_classes, in_part=.true.)
    problem = find_sp_problem(run%class_name)
    call run_adi(run, problem, sp_lines_t(problem%n, problem%dt), &
                 find_sp_reference(run%class_name))

end program npb_sp
