/* See call.h. */
#include "call.h"

const char *const bl_call_names[BL_CALL_COUNT] = {[BL_CALL_NONE] = "",
#define X(call, name, kind) [BL_##call] = name,
                                                  BL_PSEUDO_CALLS(X)
#undef X
#define CALL(Name, name, kind, parameters, before, after) [BL_##Name] = "MPI_" #Name,
#define CALL_LARGE CALL
#define CALL_BY_HAND(Name, kind) [BL_##Name] = "MPI_" #Name,
#include "calls.def"
#undef CALL
#undef CALL_LARGE
#undef CALL_BY_HAND
};

const uint8_t bl_call_kinds[BL_CALL_COUNT] = {[BL_CALL_NONE] = BL_KIND_NONE,
#define X(call, name, kind) [BL_##call] = BL_KIND_##kind,
                                              BL_PSEUDO_CALLS(X)
#undef X
#define CALL(Name, name, kind, parameters, before, after) [BL_##Name] = BL_KIND_##kind,
#define CALL_LARGE CALL
#define CALL_BY_HAND(Name, kind) [BL_##Name] = BL_KIND_##kind,
#include "calls.def"
#undef CALL
#undef CALL_LARGE
#undef CALL_BY_HAND
};

const char *const bl_kind_names[BL_KIND_COUNT] = {
#define X(kind, name) [BL_KIND_##kind] = name,
    BL_KINDS(X)
#undef X
};
