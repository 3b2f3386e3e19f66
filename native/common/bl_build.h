/*
 * How the programs were compiled, for the headers of their output.
 *
 * Exported: bl_build_report.
 */
#ifndef BL_BUILD_H
#define BL_BUILD_H

#include "bl_json.h"

/* Adds the member "compiled": the compilers with their versions, and the flags that whoever built
 * the programs gave in addition to those of the project; "" for none. */
void bl_build_report(struct bl_json *json);

#endif
