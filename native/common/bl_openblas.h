/*
 * Version and kernels of the BLAS with which a program is linked.
 *
 * Exported: the functions below. Nothing here is collective.
 *
 * OpenBLAS chooses its kernels when it is loaded, by the model of the processor. If the processor
 * is newer than the library, OpenBLAS may choose its oldest kernels, for SSE3, although the
 * processor has AVX-512. The choice is visible only in the process itself, by functions that only
 * OpenBLAS has. These functions are weak symbols here, so that a program links with any BLAS.
 */
#ifndef BL_OPENBLAS_H
#define BL_OPENBLAS_H

#include "bl_json.h"

/* Version, options and limits of the library; "not OpenBLAS" for another library. */
const char *bl_openblas_config(void);

/* The processor whose kernels the library uses, by its name in OPENBLAS_CORETYPE; "not OpenBLAS"
 * for another library, "" if the library does not provide the name. */
const char *bl_openblas_kernels(void);

/* Adds both as the members "blas" and "blas_kernels" of a header, without unknown values. */
void bl_openblas_report(struct bl_json *json);

#endif
