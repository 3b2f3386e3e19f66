"""The mini-apps: rules for ranks, classes, and figures that contradict each other."""

import json
from pathlib import Path

import pytest

from bareline.probes.app.mini import MiniProgram
from bareline.probes.base import find_probe, load_probes
from bareline.study.study import Measure
from bareline.testing.messages import raises
from bareline.vocabulary.errors import ParseError, ProbeError
from bareline.vocabulary.model import Layer, Layout, Output

DATA = Path(__file__).with_name("data")
VARIANTS = ({}, {"variant": "tiles"})
APPS = [name for name, probe in load_probes().items() if isinstance(probe, MiniProgram)]


def rows_of(name):
    return [json.loads(line) for line in (DATA / f"{name}.good.out").read_text().splitlines()]


def read(name, rows, **params):
    probe = find_probe(name)
    text = "\n".join(map(json.dumps, rows))
    out = Output(stdout=text, stderr="", exit_code=0, duration_s=1.0)
    return probe.read(probe.make_params(params), out).samples


@pytest.mark.parametrize(
    ("name", "problem_class", "ranks", "hint"),
    [
        ("app.ocean", "S", 17, "ranks = 16 or 18"),
        ("app.ocean", "S", 128, ""),
        ("app.lattice", "A", 3, "ranks = 2 or 4"),
        ("app.planewave", "S", 25, "ranks = 24"),
        ("app.cartesian", "S", 9, "ranks = 8"),
        ("app.unstructured", "S", 65, "ranks = 64"),
        ("app.lattice", "S", 1024, "ranks = 512"),
        ("app.overset", "S", 40, "ranks = 39"),
    ],
)
def test_wrong_numbers_of_ranks_are_refused_with_the_nearest(name, problem_class, ranks, hint):
    measure = Measure(probe=name, params={"problem_class": problem_class}, ranks=ranks)
    with raises(ProbeError, "BL-PROBES-123", "measure 1", hint):
        list(measure.cases(where="measure 1"))


@pytest.mark.parametrize("name", APPS)
def test_every_mini_app_is_an_application_of_one_two_and_four_ranks(name):
    assert find_probe(name).layer is Layer.APP
    cases = list(Measure(probe=name, ranks=[1, 2, 4]).cases(where="here"))
    assert [case.ranks for case in cases] == [1, 2, 4]


@pytest.mark.parametrize("name", APPS)
def test_the_output_of_another_class_is_refused(name):
    with raises(ParseError, "BL-PROBES-472"):
        read(name, rows_of(name), problem_class="A")


@pytest.mark.parametrize("name", APPS)
@pytest.mark.parametrize(
    ("change", "code"),
    [
        (lambda point: point.update(rate_op_s=2 * point["rate_op_s"]), "BL-PROBES-885"),
        (lambda point: point.update(verification=[]), "BL-PROBES-734"),
        (lambda point: point["verification"][-1].update(passed=False), "BL-PROBES-156"),
        (lambda point: point.update(verified=False), "BL-PROBES-329"),
    ],
)
def test_doubtful_figures_are_refused(name, change, code):
    rows = rows_of(name)
    change(rows[1])
    with raises(ParseError, code):
        read(name, rows)


def test_the_ocean_says_which_solver_it_runs():
    probe = find_probe("app.ocean")
    argv = [probe.command(probe.make_params(given), Layout(1, 4)).argv for given in VARIANTS]
    assert argv[0][1:] == ("W",)
    assert argv[1][1:] == ("W", "-v", "tiles")
    rows = rows_of("app.ocean")
    assert rows[0]["variant"] == "2011"
    with raises(ParseError, "BL-PROBES-102", "2011", "tiles"):
        read("app.ocean", rows, variant="tiles")
    del rows[0]["variant"]  # of programs before there were variants
    assert read("app.ocean", rows)
