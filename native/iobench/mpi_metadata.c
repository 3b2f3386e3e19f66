/*
 * All ranks make files, look at them, read and remove those that another rank made.
 *
 * Exported: bl_metadata.
 *
 * The phases are those of mdtest: each rank makes so many files in a directory of its own or in one
 * of all ranks; then all look at the files (stat), read and remove them, each phase begun by all
 * ranks together. Every file holds data of its own, compared before it is removed.
 */
#include "bl_error.h"
#include "bl_memory.h"
#include "check.h"
#include "iobench_mpi.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

struct metadata {
    struct bl_job job;
    char path[BL_PLACE_BYTES + 16]; /* of the directory */
    int directory;                  /* its descriptor */
    int writer;                     /* whose files these are */
    unsigned char *contents, *found;
};

enum { NAME_BYTES = 32 };

static void name_item(const struct metadata *m, char name[NAME_BYTES], int item)
{
    snprintf(name, NAME_BYTES, "%d.%d", m->writer, item);
}

static bool fail(struct metadata *m, int error, const char *doing)
{
    return bl_job_fail_errno(&m->job, bl_io_interrupted ? EINTR : error, doing, m->path);
}

static void choose_directory(struct metadata *m, int writer)
{
    const bool own = m->job.options->files == BL_FILES_OWN;
    m->writer = writer;
    snprintf(m->path, sizeof m->path, own ? "%s/%d" : "%s/all", m->job.place, writer);
    bl_pattern_fill(m->contents, m->job.options->size_bytes, (uint64_t)writer + 1);
}

static void make_directory(struct metadata *m)
{
    choose_directory(m, m->job.rank);
    const bool makes = m->job.options->files == BL_FILES_OWN || m->job.rank == 0;
    if (makes && mkdir(m->path, 0700) != 0)
        fail(m, errno, "make");
    bl_job_settle(&m->job);
}

static bool open_directory(struct metadata *m)
{
    m->directory = open(m->path, O_RDONLY | O_DIRECTORY);
    return m->directory >= 0 || fail(m, errno, "open");
}

/* Each file begins with its number, as far as it is long enough. */
static void mark(struct metadata *m, int item)
{
    const size_t size_bytes = m->job.options->size_bytes;
    memcpy(m->contents, &item, size_bytes < sizeof item ? size_bytes : sizeof item);
}

static bool fill(struct metadata *m, int file)
{
    const size_t size_bytes = m->job.options->size_bytes;
    if (size_bytes) {
        const ssize_t moved = write(file, m->contents, size_bytes);
        if (moved < 0 || (size_t)moved != size_bytes)
            return fail(m, moved < 0 ? errno : ENOSPC, "write files in");
    }
    if (m->job.options->sync == BL_IO_SYNC_FSYNC && fsync(file) != 0)
        return fail(m, errno, "sync files in");
    return true;
}

static bool create_item(struct metadata *m, int item)
{
    char name[NAME_BYTES];
    name_item(m, name, item);
    mark(m, item);
    const int file = openat(m->directory, name, O_WRONLY | O_CREAT | O_EXCL, 0600);
    if (file < 0)
        return fail(m, errno, "create files in");
    const bool filled = fill(m, file);
    return close(file) == 0 ? filled : fail(m, errno, "close files of");
}

static bool wrong(struct metadata *m, const char *name)
{
    return bl_job_fail(&m->job, BL_STATUS_WRONG,
                       "'%s/%s' does not hold what rank %d wrote, do not trust this file system",
                       m->path, name, m->writer);
}

static bool stat_item(struct metadata *m, int item)
{
    char name[NAME_BYTES];
    name_item(m, name, item);
    struct stat found;
    if (fstatat(m->directory, name, &found, 0) != 0)
        return fail(m, errno, "look at files of");
    return (size_t)found.st_size == m->job.options->size_bytes || wrong(m, name);
}

static bool read_item(struct metadata *m, int item)
{
    const size_t size_bytes = m->job.options->size_bytes;
    char name[NAME_BYTES];
    name_item(m, name, item);
    const int file = openat(m->directory, name, O_RDONLY);
    if (file < 0)
        return fail(m, errno, "open files of");
    const ssize_t got = size_bytes ? read(file, m->found, size_bytes) : 0;
    const int error = errno;
    close(file);
    if (got < 0)
        return fail(m, error, "read files of");
    return (size_t)got == size_bytes || wrong(m, name);
}

/* Untimed. */
static bool check_item(struct metadata *m, int item)
{
    char name[NAME_BYTES];
    name_item(m, name, item);
    mark(m, item);
    memset(m->found, 0, m->job.options->size_bytes);
    return read_item(m, item) &&
           (memcmp(m->found, m->contents, m->job.options->size_bytes) == 0 || wrong(m, name));
}

static bool remove_item(struct metadata *m, int item)
{
    char name[NAME_BYTES];
    name_item(m, name, item);
    return unlinkat(m->directory, name, 0) == 0 || fail(m, errno, "remove files of");
}

static struct bl_pass run_phase(struct metadata *m, bool (*step)(struct metadata *, int))
{
    struct bl_pass pass;
    bl_pass_begin(&pass);
    for (int item = 0; item < m->job.options->items; item++) {
        bl_pass_lap(&pass);
        const bool done = bl_io_interrupted ? fail(m, EINTR, "work in") : step(m, item);
        bl_pass_call(&pass, 0);
        if (!done)
            break;
    }
    bl_pass_end(&pass);
    bl_job_settle(&m->job);
    return pass;
}

/* Of the first file that each rank will read, before it does: nothing takes them out. */
static uint64_t cached_bytes(struct metadata *m)
{
    char name[NAME_BYTES];
    name_item(m, name, 0);
    const size_t size_bytes = m->job.options->size_bytes;
    const int file = openat(m->directory, name, O_RDONLY);
    uint64_t cached = size_bytes && file >= 0 ? bl_cached_bytes(file, size_bytes) : 0;
    if (file >= 0)
        close(file);
    BL_MPI(MPI_Allreduce(MPI_IN_PLACE, &cached, 1, MPI_UINT64_T, MPI_SUM, MPI_COMM_WORLD));
    return cached;
}

static void report_header(const struct metadata *m, struct bl_json *json)
{
    bl_job_report_begin(&m->job, json);
    bl_json_integer(json, "items", m->job.options->items);
    bl_json_integer(json, "size_bytes", (int64_t)m->job.options->size_bytes);
    bl_job_report_header(&m->job, json);
}

static void report_phase(const struct metadata *m, struct bl_json *json, const char *name,
                         const struct bl_pass *pass, uint64_t cached)
{
    bl_json_begin(json);
    bl_json_open_object(json, "point");
    bl_json_string(json, "phase", name);
    bl_json_close_object(json);
    bl_json_integer(json, "iterations", (int64_t)pass->calls);
    bl_json_bool(json, "verified", true);
    bl_pass_report(&m->job, pass, json, "phase");
    bl_json_number(json, "loop_rate", (double)pass->calls / pass->whole_s);
    bl_json_integer(json, "cached_before_read_bytes", (int64_t)cached);
    if (m->job.rank == 0)
        bl_json_write(json, stdout);
}

void bl_metadata(const struct bl_job_options *options, const struct bl_world *world)
{
    const uint64_t files = (uint64_t)world->ranks * (uint64_t)options->items;
    const uint64_t units = (options->size_bytes + BL_IO_UNIT_BYTES - 1) / BL_IO_UNIT_BYTES;
    struct metadata m = {
        .contents = bl_allocate(options->size_bytes, "a file (--size)"),
        .found = bl_allocate(options->size_bytes, "a file (--size)"),
    };
    bl_job_open(&m.job, options, world, files * (units + 1) * BL_IO_UNIT_BYTES,
                files + (uint64_t)world->ranks + 2);
    make_directory(&m);
    struct bl_json json = {0};
    report_header(&m, &json);
    open_directory(&m);
    bl_job_settle(&m.job);
    const struct bl_pass created = run_phase(&m, create_item);
    close(m.directory);
    choose_directory(&m, m.job.source);
    open_directory(&m);
    bl_job_settle(&m.job);
    const struct bl_pass looked = run_phase(&m, stat_item);
    const uint64_t cached = cached_bytes(&m);
    const struct bl_pass got = run_phase(&m, read_item);
    run_phase(&m, check_item);
    const struct bl_pass removed = run_phase(&m, remove_item);
    report_phase(&m, &json, "create", &created, 0);
    report_phase(&m, &json, "stat", &looked, 0);
    report_phase(&m, &json, "read", &got, cached);
    report_phase(&m, &json, "remove", &removed, 0);
    if (m.job.rank == 0)
        bl_io_report_end(&json, 4);
    bl_json_free(&json);
    close(m.directory);
    bl_job_close(&m.job);
    free(m.contents);
    free(m.found);
}
