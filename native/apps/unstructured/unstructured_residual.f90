!> The residual of the Euler equations: what flows out of each cell.
!>
!>     sum over faces of F(left, right) . area,   F Roe's flux
!>
!> Left and right are the flow on either side of a face, exact for linear functions: with the values
!> q1 ... q4 at the corners of a cell, those on the face opposite to corner f are
!>
!>     w + ((q1 + q2 + q3 + q4)/4 - q_f)/3
!>
!> All but the last term is the same on the four sides of a cell and kept for it; q/3 is kept for the
!> nodes, which are few enough for a cache. The difference is taken wherever a side is needed: it
!> rounds the same everywhere, and costs less than to write and read four sides of each cell.
!>
!> Flows are (density, velocity, pressure), eight rows of which five are used. Each cell computes the
!> fluxes of its own four faces, so that each is computed twice and nothing is added up in an order
!> that depends on the processes. Loops run over blocks of `lanes` cells.
!>
!> Nothing here is collective.
!>
!> References: P. L. Roe (1981): Approximate Riemann solvers, parameter vectors, and difference
!> schemes. J. Comput. Phys. 43, doi:10.1016/0021-9991(81)90128-5. N. T. Frink (1996): Assessment of an
!> unstructured-grid method for predicting 3-D turbulent viscous flows. AIAA Paper 96-0292,
!> doi:10.2514/6.1996-292.
module unstructured_residual

    use bl_kinds, only: dp
    use bl_memory, only: prefetch_columns
    use unstructured_exchange, only: unknowns, width
    use unstructured_lanes, only: gather_differences
    use unstructured_numbering, only: lanes
    use unstructured_problem, only: gamma

    implicit none(type, external)
    private

    public :: average, reconstruct, gather_fluxes, smoothing

    !> |un| is rounded off where it vanishes, to this share of the speed of sound.
    real(dp), parameter :: smoothing = 0.05_dp

contains

    !> A third of the values at the nodes.
    pure subroutine average(nodes, first, member, weight, w, at_nodes)
        integer, intent(in) :: nodes, first(nodes + 1), member(*)
        real(dp), intent(in) :: weight(*), w(width, *)
        real(dp), intent(inout) :: at_nodes(width, nodes)
        real(dp) :: total(width)
        integer :: node, k
        do node = 1, nodes
            total = 0
            do k = first(node), first(node + 1) - 1
                total = total + weight(k)*w(:, member(k))
            end do
            at_nodes(:, node) = total*(1.0_dp/3)
        end do
    end subroutine average

    !> What the sides of the own cells have in common; then the whole values on some sides, from
    !> column `edge_side` + 1 on.
    pure subroutine reconstruct(blocks, corner, w, at_nodes, edge_side, edge_cell, edge_node, sides)
        integer, intent(in) :: blocks, corner(lanes, 4, blocks)
        integer, intent(in) :: edge_side, edge_cell(:), edge_node(:)
        real(dp), intent(in) :: w(width, lanes, blocks), at_nodes(width, *)
        real(dp), intent(inout) :: sides(width, *)
        integer :: block, l, m, i
        do block = 1, blocks
            do l = 1, lanes
                associate (c => corner(l, :, block), slot => lanes*(block - 1) + l)
                    !$omp simd
                    do m = 1, width
                        sides(m, slot) = w(m, l, block) &
                                         + 0.25_dp*(at_nodes(m, c(1)) + at_nodes(m, c(2)) &
                                                    + at_nodes(m, c(3)) + at_nodes(m, c(4)))
                    end do
                end associate
            end do
        end do
        do i = 1, size(edge_cell)
            sides(:, edge_side + i) = sides(:, edge_cell(i)) - at_nodes(:, edge_node(i))
        end do
    end subroutine reconstruct

    !> What flows into each cell: the residual with its sign turned.
    pure subroutine gather_fluxes(blocks, corner, side, opposite, area, at_nodes, sides, inflow)
        integer, intent(in) :: blocks
        integer, intent(in), dimension(lanes, 4, blocks) :: corner, side, opposite
        real(dp), intent(in) :: area(lanes, 4, 4, blocks), at_nodes(width, *), sides(width, *)
        real(dp), intent(inout) :: inflow(lanes, unknowns, blocks)
        real(dp), dimension(lanes, unknowns) :: left, right, flux
        integer :: block, f, l

        do block = 1, blocks
            inflow(:, :, block) = 0
            call prefetch_columns(sides, 8*width, 4*lanes, side(:, :, min(block + 1, blocks)))
            do f = 1, 4
                call gather_differences([(lanes*(block - 1) + l, l=1, lanes)], sides, &
                                        corner(:, f, block), at_nodes, left)
                call gather_differences(side(:, f, block), sides, opposite(:, f, block), at_nodes, &
                                        right)
                call roe_flux(left, right, area(:, :, f, block), flux)
                inflow(:, :, block) = inflow(:, :, block) - flux
            end do
        end do
    end subroutine gather_fluxes

    !> Roe's flux through areas, from left to right. With Q = (1, u, H), N = (0, n, u n), bars for
    !> averages and d for differences, the part that is upwind is
    !>
    !>     s0 dq + (a dp/c**2 + b rho d(un)/c) Q + (a rho d(un) + b dp/c) N,
    !>     a = s1 - s0,  s0 = |un|,  s1, b = (|un + c| +- |un - c|)/2
    pure subroutine roe_flux(left, right, area, flux)
        real(dp), intent(in) :: left(lanes, unknowns), right(lanes, unknowns), area(lanes, 4)
        real(dp), intent(out) :: flux(lanes, unknowns)
        real(dp), parameter :: over_gamma_1 = 1/(gamma - 1)
        real(dp) :: size, nx, ny, nz, over, over_left, over_right, share, density, square, u, v, w
        real(dp) :: h, c, over_c, un, un_left, un_right, e_left, e_right, s0, a, b, d1, d5, dun, dp_
        real(dp) :: along, across, out_left, out_right
        integer :: l

        !$omp simd
        do l = 1, lanes
            nx = area(l, 1)
            ny = area(l, 2)
            nz = area(l, 3)
            un_left = left(l, 2)*nx + left(l, 3)*ny + left(l, 4)*nz
            un_right = right(l, 2)*nx + right(l, 3)*ny + right(l, 4)*nz
            e_left = left(l, 5)*over_gamma_1 + 0.5_dp*left(l, 1) &
                     *(left(l, 2)**2 + left(l, 3)**2 + left(l, 4)**2)
            e_right = right(l, 5)*over_gamma_1 + 0.5_dp*right(l, 1) &
                      *(right(l, 2)**2 + right(l, 3)**2 + right(l, 4)**2)
            ! One division for both densities and the share, which is left/(left + density).
            square = left(l, 1)*right(l, 1)
            density = sqrt(square)
            over = 1/(square*(left(l, 1) + density))
            share = left(l, 1)*square*over
            over_left = right(l, 1)*(left(l, 1) + density)*over
            over_right = left(l, 1)*(left(l, 1) + density)*over
            u = right(l, 2) + share*(left(l, 2) - right(l, 2))
            v = right(l, 3) + share*(left(l, 3) - right(l, 3))
            w = right(l, 4) + share*(left(l, 4) - right(l, 4))
            h = (e_right + right(l, 5))*over_right
            h = h + share*((e_left + left(l, 5))*over_left - h)
            square = (gamma - 1)*(h - 0.5_dp*(u**2 + v**2 + w**2))
            c = sqrt(square)
            over_c = 1/c
            un = u*nx + v*ny + w*nz
            s0 = sqrt(un**2 + smoothing**2*square)
            a = 0.5_dp*(abs(un + c) + abs(un - c)) - s0
            b = 0.5_dp*(abs(un + c) - abs(un - c))*over_c
            dun = density*(un_right - un_left)
            dp_ = right(l, 5) - left(l, 5)
            along = a*dp_*over_c**2 + b*dun
            across = a*dun + b*dp_
            d1 = right(l, 1) - left(l, 1)
            d5 = e_right - e_left
            out_left = left(l, 1)*(un_left + s0)
            out_right = right(l, 1)*(un_right - s0)
            size = 0.5_dp*area(l, 4)
            flux(l, 1) = size*(left(l, 1)*un_left + right(l, 1)*un_right - s0*d1 - along)
            flux(l, 2) = size*(out_left*left(l, 2) + out_right*right(l, 2) &
                               + (left(l, 5) + right(l, 5))*nx - along*u - across*nx)
            flux(l, 3) = size*(out_left*left(l, 3) + out_right*right(l, 3) &
                               + (left(l, 5) + right(l, 5))*ny - along*v - across*ny)
            flux(l, 4) = size*(out_left*left(l, 4) + out_right*right(l, 4) &
                               + (left(l, 5) + right(l, 5))*nz - along*w - across*nz)
            flux(l, 5) = size*((e_left + left(l, 5))*un_left + (e_right + right(l, 5))*un_right &
                               - s0*d5 - along*h - across*un)
        end do
    end subroutine roe_flux

end module unstructured_residual
