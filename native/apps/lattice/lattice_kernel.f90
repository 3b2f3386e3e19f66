!> A quark propagator on a lattice: conjugate gradients for staggered fermions.
!>
!>     (m**2 - D D) x = b on the even sites
!>     (D x)(n) = 1/2 sum over mu of eta(n, mu) (U(n, mu) x(n + mu) - U(n - mu, mu)^H x(n - mu))
!>
!> D takes vectors of one parity to the other and is anti-Hermitian, so that the operator is positive
!> definite; b is one colour at one site. Phases and factors are part of the stored links
!> (lattice_links).
!>
!> Exported: `lattice_t`. Timed: `solve`. Collective over the grid: all but `reset`. An iteration
!> sends the faces of two vectors and sums 8 bytes twice over all processes.
!>
!> References: J. Kogut, L. Susskind (1975): Hamiltonian formulation of Wilson's lattice gauge
!> theories. Phys. Rev. D 11, doi:10.1103/PhysRevD.11.395. T. DeGrand, P. Rossi (1990): Conditioning
!> techniques for dynamical fermions. Comput. Phys. Commun. 60, doi:10.1016/0010-4655(90)90006-M.
module lattice_kernel

    use bl_kinds, only: dp, i8
    use bl_memory, only: prefetch
    use bl_messages, only: comm_sum
    use lattice_grid, only: field_t, grid_t, parts
    use lattice_links, only: make_links
    use lattice_problem, only: lattice_problem_t

    implicit none(type, external)
    private

    public :: lattice_t, lattice_memory_bytes

    !> Where the neighbour of each direction is, along y, z and t.
    integer, parameter :: along(2:4, 8) = reshape([0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0, 1, &
                                                   0, 0, 0, -1, 0, 0, 0, -1, 0, 0, 0, -1], [3, 8])
    !> A site's matrix of one direction.
    integer(i8), parameter :: link_bytes = 144

    type :: links_t
        real(dp), pointer, contiguous :: values(:, :, :, :, :, :) => null()
    end type links_t

    type :: lattice_t
        type(lattice_problem_t) :: problem
        type(grid_t) :: grid
        !> Links of even (0) and odd (1) sites.
        type(links_t) :: links(0:1)
        !> Solution, residual, direction, its product (even) and the half-way vector (odd).
        type(field_t) :: x, r, p, q, odd
        !> Square of the residual of the recurrence.
        real(dp) :: square = 0
    contains
        procedure :: setup
        procedure :: reset
        procedure :: solve
        procedure :: solution_square
        procedure :: solution_at_source
        procedure :: true_residual
        procedure, private :: multiply
        procedure, private :: set_source
    end type lattice_t

contains

    !> What a process needs.
    pure integer(i8) function lattice_memory_bytes(problem, ranks) result(size_bytes)
        type(lattice_problem_t), intent(in) :: problem
        integer, intent(in) :: ranks
        integer(i8), parameter :: vector_bytes = 8*6*5/2, basis_bytes = 144
        integer :: n(4), cut(3)
        cut = parts(problem%extent, ranks)
        n = problem%extent/[1, max(1, cut)]
        size_bytes = 8*link_bytes*product(int(n, i8)) &
                     + (vector_bytes + basis_bytes)*product(int(n + 2, i8))
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
        call self%grid%new_field(self%x)
        call self%grid%new_field(self%r)
        call self%grid%new_field(self%p)
        call self%grid%new_field(self%q)
        call self%grid%new_field(self%odd)
    end subroutine setup

    !> Back to x = 0.
    subroutine reset(self)
        class(lattice_t), intent(inout) :: self
        self%x%values = 0
        call self%set_source(self%r)
        call self%set_source(self%p)
        self%square = 1
    end subroutine reset

    !> The first colour at site 0 of the whole lattice.
    subroutine set_source(self, field)
        class(lattice_t), intent(in) :: self
        type(field_t), intent(inout) :: field
        field%values = 0
        if (all(self%grid%before == 0)) field%values(0, 1, 1, 1, 1) = 1
    end subroutine set_source

    !> So many iterations.
    subroutine solve(self, iterations)
        class(lattice_t), intent(inout) :: self
        integer, intent(in) :: iterations
        real(dp) :: alpha, beta, square, product
        integer :: iteration

        do iteration = 1, iterations
            call self%multiply(self%p, self%q, product)
            call comm_sum(product, self%grid%comm)
            alpha = 0
            if (product > 0) alpha = self%square/product
            call subtract(self%grid, alpha, self%q%values, self%r%values, square)
            call comm_sum(square, self%grid%comm)
            beta = 0
            if (self%square > 0) beta = square/self%square
            call advance(self%grid, alpha, beta, self%r%values, self%x%values, self%p%values)
            self%square = square
        end do
    end subroutine solve

    !> out = (m**2 - D D) in, and this process's part of their product.
    subroutine multiply(self, in, out, product)
        class(lattice_t), intent(inout) :: self
        type(field_t), intent(in) :: in, out
        real(dp), intent(out) :: product
        real(dp) :: unused

        call self%grid%exchange(in)
        call apply(self%grid, 1, self%links(1)%values, in%values, in%values, 0.0_dp, 1.0_dp, &
                   self%odd%values, unused)
        call self%grid%exchange(self%odd)
        call apply(self%grid, 0, self%links(0)%values, self%odd%values, in%values, &
                   self%problem%mass**2, -1.0_dp, out%values, product)
    end subroutine multiply

    !> out = weight same + sign D in, where out and same are of this parity, in of the other; and
    !> the product of out and same. Links are asked for a row ahead. The usual lengths of a row are
    !> compiled as such: loops over one vector of the processor gain from knowing it.
    subroutine apply(grid, parity, links, in, same, weight, sign, out, product)
        type(grid_t), intent(in) :: grid
        integer, intent(in) :: parity
        real(dp), intent(in) :: links(*), in(*), same(*)
        real(dp), intent(in) :: weight, sign
        real(dp), intent(inout) :: out(*)
        real(dp), intent(out) :: product
        select case (grid%half)
        case (8)
            call apply_rows(8, grid, parity, links, in, same, weight, sign, out, product)
        case (16)
            call apply_rows(16, grid, parity, links, in, same, weight, sign, out, product)
        case default
            call apply_rows(grid%half, grid, parity, links, in, same, weight, sign, out, product)
        end select
    end subroutine apply

    subroutine apply_rows(half, grid, parity, links, in, same, weight, sign, out, product)
        integer, intent(in) :: half, parity
        type(grid_t), intent(in) :: grid
        real(dp), intent(in) :: links(18*half, 8, *)
        real(dp), intent(in), dimension(6*half + 12, 0:grid%n(2) + 1, 0:grid%n(3) + 1, &
                                        0:grid%n(4) + 1) :: in, same
        real(dp), intent(in) :: weight, sign
        real(dp), intent(inout) :: out(6*half + 12, 0:grid%n(2) + 1, 0:grid%n(3) + 1, &
                                       0:grid%n(4) + 1)
        real(dp), intent(out) :: product
        real(dp) :: total(0:half - 1, 6)
        integer :: y, z, t, d, row, next, shift(8)

        shift = 0
        row = 0
        product = 0
        do t = 1, grid%n(4)
            do z = 1, grid%n(3)
                do y = 1, grid%n(2)
                    shift(1) = grid%row_offset(parity, y, z, t)
                    shift(5) = shift(1) - 1
                    row = row + 1
                    next = min(row + 1, grid%n(2)*grid%n(3)*grid%n(4))
                    total = 0
                    do d = 1, 8
                        call prefetch(links(1, d, next), link_bytes*half)
                        call add(half, shift(d), links(:, d, row), &
                                 in(:, y + along(2, d), z + along(3, d), t + along(4, d)), total)
                    end do
                    call finish(half, weight, sign, total, same(:, y, z, t), out(:, y, z, t), &
                                product)
                end do
            end do
        end do
    end subroutine apply_rows

    !> Adds the products of a row of links with the neighbours' vectors, `shift` further along x.
    pure subroutine add(half, shift, link, vector, total)
        integer, intent(in) :: half, shift
        real(dp), intent(in) :: link(0:half - 1, 2, 3, 3), vector(-1:half, 2, 3)
        real(dp), intent(inout) :: total(0:half - 1, 2, 3)
        integer :: h, row
        do row = 1, 3
            do h = 0, half - 1
                total(h, 1, row) = total(h, 1, row) &
                                   + link(h, 1, 1, row)*vector(h + shift, 1, 1) &
                                   - link(h, 2, 1, row)*vector(h + shift, 2, 1) &
                                   + link(h, 1, 2, row)*vector(h + shift, 1, 2) &
                                   - link(h, 2, 2, row)*vector(h + shift, 2, 2) &
                                   + link(h, 1, 3, row)*vector(h + shift, 1, 3) &
                                   - link(h, 2, 3, row)*vector(h + shift, 2, 3)
                total(h, 2, row) = total(h, 2, row) &
                                   + link(h, 1, 1, row)*vector(h + shift, 2, 1) &
                                   + link(h, 2, 1, row)*vector(h + shift, 1, 1) &
                                   + link(h, 1, 2, row)*vector(h + shift, 2, 2) &
                                   + link(h, 2, 2, row)*vector(h + shift, 1, 2) &
                                   + link(h, 1, 3, row)*vector(h + shift, 2, 3) &
                                   + link(h, 2, 3, row)*vector(h + shift, 1, 3)
            end do
        end do
    end subroutine add

    pure subroutine finish(half, weight, sign, total, same, out, product)
        integer, intent(in) :: half
        real(dp), intent(in) :: weight, sign
        real(dp), intent(in) :: total(0:half - 1, 6), same(-1:half, 6)
        real(dp), intent(inout) :: out(-1:half, 6), product
        integer :: h, c
        do c = 1, 6
            !$omp simd reduction(+: product)
            do h = 0, half - 1
                out(h, c) = weight*same(h, c) + sign*total(h, c)
                product = product + out(h, c)*same(h, c)
            end do
        end do
    end subroutine finish

    !> r = r - alpha q, and its square in the same pass.
    pure subroutine subtract(grid, alpha, q, r, square)
        type(grid_t), intent(in) :: grid
        real(dp), intent(in) :: alpha
        real(dp), intent(in) :: q(-1:grid%half, 6, 0:grid%n(2) + 1, 0:grid%n(3) + 1, &
                                  0:grid%n(4) + 1)
        real(dp), intent(inout) :: r(-1:grid%half, 6, 0:grid%n(2) + 1, 0:grid%n(3) + 1, &
                                     0:grid%n(4) + 1)
        real(dp), intent(out) :: square
        integer :: h, c, y, z, t
        square = 0
        do t = 1, grid%n(4)
            do z = 1, grid%n(3)
                do y = 1, grid%n(2)
                    do c = 1, 6
                        !$omp simd reduction(+: square)
                        do h = 0, grid%half - 1
                            r(h, c, y, z, t) = r(h, c, y, z, t) - alpha*q(h, c, y, z, t)
                            square = square + r(h, c, y, z, t)**2
                        end do
                    end do
                end do
            end do
        end do
    end subroutine subtract

    !> x = x + alpha p and p = r + beta p.
    pure subroutine advance(grid, alpha, beta, r, x, p)
        type(grid_t), intent(in) :: grid
        real(dp), intent(in) :: alpha, beta
        real(dp), intent(in) :: r(6*grid%half + 12, 0:grid%n(2) + 1, 0:grid%n(3) + 1, &
                                  0:grid%n(4) + 1)
        real(dp), intent(inout), dimension(6*grid%half + 12, 0:grid%n(2) + 1, &
                                           0:grid%n(3) + 1, 0:grid%n(4) + 1) :: x, p
        integer :: i, y, z, t
        do t = 1, grid%n(4)
            do z = 1, grid%n(3)
                do y = 1, grid%n(2)
                    ! Whole rows with their two ghosts, which the next exchange sets.
                    do i = 1, 6*grid%half + 12
                        x(i, y, z, t) = x(i, y, z, t) + alpha*p(i, y, z, t)
                        p(i, y, z, t) = r(i, y, z, t) + beta*p(i, y, z, t)
                    end do
                end do
            end do
        end do
    end subroutine advance

    real(dp) function solution_square(self) result(square)
        class(lattice_t), intent(in) :: self
        associate (n => self%grid%n)
            square = sum(self%x%values(0:self%grid%half - 1, :, 1:n(2), 1:n(3), 1:n(4))**2)
        end associate
        call comm_sum(square, self%grid%comm)
    end function solution_square

    !> The real part of b^H x.
    real(dp) function solution_at_source(self) result(value)
        class(lattice_t), intent(in) :: self
        value = 0
        if (all(self%grid%before == 0)) value = self%x%values(0, 1, 1, 1, 1)
        call comm_sum(value, self%grid%comm)
    end function solution_at_source

    !> |b - (m**2 - D D) x|/|b|, which overwrites the solver's vectors.
    real(dp) function true_residual(self) result(residual)
        class(lattice_t), intent(inout) :: self
        real(dp) :: unused
        call self%multiply(self%x, self%q, unused)
        call self%set_source(self%r)
        call subtract(self%grid, 1.0_dp, self%q%values, self%r%values, residual)
        call comm_sum(residual, self%grid%comm)
        residual = sqrt(residual)
    end function true_residual

end module lattice_kernel
