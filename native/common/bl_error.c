/* See bl_error.h. */
#include "bl_error.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

static const char *program_name = "bareline";
static void (*leave_program)(int status, const char *line);

void bl_set_program(const char *name)
{
    program_name = name;
}

const char *bl_program(void)
{
    return program_name;
}

void bl_set_exit(void (*leave)(int status, const char *line))
{
    leave_program = leave;
}

void bl_die(int status, const char *format, ...)
{
    char what[1024];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(what, sizeof what, format, arguments);
    va_end(arguments);

    char line[1200];
    snprintf(line, sizeof line, "%s: %s\n", program_name, what);
    if (leave_program)
        leave_program(status, line);
    fputs(line, stderr);
    exit(status);
}
