!> The operator of the lattice: anti-Hermitian hops, a positive operator, matrices of SU(3).
program test_lattice_operator

    use bl_check, only: check, finish_checks
    use bl_kinds, only: dp
    use bl_messages, only: comm_rank, comm_size, job_finalize, job_init
    use lattice_kernel, only: lattice_t
    use lattice_links, only: colours_at
    use lattice_problem, only: lattice_problem_t
    use lattice_reference, only: verify_lattice
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
    call test_solution([8, 8, 4, 8], 30)
    call test_solution([16, 4, 4, 16], 40)
    call test_solution([32, 4, 4, 16], 50)
    call test_solution([24, 4, 4, 16], 50)
    ! Parts thinner than links reach: on four processes t is cut in four.
    call test_solution([8, 4, 4, 8], 30)
    call job_finalize()
    call finish_checks()

contains

    pure complex(dp) function determinant(a)
        complex(dp), intent(in) :: a(3, 3)
        determinant = a(1, 1)*(a(2, 2)*a(3, 3) - a(2, 3)*a(3, 2)) &
                      - a(1, 2)*(a(2, 1)*a(3, 3) - a(2, 3)*a(3, 1)) &
                      + a(1, 3)*(a(2, 1)*a(3, 2) - a(2, 2)*a(3, 1))
    end function determinant

    !> A few iterations must not reach the solution, more must, and that is the exact one; a spoilt
    !> link has to be noticed.
    subroutine test_solution(extent, iterations)
        integer, intent(in) :: extent(4), iterations
        type(lattice_t) :: lattice
        type(lattice_problem_t) :: problem
        problem = lattice_problem_t(extent, iterations)
        call lattice%setup(MPI_COMM_WORLD, comm_rank(MPI_COMM_WORLD), comm_size(MPI_COMM_WORLD), &
                           problem)
        call check(any(.not. passed(lattice, problem, 2)), 'two iterations do not solve')
        call check(all(passed(lattice, problem, iterations)), 'enough do')
        associate (links => lattice%links(0)%values)
            links(0, 1, 1, 0, 1, 1, 1) = 2*links(0, 1, 1, 0, 1, 1, 1)
        end associate
        call check(any(.not. passed(lattice, problem, iterations)), 'a spoilt link shows')
    end subroutine test_solution

    !> Which quantities are right after so many iterations.
    function passed(lattice, problem, iterations) result(right)
        type(lattice_t), intent(inout) :: lattice
        type(lattice_problem_t), intent(in) :: problem
        integer, intent(in) :: iterations
        logical :: right(4)
        real(dp) :: at_source, square
        call lattice%reset()
        call lattice%solve(iterations)
        at_source = lattice%solution_at_source()
        square = lattice%solution_square()
        associate (quantities => verify_lattice(problem, at_source, square, lattice%residuals()))
            right = quantities%passed()
        end associate
    end function passed

end program test_lattice_operator
