/*
 * All ranks write files, or one file, and read back what another rank wrote.
 *
 * Exported: bl_parallel.
 *
 * The pattern is IOR's (H. Shan and J. Shalf (2007), Using IOR to analyze the I/O performance for
 * HPC platforms, Cray User Group): a file consists of segments, a segment of one block of each
 * rank, a block of transfers. One segment of large blocks is the segmented pattern, many segments
 * whose block is one transfer the strided one. A time holds opening, all calls, the fsync and
 * closing. The stamps of the data are put in between the calls, some 1 us each 1 MiB.
 */
#include "bl_clock.h"
#include "bl_error.h"
#include "bl_memory.h"
#include "check.h"
#include "iobench_mpi.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* Blocks go round in buffers of this length, so that data does not repeat soon. */
static const size_t round_bytes = (size_t)4 << 20;

/* A stamp's place: the writer above the offset in the file. */
enum { OFFSET_BITS = 44 };

struct parallel {
    struct bl_job job;
    const struct bl_access *access;
    char path[BL_PLACE_BYTES + 16];
    struct bl_file file;
    unsigned char *contents, *buffer; /* each of so many slots for a transfer */
    int64_t slots;
    int64_t transfers; /* of a rank: at most, later those that all ranks wrote */
};

static void choose_file(struct parallel *p, int writer)
{
    const bool own = p->job.options->files == BL_FILES_OWN;
    snprintf(p->path, sizeof p->path, own ? "%s/file-%d" : "%s/file", p->job.place, writer);
    p->file = (struct bl_file){.job = &p->job, .path = p->path};
}

static uint64_t offset_of(const struct parallel *p, int writer, int64_t transfer)
{
    const struct bl_job_options *options = p->job.options;
    const uint64_t each = options->block_bytes / options->transfer_bytes;
    const uint64_t segment = (uint64_t)transfer / each, within = (uint64_t)transfer % each;
    const bool own = options->files == BL_FILES_OWN;
    const uint64_t block = own ? segment : segment * (uint64_t)p->job.ranks + (uint64_t)writer;
    return block * options->block_bytes + within * options->transfer_bytes;
}

static uint64_t place_of(int writer, uint64_t offset)
{
    return (uint64_t)writer << OFFSET_BITS | offset;
}

static unsigned char *slot(const struct parallel *p, unsigned char *data, int64_t transfer)
{
    return data + (size_t)(transfer % p->slots) * p->job.options->transfer_bytes;
}

/* Opening, and so giving up, is common to the ranks where MPI opens one file for all. */
static bool open_file(struct parallel *p, struct bl_pass *pass, bool writing)
{
    bl_pass_lap(pass);
    const bool opened = p->access->open(&p->file, writing);
    pass->open_s = bl_pass_lap(pass);
    if (p->job.options->api != BL_API_POSIX && p->job.options->files == BL_FILES_SHARED)
        bl_job_settle(&p->job);
    return opened;
}

/* Where every call is one of all ranks, a rank goes on after a failure: the others wait for it. */
static bool goes_on(const struct parallel *p)
{
    return !p->job.status || p->access->collective;
}

static void write_one(struct parallel *p, struct bl_pass *pass, int64_t transfer)
{
    const size_t size_bytes = p->job.options->transfer_bytes;
    const uint64_t offset = offset_of(p, p->job.rank, transfer);
    unsigned char *data = slot(p, p->contents, transfer);
    bl_pattern_stamp(data, size_bytes, place_of(p->job.rank, offset));
    bl_pass_lap(pass);
    p->access->write(&p->file, data, size_bytes, offset);
    bl_pass_call(pass, size_bytes);
}

static bool is_over(const struct parallel *p, const struct bl_pass *pass)
{
    const double duration_s = p->job.options->duration_s;
    return duration_s > 0 &&
           BL_SECONDS_PER_NS * (double)(pass->call_ns - pass->begin_ns) >= duration_s;
}

/* Ranks that write together end together: they agree after each block. */
static bool all_are_over(const struct parallel *p, const struct bl_pass *pass, int64_t done)
{
    const struct bl_job_options *options = p->job.options;
    const int64_t each = (int64_t)(options->block_bytes / options->transfer_bytes);
    if (!p->access->collective || options->duration_s <= 0)
        return is_over(p, pass);
    if (done % each)
        return false;
    int over = is_over(p, pass);
    BL_MPI(MPI_Allreduce(MPI_IN_PLACE, &over, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD));
    return over;
}

/* With a duration, each rank goes on to where the fastest one was when it was over (IOR's
 * "stonewalling with wear-out"): the amount is the same for all, and slow ranks are not spared. */
static void write_all(struct parallel *p, struct bl_pass *pass)
{
    int64_t done = 0;
    while (done < p->transfers && goes_on(p)) {
        write_one(p, pass, done++);
        if (all_are_over(p, pass, done))
            break;
    }
    if (p->job.options->duration_s <= 0)
        return;
    BL_MPI(MPI_Allreduce(&done, &p->transfers, 1, MPI_INT64_T, MPI_MAX, MPI_COMM_WORLD));
    while (done < p->transfers && goes_on(p))
        write_one(p, pass, done++);
}

static struct bl_pass write_pass(struct parallel *p)
{
    struct bl_pass pass;
    choose_file(p, p->job.rank);
    bl_pattern_fill(p->contents, (size_t)p->slots * p->job.options->transfer_bytes,
                    (uint64_t)p->job.rank + 1);
    bl_pass_begin(&pass);
    const bool opened = open_file(p, &pass, true);
    if (opened || p->job.options->duration_s > 0)
        write_all(p, &pass);
    bl_pass_lap(&pass);
    /* Both are calls of all ranks where MPI opened one file for all. */
    if (opened && p->job.options->sync == BL_IO_SYNC_FSYNC)
        p->access->sync(&p->file);
    pass.sync_s = bl_pass_lap(&pass);
    if (opened)
        p->access->close(&p->file);
    pass.close_s = bl_pass_lap(&pass);
    bl_pass_end(&pass);
    bl_job_settle(&p->job);
    return pass;
}

/* Has the file that this rank will read taken out of its node's page cache; of all nodes together,
 * how much was in there before and is left. */
static void drop_cache(struct parallel *p, uint64_t cached_bytes[2])
{
    cached_bytes[0] = cached_bytes[1] = 0;
    choose_file(p, p->job.source);
    if (p->job.options->files == BL_FILES_OWN || p->job.node_rank == 0) {
        const int file = open(p->path, O_RDONLY);
        struct stat found;
        if (file < 0 || fstat(file, &found) != 0)
            bl_job_fail_errno(&p->job, errno, "open", p->path);
        else {
            cached_bytes[0] = bl_cached_bytes(file, (uint64_t)found.st_size);
            cached_bytes[1] = bl_cache_drop(file, (uint64_t)found.st_size);
        }
        if (file >= 0)
            close(file);
    }
    bl_job_settle(&p->job);
    BL_MPI(MPI_Allreduce(MPI_IN_PLACE, cached_bytes, 2, MPI_UINT64_T, MPI_SUM, MPI_COMM_WORLD));
}

static void check_one(struct parallel *p, int64_t transfer)
{
    const uint64_t offset = offset_of(p, p->job.source, transfer);
    const size_t size_bytes = p->job.options->transfer_bytes;
    if (!bl_pattern_holds(slot(p, p->buffer, transfer), slot(p, p->contents, transfer), size_bytes,
                          place_of(p->job.source, offset)))
        bl_job_fail(&p->job, BL_STATUS_WRONG,
                    "'%s' does not hold what rank %d wrote within %zu B from offset %" PRIu64
                    ", do not trust this file system",
                    p->path, p->job.source, size_bytes, offset);
}

static void read_all(struct parallel *p, struct bl_pass *pass, bool checks)
{
    const size_t size_bytes = p->job.options->transfer_bytes;
    for (int64_t i = 0; i < p->transfers && goes_on(p); i++) {
        bl_pass_lap(pass);
        p->access->read(&p->file, slot(p, p->buffer, i), size_bytes,
                        offset_of(p, p->job.source, i));
        bl_pass_call(pass, size_bytes);
        if (checks)
            check_one(p, i);
    }
}

/* A pass that checks is another one than that which is timed: comparing between timed calls would
 * let the device rest and the kernel read ahead. */
static struct bl_pass read_pass(struct parallel *p, bool checks)
{
    struct bl_pass pass;
    choose_file(p, p->job.source);
    memset(p->buffer, 0, (size_t)p->slots * p->job.options->transfer_bytes);
    bl_pass_begin(&pass);
    if (open_file(p, &pass, false)) {
        read_all(p, &pass, checks);
        bl_pass_lap(&pass);
        p->access->close(&p->file);
        pass.close_s = bl_pass_lap(&pass);
    }
    bl_pass_end(&pass);
    bl_job_settle(&p->job);
    return pass;
}

/* What the timed calls read last is still in the buffer. */
static void check_last(struct parallel *p)
{
    const int64_t kept = p->transfers < p->slots ? p->transfers : p->slots;
    for (int64_t i = p->transfers - kept; i < p->transfers; i++)
        check_one(p, i);
    bl_job_settle(&p->job);
}

static void report_header(const struct parallel *p, struct bl_json *json)
{
    static const char *const modes[] = {"buffered", "direct"};
    const struct bl_job_options *options = p->job.options;
    bl_job_report_begin(&p->job, json);
    bl_json_string(json, "api", p->access->name);
    bl_json_string(json, "mode", modes[options->mode]);
    bl_json_integer(json, "transfer_bytes", (int64_t)options->transfer_bytes);
    bl_json_integer(json, "block_bytes", (int64_t)options->block_bytes);
    bl_json_integer(json, "segments", options->segments);
    bl_json_number(json, "duration_s", options->duration_s);
    bl_job_report_header(&p->job, json);
}

static void report_point(const struct parallel *p, struct bl_json *json,
                         const struct bl_pass *written, const struct bl_pass *got,
                         const uint64_t cached_bytes[2])
{
    bl_json_begin(json);
    bl_json_open_object(json, "point");
    bl_json_close_object(json);
    bl_json_integer(json, "iterations", (int64_t)written->calls);
    bl_json_bool(json, "verified", true);
    bl_pass_report(&p->job, written, json, "write");
    bl_pass_report(&p->job, got, json, "read");
    bl_json_number(json, "loop_write_rate", (double)written->bytes / written->whole_s);
    bl_json_number(json, "loop_read_rate", (double)got->bytes / got->whole_s);
    bl_json_number(json, "open_s", written->open_s);
    bl_json_number(json, "sync_s", written->sync_s);
    bl_json_number(json, "close_s", written->close_s);
    bl_json_integer(json, "written_bytes", (int64_t)written->bytes);
    bl_json_integer(json, "read_bytes", (int64_t)got->bytes);
    bl_json_integer(json, "cached_after_write_bytes", (int64_t)cached_bytes[0]);
    bl_json_integer(json, "cached_before_read_bytes", (int64_t)cached_bytes[1]);
    if (p->job.rank == 0)
        bl_json_write(json, stdout);
}

void bl_parallel(const struct bl_job_options *options, const struct bl_world *world)
{
    const size_t transfer_bytes = options->transfer_bytes;
    const uint64_t rank_bytes = options->block_bytes * (uint64_t)options->segments;
    const uint64_t ranks = (uint64_t)world->ranks;
    if (rank_bytes > (UINT64_C(1) << OFFSET_BITS) / ranks || world->ranks >= 1 << 19)
        bl_die_together(BL_STATUS_USAGE,
                        "all ranks' data are more than 16 TiB, take smaller blocks");
    struct parallel p = {
        .access = &bl_accesses[options->api],
        .slots = transfer_bytes < round_bytes ? (int64_t)(round_bytes / transfer_bytes) : 1,
        .transfers = (int64_t)(rank_bytes / transfer_bytes),
    };
    p.contents = bl_allocate_huge((size_t)p.slots * transfer_bytes, "a transfer (--transfer)");
    p.buffer = bl_allocate_huge((size_t)p.slots * transfer_bytes, "a transfer (--transfer)");
    bl_job_open(&p.job, options, world, rank_bytes * ranks, ranks + 2);
    struct bl_json json = {0};
    report_header(&p, &json);
    const struct bl_pass written = write_pass(&p);
    uint64_t cached_bytes[2];
    drop_cache(&p, cached_bytes);
    bl_pattern_fill(p.contents, (size_t)p.slots * transfer_bytes, (uint64_t)p.job.source + 1);
    const struct bl_pass got = read_pass(&p, false);
    check_last(&p);
    read_pass(&p, true);
    report_point(&p, &json, &written, &got, cached_bytes);
    if (p.job.rank == 0)
        bl_io_report_end(&json, 1);
    bl_json_free(&json);
    bl_job_close(&p.job);
    free(p.contents);
    free(p.buffer);
}
