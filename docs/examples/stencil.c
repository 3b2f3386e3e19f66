/* Smooths a plane; prints the processor time of its steps. */
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
int main(int argc, char **argv) {
    int n = argc > 1 ? atoi(argv[1]) : 256, steps = 40000000 / (n * n);
    double *a = calloc((size_t)n * n, sizeof *a), *b = calloc((size_t)n * n, sizeof *b);
    struct timespec t0, t1;
    a[n * n / 2] = 1.0;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t0);
    for (int s = 0; s < steps; s++) {
        for (int i = 1; i < n - 1; i++)
            for (int j = 1; j < n - 1; j++)
                b[i * n + j] = 0.25 * (a[(i - 1) * n + j] + a[(i + 1) * n + j] + a[i * n + j - 1] + a[i * n + j + 1]);
        double *c = a; a = b; b = c;
    }
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t1);
    double sum = 0;
    for (int i = 0; i < n * n; i++) sum += a[i];
    printf("processor time %.9f s\nsum %.12f\n", (t1.tv_sec - t0.tv_sec) + 1e-9 * (t1.tv_nsec - t0.tv_nsec), sum);
    return 0;
}
