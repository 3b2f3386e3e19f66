!> The gauge field: a matrix of SU(3) on each of the eight links of a site.
!>
!> U(x, mu) = g(x) g(x + mu)^H with random matrices g. Such a field looks as random as any other, but
!> a change of the colours' bases, x -> g(x) x, makes all of its matrices one: solutions are those
!> without a field, and known (lattice_reference). Stored for each site are the matrices that take
!> the neighbour's vector, with all factors:
!>
!>     forwards, mu = 1 .. 4:   eta(x, mu)/2 U(x, mu)
!>     backwards:              -eta(x, mu)/2 U(x - mu, mu)^H
!>     eta(x, 1) = 1, eta(x, 2) = (-1)**x, eta(x, 3) = (-1)**(x + y), eta(x, 4) = (-1)**(x + y + z)
!>
!> and the sign of the last link along t turned (antiperiodic in time).
!>
!> links(lane, e, d, b, y, z, t), with lanes, blocks and directions d as in lattice_grid; e counts
!> real and imaginary parts row by row, 1 to 18. All that a block needs lies together in the order
!> of its use. Matrices of the first direction are in the lane of the neighbour, since it is the
!> product that changes the lane (lattice_kernel).
!>
!> Exported: `make_links`, `colours_at`. Nothing is collective.
module lattice_links

    use bl_kinds, only: dp, i8
    use bl_memory, only: aligned
    use bl_random, only: random_fill, random_seed_common, random_skip
    use lattice_grid, only: directions, grid_t, steps

    implicit none(type, external)
    private

    public :: make_links, colours_at

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
            values => aligned(144_i8*lanes*blocks*product(int(n, i8)))
            links(0:lanes - 1, 1:18, 1:8, 0:blocks - 1, 1:n(2), 1:n(3), 1:n(4)) => values
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
                                    if (d == 1) stored = grid%lane_of_neighbour(offset, lane, b)
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
        complex(dp), intent(in) :: basis(:, :, 0:, 0:, 0:, 0:)
        integer, intent(in) :: extent(4), site(4), other(4)
        complex(dp) :: product(3, 3)
        associate (a => basis(:, :, site(1), site(2), site(3), site(4)), &
                   b => basis(:, :, modulo(other(1), extent(1)), other(2), other(3), other(4)))
            product = matmul(a, conjg(transpose(b)))
        end associate
    end function matrix

    !> Half the phase of the link between a site and its neighbour, negative if it leads backwards.
    pure real(dp) function factor(grid, extent, site, other)
        type(grid_t), intent(in) :: grid
        integer, intent(in) :: extent(4), site(4), other(4)
        integer :: at(4), mu
        at = [site(1), site(2:4) - 1 + grid%before]
        mu = findloc(site /= other, .true., dim=1)
        factor = 0.5_dp*(-1)**sum(at(:mu - 1))*(other(mu) - site(mu))
        if (mu == 4 .and. modulo(at(4) + min(0, other(4) - site(4)), extent(4)) == extent(4) - 1) &
            factor = -factor
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

    !> Random matrices of the own sites and of those one beyond.
    subroutine make_bases(grid, extent, basis)
        type(grid_t), intent(in) :: grid
        integer, intent(in) :: extent(4)
        complex(dp), allocatable, intent(out) :: basis(:, :, :, :, :, :)
        integer :: x, y, z, t
        associate (n => grid%n)
            allocate (basis(3, 3, 0:extent(1) - 1, 0:n(2) + 1, 0:n(3) + 1, 0:n(4) + 1))
            do t = 0, n(4) + 1
                do z = 0, n(3) + 1
                    do y = 0, n(2) + 1
                        do x = 0, extent(1) - 1
                            basis(:, :, x, y, z, t) = colours_at(extent, &
                                [x, modulo([y, z, t] - 1 + grid%before, extent(2:))])
                        end do
                    end do
                end do
            end do
        end associate
    end subroutine make_bases

    !> The random matrix of a site of the whole lattice, counted from 0: two orthonormal rows and the
    !> one that completes them.
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
