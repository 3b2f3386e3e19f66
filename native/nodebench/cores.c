/* See cores.h. */
#define _GNU_SOURCE /* the processors that a thread may use */
#include "cores.h"

#include "bl_error.h"
#include "bl_memory.h"
#include "bl_summary.h"
#include "nodebench.h"

#include <sched.h>
#include <stdlib.h>
#include <unistd.h>

#ifdef _OPENMP
#include <omp.h>
#endif

enum { MOST_PROCESSORS = 8192 };

static cpu_set_t *read_allowed(size_t size_bytes)
{
    cpu_set_t *set = CPU_ALLOC(MOST_PROCESSORS);
    if (set && sched_getaffinity(0, size_bytes, set) == 0)
        return set;
    CPU_FREE(set);
    return NULL;
}

int bl_cores_allowed(void)
{
    const size_t size_bytes = CPU_ALLOC_SIZE(MOST_PROCESSORS);
    cpu_set_t *set = read_allowed(size_bytes);
    const long online = sysconf(_SC_NPROCESSORS_ONLN);
    const int count = set ? CPU_COUNT_S(size_bytes, set) : (int)online;
    CPU_FREE(set);
    return count > 0 ? count : 1;
}

int bl_cores_of_mode(const struct bl_node_options *options)
{
    if (options->mode == BL_MODE_SINGLE) {
        if (options->threads > 1)
            bl_die(BL_STATUS_USAGE, "--threads: mode single takes 1, or use mode all");
        return bl_threads_set(1);
    }
    return bl_threads_set(options->threads > 0 ? options->threads : bl_cores_allowed());
}

void bl_core_pin(int thread)
{
    const size_t size_bytes = CPU_ALLOC_SIZE(MOST_PROCESSORS);
    cpu_set_t *set = read_allowed(size_bytes);
    cpu_set_t *one = CPU_ALLOC(MOST_PROCESSORS);
    if (set && one) {
        int skip = thread % CPU_COUNT_S(size_bytes, set);
        int processor = 0;
        while (!CPU_ISSET_S(processor, size_bytes, set) || skip-- > 0)
            processor++;
        CPU_ZERO_S(size_bytes, one);
        CPU_SET_S(processor, size_bytes, one);
        sched_setaffinity(0, size_bytes, one); /* 0: the calling thread */
    }
    CPU_FREE(set);
    CPU_FREE(one);
}

double bl_node_peak_rate(const struct bl_peak_kernel *kernel, int cores, double look_s)
{
    double *rates = bl_allocate((size_t)cores * sizeof *rates, "the rates of the cores");
#pragma omp parallel num_threads(cores)
    {
#ifdef _OPENMP
        const int thread = omp_get_thread_num();
#else
        const int thread = 0;
#endif
        rates[thread] = bl_peak_rate(kernel, look_s);
    }
    const double median = bl_summarise(rates, (size_t)cores).median;
    free(rates);
    return median;
}

void bl_node_peak_look(struct bl_node_peak *peak, int cores)
{
    const double look_s = 0.1;
    const struct bl_peak_kernel *kernels;
    const int count = bl_peak_kernels(&kernels);
    peak->kernel = &kernels[count - 1];
    const double rate = bl_node_peak_rate(peak->kernel, cores, look_s);
    if (rate > peak->rate)
        peak->rate = rate;
}

void bl_node_peak_report(struct bl_json *json, const struct bl_node_peak *peak)
{
    bl_json_string(json, "peak_instructions", peak->kernel->name);
    bl_json_number(json, "peak_rate", peak->rate);
}
