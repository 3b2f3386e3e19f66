"""The instruction sets of numerical code: one table for facts, causes and probes.

The native programs choose among variants that use the names of these sets
(``native/harness/InstructionSets.cmake``, ``native/common/bl_peak.c``).
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass

from bareline.vocabulary.model import Scalar


@dataclass(frozen=True, slots=True)
class InstructionSet:
    """One instruction set.

    - `name`: bareline's name; the fact is ``cpu.flags.<name>``.
    - `flag`: the kernel's name in /proc/cpuinfo.
    - `family`: the name for `widest`; "" if the set is never the widest set of a processor.
    - `operations`: double-precision operations of one vector instruction; 0 if the set has no such
      instruction, or vectors without a fixed length.
    """

    name: str
    flag: str
    title: str
    family: str = ""
    operations: int = 0


#: In ascending order of capability, by architecture.
X86_SETS = (
    InstructionSet("sse2", "sse2", "SSE2", "SSE2", 2),
    InstructionSet("sse3", "pni", "SSE3", "", 2),
    InstructionSet("ssse3", "ssse3", "SSSE3", "SSSE3", 2),
    InstructionSet("sse4_1", "sse4_1", "SSE4.1", "", 2),
    InstructionSet("sse4_2", "sse4_2", "SSE4.2", "SSE4.2", 2),
    InstructionSet("avx", "avx", "AVX", "AVX", 4),
    InstructionSet("f16c", "f16c", "F16C"),
    InstructionSet("avx2", "avx2", "AVX2", "AVX2", 4),
    InstructionSet("fma", "fma", "FMA", "", 8),
    InstructionSet("avx512f", "avx512f", "AVX-512 F", "AVX-512", 16),
    InstructionSet("avx512dq", "avx512dq", "AVX-512 DQ"),
    InstructionSet("avx512bw", "avx512bw", "AVX-512 BW"),
    InstructionSet("avx512vl", "avx512vl", "AVX-512 VL"),
    InstructionSet("amx", "amx_tile", "AMX"),
)
ARM_SETS = (
    InstructionSet("neon", "asimd", "NEON", "NEON", 4),
    InstructionSet("sve", "sve", "SVE", "SVE"),
    InstructionSet("sve2", "sve2", "SVE2", "SVE2"),
)
INSTRUCTION_SETS = (*X86_SETS, *ARM_SETS)


def widest(sets: Iterable[str]) -> str:
    """Return the name of the widest family among `sets`; empty if no set has a family."""
    names = set(sets)
    families = [row.family for row in INSTRUCTION_SETS if row.family and row.name in names]
    return families[-1] if families else ""


@dataclass(frozen=True, slots=True)
class KernelSet:
    """An instruction set for which the native programs have a variant.

    - `name`: the value of ``BARELINE_INSTRUCTION_SET``.
    - `flags`: the processor flags that the set needs, with their names in /proc/cpuinfo.
    - `openblas`: the processor whose kernels OpenBLAS then uses, for ``OPENBLAS_CORETYPE``.
    """

    name: str
    flags: frozenset[str]
    openblas: str


_AVX2 = frozenset(("avx2", "fma", "bmi1", "bmi2"))
_AVX512 = _AVX2 | {f"avx512{part}" for part in ("f", "cd", "bw", "dq", "vl")}
#: The widest first, as ``native/common/bl_dispatch.c`` has them.
KERNEL_SETS = (
    KernelSet("avx512", _AVX512, "SkylakeX"),
    KernelSet("avx2", _AVX2, "Haswell"),
    KernelSet("generic", frozenset(), "Prescott"),
)


def kernel_set(flags: Collection[str]) -> KernelSet:
    """Return the widest set that a processor with these flags of /proc/cpuinfo can run."""
    return next(row for row in KERNEL_SETS if row.flags <= set(flags))


#: The fact about the kernels of OpenBLAS. A program that is linked with OpenBLAS reports it, as
#: the library chooses its kernels in the process, by the processor and the environment.
BLAS_KERNELS = "library.blas_kernels"

#: The caveat of kernels that were built for an older processor than the present one.
GENERIC_BLAS = "generic-blas"

#: Processors before AVX, as OpenBLAS names their kernels (lower case).
_BEFORE_AVX = frozenset(
    (
        *("katmai", "coppermine", "northwood", "banias", "prescott", "core2", "penryn"),
        *("dunnington", "nehalem", "atom", "nano"),
        *("athlon", "opteron", "opteron_sse3", "barcelona", "bobcat", "generic"),
    )
)


def blas_caveats(facts: Mapping[str, Scalar]) -> tuple[str, ...]:
    """Return the caveat if OpenBLAS uses kernels for SSE on a processor with AVX2 or AVX-512.

    Nodes that are limited to a common instruction set without AVX2 get no caveat, because they use
    SSE kernels intentionally.
    """
    kernels = str(facts.get(BLAS_KERNELS, "")).lower().split(", ")
    has_avx2 = any(facts.get(f"cpu.flags.{name}") is True for name in ("avx2", "avx512f"))
    # A simulated platform names the instruction set of bareline's own kernels; these two need AVX2.
    able = has_avx2 or facts.get("sim.instruction_set") in ("avx2", "avx512")
    on_purpose = facts.get("cpu.common_set") == "generic"
    return (GENERIC_BLAS,) if able and not on_purpose and _BEFORE_AVX.intersection(kernels) else ()
