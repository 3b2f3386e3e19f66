/* See schedule.h. */
#include "schedule.h"

#include "bl_memory.h"

#include <stdlib.h>

static void add(struct bl_schedule *schedule, int *count, int a, int b)
{
    schedule->pairs[(*count)++] = a < b ? (struct bl_pair){a, b} : (struct bl_pair){b, a};
}

/* One of an even number of players stays, the others go around; with an odd number who meets the
 * one that stays has a rest. */
static void make_tournament(struct bl_schedule *schedule, int ranks)
{
    const int players = ranks + ranks % 2, around = players - 1;
    int count = 0;
    for (int round = 0; round < around; round++) {
        schedule->begins[schedule->rounds++] = count;
        if (players == ranks)
            add(schedule, &count, around, round);
        for (int k = 1; k < players / 2; k++)
            add(schedule, &count, (round + k) % around, (round - k + around) % around);
    }
    schedule->begins[schedule->rounds] = count;
}

static void make_sample(struct bl_schedule *schedule, int ranks)
{
    int count = 0;
    for (int distance = 1; distance < ranks; distance *= 2) {
        for (int phase = 0; phase < 2; phase++) {
            const int begin = count;
            for (int a = 0; a + distance < ranks; a++) {
                if (a / distance % 2 == phase)
                    add(schedule, &count, a, a + distance);
            }
            if (count > begin)
                schedule->begins[schedule->rounds++] = begin;
        }
    }
    schedule->begins[schedule->rounds] = count;
}

struct bl_schedule bl_schedule_make(int ranks, bool all)
{
    enum { MOST_ROUNDS_OF_SAMPLE = 64 };
    const size_t rounds = all ? (size_t)ranks + 1 : MOST_ROUNDS_OF_SAMPLE;
    const size_t pairs = rounds * ((size_t)ranks / 2 + 1);
    struct bl_schedule schedule = {
        .pairs = bl_allocate(pairs * sizeof(struct bl_pair), "the pairs"),
        .begins = bl_allocate((rounds + 1) * sizeof(int), "the rounds"),
    };
    if (all)
        make_tournament(&schedule, ranks);
    else
        make_sample(&schedule, ranks);
    return schedule;
}

void bl_schedule_free(struct bl_schedule *schedule)
{
    free(schedule->pairs);
    free(schedule->begins);
}
