/* See packing.h. */
#include "packing.h"

#include "journal.h"
#include "kernel.h"
#include "output_stream.h"
#include "say.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define PART (3 << 14)

/* What is left of three bytes that four letters of Base64 stand for. */
struct text {
    FILE *file;
    unsigned char left[3];
    size_t count;
};

static void put_letters(const unsigned char bytes[3], size_t count, char letters[4])
{
    static const char alphabet[] =
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    const unsigned all = (unsigned)bytes[0] << 16 | (unsigned)bytes[1] << 8 | bytes[2];
    for (size_t i = 0; i < 4; i++)
        letters[i] = i <= count ? alphabet[all >> (18 - 6 * i) & 63] : '=';
}

static bool write_all(struct text *text, const void *bytes, size_t size)
{
    static char letters[4 * PART / 3 + 8];
    const unsigned char *at = bytes;
    while (size > 0) {
        size_t length = 0;
        while (size > 0 && length + 4 <= sizeof letters) {
            text->left[text->count++] = *at++;
            size--;
            if (text->count == 3) {
                put_letters(text->left, 3, letters + length);
                length += 4;
                text->count = 0;
            }
        }
        if (fwrite(letters, 1, length, text->file) != length)
            return false;
    }
    return true;
}

static bool write_rest(struct text *text)
{
    char letters[4];
    if (text->count == 0)
        return true;
    memset(text->left + text->count, 0, 3 - text->count);
    put_letters(text->left, text->count, letters);
    return fwrite(letters, 1, 4, text->file) == 4;
}

/* Each slice follows its length. */
static bool write_slice(struct text *text, const void *slice, size_t size)
{
    const uint64_t length = size;
    return write_all(text, &length, sizeof length) && write_all(text, slice, size);
}

/* Takes the slices of the other ranks in turn; each is told when to send. */
static bool write_others(struct text *text, int ranks, MPI_Comm comm)
{
    static unsigned char part[PART];
    bool good = text != NULL;
    for (int rank = 1; rank < ranks; rank++) {
        uint64_t left = 0;
        PMPI_Send(&left, 1, MPI_UINT64_T, rank, 0, comm);
        PMPI_Recv(&left, 1, MPI_UINT64_T, rank, 0, comm, MPI_STATUS_IGNORE);
        good = good && write_all(text, &left, sizeof left);
        while (left > 0) {
            const int length = left < PART ? (int)left : PART;
            PMPI_Recv(part, length, MPI_BYTE, rank, 0, comm, MPI_STATUS_IGNORE);
            good = good && write_all(text, part, (size_t)length);
            left -= (uint64_t)length;
        }
    }
    return good;
}

static void send_slice(const void *slice, size_t size, MPI_Comm comm)
{
    uint64_t left = size;
    uint64_t go;
    PMPI_Recv(&go, 1, MPI_UINT64_T, 0, 0, comm, MPI_STATUS_IGNORE);
    PMPI_Send(&left, 1, MPI_UINT64_T, 0, 0, comm);
    for (const unsigned char *at = slice; left > 0;) {
        const int length = left < PART ? (int)left : PART;
        PMPI_Send(at, length, MPI_BYTE, 0, 0, comm);
        at += length;
        left -= (uint64_t)length;
    }
}

/* The first piece is that of the journal, but for what it says about slices. */
static bool copy_head(const char *journal, struct text *text)
{
    static char head[BL_JOURNAL_PIECE];
    const int from = bl_output_reopen(journal, O_RDONLY);
    const bool good =
        from >= 0 && bl_kernel_read_at(from, head, BL_TRACE_HEAD_SIZE, 0) == BL_TRACE_HEAD_SIZE;
    if (from >= 0)
        bl_kernel_close(from);
    const uint64_t packed = 0;
    memcpy(head + BL_TRACE_SLICE_SIZE_AT, &packed, sizeof packed);
    return good && write_all(text, head, sizeof head);
}

void bl_trace_pack(const char *path, const void *slice, size_t size, MPI_Comm comm)
{
    char journal[PATH_MAX + 32];
    int rank;
    int ranks;
    PMPI_Comm_rank(comm, &rank);
    PMPI_Comm_size(comm, &ranks);
    if (rank != 0) {
        send_slice(slice, size, comm);
        return;
    }
    snprintf(journal, sizeof journal, "%s.journal", path);
    struct bl_output output;
    const char *refusal = bl_output_begin(&output, path);
    struct text text = {.file = refusal ? NULL : bl_output_stream_open(&output)};
    bool good = text.file && copy_head(journal, &text) && write_slice(&text, slice, size);
    /* The others wait to be asked, whatever became of the file. */
    good = write_others(good ? &text : NULL, ranks, comm) && good && write_rest(&text);
    if (!refusal && !bl_output_stream_end(&output, text.file, good))
        refusal = strerror(errno);
    if (refusal)
        bl_say("%s: the trace cannot be written (%s); %s holds what was gathered", path, refusal,
               journal);
    else
        unlink(journal);
}
