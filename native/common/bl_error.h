/*
 * How a program gives up: one line on stderr (`program: what, where, next step`) and an exit code.
 *
 * Exported: bl_die, bl_set_program, bl_program, bl_set_exit, enum bl_status.
 * bl_die may be called by any subset of processes; what happens to the others is decided by the
 * function given to bl_set_exit (mpibench aborts the job).
 */
#ifndef BL_ERROR_H
#define BL_ERROR_H

enum bl_status {
    BL_STATUS_DONE = 0,
    BL_STATUS_FAILED = 1, /* the environment: memory, MPI, output */
    BL_STATUS_USAGE = 2,  /* the command line */
    BL_STATUS_WRONG = 3,  /* the measured operation delivered wrong data */
    /* The build left out the requested benchmark (EX_UNAVAILABLE of sysexits.h). bareline then
     * skips all its trials; the line contains the words "built without" and the package to
     * install. */
    BL_STATUS_LEFT_OUT = 69,
};

/* Name that starts every line on stderr; must outlive the program's last message. */
void bl_set_program(const char *name);
const char *bl_program(void);

/* Replaces "print the line and exit(status)". The function must not return. */
void bl_set_exit(void (*leave)(int status, const char *line));

/* Formats `program: ...` and leaves with the status. */
_Noreturn void bl_die(int status, const char *format, ...) __attribute__((format(printf, 2, 3)));

#endif
