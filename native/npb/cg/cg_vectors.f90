!> The random vectors v_i of which CG's matrix is made (see cg_matrix).
!>
!> Each has `nonzer` random entries at random positions (a pair of numbers each: the value, then the
!> position among the next power of two; both are dropped if the position is beyond na or taken) and
!> 1/2 at position i. The sequence of random numbers runs on through all i.
!>
!> Exported: `sparse_vector_t`, `vector_source_t`. Nothing is collective or timed.
module cg_vectors

    use bl_kinds, only: dp, i4, i8
    use bl_random, only: random_next, random_seed_common

    implicit none(type, external)
    private

    public :: sparse_vector_t, vector_source_t

    real(dp), parameter :: diagonal_entry = 0.5_dp

    !> A vector v_i: distinct positions and their values.
    type :: sparse_vector_t
        integer :: entries = 0
        integer(i4), allocatable :: position(:)
        real(dp), allocatable :: value(:)
    end type sparse_vector_t

    !> Delivers v_1, v_2, ...
    type :: vector_source_t
        private
        integer :: na = 0
        integer :: nonzer = 0
        integer :: next = 1
        integer(i8) :: state = 0
        !> The power of two that positions are drawn below.
        real(dp) :: range = 0
        !> Index of the last vector that took a position.
        integer(i4), allocatable :: taken_by(:)
    contains
        procedure :: draw => source_draw
    end type vector_source_t

    interface vector_source_t
        module procedure new_source
    end interface vector_source_t

contains

    pure type(vector_source_t) function new_source(na, nonzer) result(source)
        integer, intent(in) :: na, nonzer
        integer(i8) :: power
        source%na = na
        source%nonzer = nonzer
        power = 1
        do while (power < na)
            power = 2*power
        end do
        source%range = real(power, dp)
        allocate (source%taken_by(na), source=0_i4)
        source%state = random_seed_common
        call skip_first(source%state)
    end function new_source

    !> The benchmark draws one number before the first vector and does not use it.
    pure subroutine skip_first(state)
        integer(i8), intent(inout) :: state
        real(dp) :: unused
        call random_next(state, unused)
    end subroutine skip_first

    !> Gives the next vector.
    subroutine source_draw(self, vector)
        class(vector_source_t), intent(inout) :: self
        type(sparse_vector_t), intent(inout) :: vector
        real(dp) :: value, location
        integer(i4) :: position, entry

        if (.not. allocated(vector%position)) allocate (vector%position(self%nonzer + 1), &
                                                        vector%value(self%nonzer + 1))
        vector%entries = 0
        do while (vector%entries < self%nonzer)
            call random_next(self%state, value)
            call random_next(self%state, location)
            position = int(self%range*location, i4) + 1
            if (position > self%na) cycle
            if (self%taken_by(position) == self%next) cycle
            call append(position, value)
        end do
        if (self%taken_by(self%next) == self%next) then
            do entry = 1, vector%entries
                if (vector%position(entry) == self%next) vector%value(entry) = diagonal_entry
            end do
        else
            call append(self%next, diagonal_entry)
        end if
        self%next = self%next + 1

    contains

        subroutine append(new_position, new_value)
            integer(i4), intent(in) :: new_position
            real(dp), intent(in) :: new_value
            vector%entries = vector%entries + 1
            vector%position(vector%entries) = new_position
            vector%value(vector%entries) = new_value
            self%taken_by(new_position) = self%next
        end subroutine append

    end subroutine source_draw

end module cg_vectors
