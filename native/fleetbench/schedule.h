/*
 * Which pairs of ranks meet in which round; no rank stands twice in a round.
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
 * All pairs by a round robin tournament (the circle method), or those at distances of powers of
 * two: each rank then meets its neighbours, which hang on the same switch where names follow the
 * cabling, and some far away; 2 log2 N rounds instead of N - 1.
 */
struct bl_schedule bl_schedule_make(int ranks, bool all);

void bl_schedule_free(struct bl_schedule *schedule);

#endif
