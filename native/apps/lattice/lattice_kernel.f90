!> A quark propagator on a lattice: conjugate gradients for improved staggered fermions.
!>
!>     (m**2 - D D) x = b on the even sites
!>     (D x)(n) = 1/2 sum over mu of eta(n, mu) (F(n, mu) x(n + mu) - F(n - mu, mu)^H x(n - mu)
!>                                      + L(n, mu) x(n + 3 mu) - L(n - 3 mu, mu)^H x(n - 3 mu))
!>
!> D takes vectors of one parity to the other and is anti-Hermitian, so that the operator is
!> positive definite; fat links F, long links L, phases and weights are one set of stored matrices
!> (lattice_links), b fills all even sites and colours (lattice_source).
!>
!> An iteration has one sum over all processes, of four numbers: with q = (m**2 - D D) p it is p q,
!> r q, q q and r r, from which the next residual's square follows before that residual is known,
!>
!>     |r - alpha q|**2 = r r - 2 alpha r q + alpha**2 q q,  alpha = r r/(p q)
!>
!> The next sum brings its true value, so that nothing adds up.
!>
!> Exported: `lattice_t`. Timed: `solve`. Collective over the grid: all but `reset`. An iteration
!> sends the faces of two vectors and sums 32 bytes once over all processes.
!>
!> References: J. Kogut, L. Susskind (1975): Hamiltonian formulation of Wilson's lattice gauge
!> theories. Phys. Rev. D 11, doi:10.1103/PhysRevD.11.395. S. Naik (1989): On-shell improved lattice
!> action for QCD with Susskind fermions and the asymptotic freedom scale. Nucl. Phys. B 316,
!> doi:10.1016/0550-3213(89)90394-5. E. F. D'Azevedo, C. H. Romine (1992): Reducing communication
!> costs in the conjugate gradient algorithm on distributed memory multiprocessors. ORNL/TM-12192.
module lattice_kernel

    use bl_kinds, only: dp, i8
    use bl_messages, only: comm_allreduce
    use lattice_grid, only: directions, field_t, grid_t, parts, reach
    use lattice_links, only: make_links
    use lattice_operator, only: apply
    use lattice_problem, only: lattice_problem_t
    use lattice_source, only: set_source
    use mpi, only: MPI_DOUBLE_PRECISION, MPI_SUM

    implicit none(type, external)
    private

    public :: lattice_t, lattice_memory_bytes

    !> A site's matrix of one direction.
    integer(i8), parameter :: link_bytes = 144

    type :: links_t
        real(dp), pointer, contiguous :: values(:, :, :, :, :, :, :) => null()
    end type links_t

    type :: lattice_t
        type(lattice_problem_t) :: problem
        type(grid_t) :: grid
        !> Links of even (0) and odd (1) sites.
        type(links_t) :: links(0:1)
        !> Source, solution, residual, direction, its product (even) and the half-way vector (odd).
        type(field_t) :: b, x, r, p, q, odd
        !> This process's part of the residual's square.
        real(dp) :: square = 0
    contains
        procedure :: setup
        procedure :: reset
        procedure :: solve
        procedure :: solution_square
        procedure :: solution_at_source
        procedure :: residuals
        procedure, private :: multiply
    end type lattice_t

contains

    !> What a process needs.
    pure integer(i8) function lattice_memory_bytes(problem, ranks) result(size_bytes)
        type(lattice_problem_t), intent(in) :: problem
        integer, intent(in) :: ranks
        integer(i8), parameter :: vector_bytes = 8*6*6/2, basis_bytes = 144
        integer :: n(4), cut(3)
        cut = parts(problem%extent, ranks)
        n = problem%extent/[1, max(1, cut)]
        size_bytes = directions*link_bytes*product(int(n, i8)) &
                     + (vector_bytes + basis_bytes)*n(1)*product(int(n(2:) + 2*reach, i8))
    end function lattice_memory_bytes

    subroutine setup(self, comm, rank, ranks, problem)
        class(lattice_t), intent(inout) :: self
        integer, intent(in) :: comm, rank, ranks
        type(lattice_problem_t), intent(in) :: problem
        integer :: parity

        self%problem = problem
        self%grid = grid_t(comm, rank, ranks, problem%extent)
        do parity = 0, 1
            call make_links(self%grid, problem%extent, parity, self%links(parity)%values)
        end do
        call self%grid%new_field(self%b)
        call self%grid%new_field(self%x)
        call self%grid%new_field(self%r)
        call self%grid%new_field(self%p)
        call self%grid%new_field(self%q)
        call self%grid%new_field(self%odd)
        call set_source(self%grid, problem%extent, self%b)
    end subroutine setup

    !> Back to x = 0.
    subroutine reset(self)
        class(lattice_t), intent(inout) :: self
        self%x%values = 0
        self%r%values = self%b%values
        self%p%values = self%b%values
        self%square = product_of(self%grid, self%b, self%b)
    end subroutine reset

    !> So many iterations.
    subroutine solve(self, iterations)
        class(lattice_t), intent(inout) :: self
        integer, intent(in) :: iterations
        real(dp) :: sums(4), alpha, beta
        integer :: iteration

        do iteration = 1, iterations
            call self%multiply(self%p, self%r, self%q, sums(:3))
            sums(4) = self%square
            call comm_allreduce(sums, 4, MPI_DOUBLE_PRECISION, MPI_SUM, self%grid%comm)
            associate (pq => sums(1), rq => sums(2), qq => sums(3), rr => sums(4))
                alpha = 0
                if (pq > 0) alpha = rr/pq
                beta = 0
                if (rr > 0) beta = max(0.0_dp, rr - 2*alpha*rq + alpha**2*qq)/rr
            end associate
            call advance(self%grid, alpha, beta, self%q%values, self%x%values, self%r%values, &
                         self%p%values, self%square)
        end do
    end subroutine solve

    !> out = (m**2 - D D) in, and this process's parts of out in, out other and out out.
    subroutine multiply(self, in, other, out, products)
        class(lattice_t), intent(inout) :: self
        type(field_t), intent(in) :: in, other, out
        real(dp), intent(out) :: products(3)

        call self%grid%exchange(in)
        call apply(self%grid, 1, self%links(1)%values, in%values, in%values, in%values, 0.0_dp, &
                   1.0_dp, self%odd%values, products)
        call self%grid%exchange(self%odd)
        call apply(self%grid, 0, self%links(0)%values, self%odd%values, in%values, other%values, &
                   self%problem%mass**2, -1.0_dp, out%values, products)
    end subroutine multiply

    !> x = x + alpha p, r = r - alpha q and its square, p = r + beta p.
    pure subroutine advance(grid, alpha, beta, q, x, r, p, square)
        type(grid_t), intent(in) :: grid
        real(dp), intent(in) :: alpha, beta
        real(dp), intent(in) :: q(6*grid%lanes*grid%blocks, 0:grid%rows - 1)
        real(dp), intent(inout), dimension(6*grid%lanes*grid%blocks, 0:grid%rows - 1) :: x, r, p
        real(dp), intent(out) :: square
        integer :: i, y, z, t, row
        square = 0
        do t = 1, grid%n(4)
            do z = 1, grid%n(3)
                do y = 1, grid%n(2)
                    row = grid%row_at(y, z, t)
                    !$omp simd reduction(+: square)
                    do i = 1, 6*grid%lanes*grid%blocks
                        x(i, row) = x(i, row) + alpha*p(i, row)
                        r(i, row) = r(i, row) - alpha*q(i, row)
                        square = square + r(i, row)**2
                        p(i, row) = r(i, row) + beta*p(i, row)
                    end do
                end do
            end do
        end do
    end subroutine advance

    !> This process's part of the real part of a^H b.
    pure real(dp) function product_of(grid, a, b) result(total)
        type(grid_t), intent(in) :: grid
        type(field_t), intent(in) :: a, b
        integer :: y, z, t
        total = 0
        do t = 1, grid%n(4)
            do z = 1, grid%n(3)
                do y = 1, grid%n(2)
                    associate (row => grid%row_at(y, z, t))
                        total = total + sum(a%values(:, :, :, row)*b%values(:, :, :, row))
                    end associate
                end do
            end do
        end do
    end function product_of

    real(dp) function solution_square(self) result(square)
        class(lattice_t), intent(in) :: self
        real(dp) :: sums(1)
        sums = product_of(self%grid, self%x, self%x)
        call comm_allreduce(sums, 1, MPI_DOUBLE_PRECISION, MPI_SUM, self%grid%comm)
        square = sums(1)
    end function solution_square

    !> The real part of b^H x.
    real(dp) function solution_at_source(self) result(value)
        class(lattice_t), intent(in) :: self
        real(dp) :: sums(1)
        sums = product_of(self%grid, self%b, self%x)
        call comm_allreduce(sums, 1, MPI_DOUBLE_PRECISION, MPI_SUM, self%grid%comm)
        value = sums(1)
    end function solution_at_source

    !> |b - (m**2 - D D) x|, and how far this is from the residual that the iterations carried
    !> along. Overwrites q.
    function residuals(self) result(norms)
        class(lattice_t), intent(inout) :: self
        real(dp) :: norms(2), unused(3)
        call self%multiply(self%x, self%x, self%q, unused)
        self%q%values = self%b%values - self%q%values
        norms(1) = product_of(self%grid, self%q, self%q)
        self%q%values = self%q%values - self%r%values
        norms(2) = product_of(self%grid, self%q, self%q)
        call comm_allreduce(norms, 2, MPI_DOUBLE_PRECISION, MPI_SUM, self%grid%comm)
        norms = sqrt(norms)
    end function residuals

end module lattice_kernel
