!> The operator of the lattice: anti-Hermitian hops, a positive operator, matrices of SU(3).
program test_lattice_operator

    use bl_check, only: check, finish_checks
    use bl_kinds, only: dp
    use bl_messages, only: comm_rank, comm_size, job_finalize, job_init
    use lattice_kernel, only: lattice_t
    use lattice_links, only: colours_at
    use lattice_problem, only: lattice_problem_t
    use mpi, only: MPI_COMM_WORLD

    implicit none(type, external)

    complex(dp) :: g(3, 3), unity(3, 3)
    integer :: i

    call job_init()
    unity = 0
    do i = 1, 3
        unity(i, i) = 1
    end do
    g = colours_at([4, 4, 4, 4], [3, 1, 2, 0])
    call check(maxval(abs(matmul(g, conjg(transpose(g))) - unity)) < 1.0e-14_dp, 'unitary')
    call check(abs(determinant(g) - 1) < 1.0e-14_dp, 'determinant 1')
    call check(maxval(abs(g - colours_at([4, 4, 4, 4], [3, 1, 2, 1]))) > 0.1_dp, 'random')
    ! Blocks of two and of four sites; rows of one, two and three blocks of eight or four.
    call test_solution([4, 4, 8, 8], 30)
    call test_solution([8, 8, 4, 4], 30)
    call test_solution([16, 4, 4, 4], 60)
    call test_solution([32, 4, 4, 4], 90)
    call test_solution([24, 4, 4, 4], 90)
    call job_finalize()
    call finish_checks()

contains

    pure complex(dp) function determinant(a)
        complex(dp), intent(in) :: a(3, 3)
        determinant = a(1, 1)*(a(2, 2)*a(3, 3) - a(2, 3)*a(3, 2)) &
                      - a(1, 2)*(a(2, 1)*a(3, 3) - a(2, 3)*a(3, 1)) &
                      + a(1, 3)*(a(2, 1)*a(3, 2) - a(2, 2)*a(3, 1))
    end function determinant

    !> A few iterations must not reach the solution, more must; and a spoilt link be noticed.
    subroutine test_solution(extent, iterations)
        integer, intent(in) :: extent(4), iterations
        type(lattice_t) :: lattice
        real(dp) :: expected, square
        call lattice%setup(MPI_COMM_WORLD, comm_rank(MPI_COMM_WORLD), comm_size(MPI_COMM_WORLD), &
                           lattice_problem_t(extent, iterations))
        call lattice%reset()
        call lattice%solve(2)
        call check(lattice%true_residual() > 1.0e-3_dp, 'two iterations do not solve')
        call lattice%reset()
        call lattice%solve(iterations)
        expected = lattice%solution_square()
        call check(lattice%true_residual() < 1.0e-10_dp, 'enough do')
        associate (links => lattice%links(0)%values)
            links(0, 1, 1, 0, 1, 1, 1) = 2*links(0, 1, 1, 0, 1, 1, 1)
        end associate
        call lattice%reset()
        call lattice%solve(iterations)
        square = lattice%solution_square()
        call check(abs(square/expected - 1) > 1.0e-6_dp, 'a spoilt link changes the solution')
    end subroutine test_solution

end program test_lattice_operator
