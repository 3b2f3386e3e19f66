/*
 * Values of command-line options. If the whole text is not a value in the valid range, a function
 * ends the program through bl_die, with the usage status and a message that names the option.
 *
 * Exported: bl_parse_size, bl_parse_count, bl_parse_seconds, bl_parse_share,
 *           bl_parse_choice.
 * Nothing here is collective.
 */
#ifndef BL_VALUES_H
#define BL_VALUES_H

#include <stddef.h>
#include <stdint.h>

/* Bytes with an optional binary suffix: 4096, 64K, 4M, 4MiB, 1G. `length` < 0 takes all of text. */
size_t bl_parse_size(const char *option, const char *text, int length);

/* Integer within [min, max]. */
int64_t bl_parse_count(const char *option, const char *text, int64_t min, int64_t max);

/* Positive, finite seconds. */
double bl_parse_seconds(const char *option, const char *text);

/* Number above 0 and at most 1. */
double bl_parse_share(const char *option, const char *text);

/* Index of the text among NULL-terminated choices. */
int bl_parse_choice(const char *option, const char *text, const char *const *choices);

#endif
