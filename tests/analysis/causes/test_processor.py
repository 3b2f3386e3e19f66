"""Causes in the processor: each is bounded by facts or the peak, which may withdraw it, too."""

import pytest

from bareline.analysis.judgements.causes.cause import CauseStatus
from bareline.analysis.numbers.records import read_runs
from bareline.analysis.words.comparison import Comparison
from bareline.vocabulary.verdicts import Verdict

from .planted import HASWELL, NEHALEM, SMALL, explained, factors, found, names, processor


@pytest.mark.parametrize(
    ("facts", "baseline", "words", "times"),
    [
        # A Haswell's 16 operations a cycle against the 4 of a Nehalem's code on it.
        (NEHALEM, HASWELL, ["AVX, AVX2 and FMA", "SSE code", "Nehalem", "2015"], 4),
        (NEHALEM, processor(), ["FMA and AVX-512"], 8),
        (HASWELL, processor(), ["AVX-512", "AVX2 code"], 2),
        (processor("avx2", "fma", "avx512f"), HASWELL, ["AVX2 and FMA", "AVX code"], 2),
        (processor("ssse3"), processor(), ["SSSE3", "Nebula"], 1),
    ],
)
def test_hidden_instructions_are_bounded_by_their_operations(facts, baseline, words, times):
    one = explained(found("compute.dgemm", 1.9), facts=facts, base=baseline)
    (cause,) = one.standing
    assert all(word in cause.words for word in words), cause.words
    assert (1 + cause.share.hi if cause.share else 1) == times


@pytest.mark.parametrize(
    ("facts", "baseline"),
    [(HASWELL, HASWELL), (HASWELL, NEHALEM), ({}, HASWELL), (NEHALEM, {})],
)
def test_nothing_is_named_where_nothing_is_known_to_be_hidden(facts, baseline):
    assert not explained(found("compute.dgemm", 1.9), facts=facts, base=baseline).known


def test_the_peak_that_was_measured_is_what_is_explained():
    dgemm, peak = found("compute.dgemm", 4.2), found("compute.peak", 4.0, half=1.02)
    one = explained(dgemm, peak, facts=NEHALEM, base=HASWELL)
    assert factors(one) == pytest.approx((4 / 1.02, 4 * 1.02))
    assert (one.left.lo, one.left.hi) == pytest.approx((4 - 4.08, 4.2 * 1.05 - 4 / 1.02))


@pytest.mark.parametrize("verdict", [Verdict.EQUIVALENT, Verdict.FASTER])
def test_an_equal_peak_withdraws_the_instruction_sets(verdict):
    """DGEMM is 5 % lower, and the measured peak is not: it is not the instruction sets."""
    dgemm = found("compute.dgemm", 1.05, half=1.01)
    peak = found("compute.peak", 1.0, half=1.005, verdict=verdict)
    one = explained(dgemm, peak, facts=NEHALEM, base=HASWELL)
    assert not one.known
    assert "compute.peak is not worse" in one.causes[0].withdrawn


def test_clock_and_instruction_sets_are_one_term_where_the_peak_measured_both():
    """3.00 = explained 8.98 to 9.04 before: each of the two took the peak's factor."""
    dgemm, peak = found("compute.dgemm", 3.0, half=1.01), found("compute.peak", 3.0, half=1.002)
    facts, base = {**NEHALEM, "cpu.max_hz": 2e9}, {**HASWELL, "cpu.max_hz": 3e9}
    one = explained(dgemm, peak, facts=facts, base=base)
    assert names(one) == ["instruction sets", "clock"]
    assert factors(one) == pytest.approx((3 / 1.002, 3 * 1.002))
    assert one.word is CauseStatus.EXPLAINS
    assert len(one.terms) == 1 and "compute.peak is 3.00" in one.terms[0].words
    assert sum(cause.share.value for cause in one.sized) == pytest.approx(2.0)
    # Without the peak they are facts of two things, which multiply.
    assert factors(explained(dgemm, facts=facts, base=base)) == pytest.approx((1.0, 6.0))


def test_other_kernels_of_the_blas_are_a_cause_of_what_it_computes():
    dgemm = found("compute.dgemm", 8.0)
    facts, base = ({"library.blas_kernels": name} for name in ("Prescott", "SkylakeX"))
    one = explained(dgemm, facts={**HASWELL, **facts}, base={**HASWELL, **base})
    (cause,) = one.standing
    assert "'Prescott'" in cause.words and "'SkylakeX'" in cause.words
    assert one.word is CauseStatus.DIFFERS
    assert not explained(dgemm, facts=facts, base=facts).known
    assert not explained(dgemm, facts=facts).known
    assert not explained(found("compute.fft", 8.0), facts=facts, base=base).known
    planewave = found("app.planewave", 2.0)
    assert names(explained(planewave, facts=facts, base=base)) == ["BLAS kernels"]
    # Hidden instructions come first: the kernels follow from them.
    hidden = {"library.blas_kernels": "Nehalem", **NEHALEM}
    assert names(explained(dgemm, facts=hidden, base={**HASWELL, **base})) == ["instruction sets"]


def test_a_slower_clock_is_a_cause_unless_the_peak_disagrees():
    dgemm = found("compute.dgemm", 1.4)
    facts, base = {"cpu.max_hz": 2.5e9}, {"cpu.max_hz": 3.5e9}
    assert factors(explained(dgemm, facts=facts, base=base)) == (1.0, 1.4)
    peak = found("compute.peak", 1.0, verdict=Verdict.EQUIVALENT)
    assert not names(explained(dgemm, peak, facts=facts, base=base))


@pytest.mark.parametrize(
    "where",
    [
        {"params": "mode=all"},
        {"params": "n=4096 mode=all repeat=5"},
        {"point": "kernel=triad mode=all"},  # as a point, beside what else varies
    ],
)
def test_fewer_cores_explain_what_uses_all_of_them_whatever_varies_beside(where):
    facts, base = {"cpu.allowed": 1}, {"cpu.allowed": 2}
    for probe in ("compute.dgemm", "memory.stream"):
        one = explained(found(probe, 2.0, **where), facts=facts, base=base)
        assert factors(one) == (1.0, 2.0)


def test_linpack_on_half_the_cores_has_a_cause():
    """It uses all cores unless a study says otherwise, and a case does not name that."""
    facts, base = {"cpu.allowed": 1}, {"cpu.allowed": 2}
    assert factors(explained(found("compute.linpack", 1.9), facts=facts, base=base)) == (1.0, 2.0)
    single = found("compute.linpack", 1.9, params="mode=single")
    assert not explained(single, facts=facts, base=base).known


@pytest.mark.parametrize("mode", ["single", "star"])
def test_fewer_cores_explain_no_rate_of_a_single_core(mode):
    """Of "star" the rate is a core's; and a word of the label is no parameter."""
    facts, base = {"cpu.allowed": 1}, {"cpu.allowed": 2}
    loss = found("compute.dgemm", 2.0, params=f"mode={mode} note=mode_all")
    assert not explained(loss, facts=facts, base=base).known


def test_hosts_on_one_core_say_so_and_nothing_bounds_it():
    mpi = found("mpi.pingpong", 30.0, **SMALL, own_caveats=("shared-host",))
    one = explained(mpi, facts={"cpu.allowed": 1})
    assert one.standing[0].words == "its 2 hosts take turns on 1 core"
    assert one.word is CauseStatus.DIFFERS
    assert not explained(mpi, facts={"cpu.allowed": 4}).known


def test_what_holds_for_few_trials_is_no_cause():
    few, most = (f"oversubscribed ({some} of 10 trials)" for some in (1, 9))
    assert not explained(found("npb.cg", 2.0, own_caveats=(few,))).known
    assert names(explained(found("npb.cg", 2.0, own_caveats=(most,)))) == ["shared cores"]


def test_caveats_that_both_sides_share_are_no_cause(pingpong, plant_study):
    def samples(trial, generator):
        return pingpong({"b": 2.0}, sizes=(8,))(trial.platform, trial.block, generator)

    run = plant_study(
        samples, {"probe": "mpi.pingpong", "ranks": 2}, caveats=lambda _: ("oversubscribed",)
    )
    (one,) = Comparison(read_runs([run])).explanations
    assert not one.known


# Emulation ----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("facts", "base", "caveats", "named"),
    [
        ({"cpu.emulated": True}, {"cpu.emulated": False}, (), True),
        ({"cpu.emulated": True}, {"cpu.emulated": False}, ("emulated-cpu",), True),
        ({}, {}, ("emulated-cpu",), True),  # an imported run has no facts
        ({"cpu.emulated": True}, {}, (), False),  # perhaps the baseline's is, too
        ({"cpu.emulated": True}, {"cpu.emulated": True}, (), False),
    ],
)
def test_facts_and_caveats_tell_of_emulation_alike(facts, base, caveats, named):
    slow = found("mpi.allreduce", 153.0, rate=False, point="size_bytes=64", own_caveats=caveats)
    one = explained(slow, facts=facts, base=base)
    assert names(one) == (["emulated processor"] if named else [])
    assert one.word is (CauseStatus.DIFFERS if named else None)


def test_the_instruction_sets_of_an_emulated_processor_are_no_cause():
    dgemm = found("compute.dgemm", 3.0)
    assert not explained(dgemm, facts={**NEHALEM, "cpu.emulated": True}, base=HASWELL).known
