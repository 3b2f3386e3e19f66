/*
 * The instruction set for which the programs choose their code when they start. By default, this is
 * the widest set of the processor or, in a guest, of the guest's processor model. The environment
 * variable BARELINE_INSTRUCTION_SET names another set, so that nodes with different processors can
 * use the same set.
 *
 * Exported: enum bl_set, bl_instruction_set, BL_EACH_SET. Nothing here is collective.
 */
#ifndef BL_DISPATCH_H
#define BL_DISPATCH_H

/* In ascending order; the features are those of the options in harness/InstructionSets.cmake. */
enum bl_set { BL_GENERIC, BL_AVX2, BL_AVX512, BL_SETS };

extern const char *const bl_set_names[BL_SETS];

/* Ends the program if the variable names an unknown set or a set that the processor lacks. */
enum bl_set bl_instruction_set(void);

/*
 * BL_EACH_SET(DEFINE, ...) defines a function once for each set: DEFINE(set, attribute, ...). The
 * loops must be in a plain function of their own: the bodies that OpenMP makes out of parallel
 * regions do not inherit the attribute. BL_SET_TABLE(name) is the table of the functions name_set.
 */
#ifdef BL_HAVE_TARGETS
#define BL_EACH_SET(DEFINE, ...)                                                                   \
    DEFINE(generic, , __VA_ARGS__)                                                                 \
    DEFINE(avx2, __attribute__((target("avx2"))), __VA_ARGS__)                                     \
    DEFINE(avx512, __attribute__((target("avx512f"))), __VA_ARGS__)
#define BL_SET_TABLE(name)                                                                         \
    {                                                                                              \
        name##_generic, name##_avx2, name##_avx512                                                 \
    }
#else
#define BL_EACH_SET(DEFINE, ...) DEFINE(generic, , __VA_ARGS__)
#define BL_SET_TABLE(name)                                                                         \
    {                                                                                              \
        name##_generic, name##_generic, name##_generic                                             \
    }
#endif

#endif
