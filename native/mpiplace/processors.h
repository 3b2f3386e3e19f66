/*
 * The processors on which this process may run, according to the kernel.
 *
 * Exported: struct bl_processors, bl_processors_read. Nothing here is collective.
 */
#ifndef BL_PROCESSORS_H
#define BL_PROCESSORS_H

enum { BL_LIST_BYTES = 1024 };

struct bl_processors {
    char cpus[BL_LIST_BYTES];     /* numbers of the hardware threads: "0-3,8"; "" where unknown */
    char packages[BL_LIST_BYTES]; /* the sockets that they are on */
    char numa[BL_LIST_BYTES];     /* the NUMA domains that they are in */
    int cores;                    /* cores that they belong to; 0 where unknown */
    int machine_packages;         /* sockets and domains of the whole node; 0 where unknown */
    int machine_numa;
};

void bl_processors_read(struct bl_processors *processors);

#endif
