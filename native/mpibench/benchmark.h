/*
 * What a benchmark is (struct bl_benchmark, one table entry) and what is measured at one of its
 * points (struct bl_operation).
 *
 * To add a benchmark, write its entry and its functions in the file of its family.
 */
#ifndef BL_BENCHMARK_H
#define BL_BENCHMARK_H

#include "bl_json.h"
#include "options.h"

#include <mpi.h>
#include <stdbool.h>
#include <stddef.h>

#define BL_SIZE_MAX_BYTES ((size_t)1 << 30) /* MPI counts are int */

enum { BL_ITERATIONS_MIN = 3, BL_ITERATIONS_MAX = 10000000 };

/* What the size of a message is made of. */
enum bl_element {
    BL_NO_SIZE,
    BL_BYTES,
    BL_DOUBLES,
};

/* Which ranks take part; the others sleep. */
enum bl_team {
    BL_TEAM_ALL,
    BL_TEAM_ENDS,  /* the first and the last: with a block layout on different nodes */
    BL_TEAM_PAIRS, /* all of them, or all but the last when their number is odd */
};

/* How long a buffer is, in messages. */
enum bl_extent {
    BL_EXTENT_NONE,
    BL_EXTENT_ONE,
    BL_EXTENT_TWO,
    BL_EXTENT_RANKS, /* one for every rank */
};

struct bl_world;

struct bl_operation {
    const struct bl_benchmark *benchmark;
    const struct bl_options *options;
    const struct bl_world *world;
    MPI_Comm comm; /* of the team */
    int rank;      /* in comm */
    int ranks;
    size_t size_bytes;
    int count;       /* elements in size_bytes */
    int root;        /* of rooted collectives */
    bool rotates;    /* the root moves on with every call of a loop */
    int left, right; /* neighbours in rings */
    int peer;        /* partner in pairs */
    unsigned char *send;
    unsigned char *receive;
    MPI_Request *requests; /* for two windows */
    int active;            /* requests that `start` made */
    int *counts;           /* one for every rank */
    void *detail;          /* of the family */
};

struct bl_benchmark {
    const char *name;
    const char *osu; /* counterparts; NULL where there is none */
    const char *imb;
    const char *title;

    enum bl_element element;
    size_t size_min_bytes;
    size_t size_max_bytes;
    const size_t *sizes_bytes; /* ends with 0: the default sizes where they are not powers of two */
    struct bl_counts iterations;
    struct bl_counts warmup;

    enum bl_team team;
    int ranks_min;
    enum bl_extent send_extent;
    enum bl_extent receive_extent;

    bool synchronised; /* a barrier, outside of the timed region, goes before each timed call */
    bool rooted;
    bool rate_only;    /* a call's time says nothing by itself: report rates alone */
    double time_share; /* part of a call's time that is the figure: 0.5 for there and back */

    /* Bytes and messages that one call moves, for the rates; NULL: no such rate. */
    double (*bytes)(const struct bl_operation *op);
    double (*messages)(const struct bl_operation *op);
    /* Whether this rank's times count; NULL: every rank's. */
    bool (*timed)(const struct bl_operation *op);

    void (*prepare)(struct bl_operation *op);     /* once for every size; may be NULL */
    void (*fill)(struct bl_operation *op);        /* known data to send, its opposite to receive */
    void (*call)(struct bl_operation *op);        /* the measured call */
    void (*start)(struct bl_operation *op);       /* its non-blocking form, for overlap */
    bool (*check)(const struct bl_operation *op); /* whether this rank received what it should */

    /* Measures one point in a way of its own; NULL: bl_point_measure. Returns NULL, or why the
     * point was cut. */
    const char *(*point)(struct bl_operation *op, struct bl_json *json);
};

#endif
