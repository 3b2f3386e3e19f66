/* See say.h. */
#include "say.h"

#include <stdarg.h>
#include <stdio.h>

void bl_say(const char *format, ...)
{
    char line[1024];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(line, sizeof line, format, arguments);
    va_end(arguments);
    fprintf(stderr, "bareline profile: %s\n", line);
}
