/*
 * Collective functions as osu_allreduce and its kin and, since 2017, IMB do them by default: every
 * call is timed by itself, an untimed barrier follows it, the root stays rank 0; mean over calls
 * and ranks. STYLE names the function.
 *
 * Reductions sum floats, IMB's default type. Sizes are the whole vector of a reduction and one
 * rank's block otherwise. IMB's Reduce_scatter, since 2019, counts a rank's block: its line for
 * SIZE is the one for SIZE * ranks here.
 */
#include "reference.h"

typedef void call_fn(const struct reference *r, int size);

static int floats(int size)
{
    return size / (int)sizeof(float);
}

static void allreduce(const struct reference *r, int size)
{
    MPI_Allreduce(r->send, r->receive, floats(size), MPI_FLOAT, MPI_SUM, MPI_COMM_WORLD);
}

static void reduce(const struct reference *r, int size)
{
    MPI_Reduce(r->send, r->receive, floats(size), MPI_FLOAT, MPI_SUM, 0, MPI_COMM_WORLD);
}

static void reduce_scatter(const struct reference *r, int size)
{
    for (int rank = 0; rank < r->ranks; rank++)
        r->counts[rank] = floats(size) / r->ranks;
    MPI_Reduce_scatter(r->send, r->receive, r->counts, MPI_FLOAT, MPI_SUM, MPI_COMM_WORLD);
}

static void bcast(const struct reference *r, int size)
{
    MPI_Bcast(r->rank == 0 ? r->send : r->receive, size, MPI_BYTE, 0, MPI_COMM_WORLD);
}

static void scatter(const struct reference *r, int size)
{
    MPI_Scatter(r->send, size, MPI_BYTE, r->receive, size, MPI_BYTE, 0, MPI_COMM_WORLD);
}

static void gather(const struct reference *r, int size)
{
    MPI_Gather(r->send, size, MPI_BYTE, r->receive, size, MPI_BYTE, 0, MPI_COMM_WORLD);
}

static void allgather(const struct reference *r, int size)
{
    MPI_Allgather(r->send, size, MPI_BYTE, r->receive, size, MPI_BYTE, MPI_COMM_WORLD);
}

static void alltoall(const struct reference *r, int size)
{
    MPI_Alltoall(r->send, size, MPI_BYTE, r->receive, size, MPI_BYTE, MPI_COMM_WORLD);
}

static const struct function {
    const char *name;
    call_fn *call;
} functions[] = {
    {"allreduce", allreduce}, {"reduce", reduce},     {"reduce_scatter", reduce_scatter},
    {"bcast", bcast},         {"scatter", scatter},   {"gather", gather},
    {"allgather", allgather}, {"alltoall", alltoall},
};

static call_fn *find(const char *name)
{
    for (size_t i = 0; i < sizeof functions / sizeof *functions; i++) {
        if (strcmp(functions[i].name, name) == 0)
            return functions[i].call;
    }
    fprintf(stderr, "reference_collective: no function '%s'\n", name);
    MPI_Abort(MPI_COMM_WORLD, 2);
    return NULL;
}

static double mean_of_calls(const struct reference *r, call_fn *call, int size, long iterations,
                            long warmup)
{
    double spent = 0;
    MPI_Barrier(MPI_COMM_WORLD);
    for (long i = 0; i < iterations + warmup; i++) {
        const double begin = MPI_Wtime();
        call(r, size);
        const double end = MPI_Wtime();
        if (i >= warmup)
            spent += end - begin;
        MPI_Barrier(MPI_COMM_WORLD);
    }
    return spent / (double)iterations;
}

int main(int argc, char **argv)
{
    struct reference r = reference_open(argc, argv);
    call_fn *const call = find(r.style);
    for (long size = r.min_bytes; size <= r.max_bytes; size *= 2) {
        double mean = mean_of_calls(&r, call, (int)size, reference_iterations(&r, size),
                                    reference_warmup(&r, size));
        double sum;
        MPI_Allreduce(&mean, &sum, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
        reference_print(&r, size, sum / r.ranks);
    }
    return reference_close(&r);
}
