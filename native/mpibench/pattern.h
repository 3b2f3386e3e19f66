/*
 * Known data for the check that a measured call delivers what it should.
 *
 * Exported: bl_pattern_* (bytes, named by sender and receiver), bl_terms_* (doubles to be summed).
 * Nothing here is collective. A buffer to receive into is scrubbed with the opposite of what is
 * expected, so that data left from an earlier call never passes.
 */
#ifndef BL_PATTERN_H
#define BL_PATTERN_H

#include <stdbool.h>
#include <stddef.h>

/* Receiver of data that goes to everybody. */
enum { BL_TO_ALL = -1 };

void bl_pattern_fill(unsigned char *buffer, size_t size_bytes, int from, int to);
void bl_pattern_scrub(unsigned char *buffer, size_t size_bytes, int from, int to);
bool bl_pattern_matches(const unsigned char *buffer, size_t size_bytes, int from, int to);

/* Terms whose sum over the ranks is exact in any order: small whole numbers. */
void bl_terms_fill(void *buffer, int count, int rank);
void bl_terms_scrub(void *buffer, int count);
/* Whether `count` sums are those of the elements from `first` on. */
bool bl_terms_sum_matches(const void *buffer, int count, int first, int ranks);

#endif
