/* The C functions whose wrappers do more than count: beginning, end and freed handles. */
#include "account.h"
#include "export.h"
#include "region.h"
#include "session.h"

BL_EXPORT int MPI_Init(int *argc, char ***argv)
{
    bl_session_prepare();
    const uint64_t began = bl_now();
    const int code = PMPI_Init(argc, argv);
    if (code == MPI_SUCCESS)
        bl_session_begin(BL_Init, began, bl_now());
    return code;
}

BL_EXPORT int MPI_Init_thread(int *argc, char ***argv, int required, int *provided)
{
    bl_session_prepare();
    const uint64_t began = bl_now();
    const int code = PMPI_Init_thread(argc, argv, required, provided);
    if (code == MPI_SUCCESS)
        bl_session_begin(BL_Init_thread, began, bl_now());
    return code;
}

BL_EXPORT int MPI_Finalize(void)
{
    bl_session_end();
    return PMPI_Finalize();
}

BL_EXPORT int MPI_Abort(MPI_Comm comm, int code)
{
    bl_session_abort(code);
    return PMPI_Abort(comm, code);
}

BL_EXPORT int MPI_Pcontrol(const int level, ...)
{
    bl_region_control(level);
    return MPI_SUCCESS;
}

/* A freed handle may come back for another communicator, window or file. */

BL_EXPORT int MPI_Comm_free(MPI_Comm *comm)
{
    struct bl_op op;
    if (!bl_begin(&op, BL_Comm_free)) {
        bl_group_forget((uintptr_t)*comm, BL_COMM);
        return PMPI_Comm_free(comm);
    }
    bl_count_over(&op, *comm);
    const uint64_t what = bl_what_of(&op);
    bl_group_forget((uintptr_t)*comm, BL_COMM);
    bl_start(&op);
    const int code = PMPI_Comm_free(comm);
    bl_stop(&op);
    bl_record_as(&op, what);
    return code;
}

BL_EXPORT int MPI_Comm_disconnect(MPI_Comm *comm)
{
    struct bl_op op;
    if (!bl_begin(&op, BL_Comm_disconnect)) {
        bl_group_forget((uintptr_t)*comm, BL_COMM);
        return PMPI_Comm_disconnect(comm);
    }
    bl_count_over(&op, *comm);
    const uint64_t what = bl_what_of(&op);
    bl_group_forget((uintptr_t)*comm, BL_COMM);
    bl_start(&op);
    const int code = PMPI_Comm_disconnect(comm);
    bl_stop(&op);
    bl_record_as(&op, what);
    return code;
}

/* In C only: the texts of Fortran have hidden lengths. */

BL_EXPORT int MPI_Comm_spawn(const char *command, char *argv[], int maxprocs, MPI_Info info,
                             int root, MPI_Comm comm, MPI_Comm *children, int codes[])
{
    struct bl_op op;
    if (!bl_begin(&op, BL_Comm_spawn))
        return PMPI_Comm_spawn(command, argv, maxprocs, info, root, comm, children, codes);
    bl_count_over(&op, comm);
    bl_start(&op);
    const int code = PMPI_Comm_spawn(command, argv, maxprocs, info, root, comm, children, codes);
    bl_stop(&op);
    bl_record(&op);
    return code;
}

BL_EXPORT int MPI_Comm_spawn_multiple(int count, char *commands[], char **argvs[],
                                      const int maxprocs[], const MPI_Info infos[], int root,
                                      MPI_Comm comm, MPI_Comm *children, int codes[])
{
    struct bl_op op;
    if (!bl_begin(&op, BL_Comm_spawn_multiple))
        return PMPI_Comm_spawn_multiple(count, commands, argvs, maxprocs, infos, root, comm,
                                        children, codes);
    bl_count_over(&op, comm);
    bl_start(&op);
    const int code = PMPI_Comm_spawn_multiple(count, commands, argvs, maxprocs, infos, root, comm,
                                              children, codes);
    bl_stop(&op);
    bl_record(&op);
    return code;
}

BL_EXPORT int MPI_Win_free(MPI_Win *win)
{
    struct bl_op op;
    if (!bl_begin(&op, BL_Win_free)) {
        bl_group_forget((uintptr_t)*win, BL_WINDOW);
        return PMPI_Win_free(win);
    }
    bl_count_epoch(&op, *win);
    const uint64_t what = bl_what_of(&op);
    bl_group_forget((uintptr_t)*win, BL_WINDOW);
    bl_start(&op);
    const int code = PMPI_Win_free(win);
    bl_stop(&op);
    bl_record_as(&op, what);
    return code;
}

BL_EXPORT int MPI_File_open(MPI_Comm comm, const char *name, int amode, MPI_Info info, MPI_File *fh)
{
    struct bl_op op;
    if (!bl_begin(&op, BL_File_open))
        return PMPI_File_open(comm, name, amode, info, fh);
    bl_count_over(&op, comm);
    bl_start(&op);
    const int code = PMPI_File_open(comm, name, amode, info, fh);
    bl_stop(&op);
    bl_record(&op);
    return code;
}

BL_EXPORT int MPI_File_close(MPI_File *fh)
{
    struct bl_op op;
    if (!bl_begin(&op, BL_File_close)) {
        bl_group_forget((uintptr_t)*fh, BL_FILE);
        return PMPI_File_close(fh);
    }
    bl_count_file(&op, *fh);
    const uint64_t what = bl_what_of(&op);
    bl_group_forget((uintptr_t)*fh, BL_FILE);
    bl_start(&op);
    const int code = PMPI_File_close(fh);
    bl_stop(&op);
    bl_record_as(&op, what);
    return code;
}
