"""Causes predict a bounded factor from other measurements, which may withdraw them, too."""

import json

import numpy as np
import pytest

from bareline.analysis.causes import explain
from bareline.analysis.cell import Cell, Estimate
from bareline.analysis.comparison import Comparison
from bareline.analysis.findings import Finding
from bareline.analysis.records import read_runs
from bareline.analysis.sizes import classes
from bareline.vocabulary.caveats import read_caveats
from bareline.vocabulary.model import Layer, Metric, Sample
from bareline.vocabulary.place import Place, varying
from bareline.vocabulary.verdicts import Verdict

KEYS = ("sse2", "ssse3", "sse4_1", "sse4_2", "avx", "fma", "avx2", "avx512f")


def processor(*hidden, model="Xeon", emulated=False, **more):
    facts = {f"cpu.flags.{key}": key not in hidden for key in KEYS}
    return {**facts, "cpu.model": model, "cpu.emulated": emulated, **more}


HASWELL = processor("avx512f")
NEHALEM = processor("avx", "fma", "avx2", "avx512f", model="Intel Core i7 9xx (Nehalem)")


def found(layer, probe, ratio, *, verdict=Verdict.SLOWER, half=1.05, rate=True, nodes=1, **more):
    unit = more.pop("unit", "B/s" if rate else "s")
    point = Cell(
        Place(probe, "m", point=more.pop("point", ""), params=more.pop("params", ""), used=nodes),
        more.pop("platform", "vm"), layer, Metric(unit, "higher" if rate else "lower"),
        baseline="bare", n=10, n_baseline=10, base=Estimate(more.pop("base", 1e9)),
        ratio=Estimate(ratio, ratio / half, ratio * half), verdict=verdict, certain=verdict,
        own_caveats=read_caveats(more.pop("own_caveats", ())),
    )  # fmt: skip
    kind = next(classes([point.place]))[0]
    return Finding(probe, (point,), kind, varying([point.place, Place("")]), **more)


def explained(*findings, facts=None, base=None):
    """Explain the first of some findings."""
    told = explain(findings, {"vm": facts or {}, "bare": base or {}}, "bare")
    return next(one for one in told if one.finding is findings[0])


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
    one = explained(found(Layer.COMPUTE, "compute.dgemm", 1.9), facts=facts, base=baseline)
    (cause,) = one.standing
    assert all(word in cause.words for word in words), cause.words
    assert one.explained == (1.0, times)


@pytest.mark.parametrize(
    ("facts", "baseline"),
    [(HASWELL, HASWELL), (HASWELL, NEHALEM), ({}, HASWELL), (NEHALEM, {})],
)
def test_nothing_is_named_where_nothing_is_known_to_be_hidden(facts, baseline):
    one = explained(found(Layer.COMPUTE, "compute.dgemm", 1.9), facts=facts, base=baseline)
    assert not one.known


def test_the_peak_that_was_measured_is_what_is_explained():
    dgemm = found(Layer.COMPUTE, "compute.dgemm", 4.2)
    peak = found(Layer.COMPUTE, "compute.peak", 4.0, half=1.02)
    one = explained(dgemm, peak, facts=NEHALEM, base=HASWELL)
    assert one.explained == pytest.approx((4 / 1.02, 4 * 1.02))
    assert one.residual == pytest.approx((4.0 / 4.08, 4.2 * 1.05 * 1.02 / 4))
    assert "x residual 0.980 to 1.12" in one.text


@pytest.mark.parametrize("verdict", [Verdict.EQUIVALENT, Verdict.FASTER])
def test_an_equal_peak_withdraws_the_instruction_sets(verdict):
    """DGEMM is 5 % lower, and the measured peak is not: it is not the instruction sets."""
    dgemm = found(Layer.COMPUTE, "compute.dgemm", 1.05, half=1.01)
    peak = found(Layer.COMPUTE, "compute.peak", 1.0, half=1.005, verdict=verdict)
    one = explained(dgemm, peak, facts=NEHALEM, base=HASWELL)
    assert not one.known
    assert "compute.peak is not worse" in one.causes[0].withdrawn


def test_other_kernels_of_the_blas_are_a_cause_of_what_it_computes():
    dgemm = found(Layer.COMPUTE, "compute.dgemm", 8.0)
    facts, base = ({"library.blas_kernels": name} for name in ("Prescott", "SkylakeX"))
    (cause,) = explained(dgemm, facts={**HASWELL, **facts}, base={**HASWELL, **base}).standing
    assert "'Prescott'" in cause.words and "'SkylakeX'" in cause.words
    assert not explained(dgemm, facts=facts, base=facts).known
    assert not explained(dgemm, facts=facts).known
    assert not explained(found(Layer.COMPUTE, "compute.fft", 8.0), facts=facts, base=base).known
    planewave = found(Layer.APP, "app.planewave", 2.0, rate=False)
    assert explained(planewave, facts=facts, base=base).standing[0].name == "BLAS kernels"
    # Hidden instructions come first: the kernels follow from them.
    hidden = {"library.blas_kernels": "Nehalem", **NEHALEM}
    (cause,) = explained(dgemm, facts=hidden, base={**HASWELL, **base}).standing
    assert cause.name == "instruction sets"


def test_a_slower_clock_is_a_cause_unless_the_peak_disagrees():
    dgemm = found(Layer.COMPUTE, "compute.dgemm", 1.4)
    facts, base = {"cpu.max_hz": 2.5e9}, {"cpu.max_hz": 3.5e9}
    assert explained(dgemm, facts=facts, base=base).explained == (1.0, 1.4)
    peak = found(Layer.COMPUTE, "compute.peak", 1.0, verdict=Verdict.EQUIVALENT)
    assert not explained(dgemm, peak, facts=facts, base=base).known


def test_fewer_cores_explain_only_what_uses_all_of_them():
    facts, base = {"cpu.allowed": 1}, {"cpu.allowed": 2}
    every = found(Layer.COMPUTE, "compute.dgemm", 2.0, params="mode=all")
    single = found(Layer.COMPUTE, "compute.dgemm", 2.0, params="mode=single")
    assert explained(every, facts=facts, base=base).explained == (1.0, 2.0)
    assert not explained(single, facts=facts, base=base).known


def test_a_link_explains_the_rate_of_a_stream_that_fills_it():
    base_rate = 1.18e9
    stream = found(Layer.NETWORK, "net.nuttcp", 10.0, base=base_rate, nodes=2)
    one = explained(stream, facts={"net.shaped_bps": 1e9})
    lo, hi = one.explained
    assert lo == pytest.approx(9.44) and hi == pytest.approx(9.44 / 0.94)
    assert one.residual[0] < 1 < one.residual[1]


def test_a_link_that_is_not_filled_is_withdrawn():
    stream = found(Layer.NETWORK, "net.nuttcp", 40.0, base=1.18e9, nodes=2)
    one = explained(stream, facts={"net.shaped_bps": 1e9})
    assert not one.known
    assert "only 24 % of the link is used" in one.causes[0].withdrawn


def test_a_link_that_the_baseline_does_not_fill_either_is_no_cause():
    stream = found(Layer.NETWORK, "net.nuttcp", 1.3, base=0.1e9, nodes=2)
    assert not explained(stream, facts={"net.shaped_bps": 1e9}).causes


def test_mpi_on_a_link_of_half_the_rate_says_so():
    large = {"point": "size_bytes=1048576", "nodes": 2, "rate": False}
    mpi = found(Layer.MPI, "mpi.pingpong", 1.89, **large)
    one = explained(mpi, facts={"net.shaped_bps": 5e9}, base={"net.shaped_bps": 10e9})
    assert one.standing[0].name == "link rate"
    assert one.explained == (1.0, 2.0)
    stream = found(Layer.NETWORK, "net.nuttcp", 1.95, half=1.02, nodes=2)
    one = explained(mpi, stream, facts={"net.shaped_bps": 5e9}, base={"net.shaped_bps": 10e9})
    assert one.standing[0].name == "network rate"
    assert one.residual[0] < 1 < one.residual[1]


def test_a_network_that_does_not_differ_is_withdrawn():
    large = {"point": "size_bytes=1048576", "nodes": 2, "rate": False}
    stream = found(Layer.NETWORK, "net.nuttcp", 1.0, verdict=Verdict.EQUIVALENT, nodes=2)
    assert not explained(found(Layer.MPI, "mpi.pingpong", 1.89, **large), stream).known


def test_within_a_node_the_network_is_never_the_cause():
    large = {"point": "size_bytes=1048576", "nodes": 1, "rate": False}
    stream = found(Layer.NETWORK, "net.nuttcp", 1.95, nodes=2)
    mpi = found(Layer.MPI, "mpi.pingpong", 1.89, **large)
    facts = {"net.shaped_bps": 5e9, "net.delay_s": 1e-3}
    assert not explained(mpi, stream, facts=facts, base={"net.shaped_bps": 10e9}).known


def test_an_added_delay_is_bounded_by_one_way_and_there_and_back():
    small = {"point": "size_bytes=8", "nodes": 2, "rate": False, "base": 20e-6}
    mpi = found(Layer.MPI, "mpi.pingpong", 6.0, **small)
    assert explained(mpi, facts={"net.delay_s": 1e-4}).explained == pytest.approx((6.0, 11.0))
    assert not explained(mpi, facts={"net.delay_s": 1e-4}, base={"net.delay_s": 1e-4}).known


def test_hosts_on_one_core_say_so_and_nothing_bounds_it():
    mpi = found(
        Layer.MPI, "mpi.pingpong", 30.0, nodes=2, rate=False, own_caveats=("shared-host",),
        point="size_bytes=8",
    )  # fmt: skip
    one = explained(mpi, facts={"cpu.allowed": 1})
    assert one.standing[0].words == "its 2 hosts take turns on 1 core"
    assert one.explained == (1.0, None)
    assert one.residual[0] is None
    assert not explained(mpi, facts={"cpu.allowed": 4}).known


def test_caveats_that_both_sides_share_are_no_cause(plant, pingpong, plant_study):
    def samples(trial, generator):
        return pingpong({"b": 2.0}, sizes=(8,))(trial.platform, trial.block, generator)

    run = plant_study(
        samples, {"probe": "mpi.pingpong", "ranks": 2}, caveats=lambda _: ("oversubscribed",)
    )
    (one,) = Comparison(read_runs([run])).explanations
    assert not one.known


GUEST = {
    "cpu.emulated": True, "cpu.allowed": 1, "net.kind": "emulated", "net.driver": "e1000",
    "net.mtu": 1500,
}  # fmt: skip
REAL = {"cpu.emulated": False, "net.kind": "virtual link"}
SMALL = {"rate": False, "nodes": 2, "point": "size_bytes=64"}


def names(one):
    return [cause.name for cause in one.standing]


def test_software_in_place_of_hardware_is_named_and_nothing_bounds_it():
    slow = found(Layer.MPI, "mpi.allreduce", 153.0, **SMALL)
    one = explained(slow, facts=GUEST, base=REAL)
    assert names(one) == ["emulated processor", "emulated NIC"]
    assert "nothing measured here bounds" in one.standing[0].words
    assert "e1000" in one.standing[1].words
    assert one.explained == (1.0, None)
    # Both sides alike, or not known: no cause.
    assert not explained(slow, facts=GUEST, base=GUEST).known
    assert not explained(slow, facts=GUEST, base={}).known
    # Memory and disks do not go through the adapter.
    within = found(Layer.MPI, "mpi.pingpong", 59.5, **(SMALL | {"nodes": 1}))
    assert names(explained(within, facts=GUEST, base=REAL)) == ["emulated processor"]
    write = found(Layer.IO, "io.sequential", 9.0)
    assert names(explained(write, facts=GUEST, base=REAL)) == ["emulated processor"]


def test_a_stream_over_the_same_adapter_is_the_better_cause():
    large = SMALL | {"point": "size_bytes=1048576"}
    stream = found(Layer.NETWORK, "net.nuttcp", 20.0, half=1.02, nodes=2)
    one = explained(found(Layer.MPI, "mpi.pingpong", 21.0, **large), stream, facts=GUEST, base=REAL)
    assert names(one) == ["network rate"]
    assert one.residual[0] < 1 < one.residual[1]


@pytest.mark.parametrize(
    ("ratio", "standing", "words"),
    [
        (100.0, ["emulated processor", "emulated NIC"], "1.50 [1.36, 1.65] times as much as on q"),
        (150.0, ["emulated processor", "emulated NIC"], "may cost nothing (1.00 [0.907, 1.10]"),
        (200.0, ["emulated processor"], ""),
    ],
)
def test_a_guest_with_a_faster_adapter_tells_what_the_adapter_costs(ratio, standing, words):
    slow = found(Layer.MPI, "mpi.allreduce", 150.0, **SMALL)
    other = found(Layer.MPI, "mpi.allreduce", ratio, **SMALL, platform="q")
    faster = GUEST | {"net.kind": "paravirtual", "net.driver": "virtio_net"}

    def of(facts):
        told = explain([slow, other], {"vm": GUEST, "bare": REAL, "q": facts}, "bare")
        return next(one for one in told if one.finding is slow)

    one = of(faster)
    assert names(one) == standing
    assert words in " ".join(cause.words for cause in one.standing)
    if ratio == 100.0:
        assert one.explained == (pytest.approx(150 / 100 / 1.05**2), None)
    if not words:
        assert "0.750 [0.680, 0.827] times as long as on q" in one.causes[1].withdrawn
    # With longer frames it differs in more than its adapter.
    assert " q" not in " ".join(cause.words for cause in of(faster | {"net.mtu": 9000}).causes)


def test_another_transport_is_named():
    mpi = found(Layer.MPI, "mpi.pingpong", 30.0, rate=False)
    one = explained(mpi, facts={"mpi.transport": "tcp"}, base={"mpi.transport": "shm"})
    assert one.standing[0].words == "its ranks talk over tcp, the baseline's over shm"
    assert not explained(mpi, facts={"mpi.transport": "shm"}, base={"mpi.transport": "shm"}).known


def test_storage_memory_and_npb_have_rules():
    write = found(Layer.IO, "io.sequential", 3.0)
    one = explained(write, facts={"fs.type": "ext4"}, base={"fs.type": "xfs"})
    assert "ext4 against xfs" in one.standing[0].words
    stream = found(Layer.MEMORY, "memory.stream", 1.3)
    speeds = {"facts": {"memory.transfers_per_s": 2.4e9}, "base": {"memory.transfers_per_s": 3.2e9}}
    assert explained(stream, **speeds).explained == pytest.approx((1.0, 4 / 3))
    program = found(Layer.NPB, "npb.cg", 1.6, rate=False)
    below = [found(Layer.COMPUTE, "compute.dgemm", 1.2), found(Layer.MEMORY, "memory.stream", 1.5)]
    assert explained(program, *below).explained == pytest.approx((1.0, 1.5 * 1.05))
    assert not explained(program).known


def test_only_certain_losses_are_explained():
    calm = found(Layer.COMPUTE, "compute.dgemm", 1.4, verdict=Verdict.INCONCLUSIVE)
    gain = found(Layer.COMPUTE, "compute.linpack", 0.5, verdict=Verdict.FASTER)
    assert explain([calm, gain], {"vm": NEHALEM, "bare": HASWELL}, "bare") == []


@pytest.mark.parametrize(("factor", "named"), [(0.33, True), (1.0, False), (1.5, False)])
def test_the_verdict_names_causes_beside_a_loss_only(plant_study, factor, named):
    def samples(trial, generator):
        rate = 6e10 * (factor if trial.platform == "b" else 1)
        yield Sample("rate", rate * float(np.exp(0.002 * generator.standard_normal())))

    run = plant_study(samples, {"probe": "compute.dgemm"})
    for name, facts in (("a", HASWELL), ("b", NEHALEM)):
        (run.path / "facts" / f"{name}.json").write_text(json.dumps(facts))
    comparison = Comparison(read_runs([run]))
    assert ("Nehalem" in comparison.statements[0].text) == named
    causes = [row for row in comparison.rows() if row["kind"] == "cause"]
    assert [row["causes"][0]["name"] for row in causes] == (["instruction sets"] if named else [])
    if named:
        assert causes[0]["explained"] == {"lo": 1.0, "hi": 4.0}
        assert causes[0]["residual"]["lo"] == pytest.approx(3 / 4, rel=0.02)


def test_no_known_cause_is_said(plant_study):
    def samples(trial, generator):
        rate = 6e10 * (0.5 if trial.platform == "b" else 1)
        yield Sample("rate", rate * float(np.exp(0.002 * generator.standard_normal())))

    (statement,) = Comparison(
        read_runs([plant_study(samples, {"probe": "compute.dgemm"})])
    ).statements
    assert "No known cause for the DGEMM rate on b." in statement.text
