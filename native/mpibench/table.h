/*
 * The table of all benchmarks.
 *
 * Exported: bl_table_find, bl_table_list. Nothing here is collective.
 */
#ifndef BL_TABLE_H
#define BL_TABLE_H

struct bl_benchmark;

/* The benchmark of this name, or NULL. */
const struct bl_benchmark *bl_table_find(const char *name);

/* Writes one JSON object a benchmark on stdout. */
void bl_table_list(void);

#endif
