/*
 * Work on several cores at once.
 *
 * Exported: bl_cores_allowed, bl_cores_of_mode, bl_core_pin, struct bl_node_peak and its functions.
 * bl_core_pin is called by each thread for itself, inside a parallel region; the others are not.
 */
#ifndef BL_CORES_H
#define BL_CORES_H

#include "bl_json.h"
#include "bl_peak.h"
#include "nodebench.h"

/* Cores that this process may use, at least one. */
int bl_cores_allowed(void);

/* Number of cores of the options' mode: one, the number of --threads, or all cores that this
 * process may use. The next parallel regions run on this number of threads. */
int bl_cores_of_mode(const struct bl_node_options *options);

/* Keeps the calling thread on the thread-th of the allowed processors. */
void bl_core_pin(int thread);

/* Attainable rate (flop/s) of a core: median over `cores` that run the kernel at once. */
double bl_node_peak_rate(const struct bl_peak_kernel *kernel, int cores, double look_s);

/* The same for the widest instruction set: the best of several measurements of 0.1 s. */
struct bl_node_peak {
    const struct bl_peak_kernel *kernel;
    double rate;
};
void bl_node_peak_look(struct bl_node_peak *peak, int cores);

/* Members `peak_instructions`, `peak_rate`. */
void bl_node_peak_report(struct bl_json *json, const struct bl_node_peak *peak);

#endif
