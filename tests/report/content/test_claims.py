"""Printed beside measured: every claim has its row, and its status follows from the cells."""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from itertools import pairwise
from pathlib import Path

import pytest

from bareline.analysis.judgements.claims import ClaimStatus, Replication, mean_of
from bareline.analysis.numbers.records import read_runs
from bareline.analysis.numbers.row import Estimate, Row
from bareline.analysis.words.comparison import Comparison
from bareline.published.catalogue import publications
from bareline.published.findings import ClaimCheck
from bareline.report.content.claims import OPEN, Axis, ClaimRow, Claims, claims_of
from bareline.vocabulary.model import Layer, Metric
from bareline.vocabulary.place import Place
from bareline.vocabulary.verdicts import Verdict

ROOT = Path(__file__).parents[3]
STUDIES = ("flexible-fabric", "infinicloud", "magellan", "nebula")


@pytest.fixture(scope="module")
def claims_in(tmp_path_factory: pytest.TempPathFactory) -> Callable[..., Claims]:
    """Plant a run of a study with the printed losses and give its claims."""
    sys.path.insert(0, str(ROOT / "benchmarks"))
    try:
        from planted_study import plant
    finally:
        sys.path.remove(str(ROOT / "benchmarks"))
    known: dict[str, Claims] = {}

    def make(study: str, **how: object) -> Claims:
        key = f"{study} {how}"
        if key not in known:
            folder = tmp_path_factory.mktemp("planted") / "run"
            run = plant(study, folder, launches=8, **how)
            known[key] = claims_of(Comparison(read_runs([run])))
        return known[key]

    return make


def row(claims: Claims, start: str) -> ClaimRow:
    (found,) = [row for row in claims.rows if row.claim.startswith(start)]
    return found


@pytest.mark.slow
@pytest.mark.parametrize("study", STUDIES)
def test_every_stored_finding_has_its_row(claims_in: Callable[..., Claims], study: str) -> None:
    claims = claims_in(study)
    stored = [
        finding.words
        for publication in publications().values()
        if publication.publication.study == study
        for finding in publication.findings
    ]
    assert len(stored) >= 8
    assert Counter(row.claim for row in claims.rows) == Counter(stored)
    assert len(claims.open) <= OPEN
    assert all(row.measured for row in claims.open)
    assert all(row.why for row in claims.folded if not row.comparable)


def test_all_publications_with_findings_are_looked_at() -> None:
    assert {row.publication.study for row in publications().values() if row.findings} == {*STUDIES}


def test_losses_as_they_are_printed_say_yes(claims_in: Callable[..., Claims]) -> None:
    held = 0
    for found in (found for study in STUDIES for found in claims_in(study).rows):
        # Steps of tuning, and one platform that loses against another, are not planted.
        planted = not found.claim.startswith(("virtIO and jumbo", "PARATEC"))
        if planted and found.comparable and found.bars and all(bar.same for bar in found.bars):
            assert found.status is ClaimStatus.YES, found
            held += 1
    assert held >= 10


def test_without_losses_nothing_is_confirmed(claims_in: Callable[..., Claims]) -> None:
    rows = claims_in("flexible-fabric", power=0.0)
    assert row(rows, "Software-only").status is ClaimStatus.NO
    assert row(rows, "SR-IOV brings").status is ClaimStatus.YES  # it claims that both are equal
    assert row(rows, "SR-IOV has clear").status is not ClaimStatus.YES
    assert row(claims_in("infinicloud", power=0.0), "Collectives").status is ClaimStatus.NO


@pytest.mark.slow
def test_the_same_direction_with_less_of_it_is_weaker(claims_in: Callable[..., Claims]) -> None:
    found = row(claims_in("flexible-fabric", power=0.5), "Software-only")
    assert found.status is ClaimStatus.WEAKER
    assert found.bars[0].same
    nebula = claims_in("nebula", power=0.5)
    assert row(nebula, "Files are written").status is ClaimStatus.WEAKER
    assert row(nebula, "Bcast of 1 MB").status is ClaimStatus.WEAKER
    # Printed for ranks that are not told: half of it on a log scale is still what it says ...
    assert row(nebula, "Exchange between nodes").status is ClaimStatus.YES
    # ... a fifth is not.
    faint = claims_in("nebula", power=0.2)
    assert row(faint, "Exchange between nodes").status is ClaimStatus.WEAKER


def test_what_failed_is_not_measured_and_says_why(claims_in: Callable[..., Claims]) -> None:
    claims = claims_in("flexible-fabric", failing=["net.nuttcp"])
    assert not claims.open
    assert "failed" in row(claims, "Software-only").why


# One check on cells ------------------------------------------------------------------------------

CHECK = ClaimCheck(kind="ratio", probe=["p"], metric="time", platform="cloud", against=["hpc"])


def cell(ratio: float, half: float = 1.01, *, ranks: int = 2, platform: str = "c",
         probe: str = "p", verdict: Verdict = Verdict.INCONCLUSIVE) -> Row:  # fmt: skip
    return Row(
        place=Place(probe, "time", ranks=ranks, nodes=max(1, ranks // 8)),
        platform=platform,
        layer=Layer.MPI,
        metric=Metric("s", "lower", False),
        baseline="h",
        ratio=Estimate(ratio, ratio / half, ratio * half),
        verdict=verdict,
    )


def status(check: ClaimCheck, *cells: Row, **cast: str) -> ClaimStatus:
    replication = Replication(cells, "h", {"cloud": "c", "hpc": "h", **cast}, 0.02)
    return replication.outcome(check, lambda place: False).status


@pytest.mark.parametrize(
    ("ratio", "half", "worse", "better"),
    [
        (2.0, 1.01, ClaimStatus.YES, ClaimStatus.NO),
        (1.0, 1.005, ClaimStatus.NO, ClaimStatus.NO),
        (0.5, 1.01, ClaimStatus.NO, ClaimStatus.YES),
        (1.1, 1.5, ClaimStatus.CANNOT_TELL, ClaimStatus.CANNOT_TELL),
    ],
)
def test_direction_of_a_ratio(
    ratio: float, half: float, worse: ClaimStatus, better: ClaimStatus
) -> None:
    assert status(CHECK, cell(ratio, half)) is worse
    assert status(CHECK.model_copy(update={"expect": "better"}), cell(ratio, half)) is better


@pytest.mark.parametrize(
    ("ratio", "half", "said"),
    [
        (1.02, 1.01, ClaimStatus.YES),
        (1.5, 1.01, ClaimStatus.NO),
        (1.04, 1.1, ClaimStatus.CANNOT_TELL),
    ],
)
def test_equality_has_a_limit(ratio: float, half: float, said: ClaimStatus) -> None:
    assert status(CHECK.model_copy(update={"expect": "equal", "within": 1.1}), cell(ratio, half)) \
        is said  # fmt: skip


def test_growth_needs_both_intervals_apart() -> None:
    grows = CHECK.model_copy(update={"kind": "grows"})
    assert status(grows, cell(2.0, ranks=2), cell(3.0, ranks=8)) is ClaimStatus.YES
    assert status(grows, cell(2.0, ranks=2), cell(2.1, 1.1, ranks=8)) is ClaimStatus.CANNOT_TELL
    assert status(grows, cell(3.0, ranks=2), cell(2.0, ranks=8)) is ClaimStatus.NO
    assert status(grows, cell(3.0, ranks=2)) is ClaimStatus.NOT_MEASURED
    rise = CHECK.model_copy(update={"kind": "rise"})
    assert status(rise, cell(2.0, ranks=8), cell(4.0, ranks=16)) is ClaimStatus.YES
    assert status(rise, cell(2.0, ranks=8), cell(4.0, ranks=64)) is ClaimStatus.NOT_MEASURED


def test_an_order_holds_against_each_of_them_or_not_at_all() -> None:
    order = CHECK.model_copy(update={"kind": "order", "against": ["hpc", "other"]})
    both = (cell(3.0), cell(2.0, platform="o"))
    assert status(order, *both, other="o") is ClaimStatus.YES
    assert status(order, cell(3.0), cell(4.0, platform="o"), other="o") is ClaimStatus.NO
    assert status(order, *both) is ClaimStatus.YES  # nobody stands for the other


def simulated(ratio: float, *, ranks: int = 16, platform: str = "c") -> Row:
    """A cell between two simulations: a value without noise, and no known error of the model."""
    return replace(cell(ratio, ranks=ranks, platform=platform), exact=True, ratio=Estimate(ratio))


def test_what_is_simulated_is_judged_by_its_value() -> None:
    assert status(CHECK, simulated(1.3)) is ClaimStatus.YES
    assert status(CHECK, simulated(0.9)) is ClaimStatus.NO
    equal = CHECK.model_copy(update={"expect": "equal", "within": 1.1})
    assert status(equal, simulated(1.05)) is ClaimStatus.YES
    assert status(equal, simulated(1.17)) is ClaimStatus.NO
    grows = CHECK.model_copy(update={"kind": "grows"})
    assert status(grows, simulated(1.2), simulated(1.4, ranks=32)) is ClaimStatus.YES


def test_an_order_is_not_judged_where_no_message_leaves_a_node() -> None:
    order = CHECK.model_copy(update={"kind": "order"})
    inside, between = simulated(1.0, ranks=8), simulated(1.5, ranks=16)
    replication = Replication([inside, between], "h", {"cloud": "c", "hpc": "h"}, 0.02)
    found = replication.outcome(order, lambda place: False)
    assert found.status is ClaimStatus.YES and found.losses[0].place.ranks == 16
    # Where nothing else was measured, or where the document speaks of one node, that counts.
    assert status(order, inside) is ClaimStatus.NO
    within = order.model_copy(update={"at": {"placement": "intra_node"}})
    assert status(within, inside, between) is ClaimStatus.NO


def test_what_a_mean_leaves_out_is_told() -> None:
    cells = (cell(2.0), cell(2.0, probe="q", verdict=Verdict.FAILED))
    check = CHECK.model_copy(update={"probe": ["p", "q"]})
    replication = Replication(cells, "h", {"cloud": "c", "hpc": "h"}, 0.02)
    outcome = replication.outcome(check, lambda place: False)
    assert outcome.status is ClaimStatus.YES
    assert outcome.reason.startswith("without 1 of 2 points")


def test_failed_and_absent_are_not_measured() -> None:
    assert status(CHECK, cell(2.0, verdict=Verdict.FAILED)) is ClaimStatus.NOT_MEASURED
    assert status(CHECK) is ClaimStatus.NOT_MEASURED
    assert Replication([], "h", {"hpc": "h"}, 0.02).outcome(CHECK, bool).reason == (
        "no platform here stands for cloud"
    )


def test_half_widths_add_on_a_log_scale() -> None:
    held = Estimate(4.0, 2.0, 8.0).over(Estimate(2.0, 1.0, 3.0))
    assert (held.value, held.lo, held.hi) == (2.0, pytest.approx(2 / 3), 8.0)
    mean = mean_of([Estimate(1.0, 0.5, 2.0), Estimate(4.0, 2.0, 8.0)])
    assert [mean.value, mean.lo, mean.hi] == pytest.approx([2.0, 1.0, 4.0])
    assert mean_of([Estimate(2.0), Estimate(2.0, 1.0, 4.0)]).lo is None


# The axis ----------------------------------------------------------------------------------------


def test_all_that_is_drawn_lies_on_the_axis(claims_in: Callable[..., Claims]) -> None:
    rows = claims_in("nebula").open
    axis = Axis.of(rows)
    assert axis is not None
    places = [place for place, _ in axis.ticks]
    assert all(after - before >= 28 for before, after in pairwise(places))
    for found in rows:
        for x, width, _ in axis.bars(found):
            assert x >= 0 and x + width <= 280
        for x, low, high, _ in axis.dots(found):
            assert 0 <= low <= x <= high <= 280
    pale = row(claims_in("nebula"), "Exchange between nodes")
    assert pale.elsewhere == "ranks not printed"
    assert [look for *_, look in axis.bars(pale)] == ["printed pale"]
