!> The plane waves' energies: above the exact ones, and nearing them faster than any power as the
!> sphere grows; two iterations do not reach them, and a spoilt potential gives others.
program test_planewave_energies

    use bl_check, only: check, finish_checks
    use bl_kinds, only: dp
    use bl_messages, only: comm_rank, comm_size, job_finalize, job_init
    use mpi, only: MPI_COMM_WORLD
    use planewave_kernel, only: bands_t
    use planewave_problem, only: planewave_problem_t
    use planewave_reference, only: exact_energies

    implicit none(type, external)

    integer, parameter :: watched = 4
    real(dp) :: errors(watched, 3:6)
    integer :: cutoff

    call job_init()
    do cutoff = 3, 6
        errors(:, cutoff) = error_of(cutoff, 30)
    end do
    if (comm_rank(MPI_COMM_WORLD) == 0) print '(a, 4es10.2)', 'largest errors', maxval(errors, 1)
    call check(all(errors > -1.0e-12_dp), 'energies are above the exact ones')
    do cutoff = 4, 6
        call check(maxval(errors(:, cutoff)) < 0.1_dp*maxval(errors(:, cutoff - 1)), &
                   'a larger sphere is ten times as exact')
    end do
    call check(maxval(abs(error_of(6, 2))) > 1.0e-4_dp, 'two iterations do not suffice')
    call check(maxval(abs(error_of(6, 30, 1.001_dp))) > 1.0e-4_dp, 'a spoilt potential shows')
    call job_finalize()
    call finish_checks()

contains

    function error_of(cutoff, iterations, spoilt) result(error)
        integer, intent(in) :: cutoff, iterations
        real(dp), intent(in), optional :: spoilt
        real(dp) :: error(watched)
        type(bands_t) :: bands
        integer :: iteration

        call bands%setup(MPI_COMM_WORLD, comm_rank(MPI_COMM_WORLD), comm_size(MPI_COMM_WORLD), &
                         planewave_problem_t(cutoff, 4*cutoff, 8, iterations, watched))
        if (present(spoilt)) bands%transform%potential = spoilt*bands%transform%potential
        call bands%restart()
        do iteration = 1, iterations
            call bands%iterate()
        end do
        error = bands%energy(:watched) - exact_energies(watched)
    end function error_of

end program test_planewave_energies
