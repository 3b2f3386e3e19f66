/* See collectives.hpp. A function here has the form of SimGrid's, and calls it where that is what
 * Open MPI does. */
#include "collectives.hpp"

#include "algorithms.hpp"
#include "choices.hpp"
#include "messages.hpp"

#include <climits>
#include <numeric>
#include <sstream>

#define GATHER (const void *, int, MPI_Datatype, void *, int, MPI_Datatype, int, MPI_Comm)
#define ALLGATHER (const void *, int, MPI_Datatype, void *, int, MPI_Datatype, MPI_Comm)
#define ALLGATHERV                                                                                 \
    (const void *, int, MPI_Datatype, void *, const int *, const int *, MPI_Datatype, MPI_Comm)
#define ALLTOALLV                                                                                  \
    (const void *, const int *, const int *, MPI_Datatype, void *, const int *, const int *,       \
     MPI_Datatype, MPI_Comm)
#define ALLREDUCE (const void *, void *, int, MPI_Datatype, MPI_Op, MPI_Comm)
#define REDUCE (const void *, void *, int, MPI_Datatype, MPI_Op, int, MPI_Comm)
#define REDUCE_SCATTER (const void *, void *, const int *, MPI_Datatype, MPI_Op, MPI_Comm)
#define BCAST (void *, int, MPI_Datatype, int, MPI_Comm)

/* SimGrid exports these, but installs no header for them. */
namespace simgrid::smpi
{
int gather__ompi GATHER;
int allgather__ompi ALLGATHER;
int allgather__bruck ALLGATHER;
int allgatherv__ompi ALLGATHERV;
int reduce__ompi REDUCE;
int allreduce__ompi ALLREDUCE;
int allreduce__rdb ALLREDUCE;
int allreduce__redbcast ALLREDUCE;
int reduce_scatter__ompi REDUCE_SCATTER;
int bcast__scatter_rdb_allgather BCAST;
namespace colls
{
extern int(*gather) GATHER;
extern int(*allgather) ALLGATHER;
extern int(*allgatherv) ALLGATHERV;
extern int(*alltoallv) ALLTOALLV;
extern int(*allreduce) ALLREDUCE;
extern int(*reduce) REDUCE;
extern int(*reduce_scatter) REDUCE_SCATTER;
extern int(*bcast) BCAST;
} /* namespace colls */
} /* namespace simgrid::smpi */

namespace bareline
{

namespace
{

namespace theirs = simgrid::smpi;

/* From so many bytes a rank and partner on, a simulator of flows shares the ports between all
 * messages for minutes of its own time; in pairs they take as long where the ports bind. */
constexpr long at_once_bytes = 4096;

bool is_power_of_two(int ranks)
{
    return (ranks & (ranks - 1)) == 0;
}

bool commutes(MPI_Op op)
{
    int answer = 1;
    if (op != MPI_OP_NULL)
        MPI_Op_commutative(op, &answer);
    return answer != 0;
}

int bcast(void *data, int count, MPI_Datatype type, int root, MPI_Comm comm)
{
    const auto choice = broadcast_choice(Team(comm).ranks, Elements(type).bytes(count));
    if (choice.how == Broadcast::scattered)
        return theirs::bcast__scatter_rdb_allgather(data, count, type, root, comm);
    return broadcast_tree(choice.shape, data, count, type, root, comm);
}

int reduce(const void *terms, void *result, int count, MPI_Datatype type, MPI_Op op, int root,
           MPI_Comm comm)
{
    if (!commutes(op))
        return theirs::reduce__ompi(terms, result, count, type, op, root, comm);
    const Shape shape = reduction_choice(Team(comm).ranks, Elements(type).bytes(count));
    return reduce_tree(shape, terms, result, count, type, op, root, comm);
}

int allreduce(const void *terms, void *result, int count, MPI_Datatype type, MPI_Op op,
              MPI_Comm comm)
{
    const int ranks = Team(comm).ranks;
    int power = 1;
    while (2 * power <= ranks)
        power *= 2;
    if (!commutes(op))
        return theirs::allreduce__ompi(terms, result, count, type, op, comm);
    switch (sum_choice(ranks, Elements(type).bytes(count))) {
    case Sum::ring:
        if (count >= ranks)
            return sum_around(terms, result, count, type, op, comm);
        break;
    case Sum::halving:
        if (count >= power)
            return sum_by_halves(terms, result, count, type, op, comm);
        return theirs::allreduce__redbcast(terms, result, count, type, op, comm);
    case Sum::reduced:
        return theirs::allreduce__redbcast(terms, result, count, type, op, comm);
    case Sum::doubling:
        break;
    }
    return theirs::allreduce__rdb(terms, result, count, type, op, comm);
}

int reduce_scatter(const void *terms, void *result, const int *counts, MPI_Datatype type, MPI_Op op,
                   MPI_Comm comm)
{
    const int ranks = Team(comm).ranks;
    const int count = std::accumulate(counts, counts + ranks, 0);
    const Parts choice = parts_choice(ranks, Elements(type).bytes(count));
    if (!commutes(op) || choice == Parts::others)
        return theirs::reduce_scatter__ompi(terms, result, counts, type, op, comm);
    return (choice == Parts::halving ? sum_to_parts : sum_and_scatter)(terms, result, counts, type,
                                                                       op, comm);
}

int gather(const void *out, int out_count, MPI_Datatype out_type, void *in, int in_count,
           MPI_Datatype in_type, int root, MPI_Comm comm)
{
    const Team team(comm);
    const long bytes =
        team.rank == root ? Elements(in_type).bytes(in_count) : Elements(out_type).bytes(out_count);
    const bool is_called = (team.ranks < 4 && (bytes < 2 || bytes >= 131072)) ||
                           (team.ranks >= 4 && team.ranks < 8 && bytes >= 262144);
    return (is_called ? gather_called : theirs::gather__ompi)(out, out_count, out_type, in,
                                                              in_count, in_type, root, comm);
}

int allgather(const void *out, int out_count, MPI_Datatype out_type, void *in, int in_count,
              MPI_Datatype in_type, MPI_Comm comm)
{
    const Team team(comm);
    const long bytes = Elements(in_type).bytes(in_count);
    const long doubling_below = team.ranks < 32 ? LONG_MAX : team.ranks < 64 ? 1024 : 512;
    if (team.ranks > 2 && team.ranks < 256 && !is_power_of_two(team.ranks) &&
        bytes < doubling_below)
        return theirs::allgather__bruck(out, out_count, out_type, in, in_count, in_type, comm);
    if (team.ranks >= 32 && team.ranks < 128 && bytes >= 65536) {
        const std::vector<int> counts(static_cast<size_t>(team.ranks), in_count);
        std::vector<int> starts;
        for (int rank = 0; rank < team.ranks; rank++)
            starts.push_back(rank * in_count);
        return gather_around(out, out_count, out_type, in, counts.data(), starts.data(), in_type,
                             comm);
    }
    return theirs::allgather__ompi(out, out_count, out_type, in, in_count, in_type, comm);
}

int allgatherv(const void *out, int out_count, MPI_Datatype out_type, void *in, const int *counts,
               const int *starts, MPI_Datatype in_type, MPI_Comm comm)
{
    const Team team(comm);
    const long bytes =
        Elements(in_type).bytes(std::accumulate(counts, counts + team.ranks, 0L)) / team.ranks;
    /* Where neighbours would swap in twos, which an odd number of ranks cannot. */
    const bool in_twos =
        team.ranks > 2 && team.ranks < 8 &&
        ((bytes >= 256 && bytes < 4096) || (bytes >= 8192 && bytes < 16384) || bytes >= 262144);
    if (in_twos && team.ranks % 2 == 1)
        return gather_around(out, out_count, out_type, in, counts, starts, in_type, comm);
    return theirs::allgatherv__ompi(out, out_count, out_type, in, counts, starts, in_type, comm);
}

int alltoallv(const void *out, const int *out_counts, const int *out_starts, MPI_Datatype out_type,
              void *in, const int *in_counts, const int *in_starts, MPI_Datatype in_type,
              MPI_Comm comm)
{
    const Team team(comm);
    const long bytes =
        Elements(out_type).bytes(std::accumulate(out_counts, out_counts + team.ranks, 0L));
    /* Ranks may choose differently: either way one message goes to each that gets anything. */
    const bool at_once = team.ranks >= 4 && team.ranks < 64 && bytes < at_once_bytes * team.ranks;
    return (at_once ? exchange_at_once : exchange_in_pairs)(
        out, out_counts, out_starts, out_type, in, in_counts, in_starts, in_type, comm);
}

} /* namespace */

void choose_collectives(const std::string &functions)
{
    std::istringstream names(functions);
    std::string name;
    while (names >> name) {
        if (name == "bcast")
            theirs::colls::bcast = bcast;
        else if (name == "reduce")
            theirs::colls::reduce = reduce;
        else if (name == "allreduce")
            theirs::colls::allreduce = allreduce;
        else if (name == "reduce_scatter")
            theirs::colls::reduce_scatter = reduce_scatter;
        else if (name == "gather")
            theirs::colls::gather = gather;
        else if (name == "allgather")
            theirs::colls::allgather = allgather;
        else if (name == "allgatherv")
            theirs::colls::allgatherv = allgatherv;
        else if (name == "alltoallv")
            theirs::colls::alltoallv = alltoallv;
    }
}

} /* namespace bareline */
