!> Problem classes of the plane waves, and the potential.
!>
!> The cell is a cube of edge 2 pi, so that wave vectors G are whole numbers; energies are in Hartree.
module planewave_problem

    use bl_kinds, only: dp

    implicit none(type, external)
    private

    public :: planewave_classes, planewave_problem_t, find_planewave_problem, amplitude, phase

    character(*), parameter :: planewave_classes = 'SWABC'
    !> V(r) = sum over x, y, z of amplitude cos(r - phase).
    real(dp), parameter :: amplitude(3) = [1.0_dp, 1.3_dp, 1.7_dp]
    real(dp), parameter :: phase(3) = [0.3_dp, 1.1_dp, 2.0_dp]

    type :: planewave_problem_t
        !> Largest |G|, points of the grid in each direction, bands, iterations.
        integer :: cutoff, n, bands, iterations
        !> The lowest bands, which the iterations have converged.
        integer :: converged
    contains
        procedure :: waves => problem_waves
        procedure :: fourier => problem_fourier
        procedure :: products => problem_products
    end type planewave_problem_t

    !> In the order of the classes.
    type(planewave_problem_t), parameter :: table(len(planewave_classes)) = [ &
                                            planewave_problem_t(6, 24, 10, 25, 6), &
                                            planewave_problem_t(8, 32, 24, 20, 16), &
                                            planewave_problem_t(12, 48, 64, 20, 48), &
                                            planewave_problem_t(16, 64, 128, 20, 96), &
                                            planewave_problem_t(24, 96, 256, 20, 192)]

contains

    pure type(planewave_problem_t) function find_planewave_problem(class_name) result(problem)
        character(1), intent(in) :: class_name
        problem = table(index(planewave_classes, class_name))
    end function find_planewave_problem

    !> Plane waves: about, by the volume of the sphere.
    pure real(dp) function problem_waves(self) result(waves)
        class(planewave_problem_t), intent(in) :: self
        waves = 4*acos(-1.0_dp)/3*real(self%cutoff, dp)**3
    end function problem_waves

    !> Operations of the Fourier transforms, counted as 5 n log2(n) for a line of n points: forth
    !> and back, lines along z of the columns in the sphere, along y of those that are not zero,
    !> along x of all.
    pure real(dp) function problem_fourier(self) result(operations)
        class(planewave_problem_t), intent(in) :: self
        real(dp) :: lines, n
        n = self%n
        lines = acos(-1.0_dp)*real(self%cutoff, dp)**2 + n*(2*self%cutoff + 1) + n**2
        operations = self%iterations*self%bands*2*lines*5*n*log(n)/log(2.0_dp)
    end function problem_fourier

    !> Operations of the products of matrices: nine of bands x waves x bands, each of eight real
    !> ones, and half of one for a triangular matrix.
    pure real(dp) function problem_products(self) result(operations)
        class(planewave_problem_t), intent(in) :: self
        operations = self%iterations*9.5_dp*8*real(self%bands, dp)**2*self%waves()
    end function problem_products

end module planewave_problem
