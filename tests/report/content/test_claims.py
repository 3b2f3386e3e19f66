"""Printed next to measured: every claim has its row, and its verdict follows from the rows."""

from __future__ import annotations

import re
import sys
from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from io import StringIO
from itertools import pairwise
from pathlib import Path
from types import ModuleType

import pytest
from rich.console import Console

from bareline.analysis.judgements.claims import Outcome, PrintedPlaces, Replication
from bareline.analysis.judgements.losses import mean_of
from bareline.analysis.judgements.wording import ClaimStatus, Effect, PrintedFor, judge
from bareline.analysis.numbers.records import read_runs
from bareline.analysis.numbers.row import Estimate, Row
from bareline.analysis.words.comparison import Comparison
from bareline.published.catalogue import publications
from bareline.published.findings import ClaimCheck
from bareline.published.ratios import computed_ratios, own_bases, peak_ratios, printed_ratios
from bareline.report.content.claim_axis import Axis
from bareline.report.content.claim_rows import ClaimRow, Claims, ClaimScore
from bareline.report.content.claims import claims_of
from bareline.report.content.document import document_of
from bareline.report.page.files import render_markdown
from bareline.report.page.html import render_page
from bareline.report.terminal.results import comparison_blocks
from bareline.report.writers.markdown import escaped
from bareline.report.writers.terminal import print_blocks
from bareline.testing.messages import raises
from bareline.vocabulary.caveats import Caveat
from bareline.vocabulary.model import Layer, Metric
from bareline.vocabulary.place import Place
from bareline.vocabulary.verdicts import Verdict

ROOT = Path(__file__).parents[3]
STUDIES = ("flexible-fabric", "infinicloud", "magellan", "nebula")
SMALL = ("flexible-fabric", "infinicloud")
POWERS = (-1.0, 0.0, 0.5, 1.0, 2.0, 3.0)


@pytest.fixture(scope="module")
def planting() -> ModuleType:
    """The benchmark that plants studies and knows the right verdicts."""
    sys.path.insert(0, str(ROOT / "benchmarks"))
    try:
        import planted_claims
    finally:
        sys.path.remove(str(ROOT / "benchmarks"))
    return planted_claims


@pytest.fixture(scope="module")
def comparison_of(
    planting: ModuleType, tmp_path_factory: pytest.TempPathFactory
) -> Callable[..., Comparison]:
    """Plant a run of a study with the printed losses and compare it."""
    known: dict[str, Comparison] = {}

    def make(study: str, **how: object) -> Comparison:
        key = f"{study} {how}"
        if key not in known:
            folder = tmp_path_factory.mktemp("planted") / "run"
            run = planting.plant(study, folder, launches=8, **how)
            known[key] = Comparison(read_runs([run]))
        return known[key]

    return make


@pytest.fixture(scope="module")
def claims_in(comparison_of: Callable[..., Comparison]) -> Callable[..., Claims]:
    """Plant a run of a study with the printed losses and give its claims."""
    return lambda study, **how: claims_of(comparison_of(study, **how))


def row(claims: Claims, start: str) -> ClaimRow:
    (found,) = [row for row in claims.statements if row.claim.startswith(start)]
    return found


def _publications_of(study: str) -> list[object]:
    return [one for one in publications().values() if one.publication.study == study]


@pytest.mark.parametrize(
    "study", [*SMALL, *(pytest.param(name, marks=pytest.mark.slow) for name in STUDIES[2:])]
)
def test_every_finding_and_every_printed_ratio_has_its_row(
    claims_in: Callable[..., Claims], study: str
) -> None:
    claims = claims_in(study)
    stored = [finding.words for one in _publications_of(study) for finding in one.findings]
    assert Counter(row.claim for row in claims.statements) == Counter(stored)
    printed = [
        ratio for one in _publications_of(study)
        for ratio in (
            *printed_ratios(one), *computed_ratios(one), *peak_ratios(one), *own_bases(one)
        )
    ]  # fmt: skip
    assert len(claims.ratios) == len(printed) >= 6
    results = Counter(name for row in claims.ratios for name in row.results)
    relative = [
        result.id for one in _publications_of(study)
        for result in one.results if result.kind != "absolute"
    ]  # fmt: skip
    assert set(relative) <= results.keys()
    assert all(row.measured for row in claims.open if row.is_measured)
    assert all(row.why for row in claims.rows if not row.is_measured)


def test_nothing_measured_is_folded(claims_in: Callable[..., Claims]) -> None:
    claims = claims_in("infinicloud")
    assert not any(row.is_measured for row in claims.folded)
    places = [row.place for row in claims.statements]
    assert places == sorted(places, key=["abstract", "conclusions", "text"].index)


def test_the_abstract_of_nebula_comes_first() -> None:
    (nebula,) = _publications_of("nebula")
    abstract = [one for one in nebula.findings if nebula.part(one.part).weight == "abstract"]
    assert {one.where.partition(",")[0] for one in abstract} >= {
        "Abstract (ii)", "Abstract (iv)", "Abstract (v)",
    }  # fmt: skip


def test_all_publications_with_findings_are_looked_at() -> None:
    assert {row.publication.study for row in publications().values() if row.findings} == {*STUDIES}


@pytest.mark.parametrize("power", POWERS)
@pytest.mark.parametrize("study", SMALL)
def test_planted_losses_have_the_verdicts_written_beforehand(
    planting: ModuleType, claims_in: Callable[..., Claims], study: str, power: float
) -> None:
    claims = claims_in(study, power=power)
    wrong = planting.unexpected(claims, power)
    assert [(row.claim, row.verdict, right) for row, right in wrong] == []


@pytest.mark.slow
@pytest.mark.parametrize("power", POWERS)
@pytest.mark.parametrize("study", ["magellan", "nebula"])
def test_planted_losses_of_large_studies(
    planting: ModuleType, claims_in: Callable[..., Claims], study: str, power: float
) -> None:
    test_planted_losses_have_the_verdicts_written_beforehand(planting, claims_in, study, power)


def test_the_slides_own_trials_repeat_their_claims(claims_in: Callable[..., Claims]) -> None:
    """The trials of the NCCS slides, with their retransmissions, in their order."""
    claims = claims_in("flexible-fabric", probes=("net.nuttcp",), as_listed=True, seed=2)
    found = {start: row(claims, start) for start in ("TCP's rate", "TCP sends", "TCP slow start")}
    varies = found["TCP's rate"]
    # Eight of ten trials are planted: both slow ones, and three with retransmissions on SR-IOV.
    assert (varies.printed, varies.verdict) == ("2 of 10 trials", "yes")
    assert (varies.sides, varies.measured) == ("bare", "2 of 8 trials, 25 % [3, 65]")
    again = found["TCP sends"]
    assert (again.printed, again.verdict) == ("4 of 10 trials", "yes")
    assert (again.sides, again.measured) == ("sriov", "3 of 8 trials, 38 % [9, 76]")
    # nuttcp records no course of a transfer.
    assert found["TCP slow start"].verdict == "not measured"
    assert "net.iperf3" in found["TCP slow start"].why
    # Eight trials leave it open whether SR-IOV equals bare metal; nothing is contradicted.
    assert {one.verdict for one in claims.ratios} == {"yes", "cannot tell"}


def test_the_score_counts_printed_ratios(claims_in: Callable[..., Claims]) -> None:
    score = claims_in("flexible-fabric").score
    assert score.printed == 6 and score.counts == {ClaimStatus.YES: 6}
    assert 0 < score.coin < score.ranges == 6
    half = claims_in("flexible-fabric", power=0.5).score
    assert half.counts[ClaimStatus.WEAKER] == 4
    assert half.words.startswith("Of 6 printed ratios this run judges 6: 2 as printed, 4 weaker.")


@pytest.mark.parametrize(
    ("yes", "no", "undecided", "answer"),
    [
        (0, 0, 0, "That cannot be told"),
        (0, 0, 27, "That cannot be told"),
        (5, 0, 0, "Yes"),
        (5, 0, 3, "Yes"),
        (5, 4, 0, "Mostly"),
        (4, 5, 0, "In part"),
        (2, 8, 0, "No"),
        (0, 8, 5, "No"),
    ],
)
def test_the_answer_is_of_what_is_decided_and_beats_a_coin(
    yes: int, no: int, undecided: int, answer: str
) -> None:
    counts = {
        ClaimStatus.YES: yes,
        ClaimStatus.NO: no,
        ClaimStatus.CANNOT_TELL: undecided,
    }
    assert ClaimScore(40, counts, coin=3.0, ranges=10).answer == answer


def test_the_terminal_answers_whether_the_study_repeats(
    comparison_of: Callable[..., Comparison],
) -> None:
    text = StringIO()
    print_blocks(comparison_blocks(comparison_of("flexible-fabric")), Console(file=text, width=200))
    answer = "Does the study repeat here? Yes. Of 6 printed ratios this run judges 6"
    first, _, rest = text.getvalue().partition(answer)
    assert rest and "claim" not in first


def test_what_failed_is_not_measured_and_says_why(claims_in: Callable[..., Claims]) -> None:
    claims = claims_in("flexible-fabric", failing=["net.nuttcp"])
    # Only the baseline was measured; its share of the wire and its trials need no other platform.
    measured = [row.sides for row in claims.statements if row.is_measured]
    assert measured == ["bare against the peak", "bare", "bare"]
    assert "failed" in row(claims, "Software-only").why
    assert claims.score.words == "None of the 6 printed ratios can be judged from this run."


# The words of a claim ----------------------------------------------------------------------------


def exactly(value: float, half: float = 1.01) -> Estimate:
    return Estimate(value, value / half, value * half)


@pytest.mark.parametrize(
    ("measured", "low", "high", "said"),
    [
        # C2: printed 24 to 28 times, measured 17,500.
        (17_500.0, 24.0, 28.0, ClaimStatus.STRONGER),
        (26.0, 24.0, 28.0, ClaimStatus.YES),
        (10.0, 24.0, 28.0, ClaimStatus.WEAKER),
        (3.0, 24.0, 28.0, ClaimStatus.NO),
        # C5: printed 4.8, measured 0.987 [0.932, 1.04].
        (0.987, 4.8, 4.8, ClaimStatus.NO),
        # C6: "much faster" and "slowest by far", where no figure is printed.
        (1.04, 1.5, None, ClaimStatus.NO),
        (1.36, 2.0, None, ClaimStatus.NO),
        (1.6, 2.0, None, ClaimStatus.WEAKER),
        (50.0, 2.0, None, ClaimStatus.YES),
        # "At most 10 % less".
        (1.0, None, 1.11, ClaimStatus.YES),
        (1.5, None, 1.11, ClaimStatus.STRONGER),
    ],
)
def test_how_much_is_judged_at_the_printed_place(
    measured: float, low: float | None, high: float | None, said: ClaimStatus
) -> None:
    half = 1.056 if measured == 0.987 else 1.01
    effect = Effect(low, high, PrintedFor.HERE)
    assert judge(exactly(measured, half), effect, margin=0.02) is said


def test_a_loss_on_more_nodes_is_not_contradicted_by_being_equal_on_fewer() -> None:
    effect = Effect(2.5, 2.5, PrintedFor.ELSEWHERE)
    assert judge(exactly(1.0), effect, margin=0.02) is ClaimStatus.CANNOT_TELL
    assert judge(exactly(0.7), effect, margin=0.02) is ClaimStatus.NO
    assert judge(exactly(1.2), effect, margin=0.02) is ClaimStatus.WEAKER
    assert judge(exactly(1.0), replace(effect, at=PrintedFor.HERE), margin=0.02) is ClaimStatus.NO


def test_a_tie_satisfies_the_fastest() -> None:
    # C3: "fastest at every core count", and another one 0.6 % faster.
    assert judge(exactly(0.994, 1.005), None, margin=0.02, ties=True) is ClaimStatus.YES
    assert judge(exactly(0.9, 1.005), None, margin=0.02, ties=True) is ClaimStatus.NO
    assert judge(exactly(0.99, 1.1), None, margin=0.02, ties=True) is ClaimStatus.CANNOT_TELL


def test_an_open_interval_is_judged_by_its_known_end() -> None:
    assert judge(Estimate(3.0, 2.0, None), None, margin=0.02) is ClaimStatus.YES
    assert judge(Estimate(0.5, None, 0.8), None, margin=0.02) is ClaimStatus.NO
    assert judge(Estimate(3.0), None, margin=0.02) is ClaimStatus.CANNOT_TELL


def test_ties_and_degrees_are_checked_where_a_publication_is_read() -> None:
    with raises(ValueError, "BL-PUBLISHED-422", "'ties'", "'degree'"):
        CHECK.model_validate({**CHECK.model_dump(), "ties": True, "degree": 2})
    with raises(ValueError, "BL-PUBLISHED-985", '"equal"'):
        CHECK.model_validate({**CHECK.model_dump(), "expect": "equal", "within": 2, "degree": 2})


# One check on rows ------------------------------------------------------------------------------

NOWHERE = PrintedPlaces(lambda place: False)
CHECK = ClaimCheck(kind="ratio", probe=["p"], metric="time", platform="cloud", against=["hpc"])


def row_of(ratio: float, half: float = 1.01, *, ranks: int = 2, platform: str = "c",
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


def outcome(check: ClaimCheck, *rows: Row, effect: Effect | None = None, **cast: str) -> Outcome:
    replication = Replication(rows, "h", {"cloud": "c", "hpc": "h", **cast}, 0.02)
    return replication.outcome(check, NOWHERE, lambda program, last, first: effect)


def status(check: ClaimCheck, *rows: Row, **cast: str) -> ClaimStatus:
    return outcome(check, *rows, **cast).status


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
    assert status(CHECK, row_of(ratio, half)) is worse
    assert status(CHECK.model_copy(update={"expect": "better"}), row_of(ratio, half)) is better


@pytest.mark.parametrize(
    ("ratio", "half", "said"),
    [
        (1.02, 1.01, ClaimStatus.YES),
        (1.5, 1.01, ClaimStatus.NO),
        (1.04, 1.1, ClaimStatus.CANNOT_TELL),
    ],
)
def test_equality_has_a_limit(ratio: float, half: float, said: ClaimStatus) -> None:
    equal = CHECK.model_copy(update={"expect": "equal", "within": 1.1})
    assert status(equal, row_of(ratio, half)) is said


def test_growth_needs_both_intervals_apart() -> None:
    grows = CHECK.model_copy(update={"kind": "grows"})
    assert status(grows, row_of(2.0, ranks=2), row_of(3.0, ranks=8)) is ClaimStatus.YES
    assert status(grows, row_of(2.0, ranks=2), row_of(2.1, 1.1, ranks=8)) is ClaimStatus.CANNOT_TELL
    assert status(grows, row_of(3.0, ranks=2), row_of(2.0, ranks=8)) is ClaimStatus.NO
    assert status(grows, row_of(3.0, ranks=2)) is ClaimStatus.NOT_MEASURED
    rise = CHECK.model_copy(update={"kind": "rise"})
    assert status(rise, row_of(2.0, ranks=8), row_of(4.0, ranks=16)) is ClaimStatus.YES
    assert status(rise, row_of(2.0, ranks=8), row_of(4.0, ranks=64)) is ClaimStatus.NOT_MEASURED


def test_a_growth_begins_and_ends_where_it_is_printed() -> None:
    grows = CHECK.model_copy(update={"kind": "grows"})
    rows = [row_of(1.2, ranks=2), row_of(1.8, ranks=8), row_of(1.1, ranks=64)]
    replication = Replication(rows, "h", {"cloud": "c", "hpc": "h"}, 0.02)
    printed = PrintedPlaces(lambda place: place.ranks == 8, lambda place: place.ranks == 2)
    found = replication.outcome(grows, printed, lambda program, last, first: None)
    assert found.status is ClaimStatus.YES
    assert status(grows, *rows) is ClaimStatus.NO  # at the fewest and the most ranks


def test_an_order_holds_against_each_of_them_or_not_at_all() -> None:
    order = CHECK.model_copy(update={"kind": "order", "against": ["hpc", "other"]})
    both = (row_of(3.0), row_of(2.0, platform="o"))
    assert status(order, *both, other="o") is ClaimStatus.YES
    assert status(order, row_of(3.0), row_of(4.0, platform="o"), other="o") is ClaimStatus.NO
    assert status(order, *both) is ClaimStatus.YES  # nobody stands for the other


def simulated(ratio: float, *, ranks: int = 16, platform: str = "c") -> Row:
    """A row between two simulations: a value without noise, and no known error of the model."""
    return replace(row_of(ratio, ranks=ranks, platform=platform), exact=True, ratio=Estimate(ratio))


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
    inside = simulated(1.0, ranks=8)
    between = simulated(1.5, ranks=16)
    found = outcome(order, inside, between)
    assert found.status is ClaimStatus.YES
    assert found.votes[0].losses[0].place.ranks == 16
    within = order.model_copy(update={"at": {"placement": "intra_node"}})
    assert status(within, row_of(1.0, 1.005, ranks=8), between) is ClaimStatus.NO


def test_each_program_has_its_own_vote() -> None:
    # C1: one program gains 20 %, another takes 4 times as long; printed: 15 to 48 % less.
    check = CHECK.model_copy(update={"probe": ["a", "b", "c"]})
    rows = (row_of(0.8, probe="a"), row_of(4.0, probe="b"), row_of(1.4, probe="c"))
    found = outcome(check, *rows, effect=Effect(1.18, 1.92, PrintedFor.HERE))
    assert found.status is ClaimStatus.PARTLY and found.yes == 1
    assert {vote.program: vote.status for vote in found.votes} == {
        "a": ClaimStatus.NO,
        "b": ClaimStatus.STRONGER,
        "c": ClaimStatus.YES,
    }


def caveated(row: Row, code: str) -> Row:
    return replace(row, caveats=(Caveat(code),))


def test_what_a_simulation_was_given_is_not_judged() -> None:
    # C8: EC2 has the figures of 10G, so that "EC2 tracks 10G" was put in.
    equal = CHECK.model_copy(update={"expect": "equal", "within": 1.1})
    same = caveated(simulated(1.0, ranks=32), "simulated")
    assert status(equal, same) is ClaimStatus.GIVEN
    # Inside a node a simulated message costs what it was told to cost.
    assert status(CHECK, caveated(simulated(1.3, ranks=8), "simulated")) is ClaimStatus.GIVEN
    found = caveated(simulated(1.3, ranks=16), "simulated")
    assert status(CHECK, found) is ClaimStatus.YES


def test_what_was_recorded_on_a_busy_machine_is_not_judged() -> None:
    busy = caveated(row_of(2.0), "recorded-busy")
    found = outcome(CHECK, busy)
    assert found.status is ClaimStatus.CANNOT_TELL
    assert found.reason


def test_what_a_claim_leaves_out_is_told() -> None:
    rows = (row_of(2.0), row_of(2.0, probe="q", verdict=Verdict.FAILED))
    found = outcome(CHECK.model_copy(update={"probe": ["p", "q"]}), *rows)
    assert found.status is ClaimStatus.YES
    assert found.reason.startswith("without 1 of 2 points")


def test_failed_and_absent_are_not_measured() -> None:
    assert status(CHECK, row_of(2.0, verdict=Verdict.FAILED)) is ClaimStatus.NOT_MEASURED
    assert status(CHECK) is ClaimStatus.NOT_MEASURED
    nobody = Replication([], "h", {"hpc": "h"}, 0.02)
    found = nobody.outcome(CHECK, NOWHERE, lambda program, last, first: None)
    assert found.reason == "no platform here stands for cloud"


def test_half_widths_add_on_a_log_scale() -> None:
    held = Estimate(4.0, 2.0, 8.0).over(Estimate(2.0, 1.0, 3.0))
    assert (held.value, held.lo, held.hi) == (2.0, pytest.approx(2 / 3), 8.0)
    mean = mean_of([Estimate(1.0, 0.5, 2.0), Estimate(4.0, 2.0, 8.0)])
    assert [mean.value, mean.lo, mean.hi] == pytest.approx([2.0, 1.0, 4.0])
    assert mean_of([Estimate(2.0), Estimate(2.0, 1.0, 4.0)]).lo is None


# The axis ----------------------------------------------------------------------------------------


def test_all_that_is_drawn_lies_on_the_axis(claims_in: Callable[..., Claims]) -> None:
    claims = claims_in("infinicloud")
    rows = [*claims.open, *claims.measured_ratios]
    axis = Axis.of(rows)
    assert axis is not None
    places = [place for place, _ in axis.ticks]
    assert all(after - before >= 28 for before, after in pairwise(places))
    for found in rows:
        for x, width, _ in axis.bars(found):
            assert x >= 0 and x + width <= 280
        for x, low, high, _, program in axis.dots(found):
            assert 0 <= low <= x <= high <= 280
            assert program
    (pale,) = [one for one in rows if one.claim.startswith("Linpack, rate: 3 times better")]
    assert pale.elsewhere == "ranks not printed"
    assert [look for *_, look in axis.bars(pale)] == ["printed pale"]


def test_page_and_markdown_show_every_claim(comparison_of: Callable[..., Comparison]) -> None:
    comparison = comparison_of("infinicloud", power=2.0)
    claims = claims_of(comparison)
    document = document_of(comparison, fact_rows=())
    page = render_page(document)
    text = render_markdown(document)
    assert "stronger, 2 undecided." in re.sub("<[^>]+>", "", page)
    assert claims.score.line in text
    question = "Does the study repeat here?"
    assert page.count(question) == 1 and page.index(question) < page.index('id="claims"')
    assert page.count('class="text same ') == len(claims.rows)
    assert page.count("<title>net.iperf3</title>") >= 2
    for row in claims.rows:
        assert escaped(row.claim) in text
