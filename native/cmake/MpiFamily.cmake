# Where several MPI libraries are installed side by side, the compiler wrappers and the launcher
# must be of one family: the Fortran wrapper and mpiexec are derived from the C wrapper's name
# (mpicc.mpich -> mpifort.mpich, mpiexec.mpich; smpicc -> smpif90, smpirun) unless they are given.

function(_bareline_sibling variable)
    if(DEFINED ${variable})
        return()
    endif()
    find_program(${variable} NAMES ${ARGN} HINTS "${_bareline_mpi_folder}")
    if(NOT ${variable})
        unset(${variable} CACHE)
    endif()
endfunction()

if(MPI_C_COMPILER)
    get_filename_component(_bareline_mpi_folder "${MPI_C_COMPILER}" DIRECTORY)
    get_filename_component(_bareline_mpi_wrapper "${MPI_C_COMPILER}" NAME)
    if(_bareline_mpi_wrapper MATCHES "^mpicc(.+)$")
        _bareline_sibling(MPI_Fortran_COMPILER "mpifort${CMAKE_MATCH_1}" "mpif90${CMAKE_MATCH_1}")
        _bareline_sibling(MPIEXEC_EXECUTABLE "mpiexec${CMAKE_MATCH_1}" "mpirun${CMAKE_MATCH_1}")
    elseif(_bareline_mpi_wrapper STREQUAL "mpicc" AND _bareline_mpi_folder)
        _bareline_sibling(MPI_Fortran_COMPILER "mpifort" "mpif90")
        _bareline_sibling(MPIEXEC_EXECUTABLE "mpiexec" "mpirun")
    elseif(_bareline_mpi_wrapper STREQUAL "smpicc")
        set(BARELINE_SIMULATED ON)
        _bareline_sibling(MPI_Fortran_COMPILER "smpif90")
        _bareline_sibling(MPIEXEC_EXECUTABLE "smpirun")
    endif()
endif()
