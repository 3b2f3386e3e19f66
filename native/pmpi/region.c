/* See region.h. */
#include "region.h"

#include "account.h"

static void pause_counting(struct bl_thread *thread, uint64_t now)
{
    bl_add_compute(thread, now);
    thread->table.sheet->untracked += bl_requests_forget();
    if (thread->traced)
        bl_trace_lose();
    thread->paused = true;
    thread->paused_at = now;
    thread->open = false;
}

static void resume_counting(struct bl_thread *thread, uint64_t now)
{
    thread->table.sheet->paused += now - thread->paused_at;
    thread->paused = false;
    thread->last = now;
    thread->open = true;
}

/* Closes the region's stretch of computing and goes on in another one. */
static void enter_region(struct bl_thread *thread, uint64_t now, unsigned region)
{
    bl_add_compute(thread, now);
    thread->last = now;
    thread->region = (uint8_t)region;
    bl_choose_compute(thread);
}

void bl_region_control(int level)
{
    if (!bl_active || (!bl_self && !bl_attach(false, 0)))
        return;
    struct bl_thread *thread = bl_self;
    const uint64_t now = bl_now();
    if (level == 0 && !thread->paused) {
        pause_counting(thread, now);
    } else if (level == 1 && thread->paused) {
        resume_counting(thread, now);
    } else if (level > 2 && level < 256) {
        if (thread->depth < BL_REGION_DEPTH)
            thread->outer_regions[thread->depth] = thread->region;
        thread->depth++;
        enter_region(thread, now, (unsigned)level);
    } else if (level < -2 && thread->depth > 0) {
        thread->depth--;
        enter_region(thread, now,
                     thread->depth < BL_REGION_DEPTH ? thread->outer_regions[thread->depth] : 0);
    }
}
