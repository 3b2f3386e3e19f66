"""One table of instruction sets, which facts, causes, probes and native programs agree with."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from bareline.vocabulary.facts import FACT_KEYS
from bareline.vocabulary.instructions import INSTRUCTION_SETS, X86_SETS, widest

NATIVE = Path(__file__).parents[2] / "native"


def test_every_set_is_a_fact() -> None:
    listed = {key.removeprefix("cpu.flags.") for key in FACT_KEYS if key.startswith("cpu.flags.")}
    assert listed == {known.name for known in INSTRUCTION_SETS}


def test_the_peak_s_kernels_are_named_by_known_sets() -> None:
    source = (NATIVE / "common" / "bl_peak.c").read_text(encoding="utf-8")
    kernels = re.findall(r'^    \{"([a-z0-9 ]+)", ', source, re.MULTILINE)
    assert len(kernels) >= 4
    assert {word for name in kernels for word in name.split()} <= {
        "scalar",
        *(known.flag for known in INSTRUCTION_SETS),
    }


@pytest.mark.parametrize(
    ("shown", "name"),
    [
        ({"sse2", "sse3", "ssse3", "sse4_1", "sse4_2"}, "SSE4.2"),
        ({"sse2", "avx", "fma", "avx2"}, "AVX2"),
        ({known.name for known in X86_SETS}, "AVX-512"),
        ({"neon", "sve"}, "SVE"),
        ({"altivec"}, ""),
    ],
)
def test_widest_family(shown: set[str], name: str) -> None:
    assert widest(shown) == name
