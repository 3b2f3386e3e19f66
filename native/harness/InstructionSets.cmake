# bareline_kernel(SUITE NAME SOURCES file... [FLAGS option...] [LIBRARIES library...]): the program
# SUITE_NAME, as npb_cg and app_ocean, built with all that belongs to the suite.
#
# The program is compiled for several instruction sets, which harness/launch.c chooses from when it
# starts. There is one build and no launcher
#  - with BARELINE_NATIVE_ARCH, which compiles for this machine alone;
#  - for a processor or compiler that does not know the sets.
# SimGrid loads the program into the simulator and could not follow the launcher: who builds for it
# chooses by BARELINE_SIMULATED_SET (generic, avx2 or avx512), since all ranks run on one machine.
# FLAGS are compiler options of this kernel alone.

include(CheckCCompilerFlag)

set(BARELINE_SIMULATED_SET generic CACHE STRING
    "Instruction set of the kernels in a build for SimGrid: generic, avx2, avx512")

set(harness_SOURCE_FOLDER "${CMAKE_CURRENT_LIST_DIR}")

set(KERNEL_FLAGS_generic "")
set(KERNEL_FLAGS_native "") # bareline_flags has -march=native
set(KERNEL_FLAGS_avx2 -mavx2 -mfma -mbmi -mbmi2)
set(KERNEL_FLAGS_avx512 ${KERNEL_FLAGS_avx2} -mavx512f -mavx512cd -mavx512bw -mavx512dq -mavx512vl
    -mprefer-vector-width=512)

set(KERNEL_SETS generic)
set(KERNEL_LAUNCHER OFF)
if(BARELINE_NATIVE_ARCH)
    set(KERNEL_SETS native)
elseif(CMAKE_Fortran_COMPILER_ID STREQUAL "GNU"
        AND CMAKE_SYSTEM_PROCESSOR MATCHES "^(x86_64|AMD64|amd64)$")
    check_c_compiler_flag("${KERNEL_FLAGS_avx512}" BARELINE_HAVE_AVX512_FLAGS)
    if(BARELINE_HAVE_AVX512_FLAGS AND BARELINE_SIMULATED)
        set(KERNEL_SETS ${BARELINE_SIMULATED_SET})
    elseif(BARELINE_HAVE_AVX512_FLAGS)
        list(APPEND KERNEL_SETS avx2 avx512)
        set(KERNEL_LAUNCHER ON)
    endif()
endif()

set(KERNEL_PREFIX "${CMAKE_CURRENT_BINARY_DIR}/prefix")
set(KERNEL_LIBEXEC libexec/bareline/kernels)

# kernel_target(TARGET SET): what every Fortran target of the set SET has.
function(kernel_target target set)
    set(modules "${CMAKE_CURRENT_BINARY_DIR}/modules/${target}")
    set_target_properties(${target} PROPERTIES Fortran_MODULE_DIRECTORY "${modules}")
    target_include_directories(${target} PUBLIC "${modules}")
    target_link_libraries(${target} PUBLIC bareline_flags MPI::MPI_Fortran)
    target_compile_options(${target} PRIVATE
        $<$<COMPILE_LANG_AND_ID:Fortran,GNU>:-std=f2018 -fopenmp-simd>
        ${KERNEL_FLAGS_${set}})
endfunction()

function(bareline_kernel suite name)
    cmake_parse_arguments(kernel "" "" "SOURCES;FLAGS;LIBRARIES" ${ARGN})
    set(program ${suite}_${name})
    foreach(set IN LISTS KERNEL_SETS)
        set(target ${program}_${set})
        add_executable(${target} ${kernel_SOURCES})
        kernel_target(${target} ${set})
        target_compile_options(${target} PRIVATE ${kernel_FLAGS})
        target_link_libraries(${target} PRIVATE harness_${set} ${kernel_LIBRARIES})
        set(folder bin)
        if(KERNEL_LAUNCHER)
            set(folder ${KERNEL_LIBEXEC}/${set})
        endif()
        set_target_properties(${target} PROPERTIES LINKER_LANGUAGE Fortran
            OUTPUT_NAME ${program} RUNTIME_OUTPUT_DIRECTORY "${KERNEL_PREFIX}/${folder}")
        install(TARGETS ${target} RUNTIME DESTINATION ${folder})
        add_dependencies(${suite} ${target})
    endforeach()
    if(KERNEL_LAUNCHER)
        add_executable(${program} ${harness_SOURCE_FOLDER}/launch.c)
        target_compile_definitions(${program} PRIVATE BL_PROGRAM="${program}")
        target_link_libraries(${program} PRIVATE bareline_flags bareline_common)
        set_target_properties(${program} PROPERTIES
            RUNTIME_OUTPUT_DIRECTORY "${KERNEL_PREFIX}/bin")
        install(TARGETS ${program} RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
        add_dependencies(${suite} ${program})
    endif()
endfunction()
