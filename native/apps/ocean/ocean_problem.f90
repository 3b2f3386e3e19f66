!> Problem classes of the ocean, and its constants.
!>
!> Lengths are in units of the basin's width, times in units in which currents are about 1.
module ocean_problem

    use bl_kinds, only: dp, i8

    implicit none(type, external)
    private

    public :: ocean_classes, ocean_variants, ocean_problem_t, find_ocean_problem, tiles, saving

    character(*), parameter :: ocean_classes = 'SWABC'
    !> What the solver for the lid's pressure sends: as MITgcm's did in 2011, sums of one number; as it
    !> does since 2015, sums of a number of each tile; less than it does. The first is the default.
    character(*), parameter :: ocean_variants = '2011 tiles saving'
    integer, parameter :: tiles = 2, saving = 3

    type :: ocean_problem_t
        !> Cells along x and y, levels, time steps, iterations for the surface pressure in a step.
        integer :: n, levels, steps, iterations
        !> Depth of the basin.
        real(dp) :: depth = 0.1_dp
        !> Coriolis parameter.
        real(dp) :: coriolis = 10
        !> Kinematic viscosity and diffusivity of heat and salt, along and across the levels.
        real(dp) :: viscosity = 1.0e-3_dp, viscosity_z = 1.0e-5_dp
        real(dp) :: diffusivity = 1.0e-3_dp, diffusivity_z = 1.0e-5_dp
        !> Buoyancy of a unit of temperature and of salinity.
        real(dp) :: expansion = 40, contraction = 10
        !> Time step in units of the cells' width.
        real(dp) :: courant = 0.1_dp
        !> Of `ocean_variants`.
        integer :: variant = 1
    contains
        procedure :: cell_steps => problem_cell_steps
    end type ocean_problem_t

    !> In the order of the classes.
    type(ocean_problem_t), parameter :: table(len(ocean_classes)) = [ &
                                        ocean_problem_t(32, 10, 20, 25), &
                                        ocean_problem_t(64, 16, 100, 40), &
                                        ocean_problem_t(128, 32, 200, 60), &
                                        ocean_problem_t(256, 40, 300, 80), &
                                        ocean_problem_t(512, 50, 400, 160)]

contains

    pure type(ocean_problem_t) function find_ocean_problem(class_name) result(problem)
        character(1), intent(in) :: class_name
        problem = table(index(ocean_classes, class_name))
    end function find_ocean_problem

    !> What the rate counts: cells, all levels, times steps.
    pure real(dp) function problem_cell_steps(self) result(cell_steps)
        class(ocean_problem_t), intent(in) :: self
        cell_steps = real(self%steps, dp)*self%levels*real(self%n, dp)**2
    end function problem_cell_steps

end module ocean_problem
