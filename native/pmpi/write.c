/* See write.h. */
#include "write.h"

#include "output_stream.h"
#include "say.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#define SCHEMA_VERSION 2

static const char *const place_names[BL_PLACE_COUNT] = {
    [BL_NO_PEER] = "none",          [BL_SELF] = "self",        [BL_SAME_NODE] = "same-node",
    [BL_OTHER_NODE] = "other-node", [BL_ANYWHERE] = "unknown",
};

/* Rounded to whole ns: integers look the same in every locale. */
static int64_t whole(double value)
{
    return (int64_t)(value + 0.5);
}

static void put_text(FILE *file, const char *key, const char *value)
{
    fprintf(file, "\"%s\":\"", key);
    for (const unsigned char *c = (const unsigned char *)value; *c; c++) {
        if (*c == '"' || *c == '\\')
            fprintf(file, "\\%c", *c);
        else if (*c < 0x20)
            fprintf(file, "\\u%04x", *c);
        else
            fputc(*c, file);
    }
    fputc('"', file);
}

static void put_integer(FILE *file, const char *key, int64_t value)
{
    fprintf(file, ",\"%s\":%" PRId64, key, value);
}

static void put_next_text(FILE *file, const char *key, const char *value)
{
    fputc(',', file);
    put_text(file, key, value);
}

static void put_regions(FILE *file, const char *regions)
{
    fprintf(file, ",\"regions\":{\"0\":\"\"");
    while (regions && *regions) {
        char name[128];
        const size_t length = strcspn(regions, ",");
        const size_t number = strspn(regions, "0123456789");
        if (number > 0 && number < length && regions[number] == '=') {
            snprintf(name, sizeof name, "%.*s", (int)(length - number - 1), regions + number + 1);
            char key[16];
            snprintf(key, sizeof key, "%.*s", (int)(number < 15 ? number : 15), regions);
            put_next_text(file, key, name);
        }
        regions += length + (regions[length] == ',');
    }
    fputc('}', file);
}

static void put_header(FILE *file, const struct bl_profile *profile)
{
    static const char *const levels[] = {"single", "funneled", "serialized", "multiple"};
    fputc('{', file);
    put_text(file, "type", "profile");
    put_next_text(file, "schema", "bareline.profile");
    put_integer(file, "version", SCHEMA_VERSION);
    fprintf(file, ",\"complete\":true");
    put_next_text(file, "mode", profile->split ? "split" : "plain");
    put_integer(file, "ranks", profile->ranks);
    put_integer(file, "nodes", profile->nodes);
    put_integer(file, "began_unix_ns", profile->began_unix_ns);
    put_next_text(file, "mpi", profile->library);
    put_next_text(file, "thread_level", levels[profile->thread_level]);
    put_next_text(file, "command", profile->command);
    put_integer(file, "ranks_per_cell", profile->ranks_per_cell);
    put_regions(file, profile->regions);
    fprintf(file, "}\n");
}

static void put_rank(FILE *file, const struct bl_rank_record *record)
{
    const struct bl_facts *facts = &record->facts;
    fputc('{', file);
    put_text(file, "type", "rank");
    put_integer(file, "rank", record->rank);
    put_integer(file, "node", record->node);
    put_next_text(file, "host", record->host);
    put_integer(file, "processor", facts->processor);
    put_integer(file, "threads", record->threads);
    put_integer(file, "wall_ns", record->wall_ns);
    put_integer(file, "compute_ns", record->compute_ns);
    put_integer(file, "mpi_ns", record->mpi_ns);
    put_integer(file, "posix_ns", record->posix_ns);
    put_integer(file, "waited_ns", record->waited_ns);
    put_integer(file, "paused_ns", record->paused_ns);
    put_integer(file, "init_ns", record->init_ns);
    put_integer(file, "processor_ns", record->processor_ns);
    put_integer(file, "calls", record->calls);
    put_integer(file, "voluntary_switches", facts->voluntary_switches);
    put_integer(file, "involuntary_switches", facts->involuntary_switches);
    put_integer(file, "minor_faults", facts->minor_faults);
    put_integer(file, "major_faults", facts->major_faults);
    put_integer(file, "memory_bytes", facts->memory_bytes);
    put_integer(file, "steal_ns", facts->steal_ns);
    put_integer(file, "queued_ns", facts->queued_ns);
    put_next_text(file, "clock", record->clock);
    put_next_text(file, "clock_source", record->clock_source);
    put_integer(file, "dropped", record->dropped);
    put_integer(file, "untracked", record->untracked);
    fprintf(file, "}\n");
}

static void put_row(FILE *file, const struct bl_merged *row, int ranks)
{
    const unsigned call = bl_what_call(row->what);
    const bool bin = row->size & BL_BIN;
    const uint64_t low = bin ? UINT64_C(1) << (row->size - BL_BIN) : row->size;
    fputc('{', file);
    put_text(file, "type", "call");
    put_next_text(file, "call", bl_call_names[call]);
    put_next_text(file, "kind", bl_kind_names[bl_call_kinds[call]]);
    put_integer(file, "region", bl_what_region(row->what));
    put_integer(file, "size_low", (int64_t)low);
    put_integer(file, "size_high", (int64_t)(bin ? 2 * low - 1 : low));
    put_integer(file, "comm_size", row->class.size);
    put_integer(file, "comm_nodes", row->class.nodes);
    fprintf(file, ",\"inter\":%s", row->class.inter ? "true" : "false");
    put_next_text(file, "peer", place_names[bl_what_place(row->what)]);
    put_integer(file, "count", (int64_t)row->count);
    put_integer(file, "bytes", (int64_t)row->bytes);
    put_integer(file, "sent_bytes", (int64_t)row->sent);
    put_integer(file, "received_bytes", (int64_t)row->received);
    put_integer(file, "time_ns", whole(row->time));
    fprintf(file, ",\"squares_ns2\":%.0f", row->squares);
    put_integer(file, "min_ns", whole(row->shortest));
    put_integer(file, "max_ns", whole(row->longest));
    put_integer(file, "waited_ns", whole(row->waited));
    put_integer(file, "waited_min_ns", row->waited_least < 0 ? 0 : whole(row->waited_least));
    put_integer(file, "finished", (int64_t)row->finished);
    put_integer(file, "window_ns", whole(row->window));
    put_integer(file, "flight_ns", whole(row->flight));
    put_integer(file, "queued_ns", (int64_t)row->queued);
    put_integer(file, "receives", (int64_t)row->receives);
    put_integer(file, "awaited_bytes", (int64_t)row->awaited);
    put_integer(file, "ranks", row->ranks < ranks ? row->ranks : ranks);
    put_integer(file, "rank_min_ns", whole(row->rank_least));
    put_integer(file, "rank_max_ns", whole(row->rank_most));
    fprintf(file, "}\n");
}

/* One line per sender (or block of senders). */
static size_t put_matrix(FILE *file, const struct bl_total *total)
{
    size_t lines = 0;
    for (size_t first = 0, next; first < total->pair_count; first = next) {
        const struct bl_pair *pair = &total->pairs[first];
        for (next = first; next < total->pair_count && total->pairs[next].from == pair->from;)
            next++;
        fputc('{', file);
        put_text(file, "type", "sends");
        put_integer(file, "from", pair->from);
        fprintf(file, ",\"to\":[");
        for (size_t i = first; i < next; i++)
            fprintf(file, "%s%" PRIu32, i > first ? "," : "", total->pairs[i].to);
        fprintf(file, "],\"count\":[");
        for (size_t i = first; i < next; i++)
            fprintf(file, "%s%" PRIu64, i > first ? "," : "", total->pairs[i].count);
        fprintf(file, "],\"bytes\":[");
        for (size_t i = first; i < next; i++)
            fprintf(file, "%s%" PRIu64, i > first ? "," : "", total->pairs[i].bytes);
        fprintf(file, "]}\n");
        lines++;
    }
    return lines;
}

static void put_site(FILE *file, const struct bl_site_row *site, int ranks)
{
    fputc('{', file);
    put_text(file, "type", "site");
    put_next_text(file, "call", bl_call_names[site->call]);
    put_next_text(file, "object", site->object);
    put_integer(file, "offset", (int64_t)site->offset);
    put_next_text(file, "function", "");
    put_next_text(file, "file", "");
    put_integer(file, "line", 0);
    put_integer(file, "count", (int64_t)site->count);
    put_integer(file, "bytes", (int64_t)site->bytes);
    put_integer(file, "time_ns", whole(site->time));
    put_integer(file, "max_ns", whole(site->longest));
    put_integer(file, "ranks", site->ranks < ranks ? site->ranks : ranks);
    put_integer(file, "rank_min_ns", whole(site->rank_least));
    put_integer(file, "rank_max_ns", whole(site->rank_most));
    fprintf(file, "}\n");
}

static void put_all(FILE *file, const struct bl_profile *profile)
{
    put_header(file, profile);
    for (int rank = 0; rank < profile->ranks; rank++)
        put_rank(file, &profile->records[rank]);
    for (size_t i = 0; i < profile->total->row_count; i++)
        put_row(file, &profile->total->rows[i], profile->ranks);
    for (size_t i = 0; i < profile->sites->count; i++)
        put_site(file, &profile->sites->rows[i], profile->ranks);
    const size_t lines = 1 + (size_t)profile->ranks + profile->total->row_count +
                         profile->sites->count + put_matrix(file, profile->total);
    /* Tells a whole file from one that was cut off. */
    fprintf(file, "{\"type\":\"end\",\"lines\":%zu}\n", lines);
}

bool bl_profile_write(const struct bl_profile *profile)
{
    struct bl_output output;
    const char *refusal = bl_output_begin(&output, profile->path);
    if (!refusal) {
        FILE *file = bl_output_stream_open(&output);
        if (file)
            put_all(file, profile);
        if (!bl_output_stream_end(&output, file, file && !ferror(file)))
            refusal = strerror(errno);
    }
    if (refusal)
        bl_say("%s: the profile cannot be written (%s)", profile->path, refusal);
    return !refusal;
}
