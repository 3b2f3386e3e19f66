!> What is the same on every rank of a simulation, made once (see bl_shared.c). Compiled for a
!> simulator of MPI only.
!>
!> Exported: `shared_give`, `shared_find`. Nothing is collective.
module bl_shared

    use, intrinsic :: iso_c_binding, only: c_char, c_ptr

    implicit none(type, external)
    private

    public :: shared_give, shared_find

    interface
        !> Lets other ranks find `thing` by a name, which ends in a null character. It must stay
        !> where it is until the process ends.
        subroutine shared_give(name, thing) bind(C, name='bl_shared_give')
            import :: c_char, c_ptr
            character(kind=c_char), intent(in) :: name(*)
            type(c_ptr), value :: thing
        end subroutine shared_give

        !> Gives what a rank has given by that name, or a null pointer.
        function shared_find(name) result(thing) bind(C, name='bl_shared_find')
            import :: c_char, c_ptr
            character(kind=c_char), intent(in) :: name(*)
            type(c_ptr) :: thing
        end function shared_find
    end interface

end module bl_shared
