!> The state of a block: rows along x of one component after another, with ghosts on every side.
!>
!> q(-1:rows - 2, 5, -1:n2 + 2, -1:n3 + 2): density, three momenta, energy, per volume. Point 1 of a
!> row begins a cache line, and rows have room for whole vectors of `lanes`. What the room holds
!> beyond the ghosts is the free stream for good, so that arithmetic with it is harmless.
!>
!> Exported: `field_t` and the room it takes, `stream_state`. Nothing is collective.
module overset_field

    use bl_kinds, only: dp, i8
    use overset_problem, only: gamma, overset_problem_t
    use overset_zones, only: block_t, ghost, zone_t

    implicit none(type, external)
    private

    public :: field_t, lanes, row_length, field_values, stream_state

    !> Lines that are solved together.
    integer, parameter :: lanes = 8

    type :: field_t
        !> Number of the block and of its zone.
        integer :: block = 0, zone = 0
        integer :: n(3) = 0
        !> Points of the zone before the block.
        integer :: before(3) = 0
        !> Numbers of a row, rows of a plane.
        integer :: rows = 0, planes = 0
        real(dp) :: h(3) = 0
        !> The state, and the same numbers one after the other.
        real(dp), pointer, contiguous :: q(:, :, :, :) => null(), values(:) => null()
        !> What keeps a given flow going, per time: as q, without ghosts; for tests.
        real(dp), pointer, contiguous :: force(:, :, :, :) => null()
    contains
        procedure :: setup
        procedure :: place
        procedure :: fill
    end type field_t

contains

    !> Elements of a row of n points.
    pure integer function row_length(n)
        integer, intent(in) :: n
        row_length = lanes*((n + lanes - 1)/lanes) + 8
    end function row_length

    !> Numbers that the state of so many points takes, whole cache lines; what comes before point 1
    !> of the first row is in the first line.
    pure integer(i8) function field_values(n)
        integer, intent(in) :: n(3)
        field_values = 8 + 5_i8*row_length(n(1))*(n(2) + 2*ghost)*(n(3) + 2*ghost)
    end function field_values

    !> Takes the first `field_values` of `space`, which begins a cache line.
    subroutine setup(self, number, block, zone, space)
        class(field_t), intent(inout) :: self
        integer, intent(in) :: number
        type(block_t), intent(in) :: block
        type(zone_t), intent(in) :: zone
        real(dp), pointer, contiguous, intent(in) :: space(:)

        self%block = number
        self%zone = block%zone
        self%n = block%hi - block%lo + 1
        self%before = block%lo - 1
        self%rows = row_length(self%n(1))
        self%planes = self%n(2) + 2*ghost
        self%h = zone%h
        ! Eight less the two ghosts.
        self%values => space(7:field_values(self%n))
        self%q(-1:self%rows - 2, 1:5, -1:self%n(2) + 2, -1:self%n(3) + 2) => self%values
    end subroutine setup

    !> Place among `values` of the density at a point of the zone.
    pure integer function place(self, point)
        class(field_t), intent(in) :: self
        integer, intent(in) :: point(3)
        integer :: at(3)
        at = point - self%before + ghost - 1
        place = 1 + at(1) + self%rows*5*(at(2) + self%planes*at(3))
    end function place

    !> The same state everywhere, ghosts and room included.
    subroutine fill(self, state)
        class(field_t), intent(inout) :: self
        real(dp), intent(in) :: state(5)
        integer :: c
        do c = 1, 5
            self%q(:, c, :, :) = state(c)
        end do
    end subroutine fill

    !> Density 1, speed of sound 1.
    pure function stream_state(problem) result(state)
        type(overset_problem_t), intent(in) :: problem
        real(dp) :: state(5)
        state = [1.0_dp, problem%stream, &
                 1/(gamma*(gamma - 1)) + 0.5_dp*dot_product(problem%stream, problem%stream)]
    end function stream_state

end module overset_field
