/*
 * What Fortran cannot name of C: stdout as a stream, the name that starts error lines, and exit().
 *
 * Exported: bl_json_print (declared to Fortran by bl_json.f90), bl_name_program and bl_leave
 * (bl_run.f90).
 */
#include "bl_error.h"
#include "bl_json.h"

#include <stdlib.h>
#include <string.h>

void bl_json_print(struct bl_json *json);
void bl_name_program(const char *name);
_Noreturn void bl_leave(int status);

void bl_json_print(struct bl_json *json)
{
    bl_json_write(json, stdout);
}

void bl_name_program(const char *name)
{
    static char kept[32];
    strncpy(kept, name, sizeof kept - 1);
    bl_set_program(kept);
}

/* Fortran's `stop` would end the whole simulator, other ranks included, where one rank stops;
 * exit() is what SimGrid's compiler wrapper replaces by the end of that rank alone. */
_Noreturn void bl_leave(int status)
{
    exit(status);
}
