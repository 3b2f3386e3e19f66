# One MPI library for all programs. Where several are installed side by side, the Fortran wrapper and
# mpiexec belong to the C wrapper that was given: they are looked for in its folder only, under the
# names that go with it (mpicc.mpich -> mpifort.mpich, mpiexec.mpich; smpicc -> smpif90, smpirun).
# PATH may have the wrapper of another library, whose programs fail when they start.

function(_bareline_sibling variable)
    if(DEFINED ${variable})
        return()
    endif()
    find_program(${variable} NAMES ${ARGN} PATHS "${_bareline_mpi_folder}" NO_DEFAULT_PATH)
    if(NOT ${variable})
        unset(${variable} CACHE)
    endif()
endfunction()

# Whether MPI for Fortran may be looked for; if not, why.
set(BARELINE_MPI_FORTRAN_OFFERED ON)
set(BARELINE_MPI_FORTRAN_WHY "no MPI for Fortran (set MPI_Fortran_COMPILER)")

if(MPI_C_COMPILER)
    get_filename_component(_bareline_mpi_folder "${MPI_C_COMPILER}" DIRECTORY)
    get_filename_component(_bareline_mpi_wrapper "${MPI_C_COMPILER}" NAME)
    if(_bareline_mpi_wrapper MATCHES "^mpicc(.+)$")
        _bareline_sibling(MPI_Fortran_COMPILER "mpifort${CMAKE_MATCH_1}" "mpif90${CMAKE_MATCH_1}")
        _bareline_sibling(MPIEXEC_EXECUTABLE "mpiexec${CMAKE_MATCH_1}" "mpirun${CMAKE_MATCH_1}")
    elseif(_bareline_mpi_wrapper MATCHES "^mpii?cc$|^mpiicx$" AND _bareline_mpi_folder)
        # Those of Intel's compilers after the others: mpif90 is for gfortran.
        _bareline_sibling(MPI_Fortran_COMPILER mpifort mpif90 mpifc)
        _bareline_sibling(MPIEXEC_EXECUTABLE mpiexec mpirun)
    elseif(_bareline_mpi_wrapper STREQUAL "smpicc")
        set(BARELINE_SIMULATED ON)
        _bareline_sibling(MPI_Fortran_COMPILER smpif90)
        _bareline_sibling(MPIEXEC_EXECUTABLE smpirun)
    endif()
    if(NOT MPI_Fortran_COMPILER AND _bareline_mpi_folder)
        set(BARELINE_MPI_FORTRAN_OFFERED OFF)
        set(BARELINE_MPI_FORTRAN_WHY
            "this MPI library has no Fortran (no mpifort beside ${MPI_C_COMPILER})")
    endif()
endif()

# bareline_mpi_library(LANGUAGE WRAPPER SOURCE): compiles a program with a compiler wrapper and runs
# it. BARELINE_MPI_LIBRARY_<LANGUAGE> is then the version that its library prints, in one line, or ""
# where no such program builds or runs. By hand, because CMake stops where a wrapper names a folder
# that does not exist. MPI_Get_library_version may be called before MPI_Init: no launcher is needed.
function(bareline_mpi_library language wrapper source)
    set(BARELINE_MPI_LIBRARY_${language} "" PARENT_SCOPE)
    set(program "${CMAKE_BINARY_DIR}/mpi_library_${language}")
    execute_process(COMMAND "${wrapper}" "${source}" -o "${program}"
        WORKING_DIRECTORY "${CMAKE_BINARY_DIR}"
        RESULT_VARIABLE compiled OUTPUT_VARIABLE printed ERROR_VARIABLE printed)
    if(compiled EQUAL 0)
        execute_process(COMMAND "${program}" TIMEOUT 60
            RESULT_VARIABLE ran OUTPUT_VARIABLE printed ERROR_VARIABLE failure)
        if(ran EQUAL 0)
            string(STRIP "${printed}" printed)
            string(REGEX REPLACE "[ \t\r\n;]+" " " printed "${printed}")
            string(SUBSTRING "${printed}" 0 120 printed)
            set(BARELINE_MPI_LIBRARY_${language} "${printed}" PARENT_SCOPE)
            message(STATUS "MPI library of ${language} programs: ${printed}")
            return()
        endif()
        set(printed "${ran}\n${failure}")
    endif()
    message(STATUS "MPI for ${language} makes no program that runs (${wrapper}):\n${printed}")
endfunction()

# bareline_of_this_mpi(LIBRARY RESULT): whether a library may be linked with programs of this MPI. RESULT
# is "" if so, else the reason: it is itself linked with another MPI library, so that a program would
# have two. What the loader finds for it decides, not its name: libraries of the same name exist for
# several versions. A static library, or one that the loader does not read, is taken.
function(bareline_of_this_mpi library result)
    set(${result} "" PARENT_SCOPE)
    if(CMAKE_CROSSCOMPILING)
        return()
    endif()
    execute_process(COMMAND ldd "${library}"
        RESULT_VARIABLE listed OUTPUT_VARIABLE needed ERROR_QUIET)
    if(NOT listed EQUAL 0)
        return()
    endif()
    set(own "")
    foreach(path IN LISTS MPI_C_LIBRARIES)
        get_filename_component(path "${path}" REALPATH)
        list(APPEND own "${path}")
    endforeach()
    # The libraries of MPI itself, by their names in Open MPI, MPICH and what descends from it.
    string(REGEX MATCHALL "lib(mpi|mpich|pmpi)\\.so[.0-9]* => [^ \n]+" lines "${needed}")
    foreach(line IN LISTS lines)
        string(REGEX REPLACE "^.* => " "" path "${line}")
        get_filename_component(real "${path}" REALPATH)
        if(IS_ABSOLUTE "${path}" AND NOT real IN_LIST own)
            set(${result} "${library} is linked with another MPI library (${path})" PARENT_SCOPE)
            return()
        endif()
    endforeach()
endfunction()
