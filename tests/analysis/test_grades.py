"""One grade: decided once, and every voice says it."""

import importlib.util
from pathlib import Path

import numpy as np
import pytest

from bareline.analysis.judgements.conditions import parse_condition
from bareline.analysis.judgements.suitability import Certainty, Suitability
from bareline.analysis.numbers.records import read_runs
from bareline.analysis.words.comparison import Comparison
from bareline.analysis.words.conditions import check
from bareline.analysis.words.suitability import reason_of
from bareline.vocabulary.model import Failed, Sample, Stage
from bareline.vocabulary.verdicts import Grade

ROOT = Path(__file__).parents[2]
PROGRAMS = [{"probe": f"npb.{name}", "ranks": 2} for name in ("cg", "ep", "is", "mg")]


def compared(run):
    return Comparison(read_runs([run]))


def answer(comparison):
    return comparison.glance.headline.text


def met(comparison, text):
    return check(parse_condition(text), comparison).violations


def program(trial, generator, worse=1.0, spread=0.003):
    """What a NAS benchmark prints: both its metrics."""
    time_s = 2.0 * (worse if trial.platform == "b" else 1.0)
    time_s *= float(np.exp(spread * generator.standard_normal()))
    return [Sample("rate", 1e9 / time_s), Sample("time", time_s)]


@pytest.fixture(scope="module")
def pages():
    spec = importlib.util.spec_from_file_location("grades", ROOT / "benchmarks" / "grades.py")
    module = importlib.util.module_from_spec(spec)
    import sys

    sys.modules["grades"] = module
    spec.loader.exec_module(module)
    return module


def test_random_pages_have_one_voice(pages):
    """Shortened: 1,000 pages were looked at once (docs/method/appendix-statistics.md)."""
    total = pages.pages(25)
    assert total["pages that disagree"] == 0
    assert total["few certain"] == 0
    assert total["certain"] > 60
    assert total["pages with a false certain"] <= 4
    assert total["false likely"] <= 0.1 * total["likely"]


def test_what_is_asked_is_certain_among_noisy_messages(plant_study):
    """A program 1.48 times slower in six launches, beside 40 sizes with heavy noise."""

    def samples(trial, generator):
        if trial.case.probe.startswith("npb."):
            return program(trial, generator, 1.48, spread=0.06)
        return [
            Sample(
                "latency", 1e-5 * float(np.exp(0.2 * generator.standard_t(3))), {"size_bytes": 2**k}
            )
            for k in range(20)
        ]

    told = {"plain": 0, "asked": 0}
    for seed in range(6):
        for name, head in (("asked", {}), ("plain", {"question": ["mpi.pingpong"]})):
            run = plant_study(
                samples, PROGRAMS[0], {"probe": "mpi.pingpong", "ranks": 2},
                launches=6, seed=seed, **head,
            )  # fmt: skip
            (cell,) = (c for c in compared(run).cells if c.headline and c.layer == "npb")
            told[name] += cell.grade is Grade.CERTAIN
    assert told["asked"] == 6


def test_a_difference_beside_many_certain_ones_is_likely(plant_study):
    """At six launches nothing was likely once 38 % of the rows were certain."""

    def samples(trial, generator):
        for number in range(20):
            certain = number < 12
            loss = 10.0 if certain else 2.0 if number < 16 else 1.0
            spread = 0.01 if certain else 0.2
            time_s = 1e-5 * float(np.exp(spread * generator.standard_normal()))
            time_s *= loss if trial.platform == "b" else 1.0
            yield Sample("latency", time_s, {"size_bytes": 2**number})

    run = plant_study(samples, {"probe": "mpi.pingpong", "ranks": 2}, launches=6, seed=0)
    grades = [cell.grade for cell in compared(run).cells if cell.headline]
    assert grades.count(Grade.CERTAIN) >= 12
    assert Grade.LIKELY in grades[12:16]
    assert set(grades[16:]) == {Grade.OPEN}


def test_launches_of_one_boot_are_likely_at_most(plant_study):
    """With a boot 5 % slower than another all ten launches are: no property of the platform."""

    def samples(trial, generator):
        return program(trial, generator, 1.05)

    run = plant_study(samples, PROGRAMS[0], boot=lambda trial: 1 if trial.platform == "b" else None)
    comparison = compared(run)
    assert {cell.grade for cell in comparison.cells if cell.headline} == {Grade.LIKELY}
    assert "likely" in answer(comparison) and "likely in these boots" in answer(comparison)
    assert "likely" in next(iter(comparison.glance.squares.values())).words.text
    assert "The differences on b are those of the measured boots only" in comparison.glance.promise
    assert not met(comparison, "npb is slower") and met(comparison, "npb is likely slower")
    assert not met(comparison, "npb > 1.01")


def test_what_lies_below_the_control_is_open_in_every_voice(plant_study):
    """b and the baseline's own second measurement both come up 5 % slower."""

    def samples(trial, generator):
        worse = 1.0 if trial.platform == "a" else 1.05 if trial.platform == "b" else 1.06
        time_s = 2.0 * worse * float(np.exp(0.003 * generator.standard_normal()))
        return [Sample("rate", 1e9 / time_s), Sample("time", time_s)]

    comparison = compared(plant_study(samples, PROGRAMS[0], control=True))
    (cell,) = (c for c in comparison.cells if c.headline)
    assert cell.grade is Grade.OPEN
    assert "It differs as little as the baseline from itself" in answer(comparison)
    assert not met(comparison, "npb is likely slower")
    (finding,) = comparison.findings
    assert finding.grade is Grade.OPEN


def test_a_control_that_differs_in_one_layer_lowers_claims_in_the_others(plant_study):
    """Hidden offsets are as large in the layer that has one row, and no offset of the control."""

    def samples(trial, generator):
        noise = float(np.exp(0.003 * generator.standard_normal()))
        if trial.case.probe == "net.nuttcp":
            return [Sample("rate", 1e9 * noise * (1.06 if trial.platform == "a-again" else 1.0))]
        time_s = 2.0 * noise * (1.05 if trial.platform == "b" else 1.0)
        return [Sample("rate", 1e9 / time_s), Sample("time", time_s)]

    measures = [PROGRAMS[0], {"probe": "net.nuttcp", "ranks": 1}]
    comparison = compared(plant_study(samples, *measures, control=True))
    (control,) = comparison.controls
    assert control.differ == 1
    (cell,) = (cell for cell in comparison.cells if cell.headline and cell.layer == "npb")
    assert cell.grade is Grade.OPEN
    assert not met(comparison, "npb is likely slower")


def test_crashes_are_told_by_every_voice(plant_study):
    """5 of 12 launches crash and the others are equal: that was "no difference", "suited, sure"."""

    def samples(trial, generator):
        if trial.platform == "b" and trial.block < 5:
            return Failed(Stage.EXIT, "exit code 139")
        return program(trial, generator)

    comparison = compared(plant_study(samples, PROGRAMS[0], launches=12))
    assert "5 of 12 launches of the NAS benchmark CG did not finish" in answer(comparison)
    (coupled,) = (j for j in comparison.suitability if j.application_class.name == "coupled")
    assert coupled.certainty is Certainty.DOUBTFUL
    assert "5 of 12 launches of npb.cg did not finish" in reason_of(coupled)
    assert met(comparison, "npb fails") and met(comparison, "b:npb.cg fails")


def test_crashes_in_most_launches_are_certainly_worse(plant_study):
    def samples(trial, generator):
        if trial.platform == "b" and trial.block < 10:
            return Failed(Stage.SIGNAL, "killed by signal 11")
        return program(trial, generator)

    comparison = compared(plant_study(samples, PROGRAMS[0], launches=12))
    (cell,) = (c for c in comparison.cells if c.headline)
    assert cell.grade is Grade.CERTAIN
    assert "crashed in 10 of 12 launches" in answer(comparison)
    assert met(comparison, "npb is slower")


def never(*names):
    def samples(trial, generator):
        if trial.platform == "b" and trial.case.probe in names:
            return Failed(Stage.TIMEOUT, "no end after 300 s")
        return program(trial, generator)

    return samples


def test_programs_that_never_end_are_named_and_not_suited(plant_study):
    """Of three of four that never ended one was named, and suitability could not tell."""
    run = plant_study(never("npb.cg", "npb.is", "npb.mg"), *PROGRAMS, took_s=lambda _: 2.0)
    comparison = compared(run)
    text = answer(comparison)
    assert "3 of 4 cases did not finish" in text
    assert all(f"NAS benchmark {name}" in text for name in ("CG", "IS", "MG"))
    (coupled,) = (j for j in comparison.suitability if j.application_class.name == "coupled")
    assert coupled.answer is Suitability.UNSUITED


def test_what_ended_is_told_beside_what_did_not(plant_study):
    """Six of twelve never end, the others are equal: that was "at least 55.1 times slower"."""

    def samples(trial, generator):
        if trial.platform == "b" and trial.block % 2:
            return Failed(Stage.TIMEOUT, "no end after 300 s")
        return program(trial, generator)

    comparison = compared(plant_study(samples, PROGRAMS[0], launches=12, took_s=lambda _: 2.0))
    assert "did not finish within 300 s in 6 of 12 launches; the others equal" in answer(comparison)
    assert "at least" not in answer(comparison)


def test_failures_of_the_baseline_are_told_as_its_own(plant_study):
    def samples(trial, generator):
        if trial.platform == "a" and trial.case.probe != "npb.ep":
            return Failed(Stage.EXIT, "exit code 1")
        return program(trial, generator)

    text = answer(compared(plant_study(samples, *PROGRAMS)))
    assert "Compared with a, where 3 of 4 cases failed" in text
    assert "On b 3 of 4" not in text


def test_what_is_open_is_told_as_a_bound_with_its_own_forecast(plant_study):
    def samples(trial, generator):
        spread = 0.2 if trial.platform == "c" else 0.03
        time_s = 2.0 * float(np.exp(spread * generator.standard_normal()))
        return [Sample("rate", 1e9 / time_s), Sample("time", time_s)]

    comparison = compared(plant_study(samples, PROGRAMS[0], platforms=("a", "b", "c"), seed=3))
    clauses = [clause.text for clause in comparison.glance.headline.clauses]
    (b,) = (clause for clause in clauses if clause.startswith("On b "))
    (c,) = (clause for clause in clauses if clause.startswith("On c "))
    no_loss = "no loss of the NAS benchmark CG is shown ("
    assert no_loss in b and no_loss in c
    assert b.partition("(")[2] != c.partition("(")[2]


def test_the_answer_names_a_class_of_sizes_that_is_slower_and_faster_once(plant_study):
    """The answer called ping-pong below 8 KiB slower, and a clause later the same one faster."""

    def samples(trial, generator):
        noise = 1 + 0.002 * generator.standard_normal()
        for size, factor in ((8, 1.4), (64, 1.3), (1024, 0.7)):
            times = factor if trial.platform == "b" else 1.0
            yield Sample("latency", 1e-5 * times * noise, {"size_bytes": size})

    run = plant_study(samples, {"probe": "mpi.pingpong", "ranks": 2})
    text = answer(compared(run))
    assert "below 8 KiB is up to 1.40 times slower at 2 of 3 points and 1.43 times faster" in text
    assert text.count("below 8 KiB") == 1


def test_one_launch_each_is_described_and_not_judged(plant_study):
    def samples(trial, generator):
        worse = 3.9 if trial.platform == "b" else 1.0
        for size, factor in ((8, 1.29), (1 << 20, worse)):
            yield Sample(
                "latency", 1e-5 * (factor if trial.platform == "b" else 1.0), {"size_bytes": size}
            )

    run = plant_study(samples, {"probe": "mpi.allreduce", "ranks": 2}, launches=1, min_launches=1)
    text = answer(compared(run))
    assert "no difference is judged yet (seen once): MPI_Allreduce" in text
    assert "3.90 times as long as on a" in text


def test_one_more_launch_under_the_profiler_is_no_lack_of_launches(plant_study):
    """The page counted 496 values of fewer than six trials: those of `profile = "once"`."""
    measure = {**PROGRAMS[0], "profile": "once"}
    comparison = compared(plant_study(program, measure, launches=8))
    profiled = comparison.summary.filter(comparison.summary["params"].str.contains("profile=true"))
    assert profiled.height
    assert "n-too-small" not in profiled["caveats"].explode().to_list()
