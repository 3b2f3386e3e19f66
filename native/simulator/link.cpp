/* Tries whether SimGrid has what the algorithms call. */
#include "collectives.hpp"

int main()
{
    bareline::choose_collectives(
        "bcast reduce allreduce reduce_scatter gather allgather alltoallv");
    return 0;
}
