/*
 * What the BLAS that a program is linked with says of itself.
 *
 * Exported: the functions below. Nothing here is collective.
 *
 * OpenBLAS chooses its kernels when it is loaded, by the model of the processor. On one that is
 * newer than the library it may take its oldest, for SSE3, although the processor has AVX-512. The
 * choice is visible only in the process that made it, and only OpenBLAS can be asked: its functions
 * are weak symbols here, so that a program links with any BLAS.
 */
#ifndef BL_OPENBLAS_H
#define BL_OPENBLAS_H

#include "bl_json.h"

/* Version, options and limits of the library; "not OpenBLAS" of another one. */
const char *bl_openblas_config(void);

/* The processor whose kernels it runs, as OPENBLAS_CORETYPE names it; "not OpenBLAS" of another
 * library, "" of one that does not tell. */
const char *bl_openblas_kernels(void);

/* Both as the members "blas" and "blas_kernels" of a header; what is not told is left out. */
void bl_openblas_report(struct bl_json *json);

#endif
