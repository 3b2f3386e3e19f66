/* See facts.h. */
#include "facts.h"

#include <ctype.h>
#include <inttypes.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

/* Time that the hypervisor gave to others, summed over the processors of the affinity mask. */
static int64_t steal_ns(void)
{
    cpu_set_t mine;
    char line[512];
    int64_t ticks = -1;
    FILE *file = fopen("/proc/stat", "re");
    if (!file)
        return -1;
    if (sched_getaffinity(0, sizeof mine, &mine) == 0) {
        while (fgets(line, sizeof line, file)) {
            unsigned processor;
            int64_t steal;
            if (sscanf(line, "cpu%u %*d %*d %*d %*d %*d %*d %*d %" SCNd64, &processor, &steal) ==
                    2 &&
                isdigit((unsigned char)line[3]) && processor < CPU_SETSIZE &&
                CPU_ISSET(processor, &mine))
                ticks = (ticks < 0 ? 0 : ticks) + steal;
        }
    }
    fclose(file);
    return ticks < 0 ? -1 : ticks * (INT64_C(1000000000) / sysconf(_SC_CLK_TCK));
}

/* Second figure of schedstat: ns on the run queue. */
static int64_t queued_ns(void)
{
    int64_t queued = -1;
    FILE *file = fopen("/proc/self/schedstat", "re");
    if (!file)
        return -1;
    if (fscanf(file, "%*d %" SCNd64, &queued) != 1)
        queued = -1;
    fclose(file);
    return queued;
}

struct bl_facts bl_facts_read(void)
{
    struct rusage usage;
    memset(&usage, 0, sizeof usage);
    getrusage(RUSAGE_SELF, &usage);
    return (struct bl_facts){
        .voluntary_switches = usage.ru_nvcsw,
        .involuntary_switches = usage.ru_nivcsw,
        .minor_faults = usage.ru_minflt,
        .major_faults = usage.ru_majflt,
        .memory_bytes = (int64_t)usage.ru_maxrss * 1024,
        .steal_ns = steal_ns(),
        .queued_ns = queued_ns(),
        .processor = sched_getcpu(),
    };
}

struct bl_facts bl_facts_since(const struct bl_facts *then, const struct bl_facts *now)
{
    struct bl_facts since = *now;
    since.voluntary_switches -= then->voluntary_switches;
    since.involuntary_switches -= then->involuntary_switches;
    since.minor_faults -= then->minor_faults;
    since.major_faults -= then->major_faults;
    since.steal_ns = then->steal_ns < 0 || now->steal_ns < 0 ? -1 : now->steal_ns - then->steal_ns;
    since.queued_ns =
        then->queued_ns < 0 || now->queued_ns < 0 ? -1 : now->queued_ns - then->queued_ns;
    return since;
}
