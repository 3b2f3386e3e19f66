/* The Fortran wrappers of calls.def; see fortran.h. */
#include "fortran.h"
#include "parameters.h"

#define IN_PLACE(buffer) bl_fortran_in_place(buffer)
#define TYPES(types) ((struct bl_types){.fortran = types##_f})
#define COUNTS bl_narrow
#define OWN_STATUS(status)                                                                         \
    MPI_Fint own_##status[MPI_F_STATUS_SIZE];                                                      \
    if (op.wakes && bl_fortran_status_ignored(status##_f))                                         \
        status##_f = own_##status;
#define ARRIVED(status)                                                                            \
    const MPI_Status c_##status = bl_fortran_status(status##_f);                                   \
    bl_arrived(&op, &c_##status);
#define TRACK(request) bl_track(&op, PMPI_Request_f2c(*request##_f));
#define PERSIST(request, starts) bl_persist(&op, PMPI_Request_f2c(*request##_f), starts);

#define CALL(Name, name, kind, parameters, before, after)                                          \
    typedef void (*real_##name)(BL_LIST_F_DECLARATIONS(parameters), MPI_Fint * ierror);            \
    BL_BODY void body_##name(real_##name real, BL_LIST_F_DECLARATIONS(parameters),                 \
                             MPI_Fint *ierror)                                                     \
    {                                                                                              \
        struct bl_op op;                                                                           \
        if (!bl_begin(&op, BL_##Name)) {                                                           \
            real(BL_LIST_F_ARGUMENTS(parameters), ierror);                                         \
            return;                                                                                \
        }                                                                                          \
        BL_LIST_F_VALUES(parameters)                                                               \
        before bl_start(&op);                                                                      \
        real(BL_LIST_F_ARGUMENTS(parameters), ierror);                                             \
        bl_stop(&op);                                                                              \
        if (bl_fortran_succeeded(ierror)) {                                                        \
            after                                                                                  \
        }                                                                                          \
        bl_record(&op);                                                                            \
    }                                                                                              \
    BL_FORTRAN_ENTRIES(name, (BL_LIST_F_DECLARATIONS(parameters)),                                 \
                       (BL_LIST_F_ARGUMENTS(parameters)))
#define CALL_LARGE CALL
#define CALL_BY_HAND(Name, kind)
#include "calls.def"
