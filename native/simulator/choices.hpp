/* Which algorithm Open MPI 4.1 takes, by ranks and bytes.
 *
 * Its monitoring shows what is sent (benchmarks/collective_messages.py holds these to it on up to
 * 64 ranks). Beyond, they are the limits of Open MPI 4.1's fixed decision rules as SimGrid 3.32
 * holds them in its selector "ompi"; those have not been counted.
 */
#ifndef BL_SIMULATOR_CHOICES_HPP
#define BL_SIMULATOR_CHOICES_HPP

#include "trees.hpp"

namespace bareline
{

enum class Broadcast { tree, scattered };
enum class Sum { doubling, reduced, ring, halving };
enum class Parts { halving, reduced, others };

struct BroadcastChoice {
    Broadcast how;
    Shape shape; /* of the tree */
};

BroadcastChoice broadcast_choice(int ranks, long bytes);
Shape reduction_choice(int ranks, long bytes);
Sum sum_choice(int ranks, long bytes);

/* Of a reduction that leaves its parts on all ranks; others are as SimGrid makes them. */
Parts parts_choice(int ranks, long bytes);

} /* namespace bareline */

#endif
