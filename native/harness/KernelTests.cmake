# Tests of the Fortran kernels, through ctest. Nothing here is installed.
#
# kernel_unit_test(SUITE NAME SOURCES file... [RANKS n...] [LIBRARIES library...]): the test program
# test_NAME.f90, on one rank or on RANKS.
# kernel_program_test(SUITE KERNEL RANKS n... WRONG_RANKS n... [TOO_LARGE class] [IN_PART]
# [SPOILED function...]): class S of
# SUITE_KERNEL on so many ranks and with every instruction set; the counts that it refuses; with
# TOO_LARGE a class for which no single machine has the memory; with SPOILED the MPI functions of
# which each, spoiled alone, must make the verification fail. How often it calls MPI's functions
# is held against calls.py beside the suite's tests.

find_package(Python3 3.8 COMPONENTS Interpreter)
list(GET KERNEL_SETS 0 KERNEL_FIRST_SET)

function(kernel_test_properties test)
    # More ranks than cores, each of which spins: not beside another test.
    set_tests_properties(${test} PROPERTIES RUN_SERIAL ON TIMEOUT 600
        ENVIRONMENT "PYTHONPATH=${harness_SOURCE_FOLDER}/../tests:${CMAKE_CURRENT_SOURCE_DIR}")
endfunction()

function(kernel_unit_test suite name)
    cmake_parse_arguments(test "" "" "SOURCES;RANKS;LIBRARIES" ${ARGN})
    set(target test_${suite}_${name})
    add_executable(${target} test_${name}.f90 ${test_SOURCES})
    kernel_target(${target} ${KERNEL_FIRST_SET})
    target_link_libraries(${target}
        PRIVATE bl_check harness_${KERNEL_FIRST_SET} ${test_LIBRARIES})
    set_target_properties(${target} PROPERTIES LINKER_LANGUAGE Fortran)
    add_dependencies(${suite} ${target})
    if(NOT test_RANKS)
        set(test_RANKS 1)
    endif()
    foreach(ranks IN LISTS test_RANKS)
        add_test(NAME ${suite}_${name}_${ranks}_ranks COMMAND ${Python3_EXECUTABLE}
            ${harness_SOURCE_FOLDER}/tests/run_unit_test.py --launcher ${MPIEXEC_EXECUTABLE}
            --ranks ${ranks} $<TARGET_FILE:${target}>)
        kernel_test_properties(${suite}_${name}_${ranks}_ranks)
    endforeach()
endfunction()

function(kernel_program_test suite kernel)
    cmake_parse_arguments(test "IN_PART" "TOO_LARGE" "RANKS;WRONG_RANKS;SPOILED"
        ${ARGN})
    set(program ${suite}_${kernel})
    if(NOT TARGET ${program}_${KERNEL_FIRST_SET})
        return()
    endif()
    set(target ${program}_${KERNEL_FIRST_SET})
    if(KERNEL_LAUNCHER)
        set(target ${program})
    endif()
    set(options --ranks ${test_RANKS} --wrong-ranks ${test_WRONG_RANKS})
    if(test_TOO_LARGE)
        list(APPEND options --too-large ${test_TOO_LARGE})
    endif()
    if(test_IN_PART)
        list(APPEND options --in-part)
    endif()
    if(test_SPOILED)
        list(APPEND options --spoil-functions ${test_SPOILED})
    endif()
    if(KERNEL_LAUNCHER)
        list(APPEND options --instruction-sets ${KERNEL_SETS})
    endif()
    add_test(NAME ${program} COMMAND ${Python3_EXECUTABLE}
        ${harness_SOURCE_FOLDER}/tests/check_program.py
        --launcher ${MPIEXEC_EXECUTABLE} --spoil $<TARGET_FILE:kernel_spoil>
        --program $<TARGET_FILE:${target}> --suite ${suite} --benchmark ${kernel} ${options})
    kernel_test_properties(${program})
endfunction()
