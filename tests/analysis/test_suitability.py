"""What platforms suit: declared rules, planted losses, and the publications' own figures."""

from __future__ import annotations

from dataclasses import replace
from math import inf

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bareline.analysis.judgements.evidence import Evidence
from bareline.analysis.judgements.published_evidence import published_grounds
from bareline.analysis.judgements.suitability import (
    BEARABLE,
    CLASSES,
    NEAR_NATIVE,
    Certainty,
    Suitability,
    judge_platforms,
    judge_published,
    levels_of,
)
from bareline.analysis.numbers.records import read_runs
from bareline.analysis.words.comparison import Comparison
from bareline.analysis.words.suitability import reason_of
from bareline.published.catalogue import publications
from bareline.session import begin
from bareline.session.origin import plan_of
from bareline.study.study import study_from_toml
from bareline.vocabulary.caveats import Caveat, read_caveats
from bareline.vocabulary.model import Failed, Measured, Record, Sample, Stage

STUDIES = publications()


def ground(lo, hi, kind="compute", **changes):
    told = f"[{lo}, {hi}]"
    return replace(Evidence(kind, "p", f"x {told}", lo, hi, told, n=10), **changes)


def judged(*grounds, kind="compute"):
    found = judge_platforms(grounds, ["p"], "b")
    return next(row for row in found if row.application_class.name == kind)


@pytest.mark.parametrize(
    ("lo", "hi", "answer"),
    [
        (0.98, 1.05, Suitability.SUITED),
        (0.2, 0.3, Suitability.SUITED),
        (None, 1.1, Suitability.SUITED),
        (1.2, 1.9, Suitability.COSTLY),
        (2.1, 2.2, Suitability.UNSUITED),
        (2.1, None, Suitability.UNSUITED),
        (1.05, 1.2, Suitability.CANNOT_TELL),
        (1.35, None, Suitability.CANNOT_TELL),
        (None, 1.3, Suitability.CANNOT_TELL),
        (None, None, Suitability.CANNOT_TELL),
    ],
)
def test_an_answer_needs_the_whole_span(lo, hi, answer):
    assert judged(ground(lo, hi)).answer is answer


def test_a_range_over_programs_that_spans_answers_depends():
    assert judged(ground(1.05, 1.2, varies=True)).answer is Suitability.DEPENDS
    assert judged(ground(1.2, 1.9, varies=True)).answer is Suitability.COSTLY


def test_grounds_that_disagree_depend_and_name_both_ends():
    row = judged(ground(1.0, 1.01), ground(3.0, 3.1), ground(1.2, 1.3))
    assert row.answer is Suitability.DEPENDS
    assert "from x [1.0, 1.01]" in reason_of(row)
    assert "to x [3.0, 3.1]" in reason_of(row)


def test_an_undecided_ground_lowers_certainty_and_not_the_answer():
    row = judged(ground(1.2, 1.3), ground(1.05, 1.5))
    assert (row.answer, row.certainty) == (Suitability.COSTLY, Certainty.LIKELY)
    assert judged(ground(1.2, 1.3)).certainty is Certainty.SURE


def test_an_undecided_ground_that_excludes_the_answer_makes_it_depend():
    row = judged(ground(1.0, 1.05), ground(1.5, 3.0))
    assert row.answer is Suitability.DEPENDS


def test_caveats_void_or_weaken():
    emulated = (Caveat("emulated-cpu"),)
    row = judged(ground(9.0, 9.1, caveats=read_caveats(("emulated-cpu", "shared-host"))))
    assert "share one machine" not in reason_of(row)
    assert row.answer is Suitability.CANNOT_TELL
    assert "emulated CPU" in reason_of(row)
    assert len(row.voided) == 1
    row = judged(ground(9.0, 9.1, "large", caveats=emulated), kind="large")
    assert (row.answer, row.certainty) == (Suitability.UNSUITED, Certainty.DOUBTFUL)
    assert row.caveats == emulated


def test_nothing_measured_and_everything_failed_are_told_apart():
    assert judged().answer is Suitability.NOT_MEASURED
    row = judged(ground(None, None, failure="every trial failed"))
    assert row.answer is Suitability.NOT_MEASURED
    assert "every trial failed" in reason_of(row)


_ENDS = st.floats(min_value=0.01, max_value=500)


@given(st.lists(st.tuples(_ENDS, _ENDS), min_size=1, max_size=6))
def test_no_answer_claims_what_a_span_does_not_hold(spans):
    grounds = [ground(min(pair), max(pair)) for pair in spans]
    row = judged(*grounds)
    limits = {
        Suitability.SUITED: (0.0, NEAR_NATIVE),
        Suitability.COSTLY: (NEAR_NATIVE, BEARABLE),
        Suitability.UNSUITED: (BEARABLE, inf),
    }
    if row.answer in limits:
        low, high = limits[row.answer]
        for found in grounds:
            assert found.lo is not None
            assert found.hi is not None
            assert found.hi >= low
            assert found.lo <= high
        assert any(low <= found.lo and found.hi <= high for found in grounds)
        if row.certainty is Certainty.SURE:
            assert all(levels_of(found) == (row.answer,) for found in grounds)
    if row.answer is Suitability.CANNOT_TELL:
        assert 2 * sum(len(levels_of(found)) > 1 for found in grounds) > len(grounds)


# Measured -----------------------------------------------------------------------------------------


@pytest.fixture
def plant(tmp_path, null_platforms):
    """Make a comparison of b with a whose samples are given by ``samples(trial)``."""

    def make(samples, *measures, launches=7):
        study = study_from_toml(
            {"study": {"name": "s", "launches": launches, "precision": 0, "min_launches": launches},
             "measure": list(measures)}, where="t",
        )  # fmt: skip
        run = begin.create_run(study, null_platforms(a={}, b={}), tmp_path / "r", baseline="a")
        with run.writing():
            for trial in plan_of(run):
                found = samples(trial)
                outcome = found if isinstance(found, Failed) else Measured(tuple(found))
                run.append(Record(trial=trial, outcome=outcome, started="t", duration_s=0.1))
        return Comparison(read_runs([run]))

    return make


def allreduce(small, large):
    def samples(trial):
        slow = {"a": (1.0, 1.0), "b": (small, large)}[trial.platform]
        drift = 1 + trial.block / 10
        for size, factor in ((8, slow[0]), (1024, slow[0]), (1 << 19, slow[1])):
            noise = 1 + 0.001 * ((trial.index * 7) % 5)
            yield Sample("latency", 1e-5 * drift * factor * noise, {"size_bytes": size})

    return samples


def answers(comparison):
    return {row.application_class.name: row for row in comparison.suitability}


def test_sizes_speak_of_their_own_class(plant):
    found = answers(plant(allreduce(5.0, 1.01), {"probe": "mpi.allreduce", "ranks": 2}))
    assert found["small"].answer is Suitability.UNSUITED
    assert found["small"].certainty is Certainty.SURE
    assert "MPI_Allreduce of " in reason_of(found["small"])
    assert len(found["small"].grounds) == 2
    assert found["large"].answer is Suitability.SUITED
    assert found["compute"].answer is Suitability.NOT_MEASURED
    assert set(found) == {kind.name for kind in CLASSES}


def test_fewer_than_six_trials_decide_nothing(plant):
    measure = {"probe": "mpi.allreduce", "ranks": 2}
    found = answers(plant(allreduce(5.0, 1.01), measure, launches=5))
    assert found["small"].answer is Suitability.CANNOT_TELL
    assert "without an interval" in reason_of(found["small"])


def test_a_rate_is_worse_when_it_is_lower(plant):
    def samples(trial):
        rate = {"a": 10.0, "b": 10.0 / 1.5}[trial.platform] * (1 + trial.block / 100)
        yield Sample("rate", rate * 1e9)

    found = answers(plant(samples, {"probe": "compute.dgemm"}))
    assert found["compute"].answer is Suitability.COSTLY
    assert found["compute"].grounds[0].lo == pytest.approx(1.5, rel=0.01)


def test_failures_are_named(plant):
    def samples(trial):
        if trial.platform == "b":
            return Failed(Stage.EXIT, "exit code 1")
        return allreduce(1.0, 1.0)(trial)

    found = answers(plant(samples, {"probe": "mpi.allreduce", "ranks": 2}))
    assert found["small"].answer is Suitability.NOT_MEASURED
    assert reason_of(found["small"]) == "every trial failed: mpi.allreduce"


def test_rows_for_json(plant):
    comparison = plant(allreduce(5.0, 1.01), {"probe": "mpi.allreduce", "ranks": 2})
    rows = [row for row in comparison.rows() if row["kind"] == "suitability"]
    assert len(rows) == len(CLASSES)
    (small,) = [row for row in rows if row["class"] == "small"]
    assert (small["answer"], small["platform"], small["baseline"]) == ("not suited", "b", "a")
    assert small["grounds"]


def test_what_failed_counts(plant):
    """Three of four programs fail in every launch, the fourth is equal: that suits nobody."""

    def samples(trial):
        if trial.platform == "b" and trial.case.probe != "npb.cg":
            return Failed(Stage.EXIT, "exit code 1")
        value = 1.0 + 0.001 * ((trial.index * 7) % 5)
        return [Sample("time", value), Sample("rate", 1e9 / value)]

    probes = ("npb.cg", "npb.mg", "npb.ft", "npb.lu")
    found = answers(plant(samples, *({"probe": name, "ranks": 2} for name in probes)))
    assert found["coupled"].answer is Suitability.CANNOT_TELL
    assert "3 of 4 failed in every launch (npb.ft, npb.lu and npb.mg)" in reason_of(
        found["coupled"]
    )
    failed = ground(None, None, failure="every trial failed")
    one = judged(*[ground(1.0, 1.01)] * 3, failed)
    assert (one.answer, one.certainty) == (Suitability.SUITED, Certainty.DOUBTFUL)
    assert judged(ground(3.0, 3.1), failed, failed).answer is Suitability.UNSUITED


def test_what_is_open_counts():
    """Three of four 1.6 times slower with wide intervals are no sign that it suits."""
    wide = [ground(0.9, 2.9 + k, ratio=1.6) for k in range(3)]
    row = judged(ground(0.99, 1.01, ratio=1.0), *wide)
    assert row.answer is Suitability.CANNOT_TELL
    assert "3 of 4 measurements are undecided" in reason_of(row)


@pytest.mark.parametrize(
    ("some", "answer"), [(7, Suitability.CANNOT_TELL), (3, Suitability.UNSUITED)]
)
def test_what_voids_a_figure_does_so_from_most_of_its_trials_on(some, answer):
    caveats = (Caveat("oversubscribed", some=some, trials=8),)
    assert judged(ground(3.0, 3.1, "small", caveats=caveats), kind="small").answer is answer


# Published ----------------------------------------------------------------------------------------


def published(study, platform):
    return {
        row.application_class.name: row
        for row in judge_published(STUDIES[study])
        if row.platform == platform
    }


def test_nebula_suits_what_does_not_wait_for_messages():
    """As the authors: bearable for embarrassingly parallel codes, not for small messages."""
    found = published("nebula", "nebula")
    assert found["parallel"].answer is Suitability.COSTLY
    assert found["memory"].answer is Suitability.SUITED
    assert found["small"].answer is Suitability.UNSUITED
    assert found["small"].certainty is Certainty.SURE
    # Few cores lose little, many lose most: it depends, and both ends are named.
    assert found["coupled"].answer is Suitability.DEPENDS
    assert "4 to 32 ranks" in reason_of(found["coupled"])
    assert "above 32 to 128 ranks" in reason_of(found["coupled"])
    assert found["io"].answer is Suitability.DEPENDS


def test_sriov_is_near_bare_metal_by_the_trials_of_nccs():
    for study in ("nccs", "flexible-fabric"):
        assert published(study, "vm-vm-sriov")["large"].answer is Suitability.SUITED
        assert published(study, "vm-vm-virtio")["large"].answer is Suitability.COSTLY
        assert published(study, "vm-vm-swvirt")["large"].answer is Suitability.UNSUITED
        row = published(study, "vm-vm-sriov")["large"]
        assert row.grounds[0].n == 10
        assert published(study, "vm-vm-sriov")["small"].answer is Suitability.NOT_MEASURED


def test_infinicloud_is_near_native_but_for_collectives_and_synced_files():
    for system in ("sb-virtual", "hw-virtual"):
        found = published("infinicloud", system)
        assert found["large"].answer is Suitability.SUITED
        assert found["coupled"].answer is Suitability.SUITED
    assert published("infinicloud", "sb-virtual")["compute"].answer is Suitability.SUITED
    # The one of four Linpack pairs that the authors do not call near native.
    assert published("infinicloud", "hw-virtual")["compute"].answer is Suitability.COSTLY
    assert published("infinicloud", "nos-hw-virtual")["small"].answer is Suitability.UNSUITED
    files = published("infinicloud", "beegfs-virtual")["io"]
    assert files.answer is Suitability.DEPENDS
    assert "not synced" in reason_of(files)


def test_a_bound_decides_only_what_it_bounds():
    """MILC loses at least 35 % on 10G: that may be bearable or not, so there is no answer."""
    grounds = [row for row in published_grounds(STUDIES["magellan"]) if "MILC" in row.subject]
    bound = [row for row in grounds if row.platform == "magellan-10g"]
    assert [(row.lo, row.hi) for row in bound] == [(1.35, None)]
    row = next(r for r in judge_platforms(bound, ["magellan-10g"], "magellan-ib")
               if r.application_class.name == "coupled")  # fmt: skip
    assert row.answer is Suitability.CANNOT_TELL
    assert "at least 1.35" in reason_of(row)
    whole = published("magellan", "magellan-10g")["coupled"]
    assert whole.answer is not Suitability.SUITED


def test_published_grounds_are_told_with_their_place():
    for study in STUDIES.values():
        for row in published_grounds(study):
            assert row.source.startswith(study.publication.short)
            assert row.n in (0, 10)


def test_names_stand_in_the_sentence_as_in_running_text(plant):
    """Not "from The rate of sequential writing ... better to": that would begin two sentences."""

    def samples(trial):
        factor = 3.0 if trial.platform == "b" else 1.0
        noise = 1 + 0.001 * ((trial.index * 7) % 5)
        yield Sample("write_rate", 1e8 * factor * noise, {"block_bytes": 65536})
        yield Sample("read_rate", 1e8 / factor * noise, {"block_bytes": 65536})

    found = next(
        row
        for row in plant(samples, {"probe": "io.sequential"}).suitability
        if any(ground.probe == "io.sequential" for ground in row.grounds)
    )
    assert found.answer is Suitability.DEPENDS
    assert reason_of(found).startswith("from ")
    assert "The " not in reason_of(found)
    assert ", to " in reason_of(found)


@pytest.mark.parametrize("beside", [True, False])
def test_a_program_that_was_only_profiled_speaks_for_its_class(plant, beside):
    def samples(trial):
        loses = 1.0 if beside and trial.case.profile else 3.0  # beside others it does not speak
        factor = loses if trial.platform == "b" else 1.0
        noise = 1 + 0.001 * ((trial.index * 7) % 5)
        return [Sample(metric, factor * noise) for metric in ("time", "compute", "communication")]

    measures = [{"probe": "app.ocean", "ranks": 2, "profile": True}]
    if beside:
        measures.append({"probe": "app.ocean", "ranks": 2})
    found = answers(plant(samples, *measures))["coupled"]
    assert found.answer is Suitability.UNSUITED
