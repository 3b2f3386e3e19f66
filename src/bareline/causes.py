"""Where a loss comes from: differences in two platforms' facts that are known to cost.

A cause is named only beside a measured loss that it can explain; it is not proven by it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from bareline.model import Layer, Scalar
from bareline.units import listing

Facts = Mapping[str, Scalar]

#: Instruction sets of x86 that arithmetic is compiled for: fact, name, double-precision operations
#: of one instruction.
_SETS = (
    ("ssse3", "SSSE3", 2),
    ("sse4_1", "SSE4.1", 2),
    ("sse4_2", "SSE4.2", 2),
    ("avx", "AVX", 4),
    ("avx2", "AVX2", 4),
    ("fma", "FMA", 8),
    ("avx512f", "AVX-512", 16),
)
_LEAST_OPERATIONS = 2  # SSE2, which every x86-64 processor has
_INFINICLOUD = (
    "InfiniCloud's Linpack became 3 times faster when its guests saw the host's processor instead "
    "of a Nehalem, J. Low et al., 2015"
)
_NEBULA = (
    "Nebula's study puts a part of its DGEMM loss down to SSSE3 that KVM hid, NASA, 2012, "
    "section V.B.1"
)


def causes(
    layer: Layer, platform: str, facts: Facts, baseline: str, baseline_facts: Facts
) -> list[str]:
    """Say what differs between two platforms and can explain a loss in a layer.

    Parameters
    ----------
    layer
        Where the loss was measured.
    platform, facts
        The platform that is worse.
    baseline, baseline_facts
        What it is compared with.

    Returns
    -------
    list of str
        Whole sentences; empty where the facts explain nothing.
    """
    found = (rule(platform, facts, baseline, baseline_facts) for rule in _RULES.get(layer, ()))
    return [text for text in found if text]


def hidden_instructions(platform: str, facts: Facts, baseline: str, baseline_facts: Facts) -> str:
    """Say which instruction sets a platform's processor does not show, and what that can cost."""
    if _emulated(facts) and not _emulated(baseline_facts):
        return ""  # being emulated costs more than any instruction set
    hidden = [
        (name, operations)
        for key, name, operations in _SETS
        if baseline_facts.get(f"cpu.flags.{key}") is True and facts.get(f"cpu.flags.{key}") is False
    ]
    if not hidden:
        return ""
    names = listing([name for name, _ in hidden])
    shown = facts.get("cpu.model")
    model = f" ({shown})" if shown else ""
    text = f"The processor{model} of {platform} does not show {names}, which {baseline}'s does"
    times = max(operations for _, operations in hidden) / _operations(facts)
    if times <= 1:
        return f"{text}: libraries run the code of an older processor ({_NEBULA})."
    return (
        f"{text}: OpenBLAS and FFTW run their {_widest(facts)} code there, up to {times:g} times "
        f"fewer operations an instruction ({_INFINICLOUD}). A guest that is given the host's "
        "processor (cpu model host-passthrough) sees them."
    )


def emulation(platform: str, facts: Facts, baseline: str, baseline_facts: Facts) -> str:
    """Say that a processor is software."""
    if not _emulated(facts) or _emulated(baseline_facts):
        return ""
    return (
        f"The processor of {platform} is emulated, unlike {baseline}'s: its arithmetic is done in "
        "software, which says nothing about hardware virtualization."
    )


_Rule = Callable[[str, Facts, str, Facts], str]
_RULES: Mapping[Layer, Sequence[_Rule]] = {Layer.COMPUTE: (emulation, hidden_instructions)}


def _emulated(facts: Facts) -> bool:
    return facts.get("cpu.emulated") is True


def _operations(facts: Facts) -> int:
    """Give the most operations of one instruction that a processor shows."""
    shown = (operations for key, _, operations in _SETS if facts.get(f"cpu.flags.{key}") is True)
    return max(shown, default=_LEAST_OPERATIONS)


def _widest(facts: Facts) -> str:
    """Name the widest vectors that a processor shows; all kinds of SSE are equally wide."""
    wide = [("avx512f", "AVX-512"), ("avx2", "AVX2"), ("avx", "AVX")]
    shown = [name for key, name in wide if facts.get(f"cpu.flags.{key}") is True]
    return shown[0] if shown else "SSE"
