/*
 * fleetbench: one rank on each node of a fleet; every node, or pairs of nodes, in one job.
 *
 * A launch for each node or pair would take a second or more, and a fleet of 1,024 nodes has half a
 * million pairs. One job therefore measures all nodes or pairs; its launch is one trial.
 *
 * Exported: struct bl_fleet_options, bl_fleet_parse, bl_fleet_nodes, bl_fleet_pairs. The latter two
 * are collective over MPI_COMM_WORLD and give what rank 0 writes.
 */
#ifndef BL_FLEETBENCH_H
#define BL_FLEETBENCH_H

#include "bl_json.h"
#include "world.h"

#include <stdbool.h>
#include <stddef.h>

enum bl_fleet_what { BL_FLEET_PROCESSOR, BL_FLEET_MEMORY, BL_FLEET_PAIRS };
enum bl_fleet_choice { BL_CHOICE_AUTO, BL_CHOICE_ALL, BL_CHOICE_SAMPLED };

struct bl_fleet_options {
    enum bl_fleet_what what;
    enum bl_fleet_choice choice; /* of pairs */
    bool together;               /* the bandwidth of a round's pairs at once, not one by one */
    double duration_s;           /* of a node's kernel */
    size_t array_bytes;          /* each of memory's three arrays, of a node */
    size_t size_bytes;           /* of a long message */
    int iterations;              /* short messages of a pair */
    const char *names;           /* of the nodes, as they were given */
    int repeats;                 /* long messages of a pair */
};

struct bl_fleet_options bl_fleet_parse(int argc, char **argv);

/* Name of the benchmark on the command line and in the header. */
const char *bl_fleet_name(enum bl_fleet_what what);

/* Write a point for every node or for every chosen pair; return the number of points. */
long bl_fleet_nodes(const struct bl_fleet_options *options, const struct bl_world *world);
long bl_fleet_pairs(const struct bl_fleet_options *options, const struct bl_world *world);

#endif
