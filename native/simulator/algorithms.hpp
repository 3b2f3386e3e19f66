/* The algorithms themselves; which of them a call takes is in collectives.cpp. */
#ifndef BL_SIMULATOR_ALGORITHMS_HPP
#define BL_SIMULATOR_ALGORITHMS_HPP

#include "trees.hpp"

#include <smpi/smpi.h>

namespace bareline
{

int broadcast_tree(Shape shape, void *data, int count, MPI_Datatype type, int root, MPI_Comm comm);
int reduce_tree(Shape shape, const void *terms, void *result, int count, MPI_Datatype type,
                MPI_Op op, int root, MPI_Comm comm);
int gather_called(const void *out, int out_count, MPI_Datatype out_type, void *in, int in_count,
                  MPI_Datatype in_type, int root, MPI_Comm comm);

/* Parts of a vector go around, are summed on their way, and then go around once more. */
int sum_around(const void *terms, void *result, int count, MPI_Datatype type, MPI_Op op,
               MPI_Comm comm);
/* Halves of a vector go to ranks twice as far each time, and come back (Rabenseifner). */
int sum_by_halves(const void *terms, void *result, int count, MPI_Datatype type, MPI_Op op,
                  MPI_Comm comm);
/* As above, and each rank keeps its part. */
int sum_to_parts(const void *terms, void *result, const int *counts, MPI_Datatype type, MPI_Op op,
                 MPI_Comm comm);
/* The first rank gets the sum, and gives each its part. */
int sum_and_scatter(const void *terms, void *result, const int *counts, MPI_Datatype type,
                    MPI_Op op, MPI_Comm comm);

/* Every rank's part goes around. */
int gather_around(const void *out, int out_count, MPI_Datatype out_type, void *in,
                  const int *counts, const int *starts, MPI_Datatype in_type, MPI_Comm comm);
/* In step k with the ranks that are k places away, without what is empty. */
int exchange_in_pairs(const void *out, const int *out_counts, const int *out_starts,
                      MPI_Datatype out_type, void *in, const int *in_counts, const int *in_starts,
                      MPI_Datatype in_type, MPI_Comm comm);
/* All at once. */
int exchange_at_once(const void *out, const int *out_counts, const int *out_starts,
                     MPI_Datatype out_type, void *in, const int *in_counts, const int *in_starts,
                     MPI_Datatype in_type, MPI_Comm comm);

} /* namespace bareline */

#endif
