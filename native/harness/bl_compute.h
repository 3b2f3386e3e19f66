/*
 * Computation under a simulator of MPI: measured once, then injected.
 *
 * By default, a simulator measures the time of computation on the machine where it runs. Simulated
 * times then contain the noise of this machine, and become twice as long if another program runs.
 * Here, a separate run records the time of every stretch of computation, from the end of an MPI
 * call to the start of the next call. Every later run takes the times from this record. The
 * benchmark still computes and verifies its result; only the time comes from the record. Thus the
 * same simulation always gives the same output.
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

/* After a blocking send to another node: the time in which the sender is still busy passes. */
void bl_compute_sent(int count, MPI_Datatype type, int to, MPI_Comm comm);

/* The timed part begins. */
void bl_compute_reset(void);

/* Before the clock is read at the start and end of the timed part: the time of the computation
 * since the last MPI call passes first. */
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
