/* Signals that end the program; see iobench.h. */
#include "iobench.h"

volatile sig_atomic_t bl_io_interrupted;

static void note_signal(int number)
{
    (void)number;
    bl_io_interrupted = 1;
}

void bl_io_watch_signals(void)
{
    const struct sigaction action = {.sa_handler = note_signal};
    sigaction(SIGINT, &action, NULL);
    sigaction(SIGTERM, &action, NULL);
    /* A limit on file sizes shall be an error with a message. */
    signal(SIGXFSZ, SIG_IGN);
}
