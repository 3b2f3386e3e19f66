!> The product of the operator's hops with a vector:
!>
!>     (D x)(n) = sum over the sixteen neighbours k of n of L(n, k) x(k)
!>
!> with the matrices of lattice_links. What takes the time is the stream of links, which a product
!> reads once, in the order in which it lies in memory. The processor's own prefetching follows such
!> a stream; asking for the links of the next block besides made it slower: one core has few
!> requests of that kind in flight.
!>
!> Sums of a block stay in registers through all directions but those along x that change the lane
!> (lattice_grid). Products of these are formed in the lanes of the neighbours and added at the end,
!> from the lane on where they belong, so that no vector has to be turned before it is used.
!>
!> Exported: `apply`. Nothing is collective.
module lattice_operator

    use bl_kinds, only: dp
    use lattice_grid, only: directions, grid_t, most_lanes, steps, turned

    implicit none(type, external)
    private

    public :: apply

contains

    !> out = weight same + sign D in, where out and same are of this parity, in of the other; and
    !> this process's parts of out same, out other and out out. Blocks as wide as a vector of the
    !> widest processors, and half of it, are compiled as such.
    subroutine apply(grid, parity, links, in, same, other, weight, sign, out, products)
        type(grid_t), intent(in) :: grid
        integer, intent(in) :: parity
        real(dp), intent(in) :: links(*), in(*), same(*), other(*)
        real(dp), intent(in) :: weight, sign
        real(dp), intent(inout) :: out(*)
        real(dp), intent(out) :: products(3)
        select case (grid%lanes)
        case (most_lanes)
            call apply_blocks(most_lanes, grid, parity, links, in, same, other, weight, sign, out, &
                              products)
        case (most_lanes/2)
            call apply_blocks(most_lanes/2, grid, parity, links, in, same, other, weight, sign, &
                              out, products)
        case default
            call apply_blocks(grid%lanes, grid, parity, links, in, same, other, weight, sign, out, &
                              products)
        end select
    end subroutine apply

    subroutine apply_blocks(lanes, grid, parity, links, in, same, other, weight, sign, out, &
                            products)
        integer, intent(in) :: lanes, parity
        type(grid_t), intent(in) :: grid
        real(dp), intent(in) :: links(18*lanes, directions, *)
        real(dp), intent(in), dimension(6*lanes, 0:*) :: in, same, other
        real(dp), intent(in) :: weight, sign
        real(dp), intent(inout) :: out(6*lanes, 0:*)
        real(dp), intent(out) :: products(3)
        ! The directions that change the lane one by one, then all others.
        integer, parameter :: first(turned + 1) = [1, 2, 3, 4]
        integer, parameter :: last(turned + 1) = [1, 2, 3, directions]
        real(dp) :: total(6*most_lanes), turning(12*most_lanes, turned), sums(3*most_lanes)
        integer :: y, z, t, b, d, block, here, part, offset
        integer :: shift(turned), neighbours(directions), rows(turned + 2:directions)

        block = 0
        sums = 0
        do t = 1, grid%n(4)
            do z = 1, grid%n(3)
                do y = 1, grid%n(2)
                    offset = grid%row_offset(parity, y, z, t)
                    do d = turned + 2, directions
                        rows(d) = grid%blocks*grid%row_at(y + steps(2, d, 0), z + steps(3, d, 0), &
                                                          t + steps(4, d, 0))
                    end do
                    do b = 0, grid%blocks - 1
                        block = block + 1
                        here = grid%blocks*grid%row_at(y, z, t) + b
                        do d = 1, turned
                            neighbours(d) = here - b + grid%block_of_neighbour(offset, b, d)
                            shift(d) = grid%lane_of_neighbour(offset, 0, b, d)
                        end do
                        neighbours(turned + 1) = here
                        neighbours(turned + 2:) = rows + b
                        ! One call of `add`, so that the compiler puts it here and the sums into
                        ! registers.
                        do part = 1, turned + 1
                            call clear(lanes, total)
                            do d = first(part), last(part)
                                call add(lanes, links(:, d, block), in(:, neighbours(d)), total)
                            end do
                            if (part <= turned) call repeat_lanes(lanes, total, turning(:, part))
                        end do
                        call finish(lanes, shift, weight, sign, turning, total, same(:, here), &
                                    other(:, here), out(:, here), sums)
                    end do
                end do
            end do
        end do
        do part = 1, 3
            products(part) = sum(sums(lanes*(part - 1) + 1:lanes*part))
        end do
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

    !> out = weight same + sign (all products), and each lane's part of the sums. Products of the
    !> turned directions begin at the lanes `shift`.
    pure subroutine finish(lanes, shift, weight, sign, turning, total, same, other, out, sums)
        integer, intent(in) :: lanes, shift(turned)
        real(dp), intent(in) :: weight, sign
        real(dp), intent(in) :: turning(0:12*most_lanes - 1, turned), total(0:lanes - 1, 0:5)
        real(dp), intent(in), dimension(0:lanes - 1, 0:5) :: same, other
        real(dp), intent(inout) :: out(0:lanes - 1, 0:5), sums(0:lanes - 1, 3)
        integer :: i, c, at(turned)
        do c = 0, 5
            at = 2*lanes*c + shift
            !$omp simd
            do i = 0, lanes - 1
                out(i, c) = weight*same(i, c) &
                            + sign*(total(i, c) + turning(at(1) + i, 1) + turning(at(2) + i, 2) &
                                    + turning(at(3) + i, 3))
                sums(i, 1) = sums(i, 1) + out(i, c)*same(i, c)
                sums(i, 2) = sums(i, 2) + out(i, c)*other(i, c)
                sums(i, 3) = sums(i, 3) + out(i, c)**2
            end do
        end do
    end subroutine finish

end module lattice_operator
