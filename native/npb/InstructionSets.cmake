# npb_kernel(NAME SOURCES file... [FLAGS option...]): the program npb_NAME.
#
# The program is compiled for several instruction sets, which launch/npb_launch.c chooses from when
# it starts. There is one build and no launcher
#  - with BARELINE_NATIVE_ARCH, which compiles for this machine alone;
#  - for a processor or compiler that does not know the sets;
#  - for SimGrid, which loads the program into the simulator and could not follow the launcher.
# FLAGS are compiler options of this kernel alone.

include(CheckCCompilerFlag)

set(NPB_FLAGS_generic "")
set(NPB_FLAGS_native "") # bareline_flags has -march=native
set(NPB_FLAGS_avx2 -mavx2 -mfma -mbmi -mbmi2)
set(NPB_FLAGS_avx512 ${NPB_FLAGS_avx2} -mavx512f -mavx512cd -mavx512bw -mavx512dq -mavx512vl
    -mprefer-vector-width=512)

set(NPB_SETS generic)
set(NPB_LAUNCHER OFF)
if(BARELINE_NATIVE_ARCH)
    set(NPB_SETS native)
elseif(NOT BARELINE_SIMULATED
        AND CMAKE_Fortran_COMPILER_ID STREQUAL "GNU"
        AND CMAKE_SYSTEM_PROCESSOR MATCHES "^(x86_64|AMD64|amd64)$")
    check_c_compiler_flag("${NPB_FLAGS_avx512}" BARELINE_HAVE_AVX512_FLAGS)
    if(BARELINE_HAVE_AVX512_FLAGS)
        list(APPEND NPB_SETS avx2 avx512)
        set(NPB_LAUNCHER ON)
    endif()
endif()

set(NPB_PREFIX "${CMAKE_CURRENT_BINARY_DIR}/prefix")
set(NPB_LIBEXEC libexec/bareline/npb)

# npb_target(TARGET SET): what every Fortran target of the set SET has.
function(npb_target target set)
    set(modules "${CMAKE_CURRENT_BINARY_DIR}/modules/${target}")
    set_target_properties(${target} PROPERTIES Fortran_MODULE_DIRECTORY "${modules}")
    target_include_directories(${target} PUBLIC "${modules}")
    target_link_libraries(${target} PUBLIC bareline_flags MPI::MPI_Fortran)
    target_compile_options(${target} PRIVATE
        $<$<COMPILE_LANG_AND_ID:Fortran,GNU>:-std=f2018 -fopenmp-simd>
        ${NPB_FLAGS_${set}})
endfunction()

function(npb_kernel name)
    cmake_parse_arguments(kernel "" "" "SOURCES;FLAGS" ${ARGN})
    foreach(set IN LISTS NPB_SETS)
        set(target npb_${name}_${set})
        add_executable(${target} ${kernel_SOURCES})
        npb_target(${target} ${set})
        target_compile_options(${target} PRIVATE ${kernel_FLAGS})
        target_link_libraries(${target} PRIVATE npb_common_${set})
        set(folder bin)
        if(NPB_LAUNCHER)
            set(folder ${NPB_LIBEXEC}/${set})
        endif()
        set_target_properties(${target} PROPERTIES LINKER_LANGUAGE Fortran
            OUTPUT_NAME npb_${name} RUNTIME_OUTPUT_DIRECTORY "${NPB_PREFIX}/${folder}")
        install(TARGETS ${target} RUNTIME DESTINATION ${folder})
        add_dependencies(npb ${target})
    endforeach()
    if(NPB_LAUNCHER)
        add_executable(npb_${name} ${npb_SOURCE_FOLDER}/launch/npb_launch.c)
        target_compile_definitions(npb_${name} PRIVATE NPB_PROGRAM="npb_${name}")
        target_link_libraries(npb_${name} PRIVATE bareline_flags bareline_common)
        set_target_properties(npb_${name} PROPERTIES
            RUNTIME_OUTPUT_DIRECTORY "${NPB_PREFIX}/bin")
        install(TARGETS npb_${name} RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
        add_dependencies(npb npb_${name})
    endif()
endfunction()
