/*
 * The parameter lists of calls.def as declarations and arguments in C and Fortran.
 *
 * A list is a sequence (Type, name)(Type, name)... . BL_LIST_X gives something for each member. Two
 * macros take turns, because the preprocessor does not expand a macro inside itself.
 *
 * In Fortran every argument is an address. `name` is the C value in both languages, `name_f` the
 * address it came from.
 */
#ifndef BL_PMPI_PARAMETERS_H
#define BL_PMPI_PARAMETERS_H

/* A sequence ends with the name of the macro that would take its next member; NAME_END is empty. */
#define BL_ENDED(...) BL_ENDED_(__VA_ARGS__)
#define BL_ENDED_(...) __VA_ARGS__##_END

#define BL_LIST_C_DECLARATIONS(list) BL_ENDED(BL_CD_1 list)
#define BL_CD_1(Type, name) BL_C_##Type(name) BL_CD_2
#define BL_CD_2(Type, name) , BL_C_##Type(name) BL_CD_3
#define BL_CD_3(Type, name) , BL_C_##Type(name) BL_CD_2
#define BL_CD_2_END
#define BL_CD_3_END

#define BL_LIST_C_ARGUMENTS(list) BL_ENDED(BL_CA_1 list)
#define BL_CA_1(Type, name) name BL_CA_2
#define BL_CA_2(Type, name) , name BL_CA_3
#define BL_CA_3(Type, name) , name BL_CA_2
#define BL_CA_2_END
#define BL_CA_3_END

#define BL_LIST_F_DECLARATIONS(list) BL_ENDED(BL_FD_1 list)
#define BL_FD_1(Type, name) BL_F_##Type(name) BL_FD_2
#define BL_FD_2(Type, name) , BL_F_##Type(name) BL_FD_3
#define BL_FD_3(Type, name) , BL_F_##Type(name) BL_FD_2
#define BL_FD_2_END
#define BL_FD_3_END

#define BL_LIST_F_ARGUMENTS(list) BL_ENDED(BL_FA_1 list)
#define BL_FA_1(Type, name) name##_f BL_FA_2
#define BL_FA_2(Type, name) , name##_f BL_FA_3
#define BL_FA_3(Type, name) , name##_f BL_FA_2
#define BL_FA_2_END
#define BL_FA_3_END

#define BL_LIST_F_VALUES(list) BL_ENDED(BL_FV_1 list)
#define BL_FV_1(Type, name) BL_V_##Type(name) BL_FV_2
#define BL_FV_2(Type, name) BL_V_##Type(name) BL_FV_1
#define BL_FV_1_END
#define BL_FV_2_END

/* C declarations. Count, Counts and Displs are wider in the large-count functions: BL_C_COUNT. */
#define BL_C_In(name) const void *name
#define BL_C_Out(name) void *name
#define BL_C_Int(name) int name
#define BL_C_Count(name) BL_COUNT_TYPE name
#define BL_C_Counts(name) const BL_COUNT_TYPE name[]
#define BL_C_Displs(name) const BL_DISPL_TYPE name[]
#define BL_C_Ints(name) const int name[]
#define BL_C_Type(name) MPI_Datatype name
#define BL_C_Types(name) const MPI_Datatype name[]
#define BL_C_Comm(name) MPI_Comm name
#define BL_C_Group(name) MPI_Group name
#define BL_C_Op(name) MPI_Op name
#define BL_C_Win(name) MPI_Win name
#define BL_C_File(name) MPI_File name
#define BL_C_Info(name) MPI_Info name
#define BL_C_Aint(name) MPI_Aint name
#define BL_C_Aints(name) const MPI_Aint name[]
#define BL_C_Offset(name) MPI_Offset name
#define BL_C_OutInt(name) int *name
#define BL_C_Request(name) MPI_Request *name
#define BL_C_Message(name) MPI_Message *name
#define BL_C_Status(name) MPI_Status *name
#define BL_C_NewComm(name) MPI_Comm *name
#define BL_C_NewWin(name) MPI_Win *name

/* Fortran declarations. */
#define BL_F_In(name) void *name##_f
#define BL_F_Out BL_F_In
#define BL_F_Int(name) MPI_Fint *name##_f
#define BL_F_Count BL_F_Int
#define BL_F_Counts BL_F_Int
#define BL_F_Displs BL_F_Int
#define BL_F_Ints BL_F_Int
#define BL_F_Type BL_F_Int
#define BL_F_Types BL_F_Int
#define BL_F_Comm BL_F_Int
#define BL_F_Group BL_F_Int
#define BL_F_Op BL_F_Int
#define BL_F_Win BL_F_Int
#define BL_F_File BL_F_Int
#define BL_F_Info BL_F_Int
#define BL_F_Aint(name) MPI_Aint *name##_f
#define BL_F_Aints BL_F_Aint
#define BL_F_Offset(name) MPI_Offset *name##_f
#define BL_F_OutInt BL_F_Int
#define BL_F_Request BL_F_Int
#define BL_F_Message BL_F_Int
#define BL_F_Status BL_F_Int
#define BL_F_NewComm BL_F_Int
#define BL_F_NewWin BL_F_Int

/* The C values of Fortran arguments, as far as counting needs them. */
#define BL_V_In(name)                                                                              \
    const void *const name = name##_f;                                                             \
    (void)name;
#define BL_V_Out BL_V_In
#define BL_V_Int(name)                                                                             \
    const int name = *name##_f;                                                                    \
    (void)name;
#define BL_V_Count BL_V_Int
#define BL_V_Counts(name)                                                                          \
    const int *const name = name##_f;                                                              \
    (void)name;
#define BL_V_Displs(name)
#define BL_V_Ints(name)
#define BL_V_Type(name)                                                                            \
    const MPI_Datatype name = PMPI_Type_f2c(*name##_f);                                            \
    (void)name;
#define BL_V_Types(name)
#define BL_V_Comm(name)                                                                            \
    const MPI_Comm name = PMPI_Comm_f2c(*name##_f);                                                \
    (void)name;
#define BL_V_Group(name)
#define BL_V_Op(name)
#define BL_V_Win(name) const MPI_Win name = PMPI_Win_f2c(*name##_f);
#define BL_V_File(name) const MPI_File name = PMPI_File_f2c(*name##_f);
#define BL_V_Info(name)
#define BL_V_Aint(name)
#define BL_V_Aints(name)
#define BL_V_Offset(name)
#define BL_V_OutInt(name)
#define BL_V_Request(name)
#define BL_V_Message(name)
#define BL_V_Status(name)
#define BL_V_NewComm(name)
#define BL_V_NewWin(name)

#endif
