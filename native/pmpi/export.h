/* All symbols are hidden, except the functions that replace functions of MPI and the C library. */
#ifndef BL_PMPI_EXPORT_H
#define BL_PMPI_EXPORT_H

#define BL_EXPORT __attribute__((visibility("default")))

#endif
