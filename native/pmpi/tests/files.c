/* POSIX files between MPI calls: every rank writes and reads a file of its own, named by the
 * argument. */
#include <fcntl.h>
#include <mpi.h>
#include <stdio.h>
#include <unistd.h>

int main(int argc, char **argv)
{
    static char bytes[4096];
    char name[1024];
    int rank;
    int pipe_ends[2];
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    snprintf(name, sizeof name, "%s.%d", argv[1], rank);
    const int file = open(name, O_RDWR | O_CREAT | O_TRUNC, 0600);
    for (int i = 0; i < 6; i++)
        if (write(file, bytes, 1000) != 1000)
            return 1;
    if (pread(file, bytes, 500, 0) != 500)
        return 1;
    fsync(file);
    close(file);
    /* Not files. */
    if (pipe(pipe_ends) || write(pipe_ends[1], bytes, 10) != 10 ||
        read(pipe_ends[0], bytes, 10) != 10)
        return 1;
    FILE *stream = fopen(name, "r");
    if (!stream || fread(bytes, 1, 4096, stream) != 4096)
        return 1;
    fclose(stream);
    unlink(name);
    MPI_Finalize();
    return 0;
}
