/*
 * The node's BLAS and LAPACK: prototypes and threads.
 *
 * Exported: the functions below. Inside a parallel region, only cblas_dgemm may be called, after
 * bl_blas_threads_set(1).
 *
 * The prototypes are fixed, but distributions put the headers into different folders, and
 * OpenBLAS's differ from the reference's in the names of enumerations.
 */
#ifndef BL_BLAS_H
#define BL_BLAS_H

/* Row-major, no transposition. */
enum { BL_ROW_MAJOR = 101, BL_NO_TRANSPOSE = 111 };
extern void cblas_dgemm(int layout, int transpose_a, int transpose_b, int m, int n, int k,
                        double alpha, const double *a, int lda, const double *b, int ldb,
                        double beta, double *c, int ldc);

/* Fortran's; the hidden length of a character argument comes last. */
extern void dgetrf_(const int *m, const int *n, double *a, const int *lda, int *pivots, int *info);
extern void dgetrs_(const char *transpose, const int *n, const int *columns, const double *a,
                    const int *lda, const int *pivots, double *b, const int *ldb, int *info,
                    unsigned long transpose_length);

/* Returns the threads in force; 0 keeps the library's own choice. */
int bl_blas_threads_set(int wanted);

#endif
