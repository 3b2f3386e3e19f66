/*
 * collective_messages FUNCTION:BYTES...: calls each function once and tells what every rank sent.
 *
 * Under Open MPI, with --mca pml_monitoring_enable 1, each rank prints "CALL FROM TO MESSAGES BYTES":
 * its monitoring reports every message that the library sends, those of collective functions too, to
 * a function that this program puts in the place of its own. Under SimGrid (SIMULATED) call k begins
 * k + 1 times SPACING_S after the start, and the simulated cluster counts what is sent in between.
 *
 * Bytes are those of the whole vector of a reduction, of one rank's block otherwise; vectors hold
 * doubles.
 */
#include <mpi.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#ifdef SIMULATED
#include <simgrid/actor.h>
#endif

enum { SPACING_S = 100 };

static int ranks, rank;
static long *messages, *bytes; /* by peer, of the call that runs; null outside */

#ifndef SIMULATED
void mca_common_monitoring_record_pml(int peer, size_t size_bytes, int tag);
void mca_common_monitoring_record_pml(int peer, size_t size_bytes, int tag)
{
    (void)tag;
    if (messages) {
        messages[peer]++;
        bytes[peer] += (long)size_bytes;
    }
}
#endif

static void call(const char *name, int size, char *out, char *in)
{
    const MPI_Comm world = MPI_COMM_WORLD;
    const int count = size / (int)sizeof(double);
    int counts[ranks], starts[ranks], parts[ranks];
    for (int i = 0; i < ranks; i++) {
        counts[i] = size;
        starts[i] = i * size;
        parts[i] = count / ranks + (i < count % ranks);
    }
    if (!strcmp(name, "barrier"))
        MPI_Barrier(world);
    else if (!strcmp(name, "bcast"))
        MPI_Bcast(out, size, MPI_CHAR, 0, world);
    else if (!strcmp(name, "reduce"))
        MPI_Reduce(out, in, count, MPI_DOUBLE, MPI_SUM, 0, world);
    else if (!strcmp(name, "allreduce"))
        MPI_Allreduce(out, in, count, MPI_DOUBLE, MPI_SUM, world);
    else if (!strcmp(name, "reduce_scatter"))
        MPI_Reduce_scatter(out, in, parts, MPI_DOUBLE, MPI_SUM, world);
    else if (!strcmp(name, "gather"))
        MPI_Gather(out, size, MPI_CHAR, in, size, MPI_CHAR, 0, world);
    else if (!strcmp(name, "scatter"))
        MPI_Scatter(out, size, MPI_CHAR, in, size, MPI_CHAR, 0, world);
    else if (!strcmp(name, "allgather"))
        MPI_Allgather(out, size, MPI_CHAR, in, size, MPI_CHAR, world);
    else if (!strcmp(name, "allgatherv"))
        MPI_Allgatherv(out, size, MPI_CHAR, in, counts, starts, MPI_CHAR, world);
    else if (!strcmp(name, "alltoall"))
        MPI_Alltoall(out, size, MPI_CHAR, in, size, MPI_CHAR, world);
    else if (!strcmp(name, "alltoallv"))
        MPI_Alltoallv(out, counts, starts, MPI_CHAR, in, counts, starts, MPI_CHAR, world);
    else {
        fprintf(stderr, "collective_messages: no function is named '%s'\n", name);
        MPI_Abort(world, 2);
    }
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    for (int k = 1; k < argc; k++) {
        char name[32];
        int size;
        if (sscanf(argv[k], "%31[a-z_]:%d", name, &size) != 2)
            MPI_Abort(MPI_COMM_WORLD, 2);
        const size_t room = (size_t)size * (size_t)ranks + sizeof(double);
        char *const out = calloc(room, 1), *const in = calloc(room, 1);
#ifdef SIMULATED
        sg_actor_sleep_until((double)SPACING_S * k);
        call(name, size, out, in);
#else
        long *const sent = calloc((size_t)ranks, sizeof *sent);
        bytes = calloc((size_t)ranks, sizeof *bytes);
        messages = sent;
        call(name, size, out, in);
        messages = NULL;
        for (int peer = 0; peer < ranks; peer++)
            if (sent[peer])
                printf("%d %d %d %ld %ld\n", k, rank, peer, sent[peer], bytes[peer]);
        free(sent);
        free(bytes);
#endif
        free(out);
        free(in);
    }
    MPI_Finalize();
    return 0;
}
