/*
 * Tests of native/common and of mpibench's data patterns. Prints what fails; exits 1 if anything
 * did.
 */
#include "bl_error.h"
#include "bl_json.h"
#include "bl_openblas.h"
#include "bl_summary.h"
#include "bl_values.h"
#include "pattern.h"

#include <locale.h>
#include <math.h>
#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int failures;

static void expect(bool holds, const char *what, int line)
{
    if (!holds) {
        fprintf(stderr, "test_common.c:%d: %s\n", line, what);
        failures++;
    }
}
#define EXPECT(condition) expect(condition, #condition, __LINE__)

/* ---- bl_die, caught ---- */

static jmp_buf caught;
static int died_with;
static char last_words[1200];

static void catch_exit(int status, const char *line)
{
    died_with = status;
    snprintf(last_words, sizeof last_words, "%s", line);
    longjmp(caught, 1);
}

/* The status that `run` dies with, or 0. */
static int status_of(void (*run)(const void *), const void *argument)
{
    died_with = 0;
    last_words[0] = '\0';
    if (setjmp(caught) == 0)
        run(argument);
    return died_with;
}

/* ---- quantiles: type 7; expected values by hand ---- */

static void test_quantiles(void)
{
    static const struct {
        double values[6];
        size_t count;
        double probability;
        double expected;
    } cases[] = {
        {{7}, 1, 0.5, 7},
        {{7}, 1, 0.99, 7},
        {{1, 2}, 2, 0.5, 1.5},
        {{1, 2}, 2, 0.0, 1},
        {{1, 2}, 2, 1.0, 2},
        {{1, 2, 3, 4}, 4, 0.25, 1.75},
        {{1, 2, 3, 4}, 4, 0.75, 3.25},
        {{1, 2, 3, 4, 5}, 5, 0.5, 3},
        {{0, 10, 20, 30, 40}, 5, 0.95, 38},
        {{0, 10, 20, 30, 40}, 5, 0.99, 39.6},
        {{-5, -5, -5, 0, 0, 100}, 6, 0.5, -2.5},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const double got = bl_quantile(cases[i].values, cases[i].count, cases[i].probability);
        if (fabs(got - cases[i].expected) > 1e-12) {
            fprintf(stderr, "quantile case %zu: %g, expected %g\n", i, got, cases[i].expected);
            failures++;
        }
    }
}

static void test_summary_sorts(void)
{
    double values[] = {5, 1, 4, 2, 3};
    const struct bl_summary s = bl_summarise(values, 5);
    EXPECT(s.min == 1 && s.q1 == 2 && s.median == 3 && s.q3 == 4 && s.max == 5 && s.mean == 3);
    EXPECT(s.p95 > 4.79 && s.p95 < 4.81 && s.p99 > 4.95 && s.p99 < 4.97);
}

/* ---- JSON ---- */

static void test_json_text(void)
{
    struct bl_json json = {0};
    bl_json_begin(&json);
    bl_json_string(&json, "text", "a\"b\\c\n\t\x01");
    bl_json_integer(&json, "integer", INT64_C(-9007199254740993));
    bl_json_number(&json, "number", 1.25e-7);
    bl_json_bool(&json, "yes", true);
    bl_json_open_array(&json, "list");
    bl_json_integer(&json, NULL, 1);
    bl_json_open_object(&json, NULL);
    bl_json_close_object(&json);
    bl_json_integer(&json, NULL, 2);
    bl_json_close_array(&json);
    bl_json_number(&json, "zero", 0);
    bl_json_end(&json);
    EXPECT(strcmp(json.text, "{\"text\":\"a\\\"b\\\\c\\u000a\\u0009\\u0001\","
                             "\"integer\":-9007199254740993,\"number\":1.25e-07,\"yes\":true,"
                             "\"list\":[1,{},2],\"zero\":0}") == 0);
    bl_json_begin(&json);
    bl_json_end(&json);
    EXPECT(strcmp(json.text, "{}") == 0);
    bl_json_free(&json);
}

/* A decimal comma: only where such a locale is installed, so the test says when it is not. */
static void test_json_locale(void)
{
    static const char *const names[] = {"de_DE.UTF-8", "de_DE.utf8", "fr_FR.UTF-8", "de_DE", NULL};
    const char *found = NULL;
    for (int i = 0; names[i] && !found; i++)
        found = setlocale(LC_NUMERIC, names[i]);
    if (!found)
        printf("no locale with a decimal comma is installed: that case is not tested\n");
    struct bl_json json = {0};
    bl_json_begin(&json);
    bl_json_number(&json, "half", 0.5);
    bl_json_number(&json, "small", -2.5e-300);
    bl_json_end(&json);
    EXPECT(strcmp(json.text, "{\"half\":0.5,\"small\":-2.5e-300}") == 0);
    bl_json_free(&json);
    setlocale(LC_NUMERIC, "C");
}

static void write_number(const void *value)
{
    static struct bl_json json;
    bl_json_begin(&json);
    bl_json_number(&json, "rate", *(const double *)value);
}

static void write_line_to_full_device(const void *unused)
{
    (void)unused;
    static struct bl_json json;
    FILE *full = fopen("/dev/full", "w");
    if (!full)
        bl_die(BL_STATUS_FAILED, "/dev/full is missing");
    bl_json_begin(&json);
    bl_json_write(&json, full);
}

static void test_json_failures(void)
{
    static const double invalid[] = {NAN, INFINITY, -INFINITY};
    for (int i = 0; i < 3; i++) {
        EXPECT(status_of(write_number, &invalid[i]) == BL_STATUS_FAILED);
        EXPECT(strstr(last_words, "'rate'") != NULL);
    }
    const double valid = 1e300;
    EXPECT(status_of(write_number, &valid) == 0);
    EXPECT(status_of(write_line_to_full_device, NULL) == BL_STATUS_FAILED);
    EXPECT(strstr(last_words, "stdout") != NULL);
}

/* ---- option values ---- */

static size_t parsed_size;
static int64_t parsed_count;
static double parsed_seconds;

static void parse_size(const void *text)
{
    parsed_size = bl_parse_size("-m", text, -1);
}

static void parse_count(const void *text)
{
    parsed_count = bl_parse_count("-i", text, 3, 100);
}

static void parse_seconds(const void *text)
{
    parsed_seconds = bl_parse_seconds("-t", text);
}

static void test_values(void)
{
    static const struct {
        const char *text;
        size_t expected;
    } sizes[] = {{"0", 0},         {"8", 8},           {"8B", 8},
                 {"4K", 4096},     {"4k", 4096},       {"4KiB", 4096},
                 {"2M", 2u << 20}, {"2MiB", 2u << 20}, {"1G", 1u << 30}};
    static const char *const bad_sizes[] = {
        "", "K", "-1", " 8", "8 ", "8Q", "1.5K", "0x10", "99999999999999999999", "99999999999999G"};
    static const char *const bad_counts[] = {
        "", "2", "101", "x", "10x", "1e1", "99999999999999999"};
    static const char *const bad_seconds[] = {"", "0", "-1", "nan", "inf", "1s", "x"};
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        EXPECT(status_of(parse_size, sizes[i].text) == 0);
        EXPECT(parsed_size == sizes[i].expected);
    }
    for (size_t i = 0; i < sizeof bad_sizes / sizeof *bad_sizes; i++)
        EXPECT(status_of(parse_size, bad_sizes[i]) == BL_STATUS_USAGE);
    for (size_t i = 0; i < sizeof bad_counts / sizeof *bad_counts; i++)
        EXPECT(status_of(parse_count, bad_counts[i]) == BL_STATUS_USAGE);
    for (size_t i = 0; i < sizeof bad_seconds / sizeof *bad_seconds; i++)
        EXPECT(status_of(parse_seconds, bad_seconds[i]) == BL_STATUS_USAGE);
    EXPECT(status_of(parse_count, "100") == 0 && parsed_count == 100);
    EXPECT(status_of(parse_seconds, "0.25") == 0 && parsed_seconds == 0.25);
    EXPECT(bl_parse_size("-m", "64K:1M", 3) == 65536);
}

/* ---- data patterns ---- */

static void test_patterns(void)
{
    enum { SIZE = 200000 };
    static unsigned char buffer[SIZE];
    static const size_t sizes[] = {1, 2, 7, 64, 4096, SIZE};
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        const size_t n = sizes[i];
        bl_pattern_fill(buffer, n, 2, 5);
        EXPECT(bl_pattern_matches(buffer, n, 2, 5));
        EXPECT(!bl_pattern_matches(buffer, n, 5, 2));
        EXPECT(!bl_pattern_matches(buffer, n, 3, 5));
        EXPECT(!bl_pattern_matches(buffer, n, 2, BL_TO_ALL));
        buffer[n - 1] ^= 1;
        EXPECT(!bl_pattern_matches(buffer, n, 2, 5));
        bl_pattern_scrub(buffer, n, 2, 5);
        EXPECT(!bl_pattern_matches(buffer, n, 2, 5));
    }
    EXPECT(bl_pattern_matches(buffer, 0, 1, 2));
    /* The tail in place of the head, by distances that a plain byte counter would not notice. */
    static const size_t shifts[] = {1, 256, 4096, 65536};
    for (size_t i = 0; i < sizeof shifts / sizeof *shifts; i++) {
        bl_pattern_fill(buffer, SIZE, 0, 1);
        memmove(buffer, buffer + shifts[i], SIZE - shifts[i]);
        EXPECT(!bl_pattern_matches(buffer, SIZE, 0, 1));
    }
}

static void test_terms(void)
{
    enum { COUNT = 3000, RANKS = 5 };
    static double sums[COUNT], terms[COUNT];
    memset(sums, 0, sizeof sums);
    for (int rank = 0; rank < RANKS; rank++) {
        bl_terms_fill(terms, COUNT, rank);
        for (int i = 0; i < COUNT; i++)
            sums[i] += terms[i];
    }
    EXPECT(bl_terms_sum_matches(sums, COUNT, 0, RANKS));
    EXPECT(bl_terms_sum_matches(sums + 1000, 500, 1000, RANKS));
    EXPECT(!bl_terms_sum_matches(sums + 1000, 500, 0, RANKS));
    EXPECT(!bl_terms_sum_matches(sums, COUNT, 0, RANKS - 1));
    sums[COUNT - 1] += 1;
    EXPECT(!bl_terms_sum_matches(sums, COUNT, 0, RANKS));
    bl_terms_scrub(sums, COUNT);
    EXPECT(!bl_terms_sum_matches(sums, COUNT, 0, RANKS));
}

/* This program has none of OpenBLAS's symbols, as one that is linked with the reference's BLAS. */
static void test_without_openblas(void)
{
    struct bl_json json = {0};
    bl_json_begin(&json);
    bl_openblas_report(&json);
    bl_json_end(&json);
    EXPECT(!strcmp(json.text, "{\"blas\":\"not OpenBLAS\",\"blas_kernels\":\"not OpenBLAS\"}"));
    bl_json_free(&json);
}

int main(void)
{
    bl_set_program("test_common");
    bl_set_exit(catch_exit);
    test_quantiles();
    test_summary_sorts();
    test_json_text();
    test_json_locale();
    test_json_failures();
    test_values();
    test_patterns();
    test_terms();
    test_without_openblas();
    if (failures)
        fprintf(stderr, "%d failed\n", failures);
    return failures ? EXIT_FAILURE : EXIT_SUCCESS;
}
