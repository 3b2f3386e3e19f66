"""Programs that were compiled otherwise than the baseline's get a caveat."""

from __future__ import annotations

import pytest

from bareline.analysis.judgements.comparison import JudgedComparison
from bareline.analysis.numbers.records import read_runs
from bareline.probes._native import build_of_header
from bareline.probes.null import PROBE
from bareline.store.run import Run
from bareline.testing.runs import planted_run
from bareline.vocabulary.caveats import OTHER_BUILD, Caveat
from bareline.vocabulary.facts import FACT_KEYS, NATIVE_FACTS, unlike_builds
from bareline.vocabulary.model import Layer

PLAIN = {"native.c": "GNU 12.2.0", "native.fortran": "GNU 12.2.0", "native.flags": "none"}
TUNED = {**PLAIN, "native.flags": "-march=native"}


@pytest.mark.parametrize(
    ("own", "base", "words"),
    [
        (PLAIN, PLAIN, ""),
        (TUNED, PLAIN, "-march=native here, none for the baseline"),
        (
            {**TUNED, "native.c": "Clang 14.0.6"},
            PLAIN,
            "Clang 14.0.6, -march=native here, GNU 12.2.0, none for the baseline",
        ),
        # No Fortran there, an earlier version, an imported run: nothing is known to differ.
        ({**PLAIN, "native.fortran": ""}, PLAIN, ""),
        ({}, TUNED, ""),
        ({"native.c": "GNU 14"}, PLAIN, ""),
    ],
)
def test_what_differs_is_said(own, base, words):
    assert unlike_builds(own, base) == words


@pytest.mark.parametrize(
    ("compiled", "facts"),
    [
        (None, {}),
        ([], {}),
        ({"c": 3, "flags": None}, {}),
        ({"c": "GNU 12", "flags": ""}, {"native.c": "GNU 12", "native.flags": "none"}),
        ({"flags": "x" * 1000}, {"native.flags": "x" * 300}),
    ],
)
def test_a_header_is_read_with_care(compiled, facts):
    assert build_of_header({"compiled": compiled}) == facts
    assert set(NATIVE_FACTS) <= set(FACT_KEYS)


def rows_of(run):
    comparison = JudgedComparison(read_runs([Run.open(run.path)]), "a", 0.05)
    return [row.caveats for row in comparison.cells]


def test_rows_of_the_programs_carry_it(tmp_path, monkeypatch):
    monkeypatch.setattr(type(PROBE), "layer", Layer.COMPUTE)
    run = planted_run(tmp_path / "run")
    run.write_facts("a", PLAIN, 1)
    run.write_facts("b", PLAIN, 1)
    assert not [c for caveats in rows_of(run) for c in caveats if c.code == OTHER_BUILD]
    run.write_facts("b", TUNED, 1)
    for caveats in rows_of(run):
        (found,) = [caveat for caveat in caveats if caveat.code == OTHER_BUILD]
        assert found == Caveat(OTHER_BUILD, "-march=native here, none for the baseline")
        assert Caveat.read(str(found)) == found


def test_programs_of_others_do_not(tmp_path):
    run = planted_run(tmp_path / "run")  # its probe is an application
    run.write_facts("a", PLAIN, 1)
    run.write_facts("b", TUNED, 1)
    assert not [c for caveats in rows_of(run) for c in caveats if c.code == OTHER_BUILD]
