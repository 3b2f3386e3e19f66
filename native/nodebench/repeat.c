/* Timing of repetitions; see nodebench.h. */
#include "nodebench.h"

#include "bl_clock.h"
#include "bl_memory.h"

struct bl_series bl_series_make(int most)
{
    return (struct bl_series){
        .time_s = bl_allocate((size_t)most * sizeof(double), "the times of the repetitions"),
    };
}

static double timed(const struct bl_work *work)
{
    if (work->prepare)
        work->prepare(work->data);
    const int64_t begin_ns = bl_clock_ns();
    work->run(work->data);
    const int64_t end_ns = bl_clock_ns();
    return BL_SECONDS_PER_NS * (double)(end_ns - begin_ns);
}

struct bl_series bl_repeat_within(const struct bl_work *work, int repeats, double budget_s)
{
    struct bl_series series = bl_series_make(repeats);
    const int64_t begin_ns = bl_clock_ns();
    const double first_s = timed(work);
    for (; series.count < repeats; series.count++) {
        if (budget_s > 0 && BL_SECONDS_PER_NS * (double)(bl_clock_ns() - begin_ns) > budget_s)
            break;
        series.time_s[series.count] = timed(work);
    }
    if (series.count == 0)
        series.time_s[series.count++] = first_s;
    return series;
}

struct bl_series bl_repeat(void (*work)(void *data), void *data, int repeats)
{
    const struct bl_work plain = {.run = work, .data = data};
    return bl_repeat_within(&plain, repeats, 0);
}
