/* The C wrappers of calls.def: MPI_X counts and forwards to PMPI_X. */
#include "account.h"
#include "export.h"
#include "parameters.h"

#define IN_PLACE(buffer) ((buffer) == MPI_IN_PLACE)
#define TYPES(types) ((struct bl_types){.c = (types)})
#define ARRIVED(status) bl_arrived(&op, status);
/* MPI tells the size of what arrived only in a status. */
#define OWN_STATUS(status)                                                                         \
    MPI_Status own_##status;                                                                       \
    if (op.wakes && status == MPI_STATUS_IGNORE)                                                   \
        status = &own_##status;
#define TRACK(request) bl_track(&op, *request);
#define PERSIST(request, starts) bl_persist(&op, *request, starts);

#define BL_WRAP(function, forward, number, parameters, before, after)                              \
    BL_EXPORT int function(BL_LIST_C_DECLARATIONS(parameters))                                     \
    {                                                                                              \
        struct bl_op op;                                                                           \
        if (!bl_begin(&op, number))                                                                \
            return forward(BL_LIST_C_ARGUMENTS(parameters));                                       \
        before bl_start(&op);                                                                      \
        const int code = forward(BL_LIST_C_ARGUMENTS(parameters));                                 \
        bl_stop(&op);                                                                              \
        if (code == MPI_SUCCESS) {                                                                 \
            after                                                                                  \
        }                                                                                          \
        bl_record(&op);                                                                            \
        return code;                                                                               \
    }

#define BL_COUNT_TYPE int
#define BL_DISPL_TYPE int
#define COUNTS bl_narrow
#define CALL(Name, name, kind, parameters, before, after)                                          \
    BL_WRAP(MPI_##Name, PMPI_##Name, BL_##Name, parameters, before, after)
#define CALL_LARGE CALL
#define CALL_BY_HAND(Name, kind)
#include "calls.def"

#if MPI_VERSION >= 4
#undef BL_COUNT_TYPE
#undef BL_DISPL_TYPE
#undef COUNTS
#undef CALL
#undef CALL_LARGE
#define BL_COUNT_TYPE MPI_Count
#define BL_DISPL_TYPE MPI_Aint
#define COUNTS bl_wide
#define CALL(Name, name, kind, parameters, before, after)
#define CALL_LARGE(Name, name, kind, parameters, before, after)                                    \
    BL_WRAP(MPI_##Name##_c, PMPI_##Name##_c, BL_##Name, parameters, before, after)
#include "calls.def"
#endif
