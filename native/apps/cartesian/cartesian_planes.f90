!> Planes of a brick with the cells beside it, and the sums of split fluxes out of its cells.
!>
!> A plane that is padded along x is plane(m + 2 depth, m, 5), along y plane(m, m + 2 depth, 5).
!> What fills it is a brick or a ghost face (cartesian_bricks). `up` and `down` are split fluxes F+
!> at the upper and F- at the lower faces of a padded plane's cells; `opening` the open areas of the
!> faces above cells 0 to m. Nothing is collective.
module cartesian_planes

    use bl_kinds, only: dp

    implicit none(type, external)
    private

    public :: add, fill_middle, fill_middle_rows, fill_columns, fill_rows, leave_x, leave_x_cut, &
              leave_y, leave_y_cut, leave_z_cut

contains

    pure subroutine add(count, a, b, total)
        integer, intent(in) :: count
        real(dp), intent(in) :: a(count), b(count)
        real(dp), intent(inout) :: total(count)
        total = a + b
    end subroutine add

    !> The brick's own cells of a plane padded along y.
    pure subroutine fill_middle_rows(m, depth, own, plane)
        integer, intent(in) :: m, depth
        real(dp), intent(in) :: own(m*m, 5)
        real(dp), intent(inout) :: plane(1 - m*depth:m*(m + depth), 5)
        plane(1:m*m, :) = own
    end subroutine fill_middle_rows

    !> The brick's own cells of a plane padded along x.
    pure subroutine fill_middle(m, depth, own, plane)
        integer, intent(in) :: m, depth
        real(dp), intent(in) :: own(m, m, 5)
        real(dp), intent(inout) :: plane(1 - depth:m + depth, m, 5)
        integer :: j, y
        do j = 1, 5
            do y = 1, m
                plane(1:m, y, j) = own(:, y, j)
            end do
        end do
    end subroutine fill_middle

    !> Columns below (side 1) or above (2) the brick along x, from a brick (width m) or a ghost face
    !> (width depth).
    pure subroutine fill_columns(m, depth, k, side, width, beside, plane)
        integer, intent(in) :: m, depth, k, side, width
        real(dp), intent(in) :: beside(width, m, 5, m)
        real(dp), intent(inout) :: plane(m + 2*depth, m, 5)
        integer :: j, y, from, to
        from = merge(width - depth, 0, side == 1)
        to = merge(0, m + depth, side == 1)
        do j = 1, 5
            do y = 1, m
                ! One column or two: no loop.
                plane(to + 1, y, j) = beside(from + 1, y, j, k)
                plane(to + depth, y, j) = beside(from + depth, y, j, k)
            end do
        end do
    end subroutine fill_columns

    !> Rows below (side 3) or above (4) along y, from a brick (width m*m) or a ghost (m*depth).
    pure subroutine fill_rows(m, depth, k, side, width, beside, plane)
        integer, intent(in) :: m, depth, k, side, width
        real(dp), intent(in) :: beside(width, 5, m)
        real(dp), intent(inout) :: plane(m*(m + 2*depth), 5)
        integer :: j, from, to
        from = merge(width - m*depth, 0, side == 3)
        to = merge(0, m*(m + depth), side == 3)
        do j = 1, 5
            plane(to + 1:to + m*depth, j) = beside(from + 1:from + m*depth, j, k)
        end do
    end subroutine fill_rows

    !> r is set.
    pure subroutine leave_x(m, depth, up, down, r)
        integer, intent(in) :: m, depth
        real(dp), intent(in), dimension(1 - depth:m + depth, m, 5) :: up, down
        real(dp), intent(inout) :: r(m, m, 5)
        integer :: i, j, y
        do j = 1, 5
            do y = 1, m
                do i = 1, m
                    r(i, y, j) = (up(i, y, j) - up(i - 1, y, j)) &
                                 + (down(i + 1, y, j) - down(i, y, j))
                end do
            end do
        end do
    end subroutine leave_x

    pure subroutine leave_x_cut(m, depth, opening, up, down, r)
        integer, intent(in) :: m, depth
        real(dp), intent(in) :: opening(0:m, m)
        real(dp), intent(in), dimension(1 - depth:m + depth, m, 5) :: up, down
        real(dp), intent(inout) :: r(m, m, 5)
        integer :: i, j, y
        do j = 1, 5
            do y = 1, m
                do i = 1, m
                    r(i, y, j) = opening(i, y)*(up(i, y, j) + down(i + 1, y, j)) &
                                 - opening(i - 1, y)*(up(i - 1, y, j) + down(i, y, j))
                end do
            end do
        end do
    end subroutine leave_x_cut

    !> r is added to, as in what follows.
    pure subroutine leave_y(m, depth, up, down, r)
        integer, intent(in) :: m, depth
        real(dp), intent(in), dimension(1 - m*depth:m*(m + depth), 5) :: up, down
        real(dp), intent(inout) :: r(m*m, 5)
        integer :: i, j
        do j = 1, 5
            do i = 1, m*m
                r(i, j) = r(i, j) + ((up(i, j) - up(i - m, j)) + (down(i + m, j) - down(i, j)))
            end do
        end do
    end subroutine leave_y

    pure subroutine leave_y_cut(m, depth, opening, up, down, r)
        integer, intent(in) :: m, depth
        real(dp), intent(in) :: opening(1 - m:m*m)
        real(dp), intent(in), dimension(1 - m*depth:m*(m + depth), 5) :: up, down
        real(dp), intent(inout) :: r(m*m, 5)
        integer :: i, j
        do j = 1, 5
            do i = 1, m*m
                r(i, j) = r(i, j) + (opening(i)*(up(i, j) + down(i + m, j)) &
                                     - opening(i - m)*(up(i - m, j) + down(i, j)))
            end do
        end do
    end subroutine leave_y_cut

    !> From the whole fluxes through the faces above and below.
    pure subroutine leave_z_cut(count, open_above, open_below, above, below, r)
        integer, intent(in) :: count
        real(dp), intent(in) :: open_above(count), open_below(count)
        real(dp), intent(in), dimension(count, 5) :: above, below
        real(dp), intent(inout) :: r(count, 5)
        integer :: i, j
        do j = 1, 5
            do i = 1, count
                r(i, j) = r(i, j) + (open_above(i)*above(i, j) - open_below(i)*below(i, j))
            end do
        end do
    end subroutine leave_z_cut

end module cartesian_planes
