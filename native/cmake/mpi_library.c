// Prints which MPI library a C program is linked with; see MpiFamily.cmake.
#include <mpi.h>
#include <stdio.h>

int main(void)
{
    char text[MPI_MAX_LIBRARY_VERSION_STRING];
    int length;
    if (MPI_Get_library_version(text, &length) != MPI_SUCCESS) {
        return 1;
    }
    puts(text);
    return 0;
}
