!> Hilbert's curve through a cube of places, and its division among processes.
!>
!> Exported: `hilbert_key`, `shares`. Nothing is collective.
!>
!> Reference: J. Skilling (2004): Programming the Hilbert curve. AIP Conf. Proc. 707, 381,
!> doi:10.1063/1.1751381.
module cartesian_curve

    implicit none(type, external)
    private

    public :: hilbert_key, shares

contains

    !> Position along the curve, from 0, of a place with coordinates from 0 to 2**bits - 1.
    !> Places that follow each other are neighbours.
    pure integer function hilbert_key(place, bits) result(key)
        integer, intent(in) :: place(3), bits
        integer :: x(3), axis, bit, low, turned

        x = place
        ! Undo the turns and reflections of the smaller and smaller cubes.
        do bit = bits - 1, 1, -1
            low = 2**bit - 1
            do axis = 1, 3
                if (btest(x(axis), bit)) then
                    x(1) = ieor(x(1), low)
                else
                    turned = iand(ieor(x(1), x(axis)), low)
                    x(1) = ieor(x(1), turned)
                    x(axis) = ieor(x(axis), turned)
                end if
            end do
        end do
        ! Coordinates to Gray's code.
        x(2) = ieor(x(2), x(1))
        x(3) = ieor(x(3), x(2))
        turned = 0
        do bit = bits - 1, 1, -1
            if (btest(x(3), bit)) turned = ieor(turned, 2**bit - 1)
        end do
        x = ieor(x, turned)
        key = 0
        do bit = bits - 1, 0, -1
            do axis = 1, 3
                key = 2*key + ibits(x(axis), bit, 1)
            end do
        end do
    end function hilbert_key

    !> The process, from 0, of each of the pieces along the curve: contiguous shares of nearly equal
    !> weight, none of them empty. There are at least as many pieces as processes.
    pure function shares(weights, ranks) result(owner)
        integer, intent(in) :: weights(:), ranks
        integer :: owner(size(weights)), piece, pieces
        real :: total, before

        pieces = size(weights)
        total = sum(real(weights))
        before = 0
        owner(1) = 0
        do piece = 2, pieces
            before = before + weights(piece - 1)
            owner(piece) = int((before + 0.5*weights(piece))*real(ranks)/total)
            owner(piece) = max(owner(piece), owner(piece - 1), ranks - 1 - (pieces - piece))
            owner(piece) = min(owner(piece), owner(piece - 1) + 1)
        end do
    end function shares

end module cartesian_curve
