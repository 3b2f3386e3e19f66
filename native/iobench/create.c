/*
 * Making, filling, closing and removing many files of one size.
 *
 * Exported: bl_create.
 *
 * Directories are filled one after another, each by all threads. The rate counts the time from the
 * first call of any thread to the last one's end, syncing directories included; the time of each
 * call is kept, too. The contents are read back and compared before the files are removed. Removal
 * is timed without syncing anything.
 */
#include "bl_clock.h"
#include "bl_error.h"
#include "bl_memory.h"
#include "iobench.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum phase { CREATE, WRITE, SYNC, CLOSE, FILE_, DIRECTORY_SYNC, UNLINK, PHASES };

static const char *const phase_names[PHASES] = {
    "create", "write", "sync", "close", "file", "directory_sync", "unlink",
};

struct job {
    const struct bl_io_options *options;
    int *directories;        /* descriptors */
    atomic_int *left;        /* files still to be made in each */
    double *time_s[PHASES];  /* of each file, or of each directory */
    bool happens[PHASES];    /* with these options */
    pthread_barrier_t start; /* of all threads */
    atomic_bool failed;      /* some thread: the others stop */
};

struct worker {
    struct job *job;
    int index;
    pthread_t thread;
    unsigned char *contents, *found;
    int64_t begin_ns, end_ns;
    int error; /* errno */
    enum phase doing;
    bool wrong;
};

static int directory_of(const struct bl_io_options *options, int file)
{
    return (int)((int64_t)file * options->directories / options->files);
}

static void name_file(char name[16], int file)
{
    snprintf(name, 16, "%d", file);
}

static int64_t note(struct job *job, enum phase phase, int at, int64_t begin_ns)
{
    const int64_t end_ns = bl_clock_ns();
    job->time_s[phase][at] = BL_SECONDS_PER_NS * (double)(end_ns - begin_ns);
    return end_ns;
}

static bool fail(struct worker *worker, enum phase doing, int error)
{
    worker->doing = doing;
    worker->error = bl_io_interrupted ? EINTR : error;
    atomic_store(&worker->job->failed, true);
    return false;
}

/* Each file begins with its number, as far as it is long enough. */
static void mark(const struct worker *worker, int file)
{
    const uint64_t size_bytes = worker->job->options->size_bytes;
    memcpy(worker->contents, &file, size_bytes < sizeof file ? (size_t)size_bytes : sizeof file);
}

static bool fill_and_sync(struct worker *worker, int file, int descriptor, int64_t *clock_ns)
{
    struct job *job = worker->job;
    const size_t size_bytes = (size_t)job->options->size_bytes;
    if (size_bytes) {
        const ssize_t moved = write(descriptor, worker->contents, size_bytes);
        *clock_ns = note(job, WRITE, file, *clock_ns);
        if (moved < 0 || (size_t)moved != size_bytes)
            return fail(worker, WRITE, moved < 0 ? errno : ENOSPC);
    }
    if (job->happens[SYNC]) {
        const int code = fsync(descriptor);
        *clock_ns = note(job, SYNC, file, *clock_ns);
        if (code != 0)
            return fail(worker, SYNC, errno);
    }
    return true;
}

static bool make_file(struct worker *worker, int file)
{
    struct job *job = worker->job;
    const int at = directory_of(job->options, file);
    char name[16];
    name_file(name, file);
    mark(worker, file);
    const int64_t begin_ns = bl_clock_ns();
    const int descriptor = openat(job->directories[at], name, O_WRONLY | O_CREAT | O_EXCL, 0600);
    int64_t clock_ns = note(job, CREATE, file, begin_ns);
    if (descriptor < 0)
        return fail(worker, CREATE, errno);
    if (!fill_and_sync(worker, file, descriptor, &clock_ns)) {
        close(descriptor);
        return false;
    }
    const int code = close(descriptor);
    note(job, CLOSE, file, clock_ns);
    if (code != 0)
        return fail(worker, CLOSE, errno);
    note(job, FILE_, file, begin_ns);
    if (atomic_fetch_sub(&job->left[at], 1) == 1 && job->happens[DIRECTORY_SYNC]) {
        const int64_t sync_ns = bl_clock_ns();
        if (fsync(job->directories[at]) != 0)
            return fail(worker, DIRECTORY_SYNC, errno);
        note(job, DIRECTORY_SYNC, at, sync_ns);
    }
    return true;
}

static bool remove_file(struct worker *worker, int file)
{
    struct job *job = worker->job;
    char name[16];
    name_file(name, file);
    const int64_t begin_ns = bl_clock_ns();
    const int code = unlinkat(job->directories[directory_of(job->options, file)], name, 0);
    note(job, UNLINK, file, begin_ns);
    return code == 0 || fail(worker, UNLINK, errno);
}

/* Untimed: reads a file and compares it. */
static bool check_file(struct worker *worker, int file)
{
    struct job *job = worker->job;
    const size_t size_bytes = (size_t)job->options->size_bytes;
    char name[16];
    name_file(name, file);
    mark(worker, file);
    const int descriptor =
        openat(job->directories[directory_of(job->options, file)], name, O_RDONLY);
    if (descriptor < 0)
        return fail(worker, FILE_, errno);
    struct stat found;
    const bool right = fstat(descriptor, &found) == 0 && (uint64_t)found.st_size == size_bytes &&
                       read(descriptor, worker->found, size_bytes) == (ssize_t)size_bytes &&
                       memcmp(worker->found, worker->contents, size_bytes) == 0;
    close(descriptor);
    worker->wrong = !right;
    return right || fail(worker, FILE_, EIO);
}

static void for_own_files(struct worker *worker, bool (*step)(struct worker *, int))
{
    const struct bl_io_options *options = worker->job->options;
    pthread_barrier_wait(&worker->job->start);
    worker->begin_ns = bl_clock_ns();
    for (int file = worker->index; file < options->files; file += options->threads) {
        if (bl_io_interrupted)
            fail(worker, FILE_, EINTR);
        if (atomic_load(&worker->job->failed) || !step(worker, file))
            break;
    }
    worker->end_ns = bl_clock_ns();
}

static void *run_make(void *data)
{
    for_own_files(data, make_file);
    return NULL;
}

static void *run_check(void *data)
{
    for_own_files(data, check_file);
    return NULL;
}

static void *run_remove(void *data)
{
    for_own_files(data, remove_file);
    return NULL;
}

/* One thread for each worker; returns the time from the first call to the last one's end. */
static double run_threads(struct job *job, struct worker *workers, void *(*run)(void *))
{
    const struct bl_io_options *options = job->options;
    for (int i = 0; i < options->threads; i++) {
        const int error = pthread_create(&workers[i].thread, NULL, run, &workers[i]);
        if (error)
            bl_die(BL_STATUS_FAILED, "cannot start thread %d: %s, take fewer --threads", i,
                   strerror(error));
    }
    int64_t begin_ns = INT64_MAX, end_ns = 0;
    for (int i = 0; i < options->threads; i++) {
        pthread_join(workers[i].thread, NULL);
        begin_ns = workers[i].begin_ns < begin_ns ? workers[i].begin_ns : begin_ns;
        end_ns = workers[i].end_ns > end_ns ? workers[i].end_ns : end_ns;
    }
    for (int i = 0; i < options->threads; i++) {
        if (workers[i].wrong)
            bl_die(BL_STATUS_WRONG,
                   "a file in '%s' does not hold what was written, do not trust "
                   "this file system",
                   options->folder);
        if (workers[i].error)
            bl_place_die(workers[i].error,
                         workers[i].doing == FILE_    ? "make files in"
                         : workers[i].doing == UNLINK ? "remove files of"
                         : workers[i].doing == WRITE  ? "write files in"
                         : workers[i].doing == CREATE ? "create files in"
                                                      : "sync files in",
                         options->folder);
    }
    return BL_SECONDS_PER_NS * (double)(end_ns - begin_ns);
}

static void report_phase(struct job *job, struct bl_json *json, enum phase phase, double elapsed_s)
{
    const struct bl_io_options *options = job->options;
    const int count = phase == DIRECTORY_SYNC ? options->directories : options->files;
    bl_json_begin(json);
    bl_json_open_object(json, "point");
    bl_json_string(json, "phase", phase_names[phase]);
    bl_json_close_object(json);
    bl_json_integer(json, "iterations", count);
    bl_json_bool(json, "verified", true);
    bl_io_report_series(json, "time", job->time_s[phase], (size_t)count);
    if (elapsed_s > 0)
        bl_json_number(json, "loop_rate", count / elapsed_s);
    bl_json_write(json, stdout);
}

static void report_header(struct bl_json *json, const struct bl_io_options *options)
{
    bl_io_report_begin(json, options->benchmark);
    bl_json_integer(json, "size_bytes", (int64_t)options->size_bytes);
    static const char *const methods[] = {"none", "fsync", "directory"};
    bl_json_integer(json, "files", options->files);
    bl_json_integer(json, "threads", options->threads);
    bl_json_integer(json, "directories", options->directories);
    bl_json_string(json, "sync", methods[options->sync]);
    bl_json_close_object(json);
    bl_json_write(json, stdout);
}

static void make_directories(struct job *job, const char *place)
{
    const struct bl_io_options *options = job->options;
    for (int i = 0; i < options->directories; i++) {
        char path[3200];
        snprintf(path, sizeof path, "%s/%d", place, i);
        if (mkdir(path, 0700) != 0)
            bl_place_die(errno, "make", path);
        job->directories[i] = open(path, O_RDONLY | O_DIRECTORY);
        if (job->directories[i] < 0)
            bl_place_die(errno, "open", path);
    }
    for (int file = 0; file < options->files; file++)
        atomic_fetch_add(&job->left[directory_of(options, file)], 1);
}

static struct worker *make_workers(struct job *job)
{
    const struct bl_io_options *options = job->options;
    struct worker *workers =
        bl_allocate((size_t)options->threads * sizeof *workers, "the threads (--threads)");
    for (int i = 0; i < options->threads; i++) {
        workers[i] = (struct worker){.job = job, .index = i};
        workers[i].contents = bl_allocate((size_t)options->size_bytes, "a file (--size)");
        workers[i].found = bl_allocate((size_t)options->size_bytes, "a file (--size)");
        bl_pattern_fill(workers[i].contents, (size_t)options->size_bytes, 1);
    }
    return workers;
}

static void prepare(struct job *job)
{
    const struct bl_io_options *options = job->options;
    const size_t directories = (size_t)options->directories;
    job->directories = bl_allocate(directories * sizeof *job->directories, "the directories");
    job->left = bl_allocate(directories * sizeof *job->left, "the directories");
    for (int i = 0; i < options->directories; i++)
        atomic_init(&job->left[i], 0);
    for (int phase = 0; phase < PHASES; phase++) {
        const int count = phase == DIRECTORY_SYNC ? options->directories : options->files;
        job->time_s[phase] = bl_allocate((size_t)count * sizeof(double), "the times of all calls");
        job->happens[phase] = true;
    }
    job->happens[WRITE] = options->size_bytes > 0;
    job->happens[SYNC] = options->sync == BL_IO_SYNC_FSYNC;
    job->happens[DIRECTORY_SYNC] = options->sync == BL_IO_SYNC_DIRECTORY;
    atomic_init(&job->failed, false);
    pthread_barrier_init(&job->start, NULL, (unsigned)options->threads);
}

static void check_options(const struct bl_io_options *options)
{
    if (options->size_bytes > UINT64_C(1) << 30)
        bl_die(BL_STATUS_USAGE, "--size: a file of create has at most 1 GiB");
    if (options->files < options->directories || options->files < options->threads)
        bl_die(BL_STATUS_USAGE, "--files: %d are fewer than the directories or threads",
               options->files);
}

void bl_create(const struct bl_io_options *options)
{
    check_options(options);
    struct job job = {.options = options};
    prepare(&job);
    struct worker *workers = make_workers(&job);
    const uint64_t units = (options->size_bytes + BL_IO_UNIT_BYTES - 1) / BL_IO_UNIT_BYTES;
    const uint64_t files = (uint64_t)options->files;
    const char *place = bl_place_open(options->folder, files * (units + 1) * BL_IO_UNIT_BYTES,
                                      files + (uint64_t)options->directories + 1);
    make_directories(&job, place);

    struct bl_json json = {0};
    report_header(&json, options);
    const double made_s = run_threads(&job, workers, run_make);
    run_threads(&job, workers, run_check);
    const double removed_s = run_threads(&job, workers, run_remove);
    int points = 0;
    for (int phase = 0; phase < PHASES; phase++) {
        if (!job.happens[phase])
            continue;
        const double elapsed_s = phase == FILE_ ? made_s : phase == UNLINK ? removed_s : 0;
        report_phase(&job, &json, (enum phase)phase, elapsed_s);
        points++;
    }
    bl_io_report_end(&json, points);
    bl_json_free(&json);
    for (int i = 0; i < options->directories; i++)
        close(job.directories[i]);
    for (int i = 0; i < options->threads; i++) {
        free(workers[i].contents);
        free(workers[i].found);
    }
    free(workers);
    for (int phase = 0; phase < PHASES; phase++)
        free(job.time_s[phase]);
    free(job.left);
    free(job.directories);
    pthread_barrier_destroy(&job.start);
}
