/*
 * Reading and replay of a trace; bareline calls these functions.
 *
 * Exported: struct bl_shape, struct bl_cost, struct bl_rank, struct bl_stream, struct bl_replay,
 * bl_replay_run, bl_replay_decode. Both may be called by several threads at once.
 * src/bareline/predict/replay/engine.py passes the same layouts.
 */
#ifndef BL_REPLAY_H
#define BL_REPLAY_H

#include <stdint.h>

#define BL_EXPORT __attribute__((visibility("default")))

/* What a record of a trace is to the replay. */
enum bl_kind {
    BL_MESSAGES,   /* sends, receives, or both */
    BL_WAIT,       /* completes requests */
    BL_COLLECTIVE, /* of more than one rank */
    BL_LOCAL,      /* over at once: a collective of one rank, the end of a communicator */
    BL_FILES,      /* takes the traced time, times a factor */
    BL_COMPUTE,    /* the end of the stream */
    BL_OTHER,      /* takes the traced time */
    BL_DONE,       /* no call: a request that the next one completes */
};

/* Who waits for whom in a collective. */
enum bl_role { BL_ALL, BL_FROM_ROOT, BL_TO_ROOT };

enum { BL_ANYBODY = -1, BL_NOBODY = -2, BL_ANY_TAG = -1 };

/* What a call asks for. */
struct bl_shape {
    int64_t send_tag, receive_tag;
    int64_t ago;   /* BL_DONE: so many posts before */
    int32_t kind;  /* enum bl_kind */
    int32_t posts; /* whether it posts a request */
    int32_t to, from, root;
    int32_t comm;       /* number of its communicator, from 0 over all ranks */
    int32_t own_comm;   /* the same, over those of this rank only */
    int32_t comm_size;  /* ranks of it */
    int32_t rendezvous; /* whether the call waits for its receiver whatever the size */
    int32_t padding;
};

/* The cost of a call in s: for a message [0] within a node and [1] between two nodes, and for a
 * collective. `crossing` is the transfer of a message while another message comes the other way. */
struct bl_cost {
    double transfer[2], crossing[2], send[2], receive[2], occupies[2];
    double collective, overhead;
    int32_t eager[2];
    int32_t role; /* enum bl_role */
    int32_t padding;
};

/* One rank: its stream, the costs of its calls, and the results of the replay. */
struct bl_rank {
    const int32_t *numbers; /* of the shape, for each record */
    const char *compute_s;  /* doubles, `stride` bytes apart */
    const char *spent_s;
    const struct bl_shape *shapes;
    const struct bl_cost *costs;
    double *taken_s; /* found: in all calls of each shape; zeros before */
    int64_t records, stride, own_comms;
    int32_t host;
    int32_t place; /* of this rank among those of its host */
    int32_t core;  /* number over all hosts of the core that it shares, -1 where it has its own */
    int32_t padding;
    double computed_s, end_s; /* found */
};

struct bl_replay {
    struct bl_rank *ranks;
    double compute, files; /* factors of the traced times */
    double beside;         /* what the first `beside_s` of each stretch of computing take longer */
    double beside_s;
    double local_s;        /* bookkeeping of a call that waits for nothing */
    int32_t fetches[2];    /* whether a receiver gets a long message alone: within, between nodes */
    int32_t count;         /* ranks */
    int32_t hosts, places; /* hosts, and the most ranks of one */
    int32_t cores;         /* that are shared */
    int32_t any_tag;       /* whether any receive asks for any tag of somebody, */
    int32_t anybody;       /* a tag of anybody, */
    int32_t anything;      /* any tag of anybody */
};

enum { BL_RAN, BL_STOPPED, BL_NO_MEMORY };

/* Replays the streams. Returns BL_RAN; BL_STOPPED if ranks wait forever; or BL_NO_MEMORY. */
BL_EXPORT int bl_replay_run(struct bl_replay *job);

/* Values of a shape, of the latest version of traces. */
enum { BL_MOST_VALUES = 13 };

/* If `numbers` is NULL, the records and shapes are only counted. */
struct bl_stream {
    const uint8_t *bytes;
    int64_t length;
    int64_t most_records, most_shapes;
    int64_t values;               /* of a shape in this version, at most BL_MOST_VALUES */
    int32_t *numbers;             /* of the shape, for each record */
    uint16_t *codes;              /* two of time for each record */
    uint64_t *shapes;             /* call, posts, 5 signed values, numbers for each shape */
    int64_t records, shape_count; /* found */
};

enum { BL_READ, BL_DAMAGED, BL_TOO_MANY };

/* Reads the records of a stream as native/pmpi/trace.h describes them. */
BL_EXPORT int bl_replay_decode(struct bl_stream *stream);

#endif
