/* See trace.h. */
#include "trace.h"

#include "call.h"
#include "journal.h"
#include "kernel.h"
#include "output.h"
#include "say.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#define TRACE_MAGIC "BLTRACE"
#define TRACE_VERSION 2
#define STREAM_AT 4096
#define SHAPES_MAX (1u << 20)
#define FIRST_SLOTS 1024
/* Room that one record needs at most. */
#define RECORD_MAX 160
#define PIECE ((size_t)1 << 18)

struct head {
    char magic[8];
    uint32_t version;
    uint32_t ranks;
    uint64_t slice_size; /* 0: slices follow each other, each after its length */
    int64_t began_unix_ns;
    uint32_t calls;
    uint32_t names_length; /* lines "name kind", in the order of enum bl_call */
    char command[512];
    char names[32768];
};

_Static_assert(sizeof(struct head) == BL_TRACE_HEAD_SIZE, "as packing.c copies it");
_Static_assert(offsetof(struct head, slice_size) == BL_TRACE_SLICE_SIZE_AT, "the same");

/* Before each stream. */
struct slice {
    uint32_t state; /* enum bl_state */
    uint32_t rank;
    uint32_t counter; /* ticks are the processor's counter, not ns */
    uint32_t shapes;
    struct bl_moment prepared;
    struct bl_moment began;
    struct bl_moment seen;
    uint64_t used; /* of the stream */
    uint64_t calls;
    uint64_t lost; /* calls for which there was no room, or that were not looked at */
};

/* What tells shapes apart; without gaps, so that it can be compared as bytes. */
struct shape {
    struct bl_ends ends;
    uint32_t call;
    uint32_t posts;
    uint64_t size;
    uint64_t sent;
    uint64_t received;
};
_Static_assert(sizeof(struct shape) == 64, "no gaps");

static struct {
    struct slice *slice;
    uint8_t *stream;
    size_t room;   /* bytes that may be touched */
    size_t most;   /* bytes that the stream may have */
    off_t file_at; /* of the stream; file < 0: anonymous memory */
    int file;
    struct shape *shapes;
    uint32_t shape_capacity;
    uint32_t *index; /* shape + 1 */
    uint32_t mask;
    size_t last_at; /* times of the latest record */
    uint32_t last_shape;
    bool last_polls;
    uint64_t last_compute;
    uint64_t last_spent;
} trace = {.file = -1};

static size_t slice_size(const struct bl_trace_job *job)
{
    const size_t share = job->limit / (uint64_t)job->ranks;
    const size_t least = PIECE;
    return (share < least ? least : share) / BL_JOURNAL_PIECE * BL_JOURNAL_PIECE;
}

static struct head *make_head(const struct bl_trace_job *job)
{
    struct head *head = calloc(1, sizeof *head);
    if (!head)
        return NULL;
    memcpy(head->magic, TRACE_MAGIC, sizeof TRACE_MAGIC);
    head->version = TRACE_VERSION;
    head->ranks = (uint32_t)job->ranks;
    head->slice_size = slice_size(job);
    head->began_unix_ns = job->began_unix_ns;
    head->calls = BL_CALL_COUNT;
    snprintf(head->command, sizeof head->command, "%s", job->command);
    for (int call = 0; call < BL_CALL_COUNT; call++)
        head->names_length += (uint32_t)snprintf(
            head->names + head->names_length, sizeof head->names - head->names_length, "%s %s\n",
            bl_call_names[call], bl_kind_names[bl_call_kinds[call]]);
    return head;
}

bool bl_trace_create(const char *path, const struct bl_trace_job *job)
{
    _Static_assert(sizeof(struct head) <= BL_JOURNAL_PIECE, "head fits its piece");
    char name[PATH_MAX + 32];
    snprintf(name, sizeof name, "%s.journal", path);
    struct head *head = make_head(job);
    const char *at = path;
    const char *refusal = head ? bl_output_refusal(path) : strerror(ENOMEM);
    if (!refusal) {
        at = name;
        refusal = bl_journal_write(name, head, sizeof *head);
    }
    if (refusal)
        bl_say("%s: cannot be written (%s), this run is not traced", at, refusal);
    else
        unlink(path); /* what an earlier run left must not pass for this one's */
    free(head);
    return !refusal;
}

/* Makes sure that the file has pages where the stream goes on. */
static bool extend(size_t wanted)
{
    static const char zeros[BL_JOURNAL_PIECE];
    while (trace.room < wanted) {
        if (trace.room >= trace.most)
            return false;
        if (trace.file >= 0 &&
            bl_kernel_write_at(trace.file, zeros, sizeof zeros,
                               trace.file_at + (off_t)trace.room) != (ssize_t)sizeof zeros)
            return false;
        trace.room += sizeof zeros;
    }
    return true;
}

bool bl_trace_open(const char *path, const struct bl_trace_job *job, struct bl_moment prepared,
                   struct bl_moment began)
{
    char name[PATH_MAX + 32];
    snprintf(name, sizeof name, "%s.journal", path);
    const size_t size = slice_size(job);
    const off_t at = (off_t)BL_JOURNAL_PIECE + (off_t)job->rank * (off_t)size;
    trace.file = bl_output_reopen(name, O_RDWR);
    void *memory = trace.file < 0
                       ? MAP_FAILED
                       : mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, trace.file, at);
    if (memory == MAP_FAILED) {
        trace.file = -1;
        memory = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    }
    trace.index = calloc(FIRST_SLOTS, sizeof *trace.index);
    trace.mask = FIRST_SLOTS - 1;
    if (memory == MAP_FAILED || !trace.index)
        return false;
    /* Counted from the slice's begin while it is opened, from the stream's afterwards. */
    trace.file_at = at;
    trace.most = size;
    if (!extend(STREAM_AT + RECORD_MAX))
        return false;
    trace.slice = memory;
    trace.stream = (uint8_t *)memory + STREAM_AT;
    trace.file_at += STREAM_AT;
    trace.room -= STREAM_AT;
    trace.most -= STREAM_AT;
    *trace.slice = (struct slice){
        .rank = (uint32_t)job->rank,
        .counter = bl_clock_is_counter,
        .prepared = prepared,
        .began = began,
        .seen = began,
        .state = BL_STATE_RUNNING,
    };
    return true;
}

/* The stream ---------------------------------------------------------------------------------- */

static uint8_t *put_number(uint8_t *at, uint64_t value)
{
    while (value >= 0x80) {
        *at++ = (uint8_t)(value | 0x80);
        value >>= 7;
    }
    *at++ = (uint8_t)value;
    return at;
}

static uint8_t *put_signed(uint8_t *at, int64_t value)
{
    return put_number(at, (uint64_t)value << 1 ^ (uint64_t)(value >> 63));
}

/*
 * Ticks in 16 bits: exact below 2048, then eleven significant bits, so that a time is true to
 * 0.05 %.
 */
static uint16_t time_code(uint64_t ticks)
{
    if (ticks < 2048)
        return (uint16_t)ticks;
    const unsigned shift = 53 - (unsigned)__builtin_clzll(ticks);
    return (uint16_t)((shift << 10) + (ticks >> shift));
}

static uint8_t *put_times(uint8_t *at, uint64_t compute, uint64_t spent)
{
    const uint16_t codes[2] = {time_code(compute), time_code(spent)};
    for (int i = 0; i < 2; i++) {
        *at++ = (uint8_t)codes[i];
        *at++ = (uint8_t)(codes[i] >> 8);
    }
    return at;
}

static uint8_t *put_shape(uint8_t *at, const struct shape *shape)
{
    const struct bl_ends *ends = &shape->ends;
    at = put_number(at, shape->call);
    at = put_number(at, shape->posts);
    at = put_signed(at, ends->to);
    at = put_signed(at, ends->from);
    at = put_signed(at, ends->root);
    at = put_signed(at, ends->send_tag);
    at = put_signed(at, ends->receive_tag);
    at = put_number(at, ends->comm);
    at = put_number(at, (uint32_t)ends->comm_size);
    at = put_number(at, shape->size);
    at = put_number(at, shape->sent);
    at = put_number(at, shape->received);
    return put_number(at, ends->element);
}

static uint32_t slot_of(const struct shape *shape)
{
    uint64_t words[sizeof *shape / 8];
    memcpy(words, shape, sizeof words);
    uint64_t mixed = 0;
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        mixed = (mixed ^ words[i]) * UINT64_C(0x9e3779b97f4a7c15) + (mixed >> 29);
    uint32_t slot = (uint32_t)(mixed >> 32) & trace.mask;
    while (trace.index[slot] &&
           memcmp(&trace.shapes[trace.index[slot] - 1], shape, sizeof *shape) != 0)
        slot = (slot + 1) & trace.mask;
    return slot;
}

static bool make_room_for_shape(void)
{
    const uint32_t count = trace.slice->shapes;
    if (count == SHAPES_MAX)
        return false;
    if (count == trace.shape_capacity) {
        const uint32_t capacity = count ? 2 * count : 256;
        struct shape *shapes = realloc(trace.shapes, capacity * sizeof *shapes);
        if (!shapes)
            return false;
        trace.shapes = shapes;
        trace.shape_capacity = capacity;
    }
    if (2 * count >= trace.mask) {
        const uint32_t slots = 2 * (trace.mask + 1);
        uint32_t *index = calloc(slots, sizeof *index);
        if (!index)
            return false;
        free(trace.index);
        trace.index = index;
        trace.mask = slots - 1;
        for (uint32_t i = 0; i < count; i++)
            trace.index[slot_of(&trace.shapes[i])] = i + 1;
    }
    return true;
}

/* Writes the number of a shape, and the shape if it is new; NULL without room. */
static uint8_t *put_shape_number(const struct shape *shape, uint32_t *number)
{
    if (trace.slice->used + RECORD_MAX > trace.room && !extend(trace.slice->used + RECORD_MAX))
        return NULL;
    uint8_t *at = trace.stream + trace.slice->used;
    uint32_t slot = slot_of(shape);
    if (trace.index[slot]) {
        *number = trace.index[slot] - 1;
        return put_number(at, (uint64_t)*number + 1);
    }
    if (!make_room_for_shape())
        return NULL;
    slot = slot_of(shape);
    *number = trace.slice->shapes++;
    trace.shapes[*number] = *shape;
    trace.index[slot] = *number + 1;
    return put_shape(put_number(at, 0), shape);
}

/* A stream that lacks one call has none after it: what follows could not be matched. */
static bool is_going(void)
{
    if (!trace.slice)
        return false;
    if (trace.slice->lost)
        trace.slice->lost++;
    return !trace.slice->lost;
}

void bl_trace_lose(void)
{
    if (trace.slice && !trace.slice->lost)
        trace.slice->lost = 1;
}

void bl_trace_call(const struct bl_trace_call *call)
{
    if (!is_going())
        return;
    const struct shape shape = {
        .ends = call->ends,
        .call = call->call,
        .posts = call->posts,
        .size = call->size,
        .sent = call->sent,
        .received = call->received,
    };
    if (call->polls && trace.last_polls &&
        memcmp(&trace.shapes[trace.last_shape], &shape, sizeof shape) == 0) {
        trace.last_compute += call->compute;
        trace.last_spent += call->spent;
        put_times(trace.stream + trace.last_at, trace.last_compute, trace.last_spent);
        return;
    }
    uint8_t *at = put_shape_number(&shape, &trace.last_shape);
    if (!at) {
        bl_trace_lose();
        return;
    }
    trace.last_polls = call->polls;
    trace.last_compute = call->compute;
    trace.last_spent = call->spent;
    trace.last_at = (size_t)(at - trace.stream);
    at = put_times(at, call->compute, call->spent);
    trace.slice->calls++;
    /* Last, so that a stream that was cut short ends after a whole record. */
    __atomic_store_n(&trace.slice->used, (uint64_t)(at - trace.stream), __ATOMIC_RELEASE);
    if ((trace.slice->calls & 1023) == 0)
        trace.slice->seen = bl_moment_now();
}

void bl_trace_done(uint32_t ago, const struct bl_ends *arrived)
{
    if (!trace.slice || trace.slice->lost)
        return;
    struct shape shape = {.ends = {.to = (int32_t)ago}};
    if (arrived) {
        shape.ends.root = 1;
        shape.ends.from = arrived->from;
        shape.ends.receive_tag = arrived->receive_tag;
    }
    uint32_t number;
    const uint8_t *at = put_shape_number(&shape, &number);
    if (!at) {
        bl_trace_lose();
        return;
    }
    trace.last_polls = false;
    __atomic_store_n(&trace.slice->used, (uint64_t)(at - trace.stream), __ATOMIC_RELEASE);
}

const void *bl_trace_close(uint64_t compute, struct bl_moment ended, size_t *size)
{
    const struct bl_trace_call end = {.ends = bl_no_ends, .call = BL_COMPUTE, .compute = compute};
    const void *slice = trace.slice;
    if (!slice)
        return NULL;
    bl_trace_call(&end);
    trace.slice->seen = ended;
    trace.slice->state = BL_STATE_FINISHED;
    *size = STREAM_AT + trace.slice->used;
    trace.slice = NULL;
    return slice;
}
