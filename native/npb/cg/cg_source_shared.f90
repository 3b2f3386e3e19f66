!> Where CG's matrix takes its vectors from under a simulator of MPI: one rank draws them, all others
!> read what it drew.
!>
!> All ranks of a simulation run in one process, one after another, and the same vectors on each of
!> 1024 ranks would cost minutes. Those of the first rank stay in memory until the process ends:
!> 12 bytes an entry, 29 MB in class C.
!>
!> Exported: `sparse_vector_t`, `vector_source_t`, with the interface of cg_vectors. Nothing is
!> collective or timed.
module cg_source

    use, intrinsic :: iso_c_binding, only: c_associated, c_f_pointer, c_loc, c_null_char, c_ptr
    use bl_kinds, only: dp, i4
    use bl_shared, only: shared_find, shared_give
    use cg_vectors, only: drawn_source_t => vector_source_t, sparse_vector_t

    implicit none(type, external)
    private

    public :: sparse_vector_t, vector_source_t

    !> v_1, v_2, ... one after another: vector i has the entries first(i) ... first(i + 1) - 1.
    type :: drawn_t
        integer :: na = 0
        integer :: nonzer = 0
        integer, allocatable :: first(:)
        integer(i4), allocatable :: position(:)
        real(dp), allocatable :: value(:)
    end type drawn_t

    !> Delivers v_1, v_2, ...
    type :: vector_source_t
        private
        integer :: next = 1
        type(drawn_t), pointer :: drawn => null()
    contains
        procedure :: draw => source_draw
    end type vector_source_t

    interface vector_source_t
        module procedure new_source
    end interface vector_source_t

    character(*), parameter :: shared_name = 'BARELINE_SHARED_CG_VECTORS'//c_null_char

contains

    type(vector_source_t) function new_source(na, nonzer) result(source)
        integer, intent(in) :: na, nonzer
        type(c_ptr) :: found
        found = shared_find(shared_name)
        if (c_associated(found)) then
            call c_f_pointer(found, source%drawn)
            if (source%drawn%na == na .and. source%drawn%nonzer == nonzer) return
        end if
        allocate (source%drawn)
        call draw_all(na, nonzer, source%drawn)
        call shared_give(shared_name, c_loc(source%drawn))
    end function new_source

    subroutine draw_all(na, nonzer, drawn)
        integer, intent(in) :: na, nonzer
        type(drawn_t), intent(inout) :: drawn
        type(drawn_source_t) :: source
        type(sparse_vector_t) :: vector
        integer :: i, begin
        drawn%na = na
        drawn%nonzer = nonzer
        allocate (drawn%first(na + 1), drawn%position(na*(nonzer + 1)), &
                  drawn%value(na*(nonzer + 1)))
        source = drawn_source_t(na, nonzer)
        begin = 1
        do i = 1, na
            call source%draw(vector)
            drawn%first(i) = begin
            drawn%position(begin:begin + vector%entries - 1) = vector%position(:vector%entries)
            drawn%value(begin:begin + vector%entries - 1) = vector%value(:vector%entries)
            begin = begin + vector%entries
        end do
        drawn%first(na + 1) = begin
    end subroutine draw_all

    !> Gives the next vector.
    subroutine source_draw(self, vector)
        class(vector_source_t), intent(inout) :: self
        type(sparse_vector_t), intent(inout) :: vector
        integer :: begin, n
        associate (drawn => self%drawn)
            if (.not. allocated(vector%position)) allocate (vector%position(drawn%nonzer + 1), &
                                                            vector%value(drawn%nonzer + 1))
            begin = drawn%first(self%next)
            n = drawn%first(self%next + 1) - begin
            vector%entries = n
            vector%position(:n) = drawn%position(begin:begin + n - 1)
            vector%value(:n) = drawn%value(begin:begin + n - 1)
        end associate
        self%next = self%next + 1
    end subroutine source_draw

end module cg_source
