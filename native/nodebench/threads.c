/* Threads and caches of the node; see nodebench.h. */
#include "nodebench.h"

#include "bl_error.h"
#include "cores.h"

#include <stdio.h>

#ifdef _OPENMP
#include <omp.h>
#endif

int bl_threads_set(int wanted)
{
#ifdef _OPENMP
    omp_set_dynamic(0);
    if (wanted > 0)
        omp_set_num_threads(wanted);
    int running = 0;
#pragma omp parallel
#pragma omp single
    running = omp_get_num_threads();
    if (wanted > 0 && running != wanted)
        bl_die(BL_STATUS_FAILED, "%d threads asked for, %d started, look at OMP_THREAD_LIMIT",
               wanted, running);
    return running;
#else
    if (wanted == 0)
        wanted = bl_cores_allowed();
    if (wanted > 1)
        bl_die(BL_STATUS_USAGE,
               "--threads: %d cores, and this program was built without OpenMP for one, use "
               "--threads 1 or build with a compiler that has OpenMP (clang: libomp)",
               wanted);
    return 1;
#endif
}

int bl_this_thread(void)
{
#ifdef _OPENMP
    return omp_get_thread_num();
#else
    return 0;
#endif
}

/* Linux tells the caches of a core in one folder for each, in KiB. */
size_t bl_last_level_cache_bytes(void)
{
    size_t largest_bytes = 0;
    for (int index = 0; index < 16; index++) {
        char path[96];
        snprintf(path, sizeof path, "/sys/devices/system/cpu/cpu0/cache/index%d/size", index);
        FILE *file = fopen(path, "r");
        if (!file)
            break;
        size_t size_kib;
        if (fscanf(file, "%zuK", &size_kib) == 1 && size_kib << 10 > largest_bytes)
            largest_bytes = size_kib << 10;
        fclose(file);
    }
    return largest_bytes;
}
