!> A quark propagator on a lattice: conjugate gradients for staggered fermions.
!>
!>     (m**2 - D D) x = b on the even sites
!>     (D x)(n) = 1/2 sum over mu of eta(n, mu) (U(n, mu) x(n + mu) - U(n - mu, mu)^H x(n - mu))
!>
!> D takes vectors of one parity to the other and is anti-Hermitian, so that the operator is positive
!> definite; b is one colour at one site. Phases and factors are part of the stored links
!> (lattice_links).
!>
!> What takes the time is the stream of links, which a product reads once, in the order in which it
!> lies in memory. The processor's own prefetching follows such a stream; asking for the links of
!> the next block besides made it slower: one core has few requests of that kind in flight.
!>
!> Sums of a block stay in registers through all directions but the first (lattice_grid). Products
!> of that one are formed in the lanes of the neighbours and added at the end, from the lane on
!> where they belong, so that no vector has to be turned before it is used.
!>
!> Exported: `lattice_t`. Timed: `solve`. Collective over the grid: all but `reset`. An iteration
!> sends the faces of two vectors and sums 8 bytes twice over all processes.
!>
!> References: J. Kogut, L. Susskind (1975): Hamiltonian formulation of Wilson's lattice gauge
!> theories. Phys. Rev. D 11, doi:10.1103/PhysRevD.11.395. T. DeGrand, P. Rossi (1990): Conditioning
!> techniques for dynamical fermions. Comput. Phys. Commun. 60, doi:10.1016/0010-4655(90)90006-M.
module lattice_kernel

    use bl_kinds, only: dp, i8
    use bl_messages, only: comm_sum
    use lattice_grid, only: directions, field_t, grid_t, most_lanes, parts, steps
    use lattice_links, only: make_links
    use lattice_problem, only: lattice_problem_t

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
        if (all(self%grid%before == 0)) field%values(0, 1, 0, 1, 1, 1) = 1
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
    !> the product of out and same. Blocks as wide as a vector of the widest processors are compiled
    !> as such.
    subroutine apply(grid, parity, links, in, same, weight, sign, out, product)
        type(grid_t), intent(in) :: grid
        integer, intent(in) :: parity
        real(dp), intent(in) :: links(*), in(*), same(*)
        real(dp), intent(in) :: weight, sign
        real(dp), intent(inout) :: out(*)
        real(dp), intent(out) :: product
        if (grid%lanes == most_lanes) then
            call apply_blocks(most_lanes, grid, parity, links, in, same, weight, sign, out, product)
        else
            call apply_blocks(grid%lanes, grid, parity, links, in, same, weight, sign, out, product)
        end if
    end subroutine apply

    subroutine apply_blocks(lanes, grid, parity, links, in, same, weight, sign, out, product)
        integer, intent(in) :: lanes, parity
        type(grid_t), intent(in) :: grid
        real(dp), intent(in) :: links(18*lanes, directions, *)
        real(dp), intent(in), dimension(6*lanes, 0:*) :: in, same
        real(dp), intent(in) :: weight, sign
        real(dp), intent(inout) :: out(6*lanes, 0:*)
        real(dp), intent(out) :: product
        real(dp) :: total(6*most_lanes), turning(12*most_lanes), products(most_lanes)
        integer :: y, z, t, b, d, block, here, part, offset, shift
        integer :: first(2), last(2), stride(4), neighbours(directions), distances(3:directions)

        first = [1, 2]
        last = [1, directions]
        stride = [1, grid%blocks, grid%blocks*(grid%n(2) + 2), &
                  grid%blocks*(grid%n(2) + 2)*(grid%n(3) + 2)]
        distances = matmul(stride, steps(:, 3:, 0))
        block = 0
        products = 0
        do t = 1, grid%n(4)
            do z = 1, grid%n(3)
                do y = 1, grid%n(2)
                    offset = grid%row_offset(parity, y, z, t)
                    do b = 0, grid%blocks - 1
                        block = block + 1
                        here = dot_product(stride, [b, y, z, t])
                        neighbours(1) = here - b + modulo(b + steps(1, 1, offset), grid%blocks)
                        neighbours(2) = here
                        neighbours(3:) = here + distances
                        shift = grid%lane_of_neighbour(offset, 0, b)
                        ! The first direction, then the others: one call of `add`, so that the
                        ! compiler puts it here and the sums into registers.
                        do part = 1, 2
                            call clear(lanes, total)
                            do d = first(part), last(part)
                                call add(lanes, links(:, d, block), in(:, neighbours(d)), total)
                            end do
                            if (part == 1) call repeat_lanes(lanes, total, turning)
                        end do
                        call finish(lanes, shift, weight, sign, turning, total, same(:, here), &
                                    out(:, here), products)
                    end do
                end do
            end do
        end do
        product = sum(products)
    end subroutine apply_blocks

    pure subroutine clear(lanes, total)
        integer, intent(in) :: lanes
        real(dp), intent(inout) :: total(lanes, 6)
        integer :: i, c
        do c = 1, 6
            !$omp simd
            do i = 1, lanes
                total(i, c) = 0
            end do
        end do
    end subroutine clear

    !> Lanes twice, so that all of them lie together from any one on.
    pure subroutine repeat_lanes(lanes, total, turning)
        integer, intent(in) :: lanes
        real(dp), intent(in) :: total(lanes, 6)
        real(dp), intent(inout) :: turning(lanes, 2, 6)
        integer :: i, c
        do c = 1, 6
            !$omp simd
            do i = 1, lanes
                turning(i, 1, c) = total(i, c)
                turning(i, 2, c) = total(i, c)
            end do
        end do
    end subroutine repeat_lanes

    !> Adds the products of a block's matrices of one direction with the neighbours' vectors.
    pure subroutine add(lanes, link, vector, total)
        integer, intent(in) :: lanes
        real(dp), intent(in) :: link(lanes, 2, 3, 3), vector(lanes, 2, 3)
        real(dp), intent(inout) :: total(lanes, 2, 3)
        real(dp) :: re, im, re_total, im_total
        integer :: i, row, column
        do row = 1, 3
            !$omp simd private(re, im, re_total, im_total)
            do i = 1, lanes
                re_total = total(i, 1, row)
                im_total = total(i, 2, row)
                do column = 1, 3
                    re = link(i, 1, column, row)
                    im = link(i, 2, column, row)
                    re_total = re_total + re*vector(i, 1, column) - im*vector(i, 2, column)
                    im_total = im_total + re*vector(i, 2, column) + im*vector(i, 1, column)
                end do
                total(i, 1, row) = re_total
                total(i, 2, row) = im_total
            end do
        end do
    end subroutine add

    !> out = weight same + sign (all products), and each lane's part of the product of out and same.
    !> The first direction's products begin at lane `shift`.
    pure subroutine finish(lanes, shift, weight, sign, turning, total, same, out, products)
        integer, intent(in) :: lanes, shift
        real(dp), intent(in) :: weight, sign
        real(dp), intent(in) :: turning(0:2*lanes - 1, 6), total(0:lanes - 1, 6)
        real(dp), intent(in) :: same(0:lanes - 1, 6)
        real(dp), intent(inout) :: out(0:lanes - 1, 6), products(0:lanes - 1)
        integer :: i, c
        do c = 1, 6
            !$omp simd
            do i = 0, lanes - 1
                out(i, c) = weight*same(i, c) + sign*(total(i, c) + turning(i + shift, c))
                products(i) = products(i) + out(i, c)*same(i, c)
            end do
        end do
    end subroutine finish

    !> r = r - alpha q, and its square in the same pass.
    pure subroutine subtract(grid, alpha, q, r, square)
        type(grid_t), intent(in) :: grid
        real(dp), intent(in) :: alpha
        real(dp), intent(in) :: q(6*grid%lanes*grid%blocks, 0:grid%n(2) + 1, 0:grid%n(3) + 1, &
                                  0:grid%n(4) + 1)
        real(dp), intent(inout) :: r(6*grid%lanes*grid%blocks, 0:grid%n(2) + 1, &
                                     0:grid%n(3) + 1, 0:grid%n(4) + 1)
        real(dp), intent(out) :: square
        integer :: i, y, z, t
        square = 0
        do t = 1, grid%n(4)
            do z = 1, grid%n(3)
                do y = 1, grid%n(2)
                    !$omp simd reduction(+: square)
                    do i = 1, 6*grid%lanes*grid%blocks
                        r(i, y, z, t) = r(i, y, z, t) - alpha*q(i, y, z, t)
                        square = square + r(i, y, z, t)**2
                    end do
                end do
            end do
        end do
    end subroutine subtract

    !> x = x + alpha p and p = r + beta p.
    pure subroutine advance(grid, alpha, beta, r, x, p)
        type(grid_t), intent(in) :: grid
        real(dp), intent(in) :: alpha, beta
        real(dp), intent(in) :: r(6*grid%lanes*grid%blocks, 0:grid%n(2) + 1, 0:grid%n(3) + 1, &
                                  0:grid%n(4) + 1)
        real(dp), intent(inout), dimension(6*grid%lanes*grid%blocks, 0:grid%n(2) + 1, &
                                           0:grid%n(3) + 1, 0:grid%n(4) + 1) :: x, p
        integer :: i, y, z, t
        do t = 1, grid%n(4)
            do z = 1, grid%n(3)
                do y = 1, grid%n(2)
                    do i = 1, 6*grid%lanes*grid%blocks
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
            square = sum(self%x%values(:, :, :, 1:n(2), 1:n(3), 1:n(4))**2)
        end associate
        call comm_sum(square, self%grid%comm)
    end function solution_square

    !> The real part of b^H x.
    real(dp) function solution_at_source(self) result(value)
        class(lattice_t), intent(in) :: self
        value = 0
        if (all(self%grid%before == 0)) value = self%x%values(0, 1, 0, 1, 1, 1)
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
