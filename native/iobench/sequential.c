/*
 * Writing a new file from its beginning to its end and reading it back, with blocks of one size.
 *
 * Exported: bl_sequential.
 *
 * Every block size has a file of its own, so that each pays for the allocation of space. The time
 * of a rate is that of its calls; stamping blocks, getting the file out of the page cache and
 * comparing it with what was written are not part of it. Writing ends when the data is on the
 * device, in every mode: the fsync at the end belongs to it. A rate that ends when the last
 * write() returns would be that of the memory in which the page cache lies.
 *
 * Without direct I/O the file is read once more at the end, after the comparison brought it into
 * the page cache: the rate of the cache itself, and not of the device.
 *
 * The buffers are in large pages: direct I/O hands the device one piece for each stretch of
 * contiguous memory, and the rate of large blocks would follow from how fragmented it is.
 */
#include "bl_clock.h"
#include "bl_error.h"
#include "bl_memory.h"
#include "iobench.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct sequential {
    const struct bl_io_options *options;
    char path[3200];
    int file;
    unsigned char *contents, *buffer; /* of `length` bytes, blocks go round in them */
    size_t length;
    size_t block_bytes;
};

/* A file on its way through the calls of one kind. */
struct pass {
    double *time_s; /* of each call */
    size_t calls;
    uint64_t bytes;
    double sum_s;
};

static const char *const mode_names[] = {"buffered", "direct", "synced"};
static const int mode_flags[] = {0, O_DIRECT, O_SYNC};

static double seconds_since(int64_t begin_ns)
{
    return BL_SECONDS_PER_NS * (double)(bl_clock_ns() - begin_ns);
}

static void open_new(struct sequential *s)
{
    const enum bl_io_mode mode = s->options->mode;
    s->file = open(s->path, O_RDWR | O_CREAT | O_EXCL | mode_flags[mode], 0600);
    if (s->file < 0 && errno == EINVAL && mode == BL_IO_DIRECT)
        bl_die(BL_STATUS_FAILED,
               "the file system of '%s' has no direct I/O, use --mode buffered or synced",
               s->options->folder);
    if (s->file < 0)
        bl_place_die(errno, "make", s->path);
    /* Linux 6.6 and later open files of tmpfs for direct I/O all the same. */
    if (mode == BL_IO_DIRECT && bl_lies_in_memory(s->file))
        bl_die(BL_STATUS_FAILED,
               "'%s' lies in memory: direct I/O reaches no device, use --mode buffered or another "
               "folder",
               s->options->folder);
}

/* Fails unless a call moved a whole block. */
static void check_call(const struct sequential *s, ssize_t moved, const char *doing)
{
    if (bl_io_interrupted)
        bl_place_die(EINTR, doing, s->path);
    if (moved < 0 && errno == EINVAL && s->options->mode == BL_IO_DIRECT)
        bl_die(BL_STATUS_FAILED,
               "direct I/O of %zu B is refused in '%s', use other --blocks or --mode buffered",
               s->block_bytes, s->options->folder);
    if (moved < 0)
        bl_place_die(errno, doing, s->path);
    /* A write stops short where the space ends, a read where the file does. */
    if ((size_t)moved != s->block_bytes)
        bl_place_die(doing[0] == 'w' ? ENOSPC : EIO, doing, s->path);
}

static struct pass begin_pass(const struct sequential *s, uint64_t size_bytes)
{
    const size_t most = (size_t)(size_bytes / s->block_bytes);
    return (struct pass){.time_s = bl_allocate(most * sizeof(double), "the times of all calls")};
}

static void count_call(struct pass *pass, size_t block_bytes, double time_s)
{
    pass->time_s[pass->calls++] = time_s;
    pass->sum_s += time_s;
    pass->bytes += block_bytes;
}

static struct pass write_file(struct sequential *s)
{
    const uint64_t size_bytes = s->options->size_bytes / s->block_bytes * s->block_bytes;
    struct pass pass = begin_pass(s, size_bytes);
    while (pass.bytes < size_bytes && pass.sum_s < s->options->budget_s) {
        unsigned char *block = s->contents + pass.bytes % s->length;
        bl_pattern_stamp(block, s->block_bytes, pass.bytes);
        const int64_t begin_ns = bl_clock_ns();
        const ssize_t moved = write(s->file, block, s->block_bytes);
        const double time_s = seconds_since(begin_ns);
        check_call(s, moved, "write");
        count_call(&pass, s->block_bytes, time_s);
    }
    return pass;
}

static double sync_file(struct sequential *s)
{
    if (s->options->mode == BL_IO_SYNCED)
        return 0;
    const int64_t begin_ns = bl_clock_ns();
    const int code = fsync(s->file);
    const double time_s = seconds_since(begin_ns);
    if (code != 0)
        bl_place_die(errno, "sync", s->path);
    return time_s;
}

static void rewind_file(const struct sequential *s)
{
    if (lseek(s->file, 0, SEEK_SET) != 0)
        bl_place_die(errno, "rewind", s->path);
}

static struct pass read_file(struct sequential *s, uint64_t size_bytes)
{
    struct pass pass = begin_pass(s, size_bytes);
    memset(s->buffer, 0, s->length); /* what is not read must not pass */
    rewind_file(s);
    while (pass.bytes < size_bytes && pass.sum_s < s->options->budget_s) {
        unsigned char *block = s->buffer + pass.bytes % s->length;
        const int64_t begin_ns = bl_clock_ns();
        const ssize_t moved = read(s->file, block, s->block_bytes);
        const double time_s = seconds_since(begin_ns);
        check_call(s, moved, "read");
        count_call(&pass, s->block_bytes, time_s);
    }
    return pass;
}

static void check_part(const struct sequential *s, uint64_t offset, size_t size_bytes)
{
    const size_t at = (size_t)(offset % s->length);
    if (!bl_pattern_holds(s->buffer + at, s->contents + at, size_bytes, offset))
        bl_die(BL_STATUS_WRONG,
               "'%s' does not hold what was written within %zu B from offset %" PRIu64
               ", do not trust this file system",
               s->path, size_bytes, offset);
}

/* What the timed calls read last is still in the buffer. */
static void check_last(const struct sequential *s, uint64_t bytes)
{
    const uint64_t kept_bytes = bytes < s->length ? bytes : s->length;
    for (uint64_t offset = bytes - kept_bytes; offset < bytes; offset += s->block_bytes)
        check_part(s, offset, s->block_bytes);
}

/* All of the file, in a pass of its own: comparing between timed calls would let the device rest
 * and the kernel read ahead. */
static void check_all(struct sequential *s, uint64_t size_bytes)
{
    memset(s->buffer, 0, s->length);
    rewind_file(s);
    for (uint64_t offset = 0; offset < size_bytes;) {
        const uint64_t left = size_bytes - offset;
        const size_t wanted = (size_t)(left < s->length ? left : s->length);
        const ssize_t got = read(s->file, s->buffer, wanted);
        if (bl_io_interrupted)
            bl_place_die(EINTR, "read", s->path);
        if (got < 0 || (size_t)got != wanted)
            bl_place_die(got < 0 ? errno : EIO, "read", s->path);
        check_part(s, offset, wanted);
        offset += wanted;
    }
}

/* Prints the pass that the page cache served; `kept_bytes` of the file were in it before. */
static void report_cached(struct bl_json *json, const struct pass *cached, uint64_t kept_bytes)
{
    bl_io_report_series(json, "cached_read_time", cached->time_s, cached->calls);
    bl_json_number(json, "loop_cached_read_rate", (double)cached->bytes / cached->sum_s);
    bl_json_integer(json, "cached_read_bytes", (int64_t)cached->bytes);
    bl_json_integer(json, "kept_bytes", (int64_t)kept_bytes);
}

static void report(const struct sequential *s, struct bl_json *json, const struct pass *written,
                   double sync_s, const struct pass *got, uint64_t cached_after_write_bytes,
                   uint64_t cached_before_read_bytes)
{
    bl_json_begin(json);
    bl_json_open_object(json, "point");
    bl_json_integer(json, "block_bytes", (int64_t)s->block_bytes);
    bl_json_close_object(json);
    bl_json_integer(json, "iterations", (int64_t)written->calls);
    bl_json_bool(json, "verified", true);
    bl_io_report_series(json, "write_time", written->time_s, written->calls);
    bl_io_report_series(json, "read_time", got->time_s, got->calls);
    bl_json_number(json, "loop_write_rate", (double)written->bytes / (written->sum_s + sync_s));
    bl_json_number(json, "loop_read_rate", (double)got->bytes / got->sum_s);
    bl_json_number(json, "sync_s", sync_s);
    bl_json_integer(json, "written_bytes", (int64_t)written->bytes);
    bl_json_integer(json, "read_bytes", (int64_t)got->bytes);
    bl_json_integer(json, "cached_after_write_bytes", (int64_t)cached_after_write_bytes);
    bl_json_integer(json, "cached_before_read_bytes", (int64_t)cached_before_read_bytes);
}

static void measure(struct sequential *s, size_t block_bytes, size_t largest_bytes,
                    struct bl_json *json)
{
    s->block_bytes = block_bytes;
    s->length = largest_bytes / block_bytes * block_bytes;
    open_new(s);
    struct pass written = write_file(s);
    const double sync_s = sync_file(s);
    const uint64_t cached_after_write_bytes = bl_cached_bytes(s->file, written.bytes);
    const uint64_t cached_before_read_bytes = bl_cache_drop(s->file, written.bytes);
    struct pass got = read_file(s, written.bytes);
    check_last(s, got.bytes);
    check_all(s, written.bytes);
    report(s, json, &written, sync_s, &got, cached_after_write_bytes, cached_before_read_bytes);
    if (s->options->mode != BL_IO_DIRECT) {
        const uint64_t kept_bytes = bl_cached_bytes(s->file, written.bytes);
        struct pass cached = read_file(s, written.bytes);
        check_last(s, cached.bytes);
        report_cached(json, &cached, kept_bytes);
        free(cached.time_s);
    }
    bl_json_write(json, stdout);
    free(written.time_s);
    free(got.time_s);
    close(s->file);
    if (unlink(s->path) != 0)
        bl_place_die(errno, "remove", s->path);
}

static void report_header(struct bl_json *json, const struct bl_io_options *options)
{
    bl_io_report_begin(json, options->benchmark);
    bl_json_integer(json, "size_bytes", (int64_t)options->size_bytes);
    bl_json_string(json, "mode", mode_names[options->mode]);
    bl_json_number(json, "budget_s", options->budget_s);
    bl_json_close_object(json);
    bl_json_write(json, stdout);
}

void bl_sequential(const struct bl_io_options *options)
{
    size_t largest_bytes = 0;
    for (int i = 0; i < options->blocks; i++) {
        if (options->blocks_bytes[i] > largest_bytes)
            largest_bytes = options->blocks_bytes[i];
    }
    if (options->size_bytes < largest_bytes)
        bl_die(BL_STATUS_USAGE, "--size: %" PRIu64 " B is less than a block of %zu B",
               options->size_bytes, largest_bytes);
    struct sequential s = {
        .options = options,
        .contents = bl_allocate_huge(largest_bytes, "a block (--blocks)"),
        .buffer = bl_allocate_huge(largest_bytes, "a block (--blocks)"),
    };
    const char *place = bl_place_open(options->folder, options->size_bytes, 2);
    snprintf(s.path, sizeof s.path, "%s/file", place);
    struct bl_json json = {0};
    report_header(&json, options);
    for (int i = 0; i < options->blocks; i++) {
        bl_pattern_fill(s.contents, largest_bytes, (uint64_t)i + 1);
        measure(&s, options->blocks_bytes[i], largest_bytes, &json);
    }
    bl_io_report_end(&json, options->blocks);
    bl_json_free(&json);
    free(s.contents);
    free(s.buffer);
}
