"""Everything that is said of one comparison agrees: first line, matrix, sentences, suitability,
conditions and JSON, over random pages with losses, gains, failures and few launches."""

from __future__ import annotations

import json
import os
import re

import numpy as np
import pytest

from bareline.analysis.judgements.conditions import parse_condition
from bareline.analysis.judgements.suitability import Suitability
from bareline.analysis.numbers.records import read_runs
from bareline.analysis.words.comparison import Comparison
from bareline.analysis.words.conditions import check
from bareline.vocabulary.model import Failed, Layer, Sample, Stage
from bareline.vocabulary.verdicts import Grade, Verdict

#: Probes of every layer, each with a metric that it measures and whether more is better.
PROBES = {
    "compute.dgemm": ("rate", True),
    "compute.peak": ("rate", True),
    "memory.stream": ("bandwidth", True),
    "net.nuttcp": ("rate", True),
    "mpi.allreduce": ("latency", False),
    "mpi.pingpong": ("latency", False),
    "io.sequential": ("write_rate", True),
    "npb.cg": ("time", False),
    "npb.ep": ("time", False),
    "app.ocean": ("time", False),
}
PLATFORMS = ("a", "b", "c")
#: 200 pages with 694 certain losses were looked at once; so many are in every test.
PAGES = int(os.environ.get("BARELINE_TESTS_PAGES", "40"))


def page(plant_study, seed):
    """Plant a random page: what each probe does on each platform, and how many launches."""
    generator = np.random.default_rng(seed)
    names = generator.choice(list(PROBES), size=generator.integers(2, len(PROBES)), replace=False)
    kinds = generator.choice(
        ["slower", "faster", "equal", "wide", "failed"], p=[0.35, 0.15, 0.25, 0.15, 0.1],
        size=(len(names), 2),
    )  # fmt: skip
    does = {
        (name, platform): kinds[i, j]
        for i, name in enumerate(names)
        for j, platform in enumerate(PLATFORMS[1:])
    }
    factors = {key: float(generator.uniform(1.3, 8)) for key in does}

    def samples(trial, noise):
        metric, rate = PROBES[trial.case.probe]
        kind = does.get((trial.case.probe, trial.platform), "equal")
        if kind == "failed":
            return Failed(Stage.EXIT, "exit code 1")
        worse = {"slower": factors.get((trial.case.probe, trial.platform), 1.0)}.get(kind, 1.0)
        if kind == "faster":
            worse = 1 / factors[trial.case.probe, trial.platform]
        spread = 0.4 if kind == "wide" else 0.003
        value = 1e-3 * worse * float(np.exp(spread * noise.standard_normal()))
        points = (
            [{"size_bytes": 8}, {"size_bytes": 1 << 20}] if "mpi." in trial.case.probe else [{}]
        )
        return [Sample(metric, 1 / value if rate else value, point) for point in points]

    launches = int(generator.choice([3, 7, 8], p=[0.15, 0.5, 0.35]))
    measures = [{"probe": str(name), "ranks": 2 if "." in name else 1} for name in names]
    run = plant_study(
        samples, *measures, platforms=PLATFORMS, launches=launches, min_launches=launches,
        seed=seed, layouts="any",
    )  # fmt: skip
    return Comparison(read_runs([run]))


def clause_of(line, platform):
    """Find what the first line says of a platform; platforms may share a clause."""
    for clause in line.clauses:
        names = "|".join(map(re.escape, ["a", *PLATFORMS]))
        found = re.match(rf"On ((?:(?:{names})(?:, | and )?)+) (.*)", clause.text)
        if found and platform in re.split(r", | and ", found[1]):
            return found[2]
    return ""


def agreed(comparison):
    """Hold everything that is said against the findings; give the certain losses."""
    glance = comparison.glance
    headline = glance.headline
    sentences = " ".join(sentence.text for sentence in comparison.statements)
    rows = [row for row in comparison.rows() if row["kind"] == "finding"]
    losses = []
    for layer in glance.layers:
        for platform in glance.platforms:
            own = [f for f in comparison.findings if (f.layer, f.platform) == (layer, platform)]
            if not own:
                continue
            clause, square = clause_of(headline, platform), glance.squares[layer, platform]
            slower = [f for f in own if f.of(Verdict.SLOWER)]
            failed = [f for f in own if f.of(Verdict.FAILED)]
            told = [r for r in rows if (r["layer"], r["platform"]) == (layer, platform)]
            assert {r["verdict"] for r in told} == {f.verdict for f in own}
            if slower:
                losses.append((layer, platform))
                title = any(f.subject in clause for f in slower)
                assert title or _counted(clause, layer), (layer, platform, headline)
                assert square.mark is Verdict.SLOWER
                assert any(f.subject in sentences for f in slower)
                name = f"{platform}:{layer.value} is"
                assert check(parse_condition(f"{name} likely slower"), comparison).violations
                certain = any(f.grade is Grade.CERTAIN for f in slower)
                met = check(parse_condition(f"{name} slower"), comparison).violations
                assert bool(met) is certain or failed or comparison.judged.exchanged < 6
            else:
                assert square.mark is not Verdict.SLOWER
            if failed:
                assert "cases failed" in clause
                assert "no difference" not in clause.partition(". ")[0]
                assert square.mark is not Verdict.EQUIVALENT
                assert "failed" in square.words.text + square.note
            if square.mark is Verdict.EQUIVALENT:
                assert all(f.verdict is Verdict.EQUIVALENT for f in own)
    _suitability_agrees(comparison)
    return losses


def _counted(clause, layer):
    """Whether a layer is among those that are said beside what was asked, or counted."""
    listed = [
        clause.partition(" worse (")[2].partition(")")[0],
        clause.lower().partition("worse: ")[2],
    ]
    programs = layer in (Layer.NPB, Layer.APP) and (" as long " in clause or " slower" in clause)
    return programs or any(layer.words.lower() in text.lower() for text in listed)


def _suitability_agrees(comparison):
    """What is suited holds no certain large loss, and nothing that failed where it is sure."""
    for row in comparison.suitability:
        if row.answer is Suitability.SUITED:
            assert all(ground.lo is None or ground.lo <= 1 / 0.9 for ground in row.grounds)
        if row.answer is Suitability.NOT_MEASURED:
            assert not row.grounds


@pytest.mark.parametrize("seed", range(PAGES))
def test_everything_that_is_said_of_a_random_page_agrees(plant_study, seed):
    comparison = page(plant_study, seed)
    losses = agreed(comparison)
    assert len(losses) == len(set(losses))
    json.dumps(comparison.rows(), default=str)


def test_a_page_without_any_loss_claims_none(plant_study):
    run = plant_study(
        lambda trial, noise: [Sample("time", 1.0 + 0.001 * noise.standard_normal())],
        {"probe": "npb.cg", "ranks": 2},
    )
    comparison = Comparison(read_runs([run]))
    assert not agreed(comparison)
    assert not check(parse_condition("npb is slower"), comparison).violations
    assert Layer.NPB in comparison.glance.layers
