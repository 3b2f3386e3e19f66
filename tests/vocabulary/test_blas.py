"""Kernels for an old processor are doubted where the processor could do more, and only there."""

from __future__ import annotations

import pytest

from bareline.vocabulary.caveats import CAVEATS, Caveat
from bareline.vocabulary.instructions import BLAS_KERNELS, KERNEL_SETS, blas_caveats

AVX2 = {"cpu.flags.avx2": True, "cpu.flags.avx512f": False}
AVX512 = {"cpu.flags.avx2": True, "cpu.flags.avx512f": True}
SSE = {"cpu.flags.avx2": False, "cpu.flags.avx512f": False}


@pytest.mark.parametrize("kernels", ["Prescott", "Nehalem", "Barcelona", "Core2", "NEHALEM"])
@pytest.mark.parametrize("shown", [AVX2, AVX512, {"sim.instruction_set": "avx512"}])
def test_kernels_for_sse_on_a_newer_processor_are_doubted(kernels, shown):
    assert blas_caveats({BLAS_KERNELS: kernels, **shown}) == ("generic-blas",)


@pytest.mark.parametrize(
    "facts",
    [
        {BLAS_KERNELS: "SkylakeX", **AVX512},
        {BLAS_KERNELS: "Haswell", **AVX2},
        {BLAS_KERNELS: "Zen", **AVX2},
        {BLAS_KERNELS: "Prescott", **SSE},  # that is what the processor, or the guest's model, has
        {BLAS_KERNELS: "Prescott"},  # nobody told what the processor has
        {BLAS_KERNELS: "not OpenBLAS", **AVX512},
        AVX512,
    ],
)
def test_nothing_else_is(facts):
    assert blas_caveats(facts) == ()


def test_one_rank_with_old_kernels_is_enough():
    assert blas_caveats({BLAS_KERNELS: "Haswell, Prescott", **AVX2}) == ("generic-blas",)


def test_nodes_that_are_held_to_a_set_without_avx2_run_such_kernels_on_purpose():
    (chosen,) = (one for one in KERNEL_SETS if one.name == "generic")
    facts = {BLAS_KERNELS: chosen.openblas, **AVX2}
    assert blas_caveats(facts) == ("generic-blas",)
    assert blas_caveats({**facts, "cpu.common_set": chosen.name}) == ()


def test_a_reader_is_told_in_a_sentence_and_what_to_do():
    assert "OPENBLAS_CORETYPE" in CAVEATS["generic-blas"]
    assert Caveat.read("generic-blas").brief
