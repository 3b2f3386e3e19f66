!> Which process has which cell: recursive coordinate bisection.
!>
!> The processes are halved again and again; each time the box around the cells of a half is cut
!> across its longest edge, where the cells' centres fall to either side in the proportion of the
!> processes. The cuts, two for each process at most, are known to all, so that everyone finds the
!> owner of any cell from its centre. Nobody holds all cells: while the cuts are sought, each process
!> looks after the same share of the hexahedra, and sums over all tell how many centres are below a
!> cut.
!>
!> Collective over the job: `cut_cells`.
!>
!> Reference: M. J. Berger, S. H. Bokhari (1987): A partitioning strategy for nonuniform problems on
!> multiprocessors. IEEE Trans. Comput. C-36, doi:10.1109/TC.1987.1676942.
module unstructured_partition

    use bl_kinds, only: dp, i8
    use bl_messages, only: comm_allreduce
    use mpi, only: MPI_DOUBLE_PRECISION, MPI_INTEGER8, MPI_MIN, MPI_SUM

    implicit none(type, external)
    private

    public :: cuts_t, cut_cells

    !> A tree of cuts; its root is 1.
    type :: cuts_t
        !> The processes first, ..., first + many - 1 share what a branch holds.
        integer, allocatable :: first(:), many(:)
        !> Where more than one does: the branch of what lies below `at` along `axis`; the branch of
        !> the rest is the next one.
        integer, allocatable :: below(:), axis(:)
        real(dp), allocatable :: at(:)
    contains
        procedure :: owner
    end type cuts_t

    !> Halvings of an interval: no two numbers are nearer to each other.
    integer, parameter :: halvings = 60

contains

    !> The process that has the cell with this centre.
    pure integer function owner(self, centre)
        class(cuts_t), intent(in) :: self
        real(dp), intent(in) :: centre(3)
        integer :: branch
        branch = 1
        do while (self%many(branch) > 1)
            branch = next_branch(self, branch, centre)
        end do
        owner = self%first(branch)
    end function owner

    pure integer function next_branch(cuts, branch, centre) result(next)
        type(cuts_t), intent(in) :: cuts
        integer, intent(in) :: branch
        real(dp), intent(in) :: centre(3)
        next = cuts%below(branch)
        if (centre(cuts%axis(branch)) >= cuts%at(branch)) next = next + 1
    end function next_branch

    !> Finds the cuts, and who has each of the cells that this process looks after.
    subroutine cut_cells(comm, ranks, centres, cuts, owners)
        integer, intent(in) :: comm, ranks
        real(dp), intent(in) :: centres(:, :)
        type(cuts_t), intent(out) :: cuts
        integer, intent(out) :: owners(:)
        integer, allocatable :: branch_of(:), active(:)
        integer :: branches, i

        allocate (cuts%first(2*ranks), cuts%many(2*ranks), cuts%below(2*ranks), &
                  cuts%axis(2*ranks), source=0)
        allocate (cuts%at(2*ranks), source=0.0_dp)
        allocate (branch_of(size(owners)), source=1)
        cuts%many(1) = ranks
        branches = 1
        do
            active = pack([(i, i=1, branches)], cuts%many(:branches) > 1 &
                          .and. cuts%below(:branches) == 0)
            if (size(active) == 0) exit
            call cut_branches(comm, centres, branch_of, active, branches, cuts)
            do i = 1, size(owners)
                if (cuts%many(branch_of(i)) > 1) &
                    branch_of(i) = next_branch(cuts, branch_of(i), centres(:, i))
            end do
        end do
        owners = cuts%first(branch_of)
    end subroutine cut_cells

    !> Cuts all active branches at once, so that a level costs one series of sums.
    subroutine cut_branches(comm, centres, branch_of, active, branches, cuts)
        integer, intent(in) :: comm
        real(dp), intent(in) :: centres(:, :)
        integer, intent(in) :: branch_of(:), active(:)
        integer, intent(inout) :: branches
        type(cuts_t), intent(inout) :: cuts
        integer, allocatable :: place(:)
        real(dp), allocatable :: least(:, :), low(:), high(:)
        integer(i8), allocatable :: total(:), wanted(:), below(:)
        integer :: i, branch, halving

        allocate (place(branches), source=0)
        place(active) = [(i, i=1, size(active))]
        call bound(comm, centres, place(branch_of), size(active), least, total)
        allocate (low(size(active)), high(size(active)), wanted(size(active)))
        do i = 1, size(active)
            branch = active(i)
            cuts%axis(branch) = maxloc(-least(4:6, i) - least(1:3, i), 1)
            low(i) = least(cuts%axis(branch), i)
            high(i) = -least(3 + cuts%axis(branch), i)
            wanted(i) = (total(i)*(cuts%many(branch)/2))/cuts%many(branch)
        end do
        do halving = 1, halvings
            cuts%at(active) = (low + high)/2
            call count_below(comm, centres, branch_of, place, cuts, size(active), below)
            if (all(below == wanted)) exit
            where (below <= wanted) low = cuts%at(active)
            where (below >= wanted) high = cuts%at(active)
        end do
        do i = 1, size(active)
            branch = active(i)
            cuts%below(branch) = branches + 1
            cuts%first(branches + 1) = cuts%first(branch)
            cuts%many(branches + 1) = cuts%many(branch)/2
            cuts%first(branches + 2) = cuts%first(branch) + cuts%many(branch)/2
            cuts%many(branches + 2) = cuts%many(branch) - cuts%many(branch)/2
            branches = branches + 2
        end do
    end subroutine cut_branches

    !> Smallest coordinates of the centres in each branch, those of their negatives, and how many.
    subroutine bound(comm, centres, places, many, least, total)
        integer, intent(in) :: comm, places(:), many
        real(dp), intent(in) :: centres(:, :)
        real(dp), allocatable, intent(out) :: least(:, :)
        integer(i8), allocatable, intent(out) :: total(:)
        integer :: i

        allocate (least(6, many), source=huge(1.0_dp))
        allocate (total(many), source=0_i8)
        do i = 1, size(places)
            if (places(i) == 0) cycle
            least(:, places(i)) = min(least(:, places(i)), [centres(:, i), -centres(:, i)])
            total(places(i)) = total(places(i)) + 1
        end do
        call comm_allreduce(least, size(least), MPI_DOUBLE_PRECISION, MPI_MIN, comm)
        call comm_allreduce(total, size(total), MPI_INTEGER8, MPI_SUM, comm)
    end subroutine bound

    subroutine count_below(comm, centres, branch_of, place, cuts, many, below)
        integer, intent(in) :: comm, branch_of(:), place(:), many
        real(dp), intent(in) :: centres(:, :)
        type(cuts_t), intent(in) :: cuts
        integer(i8), allocatable, intent(out) :: below(:)
        integer :: i, branch

        allocate (below(many), source=0_i8)
        do i = 1, size(branch_of)
            branch = branch_of(i)
            if (place(branch) == 0) cycle
            if (centres(cuts%axis(branch), i) < cuts%at(branch)) &
                below(place(branch)) = below(place(branch)) + 1
        end do
        call comm_allreduce(below, size(below), MPI_INTEGER8, MPI_SUM, comm)
    end subroutine count_below

end module unstructured_partition
