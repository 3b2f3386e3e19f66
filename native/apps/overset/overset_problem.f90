!> Problem classes of the overlapping zones, and the constants of the flow.
!>
!> Lengths are in units of the box's height (it is 1.5 by 1.25 by 1), densities and speeds in those
!> of the free stream and its speed of sound.
module overset_problem

    use bl_kinds, only: dp

    implicit none(type, external)
    private

    public :: overset_classes, overset_problem_t, find_overset_problem
    public :: gamma

    character(*), parameter :: overset_classes = 'SWABC'

    !> Ratio of the specific heats.
    real(dp), parameter :: gamma = 1.4_dp

    type :: overset_problem_t
        !> Points that the height of the box would have, were it one zone.
        integer :: n
        !> Time steps.
        integer :: steps
        !> Points that a block may have: zones that have more are cut.
        integer :: block_points
        !> Zones have a multiple of so many points along x and y: whole vectors.
        integer :: granule = 8
        !> By which zones are larger at each face than the boxes that they cover, in cells of 1/n.
        integer :: overlap = 2
        !> Speed of the free stream.
        real(dp) :: stream(3) = [0.35_dp, 0.2_dp, 0.1_dp]
        !> Strength of the disturbance at the begin.
        real(dp) :: disturbance = 0.2_dp
        !> Viscosity, and conductivity over the heat capacity at constant volume.
        real(dp) :: viscosity = 1.0e-4_dp, conductivity = 2.0e-4_dp
        !> Fourth-difference dissipation in units of the largest speed of a wave.
        real(dp) :: dissipation = 0.02_dp
        !> Time step in units of the time in which a wave passes a cell.
        real(dp) :: courant = 1.5_dp
    contains
        procedure :: time_step
    end type overset_problem_t

    !> In the order of the classes.
    type(overset_problem_t), parameter :: table(len(overset_classes)) = [ &
                                          overset_problem_t(24, 20, 1800, granule=4), &
                                          overset_problem_t(48, 40, 8000), &
                                          overset_problem_t(80, 60, 27000), &
                                          overset_problem_t(144, 80, 36000), &
                                          overset_problem_t(256, 40, 80000)]

contains

    pure type(overset_problem_t) function find_overset_problem(class_name) result(problem)
        character(1), intent(in) :: class_name
        problem = table(index(overset_classes, class_name))
    end function find_overset_problem

    pure real(dp) function time_step(self)
        class(overset_problem_t), intent(in) :: self
        time_step = self%courant/(self%n*(1 + norm2(self%stream)))
    end function time_step

end module overset_problem
