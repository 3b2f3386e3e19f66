/* See table.h. */
#include "table.h"

#include "bl_json.h"
#include "families.h"

#include <string.h>

static const struct bl_benchmark *const families[] = {
    bl_point_to_point, bl_neighbours, bl_collectives, bl_rings, bl_startup, bl_beside,
};

enum { FAMILIES = sizeof families / sizeof *families };

const struct bl_benchmark *bl_table_find(const char *name)
{
    for (int i = 0; i < FAMILIES; i++) {
        for (const struct bl_benchmark *entry = families[i]; entry->name; entry++) {
            if (strcmp(entry->name, name) == 0)
                return entry;
        }
    }
    return NULL;
}

static void list_one(struct bl_json *json, const struct bl_benchmark *entry)
{
    bl_json_begin(json);
    bl_json_string(json, "name", entry->name);
    bl_json_string(json, "title", entry->title);
    bl_json_string(json, "osu", entry->osu ? entry->osu : "");
    bl_json_string(json, "imb", entry->imb ? entry->imb : "");
    bl_json_integer(json, "ranks_min", entry->ranks_min);
    if (entry->element != BL_NO_SIZE) {
        bl_json_integer(json, "size_min_bytes", (int64_t)entry->size_min_bytes);
        bl_json_integer(json, "size_max_bytes", (int64_t)entry->size_max_bytes);
    }
    bl_json_write(json, stdout);
}

void bl_table_list(void)
{
    struct bl_json json = {0};
    for (int i = 0; i < FAMILIES; i++) {
        for (const struct bl_benchmark *entry = families[i]; entry->name; entry++)
            list_one(&json, entry);
    }
    bl_json_free(&json);
}
