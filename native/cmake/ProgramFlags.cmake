# Flags of every native program, as the interface target `bareline_flags`.
#
# The default is the compiler's own baseline of the architecture at -O3, so that one build runs on
# every node of a mixed cluster and in a virtual machine whose CPU model hides features. Loops whose
# speed depends on wider vectors choose their code when the program starts (BL_EACH_SET in
# common/bl_dispatch.h). BARELINE_NATIVE_ARCH=ON compiles for this machine alone.

include(CheckCCompilerFlag)
include(CheckCSourceCompiles)

add_library(bareline_flags INTERFACE)

# Debian's and CMake's Release differ between -O2 and -O3; a benchmark says which it means.
target_compile_options(bareline_flags INTERFACE $<$<CONFIG:Release>:-O3>)

if(BARELINE_NATIVE_ARCH)
    check_c_compiler_flag(-march=native BARELINE_HAVE_MARCH_NATIVE)
    if(BARELINE_HAVE_MARCH_NATIVE)
        target_compile_options(bareline_flags INTERFACE -march=native)
    else()
        target_compile_options(bareline_flags INTERFACE -mcpu=native)
    endif()
else()
    check_c_source_compiles("
        __attribute__((target(\"avx2\"))) static double narrow(double x) { return 2 * x; }
        __attribute__((target(\"avx512f\"))) static double wide(double x) { return 2 * x; }
        int main(int n, char **v)
        {
            (void)v;
            return (int)(__builtin_cpu_supports(\"avx512f\") ? wide(n) : narrow(n));
        }"
        BARELINE_HAVE_TARGETS)
    if(BARELINE_HAVE_TARGETS)
        target_compile_definitions(bareline_flags INTERFACE BL_HAVE_TARGETS)
    endif()
endif()

if(BARELINE_STRICT)
    target_compile_options(bareline_flags INTERFACE
        -Wall -Wextra -Werror
        $<$<COMPILE_LANGUAGE:C>:-Wpedantic -Wshadow -Wstrict-prototypes -Wmissing-prototypes>)
endif()

# Messages quote file and line: of the source tree, not of the machine that built it.
check_c_compiler_flag(-fmacro-prefix-map=/=/ BARELINE_HAVE_MACRO_PREFIX_MAP)
if(BARELINE_HAVE_MACRO_PREFIX_MAP)
    target_compile_options(bareline_flags INTERFACE
        $<$<COMPILE_LANGUAGE:C>:-fmacro-prefix-map=${PROJECT_SOURCE_DIR}/native/=>)
endif()
