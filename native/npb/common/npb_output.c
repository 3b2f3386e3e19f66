/*
 * What Fortran cannot name of C: stdout as a stream, and the name that starts error lines.
 *
 * Exported: npb_json_print (declared to Fortran by npb_json.f90), npb_set_program (npb_run.f90).
 */
#include "bl_error.h"
#include "bl_json.h"

#include <string.h>

void npb_json_print(struct bl_json *json);
void npb_set_program(const char *name);

void npb_json_print(struct bl_json *json)
{
    bl_json_write(json, stdout);
}

void npb_set_program(const char *name)
{
    static char kept[32];
    strncpy(kept, name, sizeof kept - 1);
    bl_set_program(kept);
}
