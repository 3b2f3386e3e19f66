! Prints which MPI library a Fortran program is linked with; see MpiFamily.cmake.
program mpi_library
    use mpi, only: MPI_MAX_LIBRARY_VERSION_STRING, MPI_SUCCESS
    implicit none(type, external)
    external :: MPI_Get_library_version
    character(len=MPI_MAX_LIBRARY_VERSION_STRING) :: text
    integer :: length, ierror

    call MPI_Get_library_version(text, length, ierror)
    if (ierror /= MPI_SUCCESS) error stop
    write (*, '(a)') text(1:length)
end program mpi_library
