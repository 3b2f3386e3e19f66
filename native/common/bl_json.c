/* See bl_json.h. */
#include "bl_json.h"

#include "bl_error.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static void append(struct bl_json *json, const char *text, size_t length)
{
    if (json->length + length + 1 > json->capacity) {
        json->capacity = 2 * (json->length + length + 1);
        json->text = realloc(json->text, json->capacity);
        if (!json->text)
            bl_die(BL_STATUS_FAILED, "no memory for a line of output (%zu B), free some",
                   json->capacity);
    }
    memcpy(json->text + json->length, text, length);
    json->length += length;
    json->text[json->length] = '\0';
}

static void append_quoted(struct bl_json *json, const char *value)
{
    append(json, "\"", 1);
    for (const unsigned char *c = (const unsigned char *)value; *c; c++) {
        if (*c == '"' || *c == '\\') {
            const char escaped[2] = {'\\', (char)*c};
            append(json, escaped, 2);
        } else if (*c < 0x20) {
            char escaped[8];
            append(json, escaped, (size_t)snprintf(escaped, sizeof escaped, "\\u%04x", *c));
        } else {
            append(json, (const char *)c, 1);
        }
    }
    append(json, "\"", 1);
}

static void start_member(struct bl_json *json, const char *key)
{
    if (json->needs_comma)
        append(json, ",", 1);
    json->needs_comma = true;
    if (key) {
        append_quoted(json, key);
        append(json, ":", 1);
    }
}

static void open_scope(struct bl_json *json, const char *key, const char *bracket)
{
    start_member(json, key);
    append(json, bracket, 1);
    json->needs_comma = false;
}

static void close_scope(struct bl_json *json, const char *bracket)
{
    append(json, bracket, 1);
    json->needs_comma = true;
}

void bl_json_begin(struct bl_json *json)
{
    json->length = 0;
    json->needs_comma = false;
    append(json, "{", 1);
}

void bl_json_string(struct bl_json *json, const char *key, const char *value)
{
    start_member(json, key);
    append_quoted(json, value);
}

void bl_json_integer(struct bl_json *json, const char *key, int64_t value)
{
    char digits[32];
    start_member(json, key);
    append(json, digits, (size_t)snprintf(digits, sizeof digits, "%" PRId64, value));
}

void bl_json_number(struct bl_json *json, const char *key, double value)
{
    if (!isfinite(value))
        bl_die(BL_STATUS_FAILED, "value of '%s' is not a finite number, report this as a bug",
               key ? key : "an array");
    char digits[40];
    const int length = snprintf(digits, sizeof digits, "%.12g", value);
    for (int i = 0; i < length; i++) {
        /* A host program may have set a locale whose decimal point is a comma. */
        if (!strchr("0123456789+-e", digits[i]))
            digits[i] = '.';
    }
    start_member(json, key);
    append(json, digits, (size_t)length);
}

void bl_json_bool(struct bl_json *json, const char *key, bool value)
{
    start_member(json, key);
    append(json, value ? "true" : "false", value ? 4 : 5);
}

void bl_json_open_object(struct bl_json *json, const char *key)
{
    open_scope(json, key, "{");
}

void bl_json_close_object(struct bl_json *json)
{
    close_scope(json, "}");
}

void bl_json_open_array(struct bl_json *json, const char *key)
{
    open_scope(json, key, "[");
}

void bl_json_close_array(struct bl_json *json)
{
    close_scope(json, "]");
}

void bl_json_object(struct bl_json *json, const char *key, const struct bl_json *value)
{
    start_member(json, key);
    append(json, value->text, value->length);
}

void bl_json_end(struct bl_json *json)
{
    append(json, "}", 1);
}

void bl_json_write(struct bl_json *json, FILE *stream)
{
    bl_json_end(json);
    append(json, "\n", 1);
    if (fwrite(json->text, 1, json->length, stream) != json->length || fflush(stream) != 0)
        bl_die(BL_STATUS_FAILED, "cannot write results: %s, look at where stdout goes",
               strerror(errno));
}

void bl_json_free(struct bl_json *json)
{
    free(json->text);
    *json = (struct bl_json){0};
}
