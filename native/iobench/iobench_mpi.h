/*
 * iobench_mpi: files of many ranks at once.
 *
 * Exported: struct bl_job_options, struct bl_job, struct bl_pass, struct bl_access and the
 * functions of mpi_job.c, mpi_pass.c, mpi_access.c, mpi_parallel.c and mpi_metadata.c. All of
 * bl_job_open, bl_job_settle, bl_pass_* and the benchmarks are collective over MPI_COMM_WORLD.
 */
#ifndef BL_IOBENCH_MPI_H
#define BL_IOBENCH_MPI_H

#include "iobench.h"
#include "world.h"

enum bl_api {
    BL_API_POSIX,
    BL_API_MPIIO,            /* MPI_File_write_at: each rank for itself */
    BL_API_MPIIO_COLLECTIVE, /* MPI_File_write_at_all: every call by all ranks */
};

/* A file or folder of all ranks, or one for each. */
enum bl_files { BL_FILES_SHARED, BL_FILES_OWN };

/* Who reads what a rank wrote. */
enum bl_readers {
    BL_READERS_OTHER, /* a rank of another node; on one node the next rank */
    BL_READERS_SAME,
};

struct bl_job_options {
    const char *benchmark;
    const char *folder;
    enum bl_files files;
    enum bl_readers readers;
    enum bl_io_sync sync;
    /* parallel */
    enum bl_api api;
    enum bl_io_mode mode;
    size_t transfer_bytes; /* of a call */
    uint64_t block_bytes;  /* in one piece of the file, of a rank */
    int segments;          /* blocks of each rank */
    double duration_s;     /* writing ends then; 0: with the last segment */
    /* metadata */
    int items; /* files of a rank */
    size_t size_bytes;
};

struct bl_job {
    const struct bl_job_options *options;
    const struct bl_world *world;
    int rank, ranks, nodes;
    MPI_Comm node_comm;    /* of this rank's node */
    int node_rank;         /* in it; 0 speaks for the node */
    const char *place;     /* the folder in which files are made */
    bool one_folder;       /* the same on all nodes */
    bool remote;           /* on a file system of other machines */
    uint64_t memory_bytes; /* of all nodes */
    int source;            /* whose data this rank reads */
    int own_readers;       /* ranks that read what their own node wrote */
    int status;            /* of the first failure of this rank; 0 without one */
    char failure[1024];
};

/* mpi_job.c */

/* Makes the folder, where `bytes` and `files` of the whole job have room. */
void bl_job_open(struct bl_job *job, const struct bl_job_options *options,
                 const struct bl_world *world, uint64_t bytes, uint64_t files);
void bl_job_close(struct bl_job *job); /* removes the folder */

/* Notes what went wrong on this rank, once, without leaving: others may wait in a collective call.
 * Both return false. `error` is an errno. */
bool bl_job_fail(struct bl_job *job, int status, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
bool bl_job_fail_errno(struct bl_job *job, int error, const char *doing, const char *what);

/* Ends the program in an orderly way, everything removed, if any rank has failed. */
void bl_job_settle(struct bl_job *job);

/* The header's members of all benchmarks, within its options. */
void bl_job_report_begin(const struct bl_job *job, struct bl_json *json);
void bl_job_report_header(const struct bl_job *job, struct bl_json *json);

/* mpi_pass.c: a phase of all ranks, from the first one's start to the last one's end. */
struct bl_pass {
    int64_t begin_ns, call_ns;
    double own_s;   /* this rank's */
    double whole_s; /* the job's */
    double open_s, sync_s, close_s, call_max_s;
    uint64_t calls, bytes;
};

void bl_pass_begin(struct bl_pass *pass);                /* waits for all ranks */
void bl_pass_call(struct bl_pass *pass, uint64_t bytes); /* one call is over, the next begins */
double bl_pass_lap(struct bl_pass *pass);                /* s since the last call's end */
void bl_pass_end(struct bl_pass *pass);                  /* waits for all ranks, adds them up */

/* Adds `NAME_rank_time`, a series over the ranks, and the pass's scalars; collective. */
void bl_pass_report(const struct bl_job *job, const struct bl_pass *pass, struct bl_json *json,
                    const char *name);

/* mpi_access.c: ways to move a rank's data. Each function returns false after a failure that it has
 * noted. */
struct bl_file {
    struct bl_job *job;
    const char *path;
    int descriptor;
    MPI_File handle;
};

struct bl_access {
    const char *name;
    bool collective; /* every rank takes part in every call, whatever failed before */
    bool (*open)(struct bl_file *file, bool writing);
    bool (*write)(struct bl_file *file, const void *data, size_t size_bytes, uint64_t offset);
    bool (*read)(struct bl_file *file, void *data, size_t size_bytes, uint64_t offset);
    bool (*sync)(struct bl_file *file);
    bool (*close)(struct bl_file *file);
};

extern const struct bl_access bl_accesses[]; /* by enum bl_api */

/* One benchmark each: prints all of its lines. */
void bl_parallel(const struct bl_job_options *options, const struct bl_world *world);
void bl_metadata(const struct bl_job_options *options, const struct bl_world *world);

#endif
