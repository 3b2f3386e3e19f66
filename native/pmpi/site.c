/* See site.h. */
#include "site.h"

#include <link.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Sites that the whole job keeps. */
#define SITES_IN_JOB 2048

struct bl_site *bl_site_find(struct bl_sites *sites, uintptr_t address, uint32_t call)
{
    for (;;) {
        uint32_t slot =
            (uint32_t)((address ^ (uint64_t)call << 48) * UINT64_C(0x9e3779b97f4a7c15) >> 40) %
            BL_SITE_SLOTS;
        struct bl_site *site = &sites->slot[slot];
        while (site->call && (site->call != call || site->address != address)) {
            slot = (slot + 1) % BL_SITE_SLOTS;
            site = &sites->slot[slot];
        }
        if (site->call)
            return site;
        if (sites->used < BL_SITES_MAX || address == 0) {
            sites->used++;
            *site = (struct bl_site){.address = address, .call = call};
            return site;
        }
        address = 0;
    }
}

struct place {
    uintptr_t address;
    struct bl_site_row *row;
};

static int look_at(struct dl_phdr_info *info, size_t size, void *argument)
{
    struct place *place = argument;
    (void)size;
    for (int i = 0; i < info->dlpi_phnum; i++) {
        const ElfW(Phdr) *part = &info->dlpi_phdr[i];
        const uintptr_t begin = info->dlpi_addr + part->p_vaddr;
        if (part->p_type != PT_LOAD || place->address < begin ||
            place->address >= begin + part->p_memsz)
            continue;
        place->row->offset = place->address - info->dlpi_addr;
        if (*info->dlpi_name)
            snprintf(place->row->object, BL_OBJECT_SIZE, "%.*s", BL_OBJECT_SIZE - 1,
                     info->dlpi_name);
        else if (readlink("/proc/self/exe", place->row->object, BL_OBJECT_SIZE - 1) < 0)
            place->row->object[0] = '\0';
        return 1;
    }
    return 0;
}

/* Sites come first that cost most; what two rows have in common tells them apart. */
static int compare_keys(const void *a, const void *b)
{
    const struct bl_site_row *left = a;
    const struct bl_site_row *right = b;
    if (left->call != right->call)
        return left->call < right->call ? -1 : 1;
    if (left->offset != right->offset)
        return left->offset < right->offset ? -1 : 1;
    return strcmp(left->object, right->object);
}

static int compare_times(const void *a, const void *b)
{
    const double left = ((const struct bl_site_row *)a)->time;
    const double right = ((const struct bl_site_row *)b)->time;
    return left > right ? -1 : left < right;
}

static void unite(struct bl_site_total *total, int same_rank)
{
    size_t last = 0;
    if (total->count == 0)
        return;
    qsort(total->rows, total->count, sizeof *total->rows, compare_keys);
    for (size_t i = 1; i < total->count; i++) {
        struct bl_site_row *to = &total->rows[last];
        const struct bl_site_row *from = &total->rows[i];
        if (compare_keys(to, from) != 0) {
            total->rows[++last] = *from;
            continue;
        }
        to->count += from->count;
        to->bytes += from->bytes;
        to->time += from->time;
        if (from->longest > to->longest)
            to->longest = from->longest;
        if (same_rank) {
            to->rank_least = to->rank_most = to->time;
            continue;
        }
        to->ranks += from->ranks;
        if (from->rank_least < to->rank_least)
            to->rank_least = from->rank_least;
        if (from->rank_most > to->rank_most)
            to->rank_most = from->rank_most;
    }
    total->count = last + 1;
    if (total->count > SITES_IN_JOB) {
        qsort(total->rows, total->count, sizeof *total->rows, compare_times);
        total->count = SITES_IN_JOB;
    }
}

void bl_sites_add(struct bl_site_total *total, const struct bl_sites *sites, double ns_per_tick)
{
    struct bl_site_row *rows =
        realloc(total->rows, (total->count + sites->used + 1) * sizeof *rows);
    if (!rows)
        return;
    total->rows = rows;
    for (uint32_t i = 0; i < BL_SITE_SLOTS; i++) {
        const struct bl_site *site = &sites->slot[i];
        if (!site->call)
            continue;
        struct bl_site_row *row = &rows[total->count++];
        const double time = (double)site->time * ns_per_tick;
        memset(row, 0, sizeof *row);
        row->call = site->call;
        row->ranks = 1;
        row->count = site->count;
        row->bytes = site->bytes;
        row->time = row->rank_least = row->rank_most = time;
        row->longest = (double)site->longest * ns_per_tick;
        /* The instruction before the one that is returned to. */
        struct place place = {.address = site->address - (site->address != 0), .row = row};
        if (place.address)
            dl_iterate_phdr(look_at, &place);
    }
    unite(total, 1);
}

void bl_sites_reduce(struct bl_site_total *total, MPI_Comm comm)
{
    int rank;
    int ranks;
    PMPI_Comm_rank(comm, &rank);
    PMPI_Comm_size(comm, &ranks);
    for (int step = 1; step < ranks; step *= 2) {
        if (rank % (2 * step) != 0) {
            const int64_t count = (int64_t)total->count;
            PMPI_Send(&count, 1, MPI_INT64_T, rank - step, 0, comm);
            PMPI_Send(total->rows, (int)(total->count * sizeof *total->rows), MPI_BYTE, rank - step,
                      0, comm);
            total->count = 0;
            return;
        }
        if (rank + step >= ranks)
            continue;
        int64_t count = 0;
        PMPI_Recv(&count, 1, MPI_INT64_T, rank + step, 0, comm, MPI_STATUS_IGNORE);
        const size_t bytes = (size_t)count * sizeof *total->rows;
        struct bl_site_row *more = malloc(bytes + 1);
        struct bl_site_row *rows =
            realloc(total->rows, (total->count + (size_t)count + 1) * sizeof *rows);
        total->rows = rows ? rows : total->rows;
        if (!more) /* received into nothing: the message is cut, and an error is only returned */
            count = 0;
        PMPI_Recv(more, more ? (int)bytes : 0, MPI_BYTE, rank + step, 0, comm, MPI_STATUS_IGNORE);
        if (rows && count) {
            memcpy(rows + total->count, more, bytes);
            total->count += (size_t)count;
            unite(total, 0);
        }
        free(more);
    }
}
