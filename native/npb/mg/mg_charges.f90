!> MG's right-hand side: +1 at the points of the ten largest random numbers, -1 at those of the ten
!> smallest, 0 elsewhere.
!>
!> Point (i, j, k), counted from 0, has the number 1 + i + n (j + n k) of the common sequence. The
!> numbers are all distinct, so that equality tells on which process an extreme lies.
!>
!> Collective: `place_charges`. Not timed.
module mg_charges

    use mg_level, only: level_t
    use mpi, only: MPI_DOUBLE_PRECISION, MPI_MAX
    use bl_kinds, only: dp, i8
    use bl_messages, only: comm_allreduce
    use bl_random, only: random_fill, random_seed_common, random_skip

    implicit none(type, external)
    private

    public :: place_charges

    integer, parameter :: charges = 10

    !> The largest numbers so far, in descending order, and their points.
    type :: ranking_t
        real(dp) :: number(charges) = -huge(1.0_dp)
        integer :: point(3, charges) = 0
    end type ranking_t

contains

    !> Sets `v`, which has the bounds of the level's arrays, with its ghosts 0.
    subroutine place_charges(level, v)
        type(level_t), intent(in) :: level
        real(dp), intent(out), contiguous :: v(0:, 0:, 0:)
        type(ranking_t) :: largest, smallest
        real(dp) :: numbers(level%points(1))
        integer(i8) :: n, state
        integer :: j, k

        n = level%total
        do k = 1, level%points(3)
            do j = 1, level%points(2)
                state = random_skip(random_seed_common, level%first(1) + n*( &
                                    level%first(2) + j - 1 + n*(level%first(3) + k - 1)))
                call random_fill(state, numbers)
                call rank_row(largest, numbers, j, k)
                call rank_row(smallest, -numbers, j, k)
            end do
        end do
        v = 0
        call charge(level%comm, largest, 1.0_dp, v)
        call charge(level%comm, smallest, -1.0_dp, v)
    end subroutine place_charges

    pure subroutine rank_row(ranking, numbers, j, k)
        type(ranking_t), intent(inout) :: ranking
        real(dp), intent(in) :: numbers(:)
        integer, intent(in) :: j, k
        integer :: i, place
        do i = 1, size(numbers)
            if (numbers(i) <= ranking%number(charges)) cycle
            place = count(ranking%number > numbers(i)) + 1
            ranking%number(place + 1:) = ranking%number(place:charges - 1)
            ranking%point(:, place + 1:) = ranking%point(:, place:charges - 1)
            ranking%number(place) = numbers(i)
            ranking%point(:, place) = [i, j, k]
        end do
    end subroutine rank_row

    !> Puts the charge on the points of the largest numbers of all processes.
    subroutine charge(comm, ranking, value, v)
        integer, intent(in) :: comm
        type(ranking_t), intent(in) :: ranking
        real(dp), intent(in) :: value
        real(dp), intent(inout) :: v(0:, 0:, 0:)
        real(dp) :: best(1)
        integer :: round, mine

        mine = 1
        do round = 1, charges
            best = ranking%number(mine)
            call comm_allreduce(best, 1, MPI_DOUBLE_PRECISION, MPI_MAX, comm)
            if (best(1) > ranking%number(mine)) cycle
            associate (point => ranking%point(:, mine))
                v(point(1), point(2), point(3)) = value
            end associate
            mine = min(mine + 1, charges)
        end do
    end subroutine charge

end module mg_charges
