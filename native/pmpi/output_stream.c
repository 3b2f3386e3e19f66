/* See output_stream.h. */
#include "output_stream.h"

#include <errno.h>

FILE *bl_output_stream_open(struct bl_output *output)
{
    return fdopen(output->descriptor, "w");
}

bool bl_output_stream_end(struct bl_output *output, FILE *stream, bool whole)
{
    if (!stream)
        return bl_output_end(output, false, false);
    whole = fflush(stream) == 0 && whole;
    whole = bl_output_place(output, whole, true);
    const int error = errno;
    fclose(stream);
    errno = error;
    return whole;
}
