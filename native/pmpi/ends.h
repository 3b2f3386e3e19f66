/*
 * The peers of a call in a trace: ranks of MPI_COMM_WORLD, tags and a communicator; and the size of
 * the elements of its data.
 *
 * Exported: struct bl_ends, bl_no_ends.
 */
#ifndef BL_PMPI_ENDS_H
#define BL_PMPI_ENDS_H

#include <stdint.h>

/* No rank (MPI_PROC_NULL, or a call without a rank argument), and any rank or an unknown rank. */
#define BL_NOBODY (-2)
#define BL_ANYBODY (-1)
#define BL_ANY_TAG (-1)

struct bl_ends {
    int32_t to;
    int32_t from;
    int32_t root;
    int32_t send_tag;
    int32_t receive_tag;
    uint32_t comm; /* of its members, see struct bl_group; 0: none */
    int32_t comm_size;
    uint32_t element; /* bytes of one of its datatype; 0: none, or of several sizes */
};

static const struct bl_ends bl_no_ends = {
    .to = BL_NOBODY,
    .from = BL_NOBODY,
    .root = BL_NOBODY,
    .send_tag = BL_ANY_TAG,
    .receive_tag = BL_ANY_TAG,
};

#endif
