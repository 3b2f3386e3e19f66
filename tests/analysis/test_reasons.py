"""Why losses are there, as the verdict says it."""

import json

import numpy as np
import pytest

from bareline.analysis.numbers.records import read_runs
from bareline.analysis.words.comparison import Comparison
from bareline.vocabulary.model import Sample

from .causes.planted import HASWELL, NEHALEM


def told(run, facts):
    for name, given in facts.items():
        (run.path / "facts" / f"{name}.json").write_text(json.dumps(given))
    return Comparison(read_runs([run]))


@pytest.fixture
def rates(plant_study):
    """Make a run of DGEMM and others whose rates are so many times lower on b."""

    def make(*probes, **lower):
        def samples(trial, generator):
            worse = lower[trial.case.probe.partition(".")[2]] if trial.platform == "b" else 1
            yield Sample("rate", 6e10 / worse * float(np.exp(0.002 * generator.standard_normal())))

        return plant_study(samples, *({"probe": f"compute.{name}"} for name in lower))

    return make


@pytest.mark.parametrize(("factor", "named"), [(3.0, True), (1.0, False), (0.7, False)])
def test_causes_are_named_beside_a_loss_only(rates, factor, named):
    comparison = told(rates(dgemm=factor), {"a": HASWELL, "b": NEHALEM})
    assert ("Nehalem" in comparison.statements[0].text) == named
    causes = [row for row in comparison.rows() if row["kind"] == "cause"]
    assert [row["causes"][0]["name"] for row in causes] == (["instruction sets"] if named else [])
    if named:
        assert causes[0]["explained"]["lo"] == 0.0 and causes[0]["explained"]["hi"] == 3.0
        assert causes[0]["left"]["lo"] == pytest.approx(2 - 3, abs=0.04)
        assert causes[0]["word"] == causes[0]["causes"][0]["word"] == "may explain"


def test_no_known_cause_is_said_where_nothing_below_can_be_measured(rates):
    (statement,) = told(rates(peak=2.0), {}).statements
    assert "The loss of the attainable peak of a core on b has no known cause." in statement.text


def test_the_probe_to_run_is_named_where_the_rung_below_was_not_measured(rates):
    """ "No known cause" before."""
    (statement,) = told(rates(dgemm=2.0), {}).statements
    assert (
        "The loss of the DGEMM rate on b is not explained; measure `compute.peak`."
        in statement.text
    )
    assert "no known cause" not in statement.text


def test_many_losses_without_a_cause_are_counted(rates):
    lower = {"dgemm": 4.0, "fft": 2.0, "linpack": 2.0}
    text = told(rates(**lower), {}).statements[0].text
    assert "The losses of the DGEMM rate, " in text and "the FFT rate" in text
    run = rates(**lower, linpack_mpi=2.0, peak=1.0)
    text = told(run, {}).statements[0].text
    assert "The losses of the DGEMM rate, " in text and "have no known cause" in text


def test_what_remains_unexplained_is_said(rates):
    facts = {"a": {"cpu.max_hz": 3.5e9}, "b": {"cpu.max_hz": 2.5e9}}
    text = told(rates(dgemm=3.0), facts).statements[0].text
    assert (
        "On b the DGEMM rate is " in text
        and "due to the clock (its clock is 1.40 times lower)" in text
    )
    assert text.count(" are unexplained (measure `compute.peak` to explain them)") == 1


def test_what_was_not_measured_is_said_to_differ(rates):
    facts = {name: {**HASWELL, "library.blas_kernels": name} for name in ("a", "b")}
    text = told(rates(dgemm=3.0), facts).statements[0].text
    assert "Also different on b, effect not measured: its BLAS runs the kernels 'b'" in text
    assert "explains" not in text and "no known cause" not in text


def test_what_over_explains_is_withdrawn_and_that_is_said(rates):
    facts = {"a": {"cpu.max_hz": 3e9}, "b": {"cpu.max_hz": 2e9}}
    run = rates(dgemm=1.2, peak=2.0, fft=2.0)
    text = told(run, facts).statements[0].text
    assert "The loss of the DGEMM rate on b has no known cause. The clock is not a cause " in text
    assert "more than was measured" in text


def test_losses_of_the_same_causes_are_told_together(rates):
    facts = {"a": {"cpu.max_hz": 3e9}, "b": {"cpu.max_hz": 2e9}}
    text = told(rates(dgemm=1.5, fft=1.5, linpack=1.5, peak=1.5), facts).statements[0].text
    assert text.count("its clock is 1.50 times lower") == 1
    assert "The same cause explains the losses of the Linpack rate and the DGEMM rate" in text


def test_emulation_is_said_once(plant_study):
    """As a caveat and as a cause in one sentence before, and in full in every layer."""

    def samples(trial, generator):
        worse = 50 if trial.platform == "b" else 1
        value = worse * float(np.exp(0.002 * generator.standard_normal()))
        if trial.case.probe == "net.sockperf":
            yield Sample("latency", 1e-5 * value)
        elif trial.case.probe == "io.create":
            yield Sample("rate", 1e4 / value)
        else:
            yield Sample("latency", 1e-6 * value, {"size_bytes": 8})

    cases = [{"probe": "net.sockperf"}, {"probe": "mpi.allreduce", "ranks": 2, "nodes": 1}]
    run = plant_study(
        samples, *cases, caveats=lambda t: ("emulated-cpu",) if t.platform == "b" else ()
    )
    texts = [one.text for one in told(run, {"b": {"cpu.emulated": True}, "a": {}}).statements]
    network, mpi = texts
    assert network.count("emulated") == 1 and "its processor is emulated (every" in network
    assert mpi.count("emulated") == 1 and "emulated processor, as above" in mpi
