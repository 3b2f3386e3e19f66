"""The kernels that OpenBLAS chose on a platform, held against what its processor can."""

from __future__ import annotations

from collections.abc import Mapping

from bareline.vocabulary.model import Scalar

#: The fact that programs tell, not the script: the choice is made inside a process that is linked
#: with the library, by that processor and that environment.
BLAS_KERNELS = "library.blas_kernels"

#: The caveat of kernels for an older processor than the one that they ran on.
GENERIC_BLAS = "generic-blas"

#: Processors before AVX, as OpenBLAS names their kernels (lower case).
_BEFORE_AVX = frozenset(
    (
        *("katmai", "coppermine", "northwood", "banias", "prescott", "core2", "penryn"),
        *("dunnington", "nehalem", "atom", "nano"),
        *("athlon", "opteron", "opteron_sse3", "barcelona", "bobcat", "generic"),
    )
)
#: Sets of bareline's own kernels that need AVX2; simulated platforms name no other.
_WITH_AVX2 = ("avx2", "avx512")


def blas_caveats(facts: Mapping[str, Scalar]) -> tuple[str, ...]:
    """Name the caveat of kernels for SSE on a processor with AVX2 or AVX-512.

    Nodes that are held to a common set without AVX2 run such kernels on purpose.

    Parameters
    ----------
    facts
        The platform's, with what the program told.
    """
    kernels = str(facts.get(BLAS_KERNELS, "")).lower().split(", ")
    if not _BEFORE_AVX.intersection(kernels) or not _has_avx2(facts):
        return ()
    return () if facts.get("cpu.common_set") == "generic" else (GENERIC_BLAS,)


def _has_avx2(facts: Mapping[str, Scalar]) -> bool:
    shown = (facts.get(f"cpu.flags.{name}") is True for name in ("avx2", "avx512f"))
    return any(shown) or facts.get("sim.instruction_set") in _WITH_AVX2
