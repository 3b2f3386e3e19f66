/*
 * Facts about a running rank from the operating system.
 *
 * Exported: struct bl_facts, bl_facts_read, bl_facts_since.
 */
#ifndef BL_PMPI_FACTS_H
#define BL_PMPI_FACTS_H

#include <stdint.h>

struct bl_facts {
    int64_t voluntary_switches;
    int64_t involuntary_switches;
    int64_t minor_faults;
    int64_t major_faults;
    int64_t memory_bytes; /* largest resident set so far */
    int64_t steal_ns;     /* of the processors that this process may use; -1: not known */
    int64_t queued_ns;    /* ready, but another process had the processor; -1: not known */
    int64_t processor;    /* where it runs now */
};

struct bl_facts bl_facts_read(void);

/* Counters are differences to the earlier values; all other fields are the present values. */
struct bl_facts bl_facts_since(const struct bl_facts *then, const struct bl_facts *now);

#endif
