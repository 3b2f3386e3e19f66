/*
 * The compilers and flags of the programs, for the headers of their output.
 *
 * Exported: bl_build_report.
 */
#ifndef BL_BUILD_H
#define BL_BUILD_H

#include "bl_json.h"

/* Adds the member "compiled": the compilers with their versions, and the flags of this build in
 * addition to the flags of the project; "" without further flags. */
void bl_build_report(struct bl_json *json);

#endif
