/*
 * nodebench: memory and arithmetic of one node, without MPI.
 *
 * Exported: struct bl_node_options, struct bl_series, struct bl_cut, and the functions of report.c,
 * repeat.c, threads.c and of the file of each benchmark. Nothing here but bl_this_thread may be
 * called inside a parallel region.
 */
#ifndef BL_NODEBENCH_H
#define BL_NODEBENCH_H

#include "bl_json.h"

#include <stdbool.h>
#include <stddef.h>

/* Kinds of stores of the stream kernels; best: both are run and the better one counts. */
enum bl_stores { BL_STORES_REGULAR, BL_STORES_NONTEMPORAL, BL_STORES_BEST };
extern const char *const bl_stores_names[]; /* ends in NULL */

/* Page sizes of the dependent loads. */
enum bl_pages { BL_PAGES_BOTH, BL_PAGES_SMALL, BL_PAGES_HUGE };

/* How many cores work, and whether together. */
enum bl_mode { BL_MODE_SINGLE, BL_MODE_STAR, BL_MODE_ALL };
extern const char *const bl_mode_names[]; /* ends in NULL */

/* How FFTW finds its plans. */
enum bl_effort { BL_EFFORT_MEASURE, BL_EFFORT_ESTIMATE };

struct bl_node_options {
    const char *benchmark;
    size_t size_bytes; /* of one array or table; 0: from the last-level cache */
    size_t min_bytes;  /* least and */
    size_t max_bytes;  /* greatest working set */
    enum bl_pages pages;
    int order;       /* of the matrices */
    int threads;     /* 0: as many as the runtime gives */
    int repeats;     /* 0: the benchmark counts by time */
    double budget_s; /* of one point */
    enum bl_stores stores;
    double memory_share; /* 0: the order is given */
    int edge;            /* points of the cube's */
    enum bl_effort effort;
    double quantum_s;
    double duration_s;
    enum bl_mode mode;
};

/* Repetitions of one thing, in s; sorted by bl_node_report_rates. */
struct bl_series {
    double *time_s;
    int count;
};

/* repeat.c: one untimed and `repeats` timed calls of `work`. */
struct bl_series bl_repeat(void (*work)(void *data), void *data, int repeats);

/* What is repeated; `prepare`, untimed before each, may be NULL. */
struct bl_work {
    void (*prepare)(void *data);
    void (*run)(void *data);
    void *data;
};

/* The same until the budget is spent. If the first, untimed call alone exceeds the budget, its time
 * is the series: page faults are a small part of such a long time. */
struct bl_series bl_repeat_within(const struct bl_work *work, int repeats, double budget_s);

/* An empty series with room. */
struct bl_series bl_series_make(int most);

/* A point that was asked for and not measured. */
struct bl_cut {
    size_t working_set_bytes;
    size_t page_bytes;
    char reason[160];
};

/* report.c: the lines of the output. `add_members` (or NULL) adds further members to the header. */
void bl_node_report_header(struct bl_json *json, const struct bl_node_options *options, int threads,
                           void (*add_options)(struct bl_json *, const void *), const void *data,
                           void (*add_members)(struct bl_json *));
void bl_node_report_rates(struct bl_json *json, const struct bl_series *series, double amount);
void bl_node_report_end(struct bl_json *json, int points, const struct bl_cut *cuts, int count);

/* threads.c */
int bl_threads_set(int wanted);         /* 0 keeps the default; returns the number in force */
int bl_this_thread(void);               /* from 0, inside a parallel region too */
size_t bl_last_level_cache_bytes(void); /* largest cache of the first core; 0: unknown */

/* One benchmark each: prints all of its lines. */
void bl_stream(const struct bl_node_options *options);
void bl_latency(const struct bl_node_options *options);
void bl_random_access(const struct bl_node_options *options);
void bl_dgemm(const struct bl_node_options *options);
void bl_linpack(const struct bl_node_options *options);
void bl_fft(const struct bl_node_options *options);
void bl_noise(const struct bl_node_options *options);
void bl_peak(const struct bl_node_options *options);

#endif
