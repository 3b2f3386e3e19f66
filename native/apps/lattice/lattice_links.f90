!> The gauge field: on each site the matrices of its sixteen neighbours, at one site's distance and
!> at three.
!>
!> U(x, mu) = g(x) g(x + mu)^H with random matrices g. Such a field looks as random as any other,
!> but a change of the colours' bases, x -> g(x) x, makes all of its matrices one: solutions are
!> those without a field, and known (lattice_reference). The product of links along a path is g g^H
!> of its ends, whatever its way. So the improved action's fat link, a sum over paths between
!> neighbours with weights that add up to 9/8, is 9/8 of the link, and its long one, with the weight
!> -1/24, has the matrix of the ends, too (Orginos, Toussaint and Sugar 1999). Stored for each site
!> are the matrices that take the neighbour's vector, with all factors:
!>
!>     forwards, mu = 1 .. 4:   eta(x, mu)/2 9/8 U(x, mu),       -eta(x, mu)/2/24 UUU(x)
!>     backwards:              -eta(x, mu)/2 9/8 U(x - mu, mu)^H, +eta(x, mu)/2/24 UUU(x - 3 mu)^H
!>     eta(x, 1) = 1, eta(x, 2) = (-1)**x, eta(x, 3) = (-1)**(x + y), eta(x, 4) = (-1)**(x + y + z)
!>
!> and the sign of what leads over the end of t turned (antiperiodic in time).
!>
!> links(lane, e, d, b, y, z, t), with lanes, blocks and directions d as in lattice_grid; e counts
!> real and imaginary parts row by row, 1 to 18. All that a block needs lies together in the order
!> of its use. Matrices of the first `turned` directions are in the lane of the neighbour, since it
!> is the product that changes the lane (lattice_operator).
!>
!> Exported: `make_links`, `colours_at`, the weights. Nothing is collective.
!>
!> Reference: K. Orginos, D. Toussaint, R. L. Sugar (1999): Variants of fattening and flavor
!> symmetry restoration. Phys. Rev. D 60, doi:10.1103/PhysRevD.60.054503.
module lattice_links

    use bl_kinds, only: dp, i8
    use bl_memory, only: aligned
    use bl_random, only: random_fill, random_seed_common, random_skip
    use lattice_grid, only: directions, grid_t, reach, steps, turned

    implicit none(type, external)
    private

    public :: make_links, colours_at, fat_weight, long_weight

    !> What links of one site's and of three sites' length weigh: together the derivative's 1.
    real(dp), parameter :: fat_weight = 9.0_dp/8.0_dp, long_weight = -1.0_dp/24.0_dp
    !> Numbers that a site draws.
    integer(i8), parameter :: drawn = 12

contains

    !> Links of the sites of one parity.
    subroutine make_links(grid, extent, parity, links)
        type(grid_t), intent(in) :: grid
        integer, intent(in) :: extent(4), parity
        real(dp), pointer, contiguous, intent(out) :: links(:, :, :, :, :, :, :)
        real(dp), pointer, contiguous :: values(:)
        complex(dp), allocatable :: basis(:, :, :, :, :, :)
        integer :: lane, b, y, z, t, d, offset, stored, site(4), other(4)

        associate (n => grid%n, lanes => grid%lanes, blocks => grid%blocks)
            values => aligned(18_i8*directions*lanes*blocks*product(int(n, i8)))
            links(0:lanes - 1, 1:18, 1:directions, 0:blocks - 1, 1:n(2), 1:n(3), 1:n(4)) => values
            call make_bases(grid, extent, basis)
            do t = 1, n(4)
                do z = 1, n(3)
                    do y = 1, n(2)
                        offset = grid%row_offset(parity, y, z, t)
                        do b = 0, blocks - 1
                            do lane = 0, lanes - 1
                                site = [grid%site_x(offset, lane, b), y, z, t]
                                do d = 1, directions
                                    other = site + steps(:, d, offset)
                                    stored = lane
                                    if (d <= turned) &
                                        stored = grid%lane_of_neighbour(offset, lane, b, d)
                                    call set(links(stored, :, d, b, y, z, t), &
                                             factor(grid, extent, site, other), &
                                             matrix(basis, extent, site, other))
                                end do
                            end do
                        end do
                    end do
                end do
            end do
        end associate
    end subroutine make_links

    !> g(site) g(other)^H.
    pure function matrix(basis, extent, site, other) result(product)
        complex(dp), intent(in) :: basis(:, :, 0:, 1 - reach:, 1 - reach:, 1 - reach:)
        integer, intent(in) :: extent(4), site(4), other(4)
        complex(dp) :: product(3, 3)
        associate (a => basis(:, :, site(1), site(2), site(3), site(4)), &
                   b => basis(:, :, modulo(other(1), extent(1)), other(2), other(3), other(4)))
            product = matmul(a, conjg(transpose(b)))
        end associate
    end function matrix

    !> The weight and phase of the link between a site and its neighbour, turned if it leads
    !> backwards.
    pure real(dp) function factor(grid, extent, site, other)
        type(grid_t), intent(in) :: grid
        integer, intent(in) :: extent(4), site(4), other(4)
        integer :: at(4), mu, step
        at = [site(1), site(2:4) - 1 + grid%before]
        mu = findloc(site /= other, .true., dim=1)
        step = other(mu) - site(mu)
        factor = 0.5_dp*(-1)**sum(at(:mu - 1))*sign(1, step) &
                 *merge(fat_weight, long_weight, abs(step) == 1)
        if (mu == 4 .and. (at(4) + step < 0 .or. at(4) + step >= extent(4))) factor = -factor
    end function factor

    pure subroutine set(link, phase, elements)
        real(dp), intent(out) :: link(18)
        real(dp), intent(in) :: phase
        complex(dp), intent(in) :: elements(3, 3)
        integer :: row, column
        do row = 1, 3
            do column = 1, 3
                link(6*(row - 1) + 2*column - 1) = phase*real(elements(row, column))
                link(6*(row - 1) + 2*column) = phase*aimag(elements(row, column))
            end do
        end do
    end subroutine set

    !> Random matrices of the own sites and of those as far beyond as links reach.
    subroutine make_bases(grid, extent, basis)
        type(grid_t), intent(in) :: grid
        integer, intent(in) :: extent(4)
        complex(dp), allocatable, intent(out) :: basis(:, :, :, :, :, :)
        integer :: x, y, z, t, low, high(2:4)
        low = 1 - reach
        high = grid%n + reach
        allocate (basis(3, 3, 0:extent(1) - 1, low:high(2), low:high(3), low:high(4)))
        do t = low, high(4)
            do z = low, high(3)
                do y = low, high(2)
                    ! No link leads to edges and corners.
                    if (count([y, z, t] < 1 .or. [y, z, t] > grid%n) > 1) cycle
                    do x = 0, extent(1) - 1
                        basis(:, :, x, y, z, t) = colours_at(extent, &
                            [x, modulo([y, z, t] - 1 + grid%before, extent(2:))])
                    end do
                end do
            end do
        end do
    end subroutine make_bases

    !> The random matrix of a site of the whole lattice, counted from 0: two orthonormal rows and
    !> the one that completes them.
    function colours_at(extent, site) result(g)
        integer, intent(in) :: extent(4), site(4)
        complex(dp) :: g(3, 3)
        real(dp) :: numbers(drawn)
        integer(i8) :: state, place

        place = site(1) + int(extent(1), i8)*(site(2) + int(extent(2), i8) &
                                              *(site(3) + int(extent(3), i8)*site(4)))
        state = random_skip(random_seed_common, drawn*place)
        call random_fill(state, numbers)
        numbers = 2*numbers - 1
        g(1, :) = cmplx(numbers(1:3), numbers(4:6), dp)
        g(1, :) = g(1, :)/norm(g(1, :))
        g(2, :) = cmplx(numbers(7:9), numbers(10:12), dp)
        g(2, :) = g(2, :) - g(1, :)*dot_product(g(1, :), g(2, :))
        g(2, :) = g(2, :)/norm(g(2, :))
        g(3, 1) = conjg(g(1, 2)*g(2, 3) - g(1, 3)*g(2, 2))
        g(3, 2) = conjg(g(1, 3)*g(2, 1) - g(1, 1)*g(2, 3))
        g(3, 3) = conjg(g(1, 1)*g(2, 2) - g(1, 2)*g(2, 1))
    end function colours_at

    pure real(dp) function norm(vector)
        complex(dp), intent(in) :: vector(3)
        norm = sqrt(real(dot_product(vector, vector)))
    end function norm

end module lattice_links
