/*
 * JSON lines: an object is built in memory, written to stdout in one piece and flushed at once. A
 * program that is killed leaves complete lines and at most one incomplete line.
 *
 * Exported: struct bl_json and the bl_json_* functions. Nothing here is collective.
 *
 * Numbers do not depend on the locale. JSON has no NaN and no infinity, and a missing value must
 * not look like a measured value. A number that is not finite therefore ends the program through
 * bl_die.
 */
#ifndef BL_JSON_H
#define BL_JSON_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

struct bl_json {
    char *text;
    size_t length;
    size_t capacity;
    bool needs_comma;
};

/* Starts an object and reuses the struct's buffer. Before the first call, the struct must be
 * zero. */
void bl_json_begin(struct bl_json *json);

/* Members; `key` is NULL inside an array. */
void bl_json_string(struct bl_json *json, const char *key, const char *value);
void bl_json_integer(struct bl_json *json, const char *key, int64_t value);
void bl_json_number(struct bl_json *json, const char *key, double value);
void bl_json_bool(struct bl_json *json, const char *key, bool value);
void bl_json_open_object(struct bl_json *json, const char *key);
void bl_json_close_object(struct bl_json *json);
void bl_json_open_array(struct bl_json *json, const char *key);
void bl_json_close_array(struct bl_json *json);

/* Adds the members of a finished object, on which bl_json_end was called. */
void bl_json_object(struct bl_json *json, const char *key, const struct bl_json *value);

/* Closes the outermost object; `json->text` is then its text without a newline. */
void bl_json_end(struct bl_json *json);

/* Closes the outermost object and writes it as one line. */
void bl_json_write(struct bl_json *json, FILE *stream);

void bl_json_free(struct bl_json *json);

#endif
