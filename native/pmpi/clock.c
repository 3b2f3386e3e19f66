/* See clock.h. */
#include "clock.h"

#include "kernel.h"

#include <stdio.h>
#include <string.h>

bool bl_clock_is_counter;

void bl_clock_choose(char *source, int source_size)
{
    snprintf(source, (size_t)source_size, "unknown");
    const int file = bl_kernel_open(
        "/sys/devices/system/clocksource/clocksource0/current_clocksource", O_RDONLY, 0);
    if (file >= 0) {
        const ssize_t length = bl_kernel_read(file, source, (size_t)source_size - 1);
        bl_kernel_close(file);
        if (length > 0) {
            source[length] = '\0';
            source[strcspn(source, "\n")] = '\0';
        }
    }
#ifdef BL_COUNTER_SOURCE
    bl_clock_is_counter = strcmp(source, BL_COUNTER_SOURCE) == 0;
#endif
}

const char *bl_clock_name(void)
{
    return bl_clock_is_counter ? "cycle counter" : "clock_gettime(CLOCK_MONOTONIC)";
}

struct bl_moment bl_moment_now(void)
{
    return (struct bl_moment){.ticks = bl_now(), .ns = bl_monotonic_ns()};
}

double bl_clock_ns_per_tick(struct bl_moment from, struct bl_moment to)
{
    if (!bl_clock_is_counter || to.ticks <= from.ticks)
        return 1.0;
    return (double)(to.ns - from.ns) / (double)(to.ticks - from.ticks);
}
