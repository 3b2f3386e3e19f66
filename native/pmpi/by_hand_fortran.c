/* The Fortran functions whose wrappers do more than count; see by_hand.c. */
#include "fortran.h"
#include "region.h"
#include "session.h"

typedef void (*real_init)(MPI_Fint *);
typedef void (*real_init_thread)(MPI_Fint *, MPI_Fint *, MPI_Fint *);
typedef void (*real_abort)(MPI_Fint *, MPI_Fint *, MPI_Fint *);
typedef void (*real_free)(MPI_Fint *, MPI_Fint *);
/* The length of the file's name is a hidden last argument. */
typedef void (*real_open)(MPI_Fint *, char *, MPI_Fint *, MPI_Fint *, MPI_Fint *, MPI_Fint *,
                          size_t);

BL_BODY void body_init(const char *name, MPI_Fint *ierror)
{
    const real_init real = (real_init)bl_fortran_real(name);
    bl_session_prepare();
    const uint64_t began = bl_now();
    real(ierror);
    if (bl_fortran_succeeded(ierror))
        bl_session_begin(BL_Init, began, bl_now());
}

BL_BODY void body_init_thread(const char *name, MPI_Fint *required, MPI_Fint *provided,
                              MPI_Fint *ierror)
{
    const real_init_thread real = (real_init_thread)bl_fortran_real(name);
    bl_session_prepare();
    const uint64_t began = bl_now();
    real(required, provided, ierror);
    if (bl_fortran_succeeded(ierror))
        bl_session_begin(BL_Init_thread, began, bl_now());
}

BL_BODY void body_finalize(const char *name, MPI_Fint *ierror)
{
    const real_init real = (real_init)bl_fortran_real(name);
    bl_session_end();
    real(ierror);
}

BL_BODY void body_abort(const char *name, MPI_Fint *comm, MPI_Fint *code, MPI_Fint *ierror)
{
    const real_abort real = (real_abort)bl_fortran_real(name);
    bl_session_abort(*code);
    real(comm, code, ierror);
}

BL_BODY void body_comm_free(const char *name, unsigned call, MPI_Fint *comm, MPI_Fint *ierror)
{
    const real_free real = (real_free)bl_fortran_real(name);
    struct bl_op op;
    const MPI_Comm handle = PMPI_Comm_f2c(*comm);
    const bool counted = bl_begin(&op, call);
    uint64_t what = 0;
    if (counted) {
        bl_count_over(&op, handle);
        what = bl_what_of(&op);
        bl_start(&op);
    }
    bl_group_forget((uintptr_t)handle, BL_COMM);
    real(comm, ierror);
    if (counted) {
        bl_stop(&op);
        bl_record_as(&op, what);
    }
}

BL_BODY void body_win_free(const char *name, MPI_Fint *win, MPI_Fint *ierror)
{
    const real_free real = (real_free)bl_fortran_real(name);
    struct bl_op op;
    const MPI_Win handle = PMPI_Win_f2c(*win);
    const bool counted = bl_begin(&op, BL_Win_free);
    uint64_t what = 0;
    if (counted) {
        bl_count_epoch(&op, handle);
        what = bl_what_of(&op);
        bl_start(&op);
    }
    bl_group_forget((uintptr_t)handle, BL_WINDOW);
    real(win, ierror);
    if (counted) {
        bl_stop(&op);
        bl_record_as(&op, what);
    }
}

BL_BODY void body_file_close(const char *name, MPI_Fint *fh, MPI_Fint *ierror)
{
    const real_free real = (real_free)bl_fortran_real(name);
    struct bl_op op;
    const MPI_File handle = PMPI_File_f2c(*fh);
    const bool counted = bl_begin(&op, BL_File_close);
    uint64_t what = 0;
    if (counted) {
        bl_count_file(&op, handle);
        what = bl_what_of(&op);
        bl_start(&op);
    }
    bl_group_forget((uintptr_t)handle, BL_FILE);
    real(fh, ierror);
    if (counted) {
        bl_stop(&op);
        bl_record_as(&op, what);
    }
}

BL_BODY void body_file_open(const char *name, MPI_Fint *comm, char *path, MPI_Fint *amode,
                            MPI_Fint *info, MPI_Fint *fh, MPI_Fint *ierror, size_t path_length)
{
    const real_open real = (real_open)bl_fortran_real(name);
    struct bl_op op;
    if (!bl_begin(&op, BL_File_open)) {
        real(comm, path, amode, info, fh, ierror, path_length);
        return;
    }
    bl_count_over(&op, PMPI_Comm_f2c(*comm));
    bl_start(&op);
    real(comm, path, amode, info, fh, ierror, path_length);
    bl_stop(&op);
    bl_record(&op);
}

#define ENTRY(entry, declarations, call)                                                           \
    BL_EXPORT void entry declarations;                                                             \
    BL_EXPORT void entry declarations                                                              \
    {                                                                                              \
        call;                                                                                      \
    }
#define ENTRIES(end, REAL)                                                                         \
    ENTRY(mpi_init##end, (MPI_Fint * ierror), body_init(REAL(init), ierror))                       \
    ENTRY(mpi_init_thread##end, (MPI_Fint * required, MPI_Fint * provided, MPI_Fint * ierror),     \
          body_init_thread(REAL(init_thread), required, provided, ierror))                         \
    ENTRY(mpi_finalize##end, (MPI_Fint * ierror), body_finalize(REAL(finalize), ierror))           \
    ENTRY(mpi_abort##end, (MPI_Fint * comm, MPI_Fint * code, MPI_Fint * ierror),                   \
          body_abort(REAL(abort), comm, code, ierror))                                             \
    ENTRY(mpi_pcontrol##end, (MPI_Fint * level), bl_region_control(*level))                        \
    ENTRY(mpi_comm_free##end, (MPI_Fint * comm, MPI_Fint * ierror),                                \
          body_comm_free(REAL(comm_free), BL_Comm_free, comm, ierror))                             \
    ENTRY(mpi_comm_disconnect##end, (MPI_Fint * comm, MPI_Fint * ierror),                          \
          body_comm_free(REAL(comm_disconnect), BL_Comm_disconnect, comm, ierror))                 \
    ENTRY(mpi_win_free##end, (MPI_Fint * win, MPI_Fint * ierror),                                  \
          body_win_free(REAL(win_free), win, ierror))                                              \
    ENTRY(mpi_file_close##end, (MPI_Fint * fh, MPI_Fint * ierror),                                 \
          body_file_close(REAL(file_close), fh, ierror))                                           \
    ENTRY(mpi_file_open##end,                                                                      \
          (MPI_Fint * comm, char *path, MPI_Fint *amode, MPI_Fint *info, MPI_Fint *fh,             \
           MPI_Fint *ierror, size_t path_length),                                                  \
          body_file_open(REAL(file_open), comm, path, amode, info, fh, ierror, path_length))

ENTRIES(_, BL_REAL_F77)
ENTRIES(_f08_, BL_REAL_F08)
