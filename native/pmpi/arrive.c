/* See arrive.h. */
#include "arrive.h"

#include "clock.h"
#include "kernel.h"
#include "say.h"

#include <limits.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <time.h>

/* All ranks leave MPI_Init at about the same time. */
#define BEGIN_LIMIT_S 20
/* Ranks may have much to do after the others have ended. */
#define END_LIMIT_S 600
#define NAP_LEAST_NS 20000
#define NAP_MOST_NS 1000000

/* One page in the launcher's folder, mapped by every rank of a job on this node. */
enum { OPEN, GO, STOP };
struct meeting {
    atomic_uint arrived;
    atomic_uint verdict;
    atomic_uint said; /* a rank has explained the verdict */
};

struct wait {
    int64_t until_ns;
    long nap_ns;
};

static int limit_s(int standard)
{
    const char *text = getenv("BARELINE_PROFILE_WAIT");
    const long seconds = text ? strtol(text, NULL, 10) : 0;
    return seconds > 0 && seconds <= 1000000 ? (int)seconds : standard;
}

static struct wait wait_for(int seconds)
{
    return (struct wait){
        .until_ns = bl_monotonic_ns() + seconds * INT64_C(1000000000),
        .nap_ns = NAP_LEAST_NS,
    };
}

/* Sleeps a moment, longer each time: ranks may share cores. False: the limit is over. */
static bool nap(struct wait *wait)
{
    const struct timespec moment = {.tv_nsec = wait->nap_ns};
    if (bl_monotonic_ns() > wait->until_ns)
        return false;
    nanosleep(&moment, NULL);
    if (wait->nap_ns < NAP_MOST_NS)
        wait->nap_ns *= 2;
    return true;
}

/* Ranks of this node by the launcher's word; 0 where it says nothing. */
static int ranks_here(int ranks)
{
    static const char *const variables[] = {"OMPI_COMM_WORLD_LOCAL_SIZE", "MPI_LOCALNRANKS"};
    for (size_t i = 0; i < sizeof variables / sizeof *variables; i++) {
        const char *text = getenv(variables[i]);
        const long number = text ? strtol(text, NULL, 10) : 0;
        if (number > 0 && number <= ranks)
            return (int)number;
    }
    return 0;
}

/* The folder is the launcher's, for this job alone, and goes when the job does. */
static bool meeting_path(char *path, size_t size)
{
    const char *folder = getenv("PMIX_SERVER_TMPDIR");
    const char *job = getenv("PMIX_NAMESPACE");
    if (!folder || *folder != '/' || !job || !*job || strchr(job, '/'))
        return false;
    const int length = snprintf(path, size, "%s/bareline-%s", folder, job);
    return length > 0 && (size_t)length < size;
}

static struct meeting *open_meeting(void)
{
    char path[PATH_MAX];
    struct stat status;
    if (!meeting_path(path, sizeof path))
        return NULL;
    const int file = bl_kernel_open(path, O_RDWR | O_CREAT | O_NOFOLLOW | O_NONBLOCK, 0600);
    if (file < 0)
        return NULL;
    struct meeting *meeting = NULL;
    if (fstat(file, &status) == 0 && S_ISREG(status.st_mode) && status.st_uid == geteuid() &&
        ftruncate(file, sizeof *meeting) == 0) {
        void *page = mmap(NULL, sizeof *meeting, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
        meeting = page == MAP_FAILED ? NULL : page;
    }
    bl_kernel_close(file);
    return meeting;
}

/* The first verdict stays: ranks that come at the last moment agree with those that left. */
static unsigned decide(struct meeting *meeting, unsigned verdict)
{
    unsigned open = OPEN;
    atomic_compare_exchange_strong(&meeting->verdict, &open, verdict);
    return atomic_load(&meeting->verdict);
}

/* Whether all ranks of this node have the profiler; true where that cannot be found out. */
static bool meet_on_node(int here)
{
    struct meeting *meeting = here > 1 ? open_meeting() : NULL;
    if (!meeting)
        return true;
    const int limit = limit_s(BEGIN_LIMIT_S);
    struct wait wait = wait_for(limit);
    atomic_fetch_add(&meeting->arrived, 1);
    while (atomic_load(&meeting->verdict) == OPEN && (int)atomic_load(&meeting->arrived) < here &&
           nap(&wait)) {
    }
    const int arrived = (int)atomic_load(&meeting->arrived);
    const unsigned verdict = decide(meeting, arrived >= here ? GO : STOP);
    /* The first to leave speaks for all. */
    if (verdict == STOP && atomic_exchange(&meeting->said, 1) == 0)
        bl_say("%d of %d ranks on this node have no profiler after %d s, so this run is not "
               "profiled; give LD_PRELOAD and BARELINE_PROFILE to every rank, and link no program "
               "statically",
               here - arrived, here, limit);
    munmap(meeting, sizeof *meeting);
    return verdict == GO;
}

/* Whether a request completes before the limit. */
static bool completes(MPI_Request *request, struct wait *wait)
{
    int done = 0;
    do {
        if (PMPI_Test(request, &done, MPI_STATUS_IGNORE) != MPI_SUCCESS)
            return false;
    } while (!done && nap(wait));
    return done;
}

static void meet_between_nodes(int rank)
{
    const int limit = limit_s(BEGIN_LIMIT_S);
    struct wait wait = wait_for(limit);
    MPI_Request barrier;
    if (PMPI_Ibarrier(MPI_COMM_WORLD, &barrier) != MPI_SUCCESS)
        return;
    if (completes(&barrier, &wait))
        return;
    bl_say("rank %d waited %d s for ranks without the profiler; the program is ended: give "
           "LD_PRELOAD and BARELINE_PROFILE to every rank, and link no program statically",
           rank, limit);
    PMPI_Abort(MPI_COMM_WORLD, 1);
}

bool bl_arrive_begin(int rank, int ranks)
{
    const int here = ranks_here(ranks);
    if (!meet_on_node(here))
        return false;
    char path[PATH_MAX];
    if (ranks > 1 && (here < ranks || !meeting_path(path, sizeof path)))
        meet_between_nodes(rank);
    return true;
}

bool bl_arrive_end(MPI_Comm comm, int rank, bl_name_missing *name_missing)
{
    /* The profiler's own communicator: what is left pending there disturbs nobody. */
    MPI_Request barrier;
    MPI_Request told;
    int complete = 0;
    if (PMPI_Ibarrier(comm, &barrier) != MPI_SUCCESS)
        return false;
    if (rank == 0) {
        const int limit = limit_s(END_LIMIT_S);
        struct wait wait = wait_for(limit);
        complete = completes(&barrier, &wait);
        if (!complete) {
            char missing[256];
            name_missing(missing, sizeof missing);
            bl_say("%s did not reach MPI_Finalize within %d s after rank 0; the profile is what "
                   "was gathered until then",
                   missing[0] ? missing : "a rank", limit);
        }
    }
    if (PMPI_Ibcast(&complete, 1, MPI_INT, 0, comm, &told) != MPI_SUCCESS)
        return false;
    /* A rank that waits for rank 0 here would wait for it in MPI_Finalize too. */
    struct wait wait = wait_for(INT_MAX);
    return completes(&told, &wait) && complete;
}
