!> Driver of BT.
program npb_bt

    use adi_problem, only: adi_classes, adi_problem_t
    use adi_run, only: run_adi
    use bt_lines, only: bt_lines_t
    use bt_problem, only: find_bt_problem
    use bt_reference, only: find_bt_reference
    use bl_run, only: run_t

    implicit none(type, external)

    type(run_t) :: run
    type(adi_problem_t) :: problem

    call run%open('npb', 'bt', adi_classes, in_part=.true.)
    problem = find_bt_problem(run%class_name)
    call run_adi(run, problem, bt_lines_t(problem%n, problem%dt), &
                 find_bt_reference(run%class_name))

end program npb_bt
