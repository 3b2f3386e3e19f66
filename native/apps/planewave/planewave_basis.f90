!> The plane waves of a sphere, in columns along z that are spread over the processes.
!>
!> A column is a pair (gx, gy) with gx**2 + gy**2 <= cutoff**2 and holds gz from -reach to reach. The
!> longest columns are dealt first, each to the process with the fewest waves. Every process knows
!> all columns.
!>
!> Exported: `basis_t`. Nothing is collective.
module planewave_basis

    use bl_kinds, only: dp

    implicit none(type, external)
    private

    public :: basis_t, column_t

    type :: column_t
        integer :: gx = 0, gy = 0, reach = 0
    end type column_t

    type :: basis_t
        integer :: rank = 0, ranks = 1
        !> Columns of each process; those of this one are columns(:, rank + 1).
        integer, allocatable :: counts(:)
        type(column_t), allocatable :: columns(:, :)
        !> Own waves, and where each own column begins among them.
        integer :: waves = 0
        integer, allocatable :: first(:)
        !> Half the square of G of every own wave, and its number among the waves of the sphere.
        real(dp), allocatable :: kinetic(:)
        integer, allocatable :: identity(:)
    end type basis_t

    interface basis_t
        module procedure new_basis
    end interface basis_t

contains

    type(basis_t) function new_basis(cutoff, rank, ranks) result(basis)
        integer, intent(in) :: cutoff, rank, ranks
        integer :: load(ranks), reach, gx, gy, owner

        basis%rank = rank
        basis%ranks = ranks
        allocate (basis%counts(ranks), source=0)
        allocate (basis%columns((2*cutoff + 1)**2/ranks + 2*cutoff + 2, ranks))
        load = 0
        do reach = cutoff, 0, -1
            do gy = -cutoff, cutoff
                do gx = -cutoff, cutoff
                    if (reach_of(cutoff, gx, gy) /= reach) cycle
                    owner = minloc(load, 1)
                    load(owner) = load(owner) + 2*reach + 1
                    basis%counts(owner) = basis%counts(owner) + 1
                    basis%columns(basis%counts(owner), owner) = column_t(gx, gy, reach)
                end do
            end do
        end do
        call list_waves(basis, cutoff)
    end function new_basis

    !> Largest gz of a column; -1 outside of the sphere.
    pure integer function reach_of(cutoff, gx, gy) result(reach)
        integer, intent(in) :: cutoff, gx, gy
        integer :: rest
        rest = cutoff**2 - gx**2 - gy**2
        reach = -1
        if (rest < 0) return
        reach = int(sqrt(real(rest, dp)))
        if ((reach + 1)**2 <= rest) reach = reach + 1
        if (reach**2 > rest) reach = reach - 1
    end function reach_of

    subroutine list_waves(basis, cutoff)
        type(basis_t), intent(inout) :: basis
        integer, intent(in) :: cutoff
        integer :: c, gz, wave, edge

        associate (mine => basis%columns(:, basis%rank + 1), &
                   count => basis%counts(basis%rank + 1))
            allocate (basis%first(count))
            basis%waves = sum(2*mine(:count)%reach + 1)
            allocate (basis%kinetic(basis%waves), basis%identity(basis%waves))
            edge = 2*cutoff + 1
            wave = 0
            do c = 1, count
                basis%first(c) = wave + 1
                do gz = -mine(c)%reach, mine(c)%reach
                    wave = wave + 1
                    basis%kinetic(wave) = 0.5_dp*(mine(c)%gx**2 + mine(c)%gy**2 + gz**2)
                    basis%identity(wave) = mine(c)%gx + cutoff &
                                           + edge*(mine(c)%gy + cutoff + edge*(gz + cutoff))
                end do
            end do
        end associate
    end subroutine list_waves

end module planewave_basis
