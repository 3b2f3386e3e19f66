/* See bl_openblas.h. */
#include "bl_openblas.h"

#pragma weak openblas_get_config
#pragma weak openblas_get_corename
extern char *openblas_get_config(void);
extern char *openblas_get_corename(void);

static const char other_library[] = "not OpenBLAS";

const char *bl_openblas_config(void)
{
    return openblas_get_config ? openblas_get_config() : other_library;
}

const char *bl_openblas_kernels(void)
{
    if (!openblas_get_config)
        return other_library;
    return openblas_get_corename ? openblas_get_corename() : "";
}

void bl_openblas_report(struct bl_json *json)
{
    const char *const kernels = bl_openblas_kernels();
    bl_json_string(json, "blas", bl_openblas_config());
    if (kernels[0])
        bl_json_string(json, "blas_kernels", kernels);
}
