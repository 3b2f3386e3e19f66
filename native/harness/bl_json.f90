!> JSON lines from Fortran: the writer of native/common/bl_json.h, which all programs share.
!>
!> Names and texts are Fortran strings; an object that opens without a name is an array's element.
!> Nothing here is collective: one process writes.
module bl_json

    use, intrinsic :: iso_c_binding, only: c_bool, c_char, c_double, c_int64_t, c_null_char, &
        c_null_ptr, c_ptr, c_size_t
    use, intrinsic :: ieee_arithmetic, only: ieee_is_finite
    use bl_kinds, only: dp, i4, i8

    implicit none(type, external)
    private

    public :: json_t

    !> `struct bl_json`.
    type, bind(C) :: buffer_t
        type(c_ptr) :: text = c_null_ptr
        integer(c_size_t) :: length = 0
        integer(c_size_t) :: capacity = 0
        logical(c_bool) :: needs_comma = .false._c_bool
    end type buffer_t

    type :: json_t
        private
        type(buffer_t) :: buffer
    contains
        procedure :: begin => json_begin
        procedure :: write => json_write
        procedure :: open_object => json_open_object
        procedure :: close_object => json_close_object
        procedure :: open_array => json_open_array
        procedure :: close_array => json_close_array
        generic :: add => add_text, add_logical, add_real, add_i4, add_i8
        procedure, private :: add_text, add_logical, add_real, add_i4, add_i8
    end type json_t

    interface

        subroutine bl_json_begin(json) bind(C)
            import :: buffer_t
            type(buffer_t), intent(inout) :: json
        end subroutine bl_json_begin

        subroutine bl_json_string(json, key, value) bind(C)
            import :: buffer_t, c_char
            type(buffer_t), intent(inout) :: json
            character(kind=c_char), intent(in) :: key(*), value(*)
        end subroutine bl_json_string

        subroutine bl_json_integer(json, key, value) bind(C)
            import :: buffer_t, c_char, c_int64_t
            type(buffer_t), intent(inout) :: json
            character(kind=c_char), intent(in) :: key(*)
            integer(c_int64_t), value :: value
        end subroutine bl_json_integer

        subroutine bl_json_number(json, key, value) bind(C)
            import :: buffer_t, c_char, c_double
            type(buffer_t), intent(inout) :: json
            character(kind=c_char), intent(in) :: key(*)
            real(c_double), value :: value
        end subroutine bl_json_number

        subroutine bl_json_bool(json, key, value) bind(C)
            import :: buffer_t, c_bool, c_char
            type(buffer_t), intent(inout) :: json
            character(kind=c_char), intent(in) :: key(*)
            logical(c_bool), value :: value
        end subroutine bl_json_bool

        subroutine bl_json_open_object(json, key) bind(C)
            import :: buffer_t, c_char
            type(buffer_t), intent(inout) :: json
            character(kind=c_char), intent(in), optional :: key(*)
        end subroutine bl_json_open_object

        subroutine bl_json_close_object(json) bind(C)
            import :: buffer_t
            type(buffer_t), intent(inout) :: json
        end subroutine bl_json_close_object

        subroutine bl_json_open_array(json, key) bind(C)
            import :: buffer_t, c_char
            type(buffer_t), intent(inout) :: json
            character(kind=c_char), intent(in) :: key(*)
        end subroutine bl_json_open_array

        subroutine bl_json_close_array(json) bind(C)
            import :: buffer_t
            type(buffer_t), intent(inout) :: json
        end subroutine bl_json_close_array

        subroutine bl_json_print(json) bind(C)
            import :: buffer_t
            type(buffer_t), intent(inout) :: json
        end subroutine bl_json_print

    end interface

contains

    !> Starts an object.
    subroutine json_begin(self)
        class(json_t), intent(inout) :: self
        call bl_json_begin(self%buffer)
    end subroutine json_begin

    !> Closes the outermost object and writes it to stdout as one line.
    subroutine json_write(self)
        class(json_t), intent(inout) :: self
        call bl_json_print(self%buffer)
    end subroutine json_write

    subroutine json_open_object(self, key)
        class(json_t), intent(inout) :: self
        character(*), intent(in), optional :: key
        if (present(key)) then
            call bl_json_open_object(self%buffer, terminated(key))
        else
            call bl_json_open_object(self%buffer)
        end if
    end subroutine json_open_object

    subroutine json_close_object(self)
        class(json_t), intent(inout) :: self
        call bl_json_close_object(self%buffer)
    end subroutine json_close_object

    subroutine json_open_array(self, key)
        class(json_t), intent(inout) :: self
        character(*), intent(in) :: key
        call bl_json_open_array(self%buffer, terminated(key))
    end subroutine json_open_array

    subroutine json_close_array(self)
        class(json_t), intent(inout) :: self
        call bl_json_close_array(self%buffer)
    end subroutine json_close_array

    subroutine add_text(self, key, value)
        class(json_t), intent(inout) :: self
        character(*), intent(in) :: key, value
        call bl_json_string(self%buffer, terminated(key), terminated(value))
    end subroutine add_text

    subroutine add_logical(self, key, value)
        class(json_t), intent(inout) :: self
        character(*), intent(in) :: key
        logical, intent(in) :: value
        call bl_json_bool(self%buffer, terminated(key), logical(value, c_bool))
    end subroutine add_logical

    !> JSON has no NaN and no infinity: they are written as a text, which passes for no number.
    subroutine add_real(self, key, value)
        class(json_t), intent(inout) :: self
        character(*), intent(in) :: key
        real(dp), intent(in) :: value
        if (ieee_is_finite(value)) then
            call bl_json_number(self%buffer, terminated(key), value)
        else
            call self%add_text(key, 'not finite')
        end if
    end subroutine add_real

    subroutine add_i4(self, key, value)
        class(json_t), intent(inout) :: self
        character(*), intent(in) :: key
        integer(i4), intent(in) :: value
        call bl_json_integer(self%buffer, terminated(key), int(value, c_int64_t))
    end subroutine add_i4

    subroutine add_i8(self, key, value)
        class(json_t), intent(inout) :: self
        character(*), intent(in) :: key
        integer(i8), intent(in) :: value
        call bl_json_integer(self%buffer, terminated(key), value)
    end subroutine add_i8

    pure function terminated(text) result(c_text)
        character(*), intent(in) :: text
        character(len_trim(text) + 1, kind=c_char) :: c_text
        c_text = trim(text)//c_null_char
    end function terminated

end module bl_json
