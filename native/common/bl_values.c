/* See bl_values.h. */
#include "bl_values.h"

#include "bl_error.h"

#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Power of two that a suffix stands for, or -1. */
static int suffix_shift(const char *suffix)
{
    static const struct {
        const char *names[3];
        int shift;
    } suffixes[] = {
        {{"", "B", "B"}, 0},
        {{"K", "k", "KiB"}, 10},
        {{"M", "m", "MiB"}, 20},
        {{"G", "g", "GiB"}, 30},
    };
    for (size_t i = 0; i < sizeof suffixes / sizeof *suffixes; i++) {
        for (int j = 0; j < 3; j++) {
            if (strcmp(suffix, suffixes[i].names[j]) == 0)
                return suffixes[i].shift;
        }
    }
    return -1;
}

size_t bl_parse_size(const char *option, const char *text, int length)
{
    char copy[64];
    snprintf(copy, sizeof copy, "%.*s", length < 0 ? (int)sizeof copy : length, text);
    char *rest = copy;
    errno = 0;
    const unsigned long long value =
        isdigit((unsigned char)copy[0]) ? strtoull(copy, &rest, 10) : 0;
    const int shift = suffix_shift(rest);
    if (rest == copy || errno || shift < 0 || value > (SIZE_MAX >> 1 >> shift))
        bl_die(BL_STATUS_USAGE, "%s: '%s' is not a size, write bytes such as 4096, 64K or 4M",
               option, copy);
    return (size_t)value << shift;
}

int64_t bl_parse_count(const char *option, const char *text, int64_t min, int64_t max)
{
    char *rest;
    errno = 0;
    const long long value = strtoll(text, &rest, 10);
    if (rest == text || *rest || errno || value < min || value > max)
        bl_die(BL_STATUS_USAGE,
               "%s: '%s' is not a count, write a whole number from %" PRId64 " to %" PRId64, option,
               text, min, max);
    return value;
}

double bl_parse_seconds(const char *option, const char *text)
{
    char *rest;
    const double value = strtod(text, &rest);
    if (rest == text || *rest || !isfinite(value) || value <= 0)
        bl_die(BL_STATUS_USAGE, "%s: '%s' is not a time, write seconds such as 0.5 or 10", option,
               text);
    return value;
}

double bl_parse_share(const char *option, const char *text)
{
    char *rest;
    const double value = strtod(text, &rest);
    if (rest == text || *rest || !(value > 0 && value <= 1))
        bl_die(BL_STATUS_USAGE, "%s: '%s' is not a share, write a number up to 1 such as 0.5",
               option, text);
    return value;
}

int bl_parse_choice(const char *option, const char *text, const char *const *choices)
{
    char list[256] = "";
    for (int i = 0; choices[i]; i++) {
        if (strcmp(text, choices[i]) == 0)
            return i;
        const size_t used = strlen(list);
        snprintf(list + used, sizeof list - used, "%s%s", i ? ", " : "", choices[i]);
    }
    bl_die(BL_STATUS_USAGE, "%s: '%s' is unknown, choose one of: %s", option, text, list);
}
