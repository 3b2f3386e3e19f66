!> What a sphere leaves of the cells and faces of a grid of unit cubes.
!>
!> Areas of faces are exact: a square less a disc, in closed form. Volumes and centres of cells are
!> integrals of such areas over the third coordinate, by Gauss's rule between the places where the
!> circle passes an edge or a corner of the square. The area vector of the wall in a cell is not
!> integrated: it is what closes the cell's surface (sum of all area vectors 0), without which a
!> flow at rest would be driven.
!>
!> Coordinates are relative to the centre of the sphere. Nothing is collective.
module cartesian_body

    use bl_kinds, only: dp

    implicit none(type, external)
    private

    public :: open_area, open_cell

    real(dp), parameter :: pi = acos(-1.0_dp)
    !> Gauss's rule of eight points on (-1, 1): the positive points and their weights.
    real(dp), parameter :: points(4) = [0.1834346424956498_dp, 0.5255324099163290_dp, &
                                        0.7966664774136267_dp, 0.9602898564975363_dp]
    real(dp), parameter :: weights(4) = [0.3626837833783620_dp, 0.3137066458778873_dp, &
                                         0.2223810344533745_dp, 0.1012285362903763_dp]
    !> Areas that differ from 0 or 1 by less are rounding.
    real(dp), parameter :: rounding = 1.0e-13_dp

contains

    !> The part outside of a disc of the square with corners (y, z) and (y + 1, z + 1);
    !> `square_radius` of the disc around the origin may be negative.
    pure real(dp) function open_area(y, z, square_radius) result(area)
        real(dp), intent(in) :: y, z, square_radius

        area = 1
        if (square_radius <= 0) return
        area = 1 - (corner(y + 1, z + 1, square_radius) - corner(y, z + 1, square_radius) &
                    - corner(y + 1, z, square_radius) + corner(y, z, square_radius))
        if (area < rounding) area = 0
        if (area > 1 - rounding) area = 1
    end function open_area

    !> Area, with the sign of y z, of the disc in the rectangle between the origin and (y, z).
    pure real(dp) function corner(y, z, square_radius)
        real(dp), intent(in) :: y, z, square_radius
        real(dp) :: radius, width, height, full
        radius = sqrt(square_radius)
        width = min(abs(y), radius)
        height = min(abs(z), radius)
        full = sqrt(max(square_radius - z**2, 0.0_dp))
        if (width <= full) then
            corner = width*height
        else
            corner = full*height + under_arc(width, square_radius) - under_arc(full, square_radius)
        end if
        corner = sign(corner, y)*sign(1.0_dp, z)
    end function corner

    !> Integral of sqrt(square_radius - s**2) over s from 0 to x. Rounding of the root, large where
    !> it is nearly 0, goes out of the sum, as it would not with an arcsine.
    pure real(dp) function under_arc(x, square_radius)
        real(dp), intent(in) :: x, square_radius
        real(dp) :: root
        root = sqrt(max(square_radius - x**2, 0.0_dp))
        under_arc = (x*root + square_radius*atan2(x, root))/2
    end function under_arc

    !> Volume of the cell with lower corner `at` outside of the sphere, and the centre of that part
    !> relative to the cell's own centre.
    pure subroutine open_cell(at, radius, volume, centre)
        real(dp), intent(in) :: at(3), radius
        real(dp), intent(out) :: volume, centre(3)
        real(dp) :: distance, moments(2)
        integer :: axis

        volume = 1
        centre = 0
        distance = norm2(at + 0.5_dp)
        if (distance > radius + 0.87_dp) return
        if (distance < radius - 0.87_dp) then
            volume = 0
            return
        end if
        do axis = 1, 3
            moments = integrals(cshift(at, axis - 1), radius)
            if (axis == 1) volume = moments(1)
            if (volume > 0) centre(axis) = moments(2)/volume - at(axis) - 0.5_dp
        end do
    end subroutine open_cell

    !> Integrals over x of the open area of the cell's section, and of x times it.
    pure function integrals(at, radius) result(moments)
        real(dp), intent(in) :: at(3), radius
        real(dp) :: moments(2), ends(20), distances(9), x, part, half
        integer :: piece, pieces, point, side

        ! Where the circle of the section vanishes and where it passes edges' lines and corners.
        distances(1) = 0
        distances(2:5) = [at(2:3), at(2:3) + 1]**2
        distances(6:9) = [distances(2) + distances(3:5:2), distances(4) + distances(3:5:2)]
        ends(1:2) = at(1) + [0.0_dp, 1.0_dp]
        pieces = 2
        do side = 1, size(distances)
            call add_ends(ends, pieces, at(1), radius, distances(side))
        end do
        call sort(ends(:pieces))
        moments = 0
        do piece = 1, pieces - 1
            half = (ends(piece + 1) - ends(piece))/2
            do side = -1, 1, 2
                do point = 1, 4
                    x = ends(piece) + half*(1 + side*points(point))
                    part = half*weights(point)*open_area(at(2), at(3), radius**2 - x**2)
                    moments = moments + part*[1.0_dp, x]
                end do
            end do
        end do
    end function integrals

    !> Adds the places between x and x + 1 where x**2 + square_distance = radius**2.
    pure subroutine add_ends(ends, pieces, x, radius, square_distance)
        real(dp), intent(inout) :: ends(:)
        integer, intent(inout) :: pieces
        real(dp), intent(in) :: x, radius, square_distance
        real(dp) :: place
        integer :: sense
        if (square_distance >= radius**2) return
        do sense = -1, 1, 2
            place = sense*sqrt(max(radius**2 - square_distance, 0.0_dp))
            if (place <= x .or. place >= x + 1) cycle
            pieces = pieces + 1
            ends(pieces) = place
        end do
    end subroutine add_ends

    pure subroutine sort(values)
        real(dp), intent(inout) :: values(:)
        real(dp) :: value
        integer :: i, j
        do i = 2, size(values)
            value = values(i)
            do j = i - 1, 1, -1
                if (values(j) <= value) exit
                values(j + 1) = values(j)
            end do
            values(j + 1) = value
        end do
    end subroutine sort

end module cartesian_body
