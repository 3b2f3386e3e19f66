"""The NAS Parallel Benchmarks: rules for ranks, and figures that contradict each other."""

import json
from pathlib import Path

import pytest

from bareline.probes.base import find_probe, load_probes
from bareline.probes.npb.kernels import NpbProgram
from bareline.study.measure import Measure
from bareline.testing.messages import raises
from bareline.vocabulary.caveats import Caveat
from bareline.vocabulary.errors import BarelineError, ParseError, ProbeError
from bareline.vocabulary.model import Output

DATA = Path(__file__).with_name("data")
KERNELS = [name for name, probe in load_probes().items() if isinstance(probe, NpbProgram)]


def read(name, text, **params):
    probe = find_probe(name)
    out = Output(stdout=text, stderr="", exit_code=0, duration_s=1.0)
    return probe.read(probe.make_params(params), out).samples


def good(name):
    return [json.loads(line) for line in (DATA / f"{name}.good.out").read_text().splitlines()]


def text(rows):
    return "\n".join(map(json.dumps, rows))


@pytest.mark.parametrize(
    ("name", "problem_class", "ranks", "hint"),
    [
        ("npb.ep", "S", 257, "ranks = 256"),
        ("npb.is", "A", 3, "ranks = 2 or 4"),
        ("npb.is", "S", 256, "ranks = 128"),
        ("npb.is", "E", 32, "ranks = 64"),
        ("npb.cg", "S", 6, "ranks = 4 or 8"),
        ("npb.cg", "S", 2048, "ranks = 1024"),
        ("npb.mg", "W", 12, "ranks = 8 or 16"),
        ("npb.mg", "S", 8192, "ranks = 4096"),
        ("npb.ft", "W", 5, "ranks = 4 or 8"),
        ("npb.ft", "W", 2048, "ranks = 1024"),
        ("npb.bt", "A", 2, "ranks = 1 or 4"),
        ("npb.bt", "S", 25, "ranks = 16"),
        ("npb.sp", "A", 8, "ranks = 4 or 9"),
        ("npb.lu", "W", 5, "ranks = 4 or 6"),
        ("npb.lu", "S", 20, "ranks = 16"),
    ],
)
def test_wrong_numbers_of_ranks_are_refused_with_the_nearest(name, problem_class, ranks, hint):
    measure = Measure(probe=name, params={"problem_class": problem_class}, ranks=[1, ranks])
    if problem_class == "E":
        measure = measure.model_copy(update={"ranks": ranks})
    with raises(ProbeError, "BL-PROBES-123", "measure 1", hint):
        list(measure.cases(where="measure 1"))


@pytest.mark.parametrize("name", KERNELS)
def test_every_kernel_runs_on_one_and_four_ranks(name):
    cases = list(Measure(probe=name, ranks=[1, 4]).cases(where="here"))
    assert [case.ranks for case in cases] == [1, 4]


@pytest.mark.parametrize("name", KERNELS)
def test_an_unknown_class_is_refused(name):
    measure = Measure(probe=name, params={"problem_class": "Z"})
    with raises(BarelineError, "BL-PROBES-842", "problem_class"):
        list(measure.cases(where="here"))


@pytest.mark.parametrize("name", KERNELS)
def test_the_output_of_another_class_is_refused(name):
    with raises(ParseError, "BL-PROBES-472"):
        read(name, text(good(name)), problem_class="A")


@pytest.mark.parametrize("name", KERNELS)
@pytest.mark.parametrize(
    ("change", "code"),
    [
        (lambda point: point.update(rate_op_s=2 * point["rate_op_s"]), "BL-PROBES-885"),
        (lambda point: point.update(imbalance=2 * point["imbalance"]), "BL-PROBES-885"),
        (lambda point: point["compute_s"].update(max=9e9), "BL-PROBES-715"),
        (lambda point: point["communication_s"].update(min=-1.0), "BL-PROBES-715"),
        (lambda point: point.pop("verified"), "BL-PROBES-566"),
        (lambda point: point.update(verification=[]), "BL-PROBES-734"),
        (lambda point: point["verification"][0].update(passed=False), "BL-PROBES-156"),
    ],
)
def test_contradicting_figures_are_refused(name, change, code):
    rows = good(name)
    change(rows[1])
    with raises(ParseError, code):
        read(name, text(rows))


def test_means_add_up_to_the_time():
    for name in KERNELS:
        values = {sample.metric: sample.value for sample in read(name, text(good(name)))}
        total = values["compute_mean"] + values["communication_mean"]
        assert total == pytest.approx(values["time"], rel=0.05)


def part(reason="3 of 15 iterations", iterations=3):
    header, point, end = good("npb.cg")
    del point["verified"]
    return text([header, {**point, "not_verified": reason, "iterations": iterations}, end])


def test_a_part_of_the_iterations_is_marked_as_not_verified():
    probe = find_probe("npb.cg")
    params = probe.make_params({"problem_class": "W", "iterations": 3})
    out = Output(stdout=part(), stderr="", exit_code=0, duration_s=1.0)
    assert probe.read(params, out).caveats == ("not verified: 3 of 15 iterations",)
    assert (
        Caveat.read("not verified: 3 of 15 iterations").brief == "not verified: 3 of 15 iterations"
    )
    whole = Output(stdout=text(good("npb.cg")), stderr="", exit_code=0, duration_s=1.0)
    assert probe.read(probe.make_params({}), whole).caveats == ()


@pytest.mark.parametrize(
    ("output", "asked", "code"),
    [
        (part(), 0, "BL-PROBES-459"),
        (part(), 4, "BL-PROBES-818"),
        (part(reason=None), 3, "BL-PROBES-566"),
        (part(reason=""), 3, "BL-PROBES-566"),
    ],
)
def test_a_part_that_nobody_asked_for_is_no_result(output, asked, code):
    with raises(ParseError, code):
        read("npb.cg", output, problem_class="W", iterations=asked)


def test_what_has_no_iterations_runs_no_part_of_them():
    with raises(ProbeError, "BL-PROBES-808", "iterations"):
        find_probe("npb.ep").make_params({"iterations": 1})
