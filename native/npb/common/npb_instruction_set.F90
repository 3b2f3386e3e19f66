!> The instruction set that this program was compiled for, as the launcher calls it.
module npb_instruction_set

    implicit none (type, external)
    private

    public :: instruction_set

#ifndef NPB_INSTRUCTION_SET
#error "NPB_INSTRUCTION_SET is set by native/npb/CMakeLists.txt"
#endif
    character(*), parameter :: instruction_set = NPB_INSTRUCTION_SET

end module npb_instruction_set
