/*
 * The pairs of ranks in each round; a rank is in at most one pair of a round.
 *
 * Exported: struct bl_pair, struct bl_schedule, bl_schedule_make, bl_schedule_free. Nothing here is
 * collective: every rank makes the same.
 */
#ifndef BL_SCHEDULE_H
#define BL_SCHEDULE_H

#include <stdbool.h>

struct bl_pair {
    int a, b; /* a < b */
};

struct bl_schedule {
    struct bl_pair *pairs; /* round by round */
    int *begins;           /* of each round, and the end of the last one */
    int rounds;
};

/*
 * All pairs by a round robin tournament (the circle method), or a sample: the pairs whose ranks
 * differ by a power of two. In the sample, each rank meets near ranks, which are on the same switch
 * if the names follow the cabling, and some distant ranks. N ranks need 2 log2 N rounds, and all
 * pairs N - 1 rounds.
 */
struct bl_schedule bl_schedule_make(int ranks, bool all);

void bl_schedule_free(struct bl_schedule *schedule);

#endif
