/* Everything is hidden but the functions that take the place of MPI's and the C library's. */
#ifndef BL_PMPI_EXPORT_H
#define BL_PMPI_EXPORT_H

#define BL_EXPORT __attribute__((visibility("default")))

#endif
