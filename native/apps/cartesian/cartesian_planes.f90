!> Planes of a brick with the cells beside it, and the sums of split fluxes out of its cells.
!>
!> A plane that is padded along x is plane(m + 2 depth, m, 5), along y plane(m, m + 2 depth, 5), m
!> cells along an edge of a brick. `up` and `down` are split fluxes F+ at the upper and F- at the
!> lower faces of cells; the flux through the face between two cells is F+ of the lower one and F-
!> of the upper one. Of the plane below a sum has F+ across z, of that above F-.
!>
!> Rows are short, so that loops over them are fast only with extents that the compiler knows: all
!> public routines but `leave_cut` call one for the extents of the level, two layers of cells beside
!> the largest bricks and one beside all others. Nothing is collective.
module cartesian_planes

    use bl_kinds, only: dp
    use cartesian_problem, only: brick_cells

    implicit none(type, external)
    private

    public :: pad_x, pad_y, leave, leave_cut

contains

    !> Fills a plane that is padded along x: plane k of the brick, `own`, and what is below and
    !> above it, bricks (width m) or ghost faces (width depth).
    pure subroutine pad_x(m, depth, k, own, below_width, below, above_width, above, plane)
        integer, intent(in) :: m, depth, k, below_width, above_width
        real(dp), intent(in) :: own(*), below(*), above(*)
        real(dp), intent(inout) :: plane(*)
        select case (m)
        case (brick_cells)
            call pad_x_of(brick_cells, 2, k, own, below_width, below, above_width, above, plane)
        case (brick_cells/2)
            call pad_x_of(brick_cells/2, 1, k, own, below_width, below, above_width, above, plane)
        case default
            call pad_x_of(m, depth, k, own, below_width, below, above_width, above, plane)
        end select
    end subroutine pad_x

    pure subroutine pad_x_of(m, depth, k, own, below_width, below, above_width, above, plane)
        integer, value, intent(in) :: m, depth
        integer, intent(in) :: k, below_width, above_width
        real(dp), intent(in) :: own(m, m, 5)
        real(dp), intent(in) :: below(below_width, m, 5, m), above(above_width, m, 5, m)
        real(dp), intent(inout) :: plane(1 - depth:m + depth, m, 5)
        integer :: i, j, y
        do j = 1, 5
            do y = 1, m
                ! One column or two: no loop.
                plane(1 - depth, y, j) = below(below_width - depth + 1, y, j, k)
                plane(0, y, j) = below(below_width, y, j, k)
                !$omp simd
                do i = 1, m
                    plane(i, y, j) = own(i, y, j)
                end do
                plane(m + 1, y, j) = above(1, y, j, k)
                plane(m + depth, y, j) = above(depth, y, j, k)
            end do
        end do
    end subroutine pad_x_of

    !> The same along y: rows below and above.
    pure subroutine pad_y(m, depth, k, own, below_width, below, above_width, above, plane)
        integer, intent(in) :: m, depth, k, below_width, above_width
        real(dp), intent(in) :: own(*), below(*), above(*)
        real(dp), intent(inout) :: plane(*)
        select case (m)
        case (brick_cells)
            call pad_y_of(brick_cells, 2, k, own, below_width, below, above_width, above, plane)
        case (brick_cells/2)
            call pad_y_of(brick_cells/2, 1, k, own, below_width, below, above_width, above, plane)
        case default
            call pad_y_of(m, depth, k, own, below_width, below, above_width, above, plane)
        end select
    end subroutine pad_y

    pure subroutine pad_y_of(m, depth, k, own, below_width, below, above_width, above, plane)
        integer, value, intent(in) :: m, depth
        integer, intent(in) :: k, below_width, above_width
        real(dp), intent(in) :: own(m*m, 5)
        real(dp), intent(in) :: below(m*below_width, 5, m), above(m*above_width, 5, m)
        real(dp), intent(inout) :: plane(1 - m*depth:m*(m + depth), 5)
        integer :: i, j
        do j = 1, 5
            !$omp simd
            do i = 1, m*depth
                plane(i - m*depth, j) = below(m*(below_width - depth) + i, j, k)
            end do
            !$omp simd
            do i = 1, m*m
                plane(i, j) = own(i, j)
            end do
            !$omp simd
            do i = 1, m*depth
                plane(m*m + i, j) = above(i, j, k)
            end do
        end do
    end subroutine pad_y_of

    !> Sets r to the fluxes out of the cells of a plane.
    pure subroutine leave(m, depth, up_x, down_x, up_y, down_y, up_below, up_z, &
                          down_z, down_above, r)
        integer, intent(in) :: m, depth
        real(dp), intent(in), dimension(*) :: up_x, down_x, up_y, down_y, up_below, up_z, down_z, &
            down_above
        real(dp), intent(inout) :: r(*)
        select case (m)
        case (brick_cells)
            call leave_of(brick_cells, 2, up_x, down_x, up_y, down_y, up_below, up_z, down_z, &
                          down_above, r)
        case (brick_cells/2)
            call leave_of(brick_cells/2, 1, up_x, down_x, up_y, down_y, up_below, up_z, down_z, &
                          down_above, r)
        case default
            call leave_of(m, depth, up_x, down_x, up_y, down_y, up_below, up_z, &
                          down_z, down_above, r)
        end select
    end subroutine leave

    pure subroutine leave_of(m, depth, up_x, down_x, up_y, down_y, up_below, up_z, &
                             down_z, down_above, r)
        integer, value, intent(in) :: m, depth
        real(dp), intent(in), dimension(1 - depth:m + depth, m, 5) :: up_x, down_x
        real(dp), intent(in), dimension(m, 1 - depth:m + depth, 5) :: up_y, down_y
        real(dp), intent(in), dimension(m, m, 5) :: up_below, up_z, down_z, down_above
        real(dp), intent(inout) :: r(m, m, 5)
        integer :: i, j, y
        do j = 1, 5
            do y = 1, m
                !$omp simd
                do i = 1, m
                    r(i, y, j) = (up_x(i, y, j) - up_x(i - 1, y, j)) &
                                 + (down_x(i + 1, y, j) - down_x(i, y, j)) &
                                 + ((up_y(i, y, j) - up_y(i, y - 1, j)) &
                                    + (down_y(i, y + 1, j) - down_y(i, y, j))) &
                                 + ((up_z(i, y, j) - up_below(i, y, j)) &
                                    + (down_above(i, y, j) - down_z(i, y, j)))
                end do
            end do
        end do
    end subroutine leave_of

    !> The same through the open areas of the faces above cells 0 to m, along z of those below and
    !> above the plane.
    pure subroutine leave_cut(m, depth, open_x, open_y, open_below, open_above, &
                              up_x, down_x, up_y, down_y, up_below, up_z, down_z, down_above, r)
        integer, intent(in) :: m, depth
        real(dp), intent(in) :: open_x(0:m, m), open_y(m, 0:m), open_below(m, m), open_above(m, m)
        real(dp), intent(in), dimension(1 - depth:m + depth, m, 5) :: up_x, down_x
        real(dp), intent(in), dimension(m, 1 - depth:m + depth, 5) :: up_y, down_y
        real(dp), intent(in), dimension(m, m, 5) :: up_below, up_z, down_z, down_above
        real(dp), intent(inout) :: r(m, m, 5)
        integer :: i, j, y
        do j = 1, 5
            do y = 1, m
                !$omp simd
                do i = 1, m
                    r(i, y, j) = open_x(i, y)*(up_x(i, y, j) + down_x(i + 1, y, j)) &
                                 - open_x(i - 1, y)*(up_x(i - 1, y, j) + down_x(i, y, j)) &
                                 + (open_y(i, y)*(up_y(i, y, j) + down_y(i, y + 1, j)) &
                                    - open_y(i, y - 1)*(up_y(i, y - 1, j) + down_y(i, y, j))) &
                                 + (open_above(i, y)*(up_z(i, y, j) + down_above(i, y, j)) &
                                    - open_below(i, y)*(up_below(i, y, j) + down_z(i, y, j)))
                end do
            end do
        end do
    end subroutine leave_cut

end module cartesian_planes
