/* Prints a line for the user, `bareline profile: ...`, on stderr. Never ends the program. */
#ifndef BL_PMPI_SAY_H
#define BL_PMPI_SAY_H

void bl_say(const char *format, ...) __attribute__((format(printf, 1, 2)));

#endif
