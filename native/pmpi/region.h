/*
 * Regions and pauses, which MPI_Pcontrol requests; each applies to the calling thread.
 *
 * Exported: bl_region_control.
 */
#ifndef BL_PMPI_REGION_H
#define BL_PMPI_REGION_H

/* 0 stops counting, 1 goes on, 3 to 255 enters a region, and the negative leaves it. */
void bl_region_control(int level);

#endif
