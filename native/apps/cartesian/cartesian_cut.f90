!> What the wall leaves of the cells and faces of one brick, on the finest level and on others.
!>
!> Areas are in units of a whole face of the level, volumes in units of a whole cell. A cell with
!> less than `volume_min` is closed: its faces have no area, and the wall of its neighbours grows by
!> as much. On a coarser level a face has the mean area of its four parts, a cell the mean volume of
!> its eight. The wall's area vector in a cell closes its surface, on every level.
!>
!> Exported: `cut_t`, `new_cut`, `coarser_cut`. Nothing is collective.
module cartesian_cut

    use bl_kinds, only: dp
    use cartesian_body, only: open_area, open_cell
    use cartesian_problem, only: side_axis, side_step

    implicit none(type, external)
    private

    public :: cut_t, new_cut, coarser_cut

    real(dp), parameter :: volume_min = 1.0e-4_dp
    !> The pressure at the wall is extrapolated by weights of the neighbours that together are less.
    real(dp), parameter :: weight_max = 2

    type :: cut_t
        !> Areas of the faces above cell i, 0 to m: x(0:, y, z), y(x, 0:, z), z(x, y, 0:).
        real(dp), allocatable :: x(:, :, :), y(:, :, :), z(:, :, :)
        !> volume(m*m, m); areas(m*m, 3, m), the larger one of the two faces in each direction.
        real(dp), allocatable :: volume(:, :), areas(:, :, :)
        !> Weights of the differences below and above in slopes, on planes with two more cells on
        !> both sides: slope_x(:, 2, m), slope_y(:, 2, m), slope_z(m*m, 2, 0:m+1).
        real(dp), allocatable :: slope_x(:, :, :), slope_y(:, :, :), slope_z(:, :, :)
        !> Whether all weights of a plane are halves: plain(axis, 0:m+1).
        logical, allocatable :: plain(:, :)
        !> Cells with wall: those of plane k are first(k) to first(k + 1) - 1; place in the plane,
        !> area vector out of the fluid, weights of the six neighbours' pressures, less the cell's
        !> own, in the wall's.
        integer, allocatable :: first(:), cell(:)
        real(dp), allocatable :: area(:, :), pull(:, :)
        !> Fluxes through the wall instead of the pressure, where somebody gives some: (5, cells).
        real(dp), allocatable :: given(:, :)
    end type cut_t

    !> Volumes and centres of cells -1 to m + 2.
    type :: cells_t
        real(dp), allocatable :: volume(:, :, :), centre(:, :, :, :)
    end type cells_t

contains

    !> On the finest level. `low` is the brick's lower corner relative to the sphere's centre.
    type(cut_t) function new_cut(m, low, radius) result(cut)
        integer, intent(in) :: m
        real(dp), intent(in) :: low(3), radius
        type(cells_t) :: cells
        real(dp), allocatable :: x(:, :, :), y(:, :, :), z(:, :, :)
        integer :: i, j, k

        cells = measure_cells(m, low, radius)
        allocate (x(-1:m + 1, m, m), y(m, -1:m + 1, m), z(m, m, -1:m + 1), source=0.0_dp)
        do k = -1, m + 1
            do j = -1, m + 1
                do i = -1, m + 1
                    associate (at => low + [i, j, k] - 1, volume => cells%volume, &
                               in_x => i >= 1 .and. i <= m, in_y => j >= 1 .and. j <= m, &
                               in_z => k >= 1 .and. k <= m)
                        if (volume(i, j, k) <= 0) cycle
                        if (in_y .and. in_z .and. volume(i + 1, j, k) > 0) &
                            x(i, j, k) = open_area(at(2), at(3), radius**2 - (at(1) + 1)**2)
                        if (in_x .and. in_z .and. volume(i, j + 1, k) > 0) &
                            y(i, j, k) = open_area(at(3), at(1), radius**2 - (at(2) + 1)**2)
                        if (in_x .and. in_y .and. volume(i, j, k + 1) > 0) &
                            z(i, j, k) = open_area(at(1), at(2), radius**2 - (at(3) + 1)**2)
                    end associate
                end do
            end do
        end do
        allocate (cut%x(0:m, m, m), source=x(0:m, :, :))
        allocate (cut%y(m, 0:m, m), source=y(:, 0:m, :))
        allocate (cut%z(m, m, 0:m), source=z(:, :, 0:m))
        cut%volume = reshape(cells%volume(1:m, 1:m, 1:m), [m*m, m])
        call set_slopes(cut, m, x, y, z)
        call list_walls(cut, m)
        call set_pulls(cut, m, low, radius, cells)
    end function new_cut

    function measure_cells(m, low, radius) result(cells)
        integer, intent(in) :: m
        real(dp), intent(in) :: low(3), radius
        type(cells_t) :: cells
        integer :: i, j, k
        allocate (cells%volume(-1:m + 2, -1:m + 2, -1:m + 2))
        allocate (cells%centre(3, -1:m + 2, -1:m + 2, -1:m + 2))
        do k = -1, m + 2
            do j = -1, m + 2
                do i = -1, m + 2
                    call open_cell(low + [i, j, k] - 1, radius, cells%volume(i, j, k), &
                                   cells%centre(:, i, j, k))
                    if (cells%volume(i, j, k) < volume_min) cells%volume(i, j, k) = 0
                end do
            end do
        end do
    end function measure_cells

    !> From the level with 2 m cells along an edge to that with m.
    pure type(cut_t) function coarser_cut(m, fine) result(cut)
        integer, intent(in) :: m
        type(cut_t), intent(in) :: fine
        real(dp) :: volume(2*m, 2*m, 2*m)
        integer :: i, j, k

        allocate (cut%x(0:m, m, m), cut%y(m, 0:m, m), cut%z(m, m, 0:m), cut%volume(m*m, m))
        volume = reshape(fine%volume, shape(volume))
        do k = 1, m
            do j = 1, m
                do i = 1, m
                    cut%volume(i + m*(j - 1), k) = &
                        sum(volume(2*i - 1:2*i, 2*j - 1:2*j, 2*k - 1:2*k))/8
                end do
                do i = 0, m
                    cut%x(i, j, k) = sum(fine%x(2*i, 2*j - 1:2*j, 2*k - 1:2*k))/4
                    cut%y(j, i, k) = sum(fine%y(2*j - 1:2*j, 2*i, 2*k - 1:2*k))/4
                    cut%z(j, k, i) = sum(fine%z(2*j - 1:2*j, 2*k - 1:2*k, 2*i))/4
                end do
            end do
        end do
        call list_walls(cut, m)
    end function coarser_cut

    !> A cell whose two faces across a direction are open has half the sum of its differences for a
    !> slope, one with a single open face the difference across that.
    pure subroutine set_slopes(cut, m, x, y, z)
        type(cut_t), intent(inout) :: cut
        integer, intent(in) :: m
        real(dp), intent(in) :: x(-1:, :, :), y(:, -1:, :), z(:, :, -1:)
        integer :: i, j, k, row

        row = m + 4
        allocate (cut%slope_x(row*m, 2, m), cut%slope_y(m*row, 2, m), &
                  cut%slope_z(m*m, 2, 0:m + 1), source=0.0_dp)
        do k = 1, m
            do j = 1, m
                do i = 0, m + 1
                    cut%slope_x(row*(j - 1) + i + 2, :, k) = weights(x(i - 1, j, k), x(i, j, k))
                    cut%slope_y(m*(i + 1) + j, :, k) = weights(y(j, i - 1, k), y(j, i, k))
                    cut%slope_z(m*(k - 1) + j, :, i) = weights(z(j, k, i - 1), z(j, k, i))
                end do
            end do
        end do
        allocate (cut%plain(3, 0:m + 1), source=.false.)
        do k = 0, m + 1
            cut%plain(3, k) = all(abs(cut%slope_z(:, :, k) - 0.5_dp) <= 0)
            if (k < 1 .or. k > m) cycle
            cut%plain(1, k) = all(x(:, :, k) > 0)
            cut%plain(2, k) = all(y(:, :, k) > 0)
        end do
    end subroutine set_slopes

    pure function weights(below, above)
        real(dp), intent(in) :: below, above
        real(dp) :: weights(2)
        weights = merge(1.0_dp, 0.0_dp, [below, above] > 0)
        if (min(below, above) > 0) weights = 0.5_dp
    end function weights

    !> Sets the open areas of cells and the list of those with wall.
    pure subroutine list_walls(cut, m)
        type(cut_t), intent(inout) :: cut
        integer, intent(in) :: m
        real(dp) :: area(3, m*m*m)
        integer :: cell(m*m*m), i, j, k, cells

        allocate (cut%areas(m*m, 3, m), cut%first(m + 1))
        cells = 0
        do k = 1, m
            cut%first(k) = cells + 1
            do j = 1, m
                do i = 1, m
                    associate (x => cut%x(i - 1:i, j, k), y => cut%y(i, j - 1:j, k), &
                               z => cut%z(i, j, k - 1:k))
                        cut%areas(i + m*(j - 1), :, k) = [maxval(x), maxval(y), maxval(z)]
                        area(:, cells + 1) = [x(1) - x(2), y(1) - y(2), z(1) - z(2)]
                    end associate
                    if (cut%volume(i + m*(j - 1), k) <= 0) cycle
                    if (all(abs(area(:, cells + 1)) <= 0)) cycle
                    cells = cells + 1
                    cell(cells) = i + m*(j - 1)
                end do
            end do
        end do
        cut%first(m + 1) = cells + 1
        cut%cell = cell(:cells)
        cut%area = area(:, :cells)
        allocate (cut%pull(6, cells), source=0.0_dp)
    end subroutine list_walls

    !> Weights that take the pressure from the cells' centres to the wall by the least-squares
    !> gradient over the open neighbours.
    pure subroutine set_pulls(cut, m, low, radius, cells)
        type(cut_t), intent(inout) :: cut
        integer, intent(in) :: m
        real(dp), intent(in) :: low(3), radius
        type(cells_t), intent(in) :: cells
        real(dp) :: away(3, 6), offset(3)
        logical :: opening(6)
        integer :: c, k, side, at(3), other(3)

        do k = 1, m
            do c = cut%first(k), cut%first(k + 1) - 1
                at = [1 + mod(cut%cell(c) - 1, m), 1 + (cut%cell(c) - 1)/m, k]
                opening(1:2) = cut%x(at(1) - 1:at(1), at(2), k) > 0
                opening(3:4) = cut%y(at(1), at(2) - 1:at(2), k) > 0
                opening(5:6) = cut%z(at(1), at(2), k - 1:k) > 0
                associate (own => cells%centre(:, at(1), at(2), at(3)))
                    do side = 1, 6
                        other = at
                        other(side_axis(side)) = other(side_axis(side)) + side_step(side)
                        away(:, side) = other - at - own &
                                        + cells%centre(:, other(1), other(2), other(3))
                    end do
                    ! The wall's mean normal points from its centre to that of the sphere.
                    offset = -radius*cut%area(:, c)/norm2(cut%area(:, c)) &
                             - (low + at - 0.5_dp + own)
                end associate
                cut%pull(:, c) = extrapolation(away, opening, offset)
            end do
        end do
    end subroutine set_pulls

    !> Weights of differences along `away` in the value at `offset`; none if the open neighbours do
    !> not span space or weights would be large.
    pure function extrapolation(away, opening, offset) result(pull)
        real(dp), intent(in) :: away(3, 6), offset(3)
        logical, intent(in) :: opening(6)
        real(dp) :: pull(6), normal(3, 3), cofactors(3, 3), determinant
        integer :: side

        normal = 0
        do side = 1, 6
            if (.not. opening(side)) cycle
            normal = normal + spread(away(:, side), 2, 3)*spread(away(:, side), 1, 3)
        end do
        cofactors(:, 1) = cross(normal(:, 2), normal(:, 3))
        cofactors(:, 2) = cross(normal(:, 3), normal(:, 1))
        cofactors(:, 3) = cross(normal(:, 1), normal(:, 2))
        determinant = dot_product(normal(:, 1), cofactors(:, 1))
        pull = 0
        if (determinant < 0.05_dp) return
        pull = merge(matmul(matmul(offset, cofactors)/determinant, away), 0.0_dp, opening)
        if (sum(abs(pull)) > weight_max) pull = 0
    end function extrapolation

    pure function cross(a, b)
        real(dp), intent(in) :: a(3), b(3)
        real(dp) :: cross(3)
        cross = [a(2)*b(3) - a(3)*b(2), a(3)*b(1) - a(1)*b(3), a(1)*b(2) - a(2)*b(1)]
    end function cross

end module cartesian_cut
