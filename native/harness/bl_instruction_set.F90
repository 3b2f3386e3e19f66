!> The instruction set that this program was compiled for, as the launcher calls it.
module bl_instruction_set

    implicit none (type, external)
    private

    public :: instruction_set

#ifndef BL_INSTRUCTION_SET
#error "BL_INSTRUCTION_SET is set by native/npb/CMakeLists.txt"
#endif
    character(*), parameter :: instruction_set = BL_INSTRUCTION_SET

end module bl_instruction_set
