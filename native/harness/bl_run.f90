!> The harness of the Fortran kernels, the NAS Parallel Benchmarks (`npb_cg`) and the mini-apps
!> (`app_ocean`): one program for each kernel, `npb_cg CLASS` under mpirun, which prints three JSON lines (header, point, end) or, before any work, one line on
!> stderr that says what is wrong.
!>
!> How a kernel is added
!> ---------------------
!> A kernel `xy` of the suite `npb` is the folder `native/npb/xy/`, named in `native/npb/CMakeLists.txt`, with
!>
!> - `xy_problem.f90`: `type xy_problem_t` and a lookup table of the problem classes;
!> - `xy_reference.f90`: the published verification values, as a function that takes the class and
!>   what the kernel computed and returns `type(quantity_t), allocatable :: quantities(:)`;
!> - `xy_kernel.f90` (and further modules): the mathematics, from the specification;
!> - `npb_xy.f90`: the driver, a program of this shape:
!>
!>       type(run_t) :: run
!>       type(timing_t) :: timing
!>       call run%open('npb', 'xy', classes)       ! MPI, the class; ends the program if wrong
!>       problem = xy_problem(run%class_name)
!>       iterations = run%iterations(problem%niter) ! fewer with `-i`, and then nothing is verified
!>       call run%require_power_of_two()           ! or require_square,
!>                                                 ! require_at_least, require_at_most,
!>                                                 ! require(condition, 'what, what to do')
!>       call run%require_memory(bytes_per_process)
!>       call json%... ; call report_header(run, json)
!>       ... setup and warm-up ...
!>       call timing_begin(run%comm)               ! barrier, then the clock
!>       ... the timed part ...
!>       timing = timing_end()                     ! the clock, and the time in every MPI function
!>       call report_point(run, timing, iterations, operations, quantities)
!>       call run%close()                          ! MPI; exit code 3 if a quantity failed
!>
!> - `CMakeLists.txt`: one call of `bareline_kernel(npb xy FLAGS ... SOURCES ...)`.
!>
!> Kernels call MPI through `bl_messages` only; that is what is timed as communication. The rest
!> of the timed part is computation.
!>
!> Collective over the job: everything that `run_t` exports.
module bl_run

    use, intrinsic :: iso_c_binding, only: c_char, c_int, c_null_char
    use, intrinsic :: iso_fortran_env, only: error_unit, output_unit
    use mpi, only: MPI_COMM_WORLD
    use bl_kinds, only: i8
    use bl_memory, only: memory_shortage
    use bl_messages, only: comm_rank, comm_size, job_abort, job_finalize, job_init, memory_folded

    implicit none(type, external)
    private

    public :: run_t, fail, status_done, status_failed, status_usage, status_wrong

    !> Exit codes, those of native/common/bl_error.h.
    integer, parameter :: status_done = 0, status_failed = 1, status_usage = 2, status_wrong = 3

    !> One run of one benchmark: what its output and its checks need to know.
    type :: run_t
        !> What it belongs to: `npb` or `app`.
        character(:), allocatable :: suite
        !> Name of the benchmark, as `cg`.
        character(:), allocatable :: benchmark
        !> Problem class, as `A`.
        character(1) :: class_name = ' '
        integer :: comm = 0
        integer :: rank = 0
        integer :: ranks = 0
        !> Threads of each process.
        integer :: threads = 1
        !> What `-i` asked for; 0 without it.
        integer :: iterations_asked = 0
        !> Iterations of the whole benchmark, where part of them runs; 0 otherwise.
        integer :: iterations_whole = 0
        !> What `-v` asked for, or the first of the variants; blank where there are none.
        character(16) :: variant = ' '
        !> Its place among them, from 1.
        integer :: variant_number = 0
        !> Set by `report_point`.
        logical :: verified = .true.
    contains
        procedure :: open => run_open
        procedure :: program_name
        procedure :: close => run_close
        procedure :: iterations => run_iterations
        procedure :: not_verified
        procedure :: require => run_require
        procedure :: require_at_least => run_require_at_least
        procedure :: require_at_most => run_require_at_most
        procedure :: require_power_of_two => run_require_power_of_two
        procedure :: require_square => run_require_square
        procedure :: require_memory => run_require_memory
        procedure, private :: reject
    end type run_t

    interface
        subroutine bl_name_program(name) bind(C)
            import :: c_char
            character(kind=c_char), intent(in) :: name(*)
        end subroutine bl_name_program

        !> Ends this process with an exit code; does not return.
        subroutine bl_leave(status) bind(C)
            import :: c_int
            integer(c_int), value :: status
        end subroutine bl_leave
    end interface

contains

    !> Starts MPI and reads the class from the command line. `classes` holds the letters that the
    !> benchmark has, as 'SWABCDE'. `in_part` = .true. says that it asks
    !> `iterations` how many of them to run; `variants` holds the words, with a blank between them, of
    !> which `-v` may name one. `-h` prints the usage and ends the program.
    subroutine run_open(self, suite, benchmark, classes, in_part, variants)
        class(run_t), intent(inout) :: self
        character(*), intent(in) :: suite, benchmark, classes
        logical, intent(in), optional :: in_part
        character(*), intent(in), optional :: variants
        character(64) :: argument
        character(:), allocatable :: words
        integer :: length, trouble
        logical :: has_part

        words = ''
        if (present(variants)) words = variants
        call job_init()
        self%suite = suite
        self%benchmark = benchmark
        self%comm = MPI_COMM_WORLD
        self%rank = comm_rank(self%comm)
        self%ranks = comm_size(self%comm)
        call bl_name_program(self%program_name()//c_null_char)

        call get_command_argument(1, argument, length, trouble)
        if (argument == '-h' .or. argument == '--help') call print_usage(self, classes, &
                                                                            words)
        call self%require(any(command_argument_count() == [1, 3]), 'one word is expected, the '// &
                          'problem class, one of '//spaced(classes)//': as in `'// &
                          self%program_name()//' A`')
        call self%require(length == 1 .and. index(classes, upper(argument(1:1))) > 0, &
                          'unknown class '''//trim(argument)//''', write one of '// &
                          spaced(classes))
        self%class_name = upper(argument(1:1))
        has_part = .false.
        if (present(in_part)) has_part = in_part
        call choose_variant(self, words, words(:index(words//' ', ' ') - 1))
        if (command_argument_count() == 3) call read_option(self, has_part, words)
    end subroutine run_open

    !> Reads `-i ITERATIONS` or `-v VARIANT` behind the class.
    subroutine read_option(run, in_part, variants)
        class(run_t), intent(inout) :: run
        logical, intent(in) :: in_part
        character(*), intent(in) :: variants
        character(64) :: option, word

        call get_command_argument(2, option)
        call get_command_argument(3, word)
        if (option == '-v' .and. variants /= '') then
            call choose_variant(run, variants, trim(word))
            call run%require(run%variant_number > 0, 'unknown variant '''//trim(word)// &
                             ''', write one of '//variants)
            return
        end if
        call run%require(option == '-i', 'unknown option '''//trim(option)//''', the only one '// &
                         'is '//trim(merge('-v VARIANT   ', '-i ITERATIONS', variants /= '')))
        call run%require(in_part, 'no part of its iterations can run, leave out -i')
        call read_iterations(run, trim(word))
    end subroutine read_option

    !> Sets the variant and its number, 0 where there is none of this name.
    subroutine choose_variant(run, variants, name)
        class(run_t), intent(inout) :: run
        character(*), intent(in) :: variants, name
        character(:), allocatable :: rest
        integer :: blank, number

        run%variant = name
        run%variant_number = 0
        number = 0
        rest = variants//' '
        do while (rest /= '')
            number = number + 1
            blank = index(rest, ' ')
            if (rest(:blank - 1) == name) run%variant_number = number
            rest = rest(blank + 1:)
        end do
    end subroutine choose_variant

    subroutine read_iterations(run, number)
        class(run_t), intent(inout) :: run
        character(*), intent(in) :: number
        integer :: trouble

        trouble = verify(number, '0123456789')
        if (trouble == 0) read (number, *, iostat=trouble) run%iterations_asked
        call run%require(trouble == 0 .and. run%iterations_asked > 0, 'the iterations must be '// &
                         'a whole number above 0, not '''//number//'''')
    end subroutine read_iterations

    !> Iterations to run of those that the problem class has. A part is no result that could be
    !> verified: it is there for simulators, whose time a whole run would take.
    integer function run_iterations(self, whole) result(iterations)
        class(run_t), intent(inout) :: self
        integer, intent(in) :: whole
        iterations = whole
        if (self%iterations_asked == 0) return
        call self%require(self%iterations_asked <= whole, 'class '//self%class_name//' has '// &
                          decimal(int(whole, i8))//' iterations; ask for no more')
        iterations = self%iterations_asked
        if (iterations < whole) self%iterations_whole = whole
    end function run_iterations

    !> Why the result cannot be verified, as '3 of 75 iterations'; empty when it can.
    function not_verified(self) result(reason)
        class(run_t), intent(in) :: self
        character(:), allocatable :: reason
        reason = ''
        if (self%iterations_whole > 0) reason = decimal(int(self%iterations_asked, i8))//' of '// &
            decimal(int(self%iterations_whole, i8))//' iterations'
        if (memory_folded() == 0) return
        if (reason /= '') reason = reason//', '
        reason = reason//'all ranks share one memory'
    end function not_verified

    pure function program_name(self) result(name)
        class(run_t), intent(in) :: self
        character(:), allocatable :: name
        name = self%suite//'_'//self%benchmark
    end function program_name

    !> Ends MPI and, when a quantity was wrong, the program.
    subroutine run_close(self)
        class(run_t), intent(in) :: self
        call job_finalize()
        if (.not. self%verified) call bl_leave(status_wrong)
    end subroutine run_close

    !> Ends the program with an error of usage unless the condition, the same on all processes,
    !> holds.
    subroutine run_require(self, condition, message)
        class(run_t), intent(in) :: self
        logical, intent(in) :: condition
        character(*), intent(in) :: message
        if (.not. condition) call self%reject(message)
    end subroutine run_require

    subroutine run_require_at_least(self, ranks_min)
        class(run_t), intent(in) :: self
        integer, intent(in) :: ranks_min
        call self%require(self%ranks >= ranks_min, 'class '//self%class_name// &
                          ' runs on at least '//decimal(int(ranks_min, i8))//' processes, not '// &
                          decimal(int(self%ranks, i8))//'; start more or take a smaller class')
    end subroutine run_require_at_least

    subroutine run_require_at_most(self, ranks_max)
        class(run_t), intent(in) :: self
        integer, intent(in) :: ranks_max
        call self%require(self%ranks <= ranks_max, 'class '//self%class_name// &
                          ' runs on at most '//decimal(int(ranks_max, i8))//' processes, not '// &
                          decimal(int(self%ranks, i8))//'; start fewer or take a larger class')
    end subroutine run_require_at_most

    subroutine run_require_power_of_two(self)
        class(run_t), intent(in) :: self
        call self%require(popcnt(self%ranks) == 1, 'the number of processes must be a power of '// &
                          'two, not '//decimal(int(self%ranks, i8))//'; start '// &
                          decimal(2_i8**(bit_size(self%ranks) - 1 - leadz(self%ranks)))//' or '// &
                          decimal(2_i8**(bit_size(self%ranks) - leadz(self%ranks))))
    end subroutine run_require_power_of_two

    subroutine run_require_square(self)
        class(run_t), intent(in) :: self
        integer :: root
        root = nint(sqrt(real(self%ranks)))
        if (root*root > self%ranks) root = root - 1
        call self%require(root*root == self%ranks, 'the number of processes must be a square, '// &
                          'not '//decimal(int(self%ranks, i8))//'; start '// &
                          decimal(int(root, i8)**2)//' or '//decimal(int(root + 1, i8)**2))
    end subroutine run_require_square

    !> Ends the program unless every node has `size_bytes` for each of its processes.
    subroutine run_require_memory(self, size_bytes)
        class(run_t), intent(in) :: self
        integer(i8), intent(in) :: size_bytes
        integer(i8) :: needed_bytes, available_bytes
        logical :: short
        if (memory_folded() /= 0) return
        call memory_shortage(self%comm, size_bytes, short, needed_bytes, available_bytes)
        call self%require(.not. short, 'class '//self%class_name//' on '// &
                          decimal(int(self%ranks, i8))//' processes needs '// &
                          decimal(needed_bytes/2**20)//' MiB on a node that has '// &
                          decimal(available_bytes/2**20)//' MiB available; take a smaller '// &
                          'class or more nodes')
    end subroutine run_require_memory

    !> Ends the job with an error that only this process may have noticed.
    subroutine fail(run, message)
        type(run_t), intent(in) :: run
        character(*), intent(in) :: message
        write (error_unit, '(3a)') run%program_name(), ': ', message
        flush (error_unit)
        call job_abort(status_failed)
    end subroutine fail

    subroutine reject(self, message)
        class(run_t), intent(in) :: self
        character(*), intent(in) :: message
        if (self%rank == 0) then
            write (error_unit, '(3a)') self%program_name(), ': ', message
            flush (error_unit)
        end if
        call job_finalize()
        call bl_leave(status_usage)
    end subroutine reject

    subroutine print_usage(run, classes, variants)
        class(run_t), intent(in) :: run
        character(*), intent(in) :: classes, variants
        if (run%rank == 0) then
            write (output_unit, '(3a)') 'usage: mpirun -n PROCESSES ', run%program_name(), &
                ' CLASS [-i ITERATIONS]'//trim(merge(' [-v VARIANT]', '             ', &
                                                     variants /= ''))
            write (output_unit, '(3a)') 'CLASS is one of ', spaced(classes), '.'
            if (variants /= '') write (output_unit, '(3a)') 'VARIANT is one of ', variants, &
                '; without it, the first.'
            write (output_unit, '(a)') 'With fewer ITERATIONS than the class has, nothing is '// &
                'verified.'
            flush (output_unit)
        end if
        call job_finalize()
        call bl_leave(status_done)
    end subroutine print_usage

    pure function spaced(letters) result(text)
        character(*), intent(in) :: letters
        character(2*len(letters) - 1) :: text
        integer :: i
        text = ' '
        do i = 1, len(letters)
            text(2*i - 1:2*i - 1) = letters(i:i)
        end do
    end function spaced

    pure function upper(letter)
        character(1), intent(in) :: letter
        character(1) :: upper
        upper = letter
        if (letter >= 'a' .and. letter <= 'z') upper = achar(iachar(letter) - 32)
    end function upper

    pure function decimal(number) result(text)
        integer(i8), intent(in) :: number
        character(:), allocatable :: text
        character(20) :: digits
        write (digits, '(i0)') number
        text = trim(digits)
    end function decimal

end module bl_run
