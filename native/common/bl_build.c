/* See bl_build.h. CMake defines the texts for this file alone. */
#include "bl_build.h"

void bl_build_report(struct bl_json *json)
{
    bl_json_open_object(json, "compiled");
    bl_json_string(json, "c", BL_C_COMPILER);
    bl_json_string(json, "fortran", BL_FORTRAN_COMPILER);
    bl_json_string(json, "flags", BL_GIVEN_FLAGS);
    bl_json_close_object(json);
}
