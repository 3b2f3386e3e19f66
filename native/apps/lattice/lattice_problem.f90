!> Problem classes of the lattice. Class W is a lattice of 16 x 8 x 8 x 16, as MILC's was counted
!> with, turned so that its long sides are those that are cut, and four processes have 8 sites of
!> each.
module lattice_problem

    use bl_kinds, only: dp

    implicit none(type, external)
    private

    public :: lattice_classes, lattice_problem_t, find_lattice_problem

    character(*), parameter :: lattice_classes = 'SWABC'

    type :: lattice_problem_t
        !> Sites along x, y, z and t; x is even.
        integer :: extent(4)
        !> Solver iterations: as many as leave some 1e-9 of the source, and no more, since what goes
        !> wrong in an iteration that has nothing left to do leaves no trace.
        integer :: iterations
        !> Quark mass in units of the inverse spacing.
        real(dp) :: mass = 0.1_dp
    contains
        procedure :: sites => problem_sites
        procedure :: site_iterations => problem_site_iterations
    end type lattice_problem_t

contains

    pure type(lattice_problem_t) function find_lattice_problem(class_name) result(problem)
        character(1), intent(in) :: class_name
        select case (class_name)
        case ('S')
            problem = lattice_problem_t([8, 8, 8, 8], 19)
        case ('W')
            problem = lattice_problem_t([8, 8, 16, 16], 36)
        case ('A')
            problem = lattice_problem_t([16, 16, 16, 32], 55)
        case ('B')
            problem = lattice_problem_t([32, 32, 32, 32], 78)
        case default
            problem = lattice_problem_t([32, 32, 32, 64], 106, 0.05_dp)
        end select
    end function find_lattice_problem

    pure real(dp) function problem_sites(self) result(sites)
        class(lattice_problem_t), intent(in) :: self
        sites = product(real(self%extent, dp))
    end function problem_sites

    !> What the rate counts: sites of both parities times iterations.
    pure real(dp) function problem_site_iterations(self) result(site_iterations)
        class(lattice_problem_t), intent(in) :: self
        site_iterations = self%iterations*self%sites()
    end function problem_site_iterations

end module lattice_problem
