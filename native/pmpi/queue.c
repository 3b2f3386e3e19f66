/* See queue.h. */
#include "queue.h"

#include "kernel.h"

#include <stdlib.h>
#include <string.h>

#define ASK_AFTER_NS 5e5

uint64_t bl_queue_after = UINT64_MAX;
double bl_queue_ticks_per_ns = 1;

uint64_t bl_queue_ask(struct bl_queue *queue)
{
    char text[96];
    if (queue->file <= 0)
        return 0;
    const ssize_t length = bl_kernel_read_at(queue->file, text, sizeof text - 1, 0);
    const char *second = length > 0 ? memchr(text, ' ', (size_t)length) : NULL;
    if (!second)
        return 0;
    text[length] = '\0';
    const uint64_t now = strtoull(second, NULL, 10);
    const uint64_t since = now > queue->seen ? now - queue->seen : 0;
    queue->seen = now;
    return since;
}

void bl_queue_open(struct bl_queue *queue, double ns_per_tick)
{
    queue->file = bl_kernel_open("/proc/thread-self/schedstat", O_RDONLY, 0);
    if (queue->file < 0)
        return;
    bl_queue_ask(queue);
    bl_queue_ticks_per_ns = 1 / ns_per_tick;
    bl_queue_after = (uint64_t)(ASK_AFTER_NS / ns_per_tick);
}
