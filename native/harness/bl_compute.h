/*
 * Computation under a simulator of MPI: measured once, then injected.
 *
 * A simulator takes what the program computes for time of its own machine, so a simulated time is
 * as noisy as that machine and doubles when something else runs. Instead the seconds of every
 * stretch of computation, from the end of one MPI call to the begin of the next, are recorded in a
 * run of their own, and every later run is told them. What the benchmark computes is computed all
 * the same, and verified; only its time comes from the table. Then the same simulation gives the
 * same output, whatever the machine does.
 *
 * BARELINE_COMPUTE in the environment chooses:
 *
 *   record:FILE   appends a line a kind of stretch and rank to FILE (see bl_compute.c)
 *   inject:FILE   takes the seconds of each kind of stretch from FILE
 *   (not set)     computation takes no simulated time
 *
 * A sender may be busy with a message that has left already. A simulator knows only what comes
 * before; BARELINE_BUSY_AFTER_SEND tells the rest, which passes within MPI_Send:
 * "FROM:SECONDS:SLOPE;...", SECONDS + SLOPE times the bytes for messages of at least FROM bytes.
 * BARELINE_RANKS_PER_NODE says which ranks share a node: a message to one of them is none of these.
 *
 * A kind of stretch is what lies between two calls (or reads of the clock), each named by its
 * function and its count of elements, before, in or after the timed part. In programs for a real
 * MPI library the macros are empty.
 */
#ifndef BL_COMPUTE_H
#define BL_COMPUTE_H

#ifdef BL_SIMULATED

#include <mpi.h>

#define BL_COMPUTE_BEGINS() bl_compute_begins()
#define BL_COMPUTE_ENDS(function, count) bl_compute_ends(function, count)
#define BL_COMPUTE_SENT(count, type, to, comm) bl_compute_sent(count, type, to, comm)
#define BL_COMPUTE_RESET() bl_compute_reset()
#define BL_COMPUTE_CLOCK() bl_compute_clock()
#define BL_COMPUTE_REPORT() bl_compute_report()

/* After an MPI call: a stretch begins. */
void bl_compute_begins(void);

/* Before an MPI call: the stretch ends; its time is recorded or passes now. */
void bl_compute_ends(int function, int count);

/* After a blocking send to another node: what else the sender has to do for the message passes. */
void bl_compute_sent(int count, MPI_Datatype type, int to, MPI_Comm comm);

/* The timed part begins. */
void bl_compute_reset(void);

/* Before the clock is read, when the timed part begins and when it ends: what was computed since
 * the last call passes first. */
void bl_compute_clock(void);

/* Appends what was recorded to the file. */
void bl_compute_report(void);

#else

#define BL_COMPUTE_BEGINS() ((void)0)
#define BL_COMPUTE_ENDS(function, count) ((void)(count))
#define BL_COMPUTE_SENT(count, type, to, comm) ((void)0)
#define BL_COMPUTE_RESET() ((void)0)
#define BL_COMPUTE_CLOCK() ((void)0)
#define BL_COMPUTE_REPORT() ((void)0)

#endif

#endif
