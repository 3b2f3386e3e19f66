!> Zones, blocks, and which process has which.
!>
!> A box is halved again and again, in unequal parts, into 23 boxes. A zone is one of these, larger by
!> `overlap` cells at each face that is not one of the whole box, so that it overlaps its neighbours;
!> each has its own width of cells in each direction, so that points do not coincide. Point i of a
!> zone (1 to n) lies in the middle of its cell. Beyond its points, two wide, lies the fringe: given,
!> outside of the box; inside, interpolated in the zone whose box the point is in. As zones are
!> larger than their boxes, the eight points around it are points of that zone, or given.
!>
!> A zone with too many points is cut into blocks, as many for any number of processes: what is
!> computed does not depend on that. Blocks, largest first, go to the process that has the fewest
!> points so far.
!>
!> Exported: `zone_t`, `block_t`, `zones_of`, `blocks_of`. Nothing is collective.
module overset_zones

    use bl_kinds, only: dp, i8
    use overset_problem, only: overset_problem_t

    implicit none(type, external)
    private

    public :: zone_t, block_t, zones_of, blocks_of, ghost, zone_count

    integer, parameter :: zone_count = 23
    !> Points that a block knows on each side besides its own.
    integer, parameter :: ghost = 2
    !> The whole box, in units of 1/40.
    integer, parameter :: units(3) = [60, 50, 40]

    type :: zone_t
        !> The box, in units.
        integer :: low(3) = 0, high(3) = 0
        !> Points.
        integer :: n(3) = 0
        !> Lower corner of cell 1, and width of the cells.
        real(dp) :: corner(3) = 0, h(3) = 0
        !> Into how many blocks each direction is cut; the first of them.
        integer :: parts(3) = 1, first_block = 0
    contains
        procedure :: place => zone_place
        procedure :: holds
    end type zone_t

    !> The points lo to hi of a zone.
    type :: block_t
        integer :: zone = 0, owner = 0
        integer :: lo(3) = 0, hi(3) = 0
    contains
        procedure :: points => block_points
    end type block_t

contains

    function zones_of(problem) result(zones)
        type(overset_problem_t), intent(in) :: problem
        type(zone_t) :: zones(zone_count)
        real(dp) :: length
        integer :: z, axis, granule, blocks, faces, cells

        z = 0
        call halve([0, 0, 0], units, zone_count, 0, zones, z)
        blocks = 0
        do z = 1, zone_count
            associate (zone => zones(z))
                do axis = 1, 3
                    faces = count([zone%low(axis) > 0, zone%high(axis) < units(axis)])
                    ! Cells of 1/n, times units; whole numbers, so that no rounding decides.
                    cells = (zone%high(axis) - zone%low(axis))*problem%n &
                            + faces*problem%overlap*units(3)
                    granule = merge(1, problem%granule, axis == 3)
                    zone%n(axis) = granule*max(1, (2*cells/(units(3)*granule) + 1)/2)
                    length = real(cells, dp)/(units(3)*problem%n)
                    zone%h(axis) = length/zone%n(axis)
                    zone%corner(axis) = real(zone%low(axis), dp)/units(3)
                    if (zone%low(axis) > 0) &
                        zone%corner(axis) = zone%corner(axis) - real(problem%overlap, dp)/problem%n
                end do
                zone%parts = parts_of(zone%n, problem)
                zone%first_block = blocks + 1
                blocks = blocks + product(zone%parts)
            end associate
        end do
    end function zones_of

    !> Divides a box into so many, the cut not in proportion to their numbers.
    recursive subroutine halve(low, high, boxes, depth, zones, z)
        integer, intent(in) :: low(3), high(3), boxes, depth
        type(zone_t), intent(inout) :: zones(zone_count)
        integer, intent(inout) :: z
        integer :: axis, cut, fewer, upper_low(3), lower_high(3)

        if (boxes == 1) then
            z = z + 1
            zones(z)%low = low
            zones(z)%high = high
            return
        end if
        axis = maxloc(high - low, 1)
        fewer = max(1, boxes*(3 + mod(depth, 2))/8)
        cut = low(axis) + (high(axis) - low(axis))*fewer*(9 + 2*mod(depth, 3))/(10*boxes)
        lower_high = high
        lower_high(axis) = cut
        upper_low = low
        upper_low(axis) = cut
        call halve(low, lower_high, fewer, depth + 1, zones, z)
        call halve(upper_low, high, boxes - fewer, depth + 1, zones, z)
    end subroutine halve

    !> Cuts the longest side until a block is small enough; x, along which vectors lie, is cut less.
    pure function parts_of(n, problem) result(parts)
        integer, intent(in) :: n(3)
        type(overset_problem_t), intent(in) :: problem
        integer :: parts(3), length(3), axis
        parts = 1
        do
            length = (n + parts - 1)/parts
            if (product(length) <= problem%block_points) exit
            axis = maxloc([0.6_dp, 1.0_dp, 1.0_dp]*length, 1)
            parts(axis) = parts(axis) + 1
        end do
    end function parts_of

    !> Position along an axis of a point, which may be one of the fringe.
    elemental real(dp) function zone_place(self, axis, i) result(place)
        class(zone_t), intent(in) :: self
        integer, intent(in) :: axis, i
        place = self%corner(axis) + (i - 0.5_dp)*self%h(axis)
    end function zone_place

    !> Whether a place along an axis is in the zone's box.
    pure logical function holds(self, axis, place)
        class(zone_t), intent(in) :: self
        integer, intent(in) :: axis
        real(dp), intent(in) :: place
        ! A point between two boxes is in the upper one, whatever rounding says.
        real(dp), parameter :: rounding = 1.0e-9_dp
        holds = place*units(3) + rounding >= self%low(axis) &
                .and. place*units(3) + rounding < self%high(axis)
    end function holds

    !> All blocks of all zones, those of a zone along x first.
    function blocks_of(zones, problem, ranks) result(blocks)
        type(zone_t), intent(in) :: zones(zone_count)
        type(overset_problem_t), intent(in) :: problem
        integer, intent(in) :: ranks
        type(block_t), allocatable :: blocks(:)
        integer :: z, i, j, k, b

        allocate (blocks(sum([(product(zones(z)%parts), z=1, zone_count)])))
        b = 0
        do z = 1, zone_count
            associate (zone => zones(z))
                do k = 1, zone%parts(3)
                    do j = 1, zone%parts(2)
                        do i = 1, zone%parts(1)
                            b = b + 1
                            blocks(b)%zone = z
                            blocks(b)%lo = before(zone, [i - 1, j - 1, k - 1], problem) + 1
                            blocks(b)%hi = before(zone, [i, j, k], problem)
                        end do
                    end do
                end do
            end associate
        end do
        call deal(blocks, ranks)
    end function blocks_of

    !> Points before the end of a part; along x and y whole granules.
    pure function before(zone, part, problem) result(points)
        type(zone_t), intent(in) :: zone
        integer, intent(in) :: part(3)
        type(overset_problem_t), intent(in) :: problem
        integer :: points(3), granule(3)
        granule = [problem%granule, problem%granule, 1]
        points = granule*((zone%n/granule)*part/zone%parts)
    end function before

    subroutine deal(blocks, ranks)
        type(block_t), intent(inout) :: blocks(:)
        integer, intent(in) :: ranks
        integer(i8) :: load(0:ranks - 1)
        logical :: dealt(size(blocks))
        integer :: turn, largest, b

        load = 0
        dealt = .false.
        do turn = 1, size(blocks)
            largest = 0
            do b = 1, size(blocks)
                if (dealt(b)) cycle
                if (largest > 0) then
                    if (blocks(b)%points() <= blocks(largest)%points()) cycle
                end if
                largest = b
            end do
            dealt(largest) = .true.
            blocks(largest)%owner = minloc(load, 1) - 1
            associate (its => load(blocks(largest)%owner))
                its = its + blocks(largest)%points()
            end associate
        end do
    end subroutine deal

    pure integer function block_points(self) result(points)
        class(block_t), intent(in) :: self
        points = product(self%hi - self%lo + 1)
    end function block_points

end module overset_zones
