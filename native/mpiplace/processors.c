/* See processors.h. */
#include "processors.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { CPUS = 8192, DOMAINS = 1024, PATH_BYTES = 160 };

/* Reads the first line of a file; false where there is none. */
static bool read_line(const char *path, char *line, int size_bytes)
{
    FILE *file = fopen(path, "r");
    if (!file)
        return false;
    const bool there = fgets(line, size_bytes, file) != NULL;
    fclose(file);
    return there;
}

/* Marks the numbers of a list such as "0-3,8"; returns how many. */
static int read_list(const char *text, bool *marks, int count)
{
    int found = 0;
    while (*text >= '0' && *text <= '9') {
        char *end;
        const long first = strtol(text, &end, 10);
        const long last = *end == '-' ? strtol(end + 1, &end, 10) : first;
        for (long i = first; i <= last && i < count; i++) {
            found += !marks[i];
            marks[i] = true;
        }
        text = *end == ',' ? end + 1 : end;
    }
    return found;
}

static void write_list(const bool *marks, int count, char *text)
{
    size_t used = 0;
    text[0] = '\0';
    for (int first = 0; first < count && used + 16 < BL_LIST_BYTES; first++) {
        if (!marks[first])
            continue;
        int last = first;
        while (last + 1 < count && marks[last + 1])
            last++;
        const char *comma = used ? "," : "";
        used += (size_t)snprintf(text + used, BL_LIST_BYTES - used,
                                 last > first ? "%s%d-%d" : "%s%d", comma, first, last);
        first = last;
    }
}

static void read_own(bool *cpus)
{
    char line[4096];
    FILE *file = fopen("/proc/self/status", "r");
    if (!file)
        return;
    while (fgets(line, sizeof line, file)) {
        static const char key[] = "Cpus_allowed_list:\t";
        if (strncmp(line, key, sizeof key - 1) == 0)
            read_list(line + sizeof key - 1, cpus, CPUS);
    }
    fclose(file);
}

/* Reads a number of one hardware thread's topology; -1 where the kernel does not tell. */
static int topology(int cpu, const char *what)
{
    char path[PATH_BYTES], line[BL_LIST_BYTES];
    snprintf(path, sizeof path, "/sys/devices/system/cpu/cpu%d/topology/%s", cpu, what);
    return read_line(path, line, sizeof line) ? atoi(line) : -1;
}

static void mark(bool *marks, int number, int count)
{
    if (number >= 0 && number < count)
        marks[number] = true;
}

static int counted(const bool *marks, int count)
{
    int found = 0;
    for (int i = 0; i < count; i++)
        found += marks[i];
    return found;
}

static void read_numa(const bool *own, struct bl_processors *processors)
{
    bool numa[DOMAINS] = {false};
    for (int domain = 0; domain < DOMAINS; domain++) {
        char path[PATH_BYTES], line[4096];
        bool cpus[CPUS] = {false};
        snprintf(path, sizeof path, "/sys/devices/system/node/node%d/cpulist", domain);
        /* A domain without processors is memory alone. */
        if (!read_line(path, line, sizeof line) || read_list(line, cpus, CPUS) == 0)
            continue;
        processors->machine_numa++;
        for (int cpu = 0; cpu < CPUS && !numa[domain]; cpu++)
            numa[domain] = own[cpu] && cpus[cpu];
    }
    write_list(numa, DOMAINS, processors->numa);
}

void bl_processors_read(struct bl_processors *processors)
{
    *processors = (struct bl_processors){.cores = 0};
    bool own[CPUS] = {false}, online[CPUS] = {false}, cores[CPUS] = {false};
    bool packages[DOMAINS] = {false}, every_package[DOMAINS] = {false};
    char line[4096];
    read_own(own);
    write_list(own, CPUS, processors->cpus);
    if (read_line("/sys/devices/system/cpu/online", line, sizeof line))
        read_list(line, online, CPUS);
    for (int cpu = 0; cpu < CPUS; cpu++) {
        if (!online[cpu])
            continue;
        const int package = topology(cpu, "physical_package_id");
        mark(every_package, package, DOMAINS);
        if (!own[cpu])
            continue;
        mark(packages, package, DOMAINS);
        mark(cores, topology(cpu, "thread_siblings_list"), CPUS); /* its first names the core */
    }
    write_list(packages, DOMAINS, processors->packages);
    processors->cores = counted(cores, CPUS);
    processors->machine_packages = counted(every_package, DOMAINS);
    read_numa(own, processors);
}
