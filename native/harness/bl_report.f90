!> The three lines of the output, on rank 0's stdout:
!>
!>     {"bareline":1,"program":"npb","benchmark":"cg","class":"A","ranks":4,...,"problem":{...}}
!>     {"point":{},"verified":true,"time_s":...,"rate_op_s":...,"compute_s":{...},...}
!>     {"end":true,"points":1,"cut":[]}
!>
!> Times are in s; `min`, `mean` and `max` are over the processes, `calls` are those of all
!> processes together. `imbalance` is the largest over the mean computation time.
!>
!> Collective: `report_header`, `report_point`.
module bl_report

    use, intrinsic :: iso_fortran_env, only: error_unit
    use bl_instruction_set, only: instruction_set
    use bl_json, only: json_t
    use bl_kinds, only: dp, i8
    use bl_messages, only: job_versions, tally_function_name, wtick
    use bl_run, only: run_t
    use bl_timing, only: calls_over_ranks, spread_over_ranks, spread_t, timing_t
    use bl_verification, only: quantity_t

    implicit none(type, external)
    private

    public :: parameter_t, remark_t, report_header, report_point

    integer, parameter :: protocol_version = 1

    !> A parameter of the problem, for the header: its name and a whole number.
    type :: parameter_t
        character(24) :: name = ' '
        integer(i8) :: value = 0
    end type parameter_t

    !> What else a program says of itself in the header; a blank text is left out.
    type :: remark_t
        character(24) :: name = ' '
        character(256) :: text = ' '
    end type remark_t

contains

    !> Says what is about to be measured. Call it when nothing can be refused any more.
    subroutine report_header(run, problem, remarks)
        type(run_t), intent(in) :: run
        type(parameter_t), intent(in) :: problem(:)
        type(remark_t), intent(in), optional :: remarks(:)
        type(json_t) :: json
        character(8) :: standard
        character(256) :: library
        integer :: i

        if (run%rank /= 0) return
        call job_versions(standard, len(standard), library, len(library))
        call json%begin()
        call json%add('bareline', protocol_version)
        call json%add('program', run%suite)
        call json%add('benchmark', run%benchmark)
        call json%add('class', run%class_name)
        if (run%variant /= ' ') call json%add('variant', trim(run%variant))
        call json%add('ranks', run%ranks)
        call json%add('threads', run%threads)
        call json%add('mpi_standard', standard)
        call json%add('mpi_library', library)
        call json%add('instruction_set', instruction_set)
        call json%add('timer', 'MPI_Wtime')
        call json%add('timer_resolution_s', wtick())
        call json%open_object('problem')
        do i = 1, size(problem)
            call json%add(trim(problem(i)%name), problem(i)%value)
        end do
        call json%close_object()
        if (present(remarks)) then
            do i = 1, size(remarks)
                if (remarks(i)%text == ' ') cycle
                call json%add(trim(remarks(i)%name), trim(remarks(i)%text))
            end do
        end if
        call json%write()
    end subroutine report_header

    !> Reports the measured point and ends the output. `operations` is what the specification
    !> counts for the class. A quantity that failed is told on stderr and kept in `run`. Where
    !> nothing can be verified the point says why instead, and operations are those of its
    !> iterations' share.
    subroutine report_point(run, timing, iterations, operations, quantities)
        type(run_t), intent(inout) :: run
        type(timing_t), intent(in) :: timing
        integer, intent(in) :: iterations
        real(dp), intent(in) :: operations
        type(quantity_t), intent(in) :: quantities(:)
        type(json_t) :: json
        type(spread_t) :: times(3 + size(timing%mpi_s))
        integer(i8) :: calls(size(timing%mpi_calls))
        character(:), allocatable :: reason
        real(dp) :: counted

        times = spread_over_ranks([timing%total_s, timing%compute_s(), timing%communication_s(), &
                                   timing%mpi_s], run%comm)
        calls = calls_over_ranks(timing%mpi_calls, run%comm)
        reason = run%not_verified()
        run%verified = all(quantities%passed()) .or. reason /= ''
        if (run%rank /= 0) return

        counted = operations
        if (run%iterations_whole > 0) counted = operations*iterations/run%iterations_whole

        call json%begin()
        call json%open_object('point')
        call json%close_object()
        if (reason == '') then
            call json%add('verified', run%verified)
        else
            call json%add('not_verified', reason)
        end if
        call json%add('iterations', iterations)
        call json%add('time_s', times(1)%max)
        call json%add('operations', counted)
        call json%add('rate_op_s', counted/times(1)%max)
        call add_spread(json, 'compute_s', times(2))
        call add_spread(json, 'communication_s', times(3))
        call json%add('imbalance', times(2)%max/times(2)%mean)
        call add_functions(json, times(4:), calls)
        if (reason == '') then
            call add_quantities(json, quantities)
        else
            call add_quantities(json, quantities(:0))
        end if
        call json%write()
        call report_end(json)
        if (.not. run%verified) call complain(run, quantities)
    end subroutine report_point

    subroutine report_end(json)
        type(json_t), intent(inout) :: json
        call json%begin()
        call json%add('end', .true.)
        call json%add('points', 1)
        call json%open_array('cut')
        call json%close_array()
        call json%write()
    end subroutine report_end

    subroutine add_spread(json, name, times, calls)
        type(json_t), intent(inout) :: json
        character(*), intent(in) :: name
        type(spread_t), intent(in) :: times
        integer(i8), intent(in), optional :: calls
        call json%open_object(name)
        call json%add('min', times%min)
        call json%add('mean', times%mean)
        call json%add('max', times%max)
        if (present(calls)) call json%add('calls', calls)
        call json%close_object()
    end subroutine add_spread

    !> Functions that nobody called are left out.
    subroutine add_functions(json, times, calls)
        type(json_t), intent(inout) :: json
        type(spread_t), intent(in) :: times(:)
        integer(i8), intent(in) :: calls(:)
        character(32) :: name
        integer :: i
        call json%open_object('mpi_s')
        do i = 1, size(times)
            if (calls(i) == 0) cycle
            call tally_function_name(i, name, len(name))
            call add_spread(json, name, times(i), calls(i))
        end do
        call json%close_object()
    end subroutine add_functions

    subroutine add_quantities(json, quantities)
        type(json_t), intent(inout) :: json
        type(quantity_t), intent(in) :: quantities(:)
        integer :: i
        call json%open_array('verification')
        do i = 1, size(quantities)
            associate (quantity => quantities(i))
                call json%open_object()
                call json%add('name', quantity%name)
                call json%add('value', real(quantity%value, dp))
                call json%add('reference', real(quantity%reference, dp))
                if (quantity%is_complex) then
                    call json%add('value_imaginary', aimag(quantity%value))
                    call json%add('reference_imaginary', aimag(quantity%reference))
                end if
                call json%add('deviation', quantity%deviation())
                call json%add('tolerance', quantity%tolerance)
                call json%add('passed', quantity%passed())
                call json%close_object()
            end associate
        end do
        call json%close_array()
    end subroutine add_quantities

    subroutine complain(run, quantities)
        type(run_t), intent(in) :: run
        type(quantity_t), intent(in) :: quantities(:)
        integer :: i
        do i = 1, size(quantities)
            if (quantities(i)%passed()) cycle
            write (error_unit, '(4a, es9.2, a, es9.2, a)') run%program_name(), ': ', &
                quantities(i)%name, ' deviates from its reference by', &
                quantities(i)%deviation(), ' (permitted', quantities(i)%tolerance, &
                '); do not use this result, look at the compiler and its options'
        end do
        flush (error_unit)
    end subroutine complain

end module bl_report
