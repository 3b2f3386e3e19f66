/* Timing of repetitions; see nodebench.h. */
#include "nodebench.h"

#include "bl_clock.h"
#include "bl_memory.h"

struct bl_series bl_repeat(void (*work)(void *data), void *data, int repeats)
{
    struct bl_series series = {
        .time_s = bl_allocate((size_t)repeats * sizeof(double), "the times of the repetitions"),
        .count = repeats,
    };
    work(data);
    for (int i = 0; i < repeats; i++) {
        const int64_t begin_ns = bl_clock_ns();
        work(data);
        const int64_t end_ns = bl_clock_ns();
        series.time_s[i] = BL_SECONDS_PER_NS * (double)(end_ns - begin_ns);
    }
    return series;
}
