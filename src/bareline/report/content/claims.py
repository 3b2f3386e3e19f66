"""The claims of a publication next to the results of a run, with the verdict on each claim.

A claim in words and a printed ratio both have a row, and are judged in the same way.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from functools import partial
from typing import Any

import polars as pl

from bareline.analysis.judgements.claim_points import PlaceTest
from bareline.analysis.judgements.claims import (
    THE_PEAK,
    Outcome,
    PrintedPlaces,
    Replication,
)
from bareline.analysis.judgements.losses import PlaceLoss
from bareline.analysis.judgements.trial_claims import TrialValues
from bareline.analysis.judgements.wording import ClaimStatus, Effect, PrintedFor
from bareline.analysis.numbers.programs import unprofiled
from bareline.analysis.numbers.row import Row, read_rows
from bareline.analysis.numbers.shares import SHARES
from bareline.analysis.words.comparison import Comparison
from bareline.published.catalogue import conditions, publications
from bareline.published.findings import ClaimCheck, Expectation, PublishedFinding
from bareline.published.model import PEAK, PublishedStudy
from bareline.published.ratios import (
    PublishedRatio,
    again_printed,
    computed_ratios,
    likewise,
    own_bases,
    peak_ratios,
    printed_ratios,
    published_ratios,
)
from bareline.report.content.claim_rows import ClaimMark, ClaimRow, Claims, PrintedRange
from bareline.report.content.claim_words import (
    disagreement,
    is_share,
    marks_of,
    measured_words,
    printed_words,
    sides_words,
    verdict_words,
    where_words,
)
from bareline.report.content.published import (
    printed_at,
    printed_of_ranks,
    same_place,
    size_in_words,
    speaks_of,
    where_printed,
)
from bareline.report.content.trial_rows import trials_in, with_trials
from bareline.report.content.wording import outer_bound
from bareline.vocabulary.place import Place
from bareline.vocabulary.units import listing

#: A printed ratio of less than `_ALIKE` means that both are equal, within `_EQUAL` times.
_ALIKE = 1.05
_EQUAL = Decimal("1.1")


def claims_of(comparison: Comparison) -> Claims:
    """Return the claims of the publications that the study repeats; empty if it repeats none."""
    if comparison.alone:
        return Claims()
    roles = comparison.records.runs[0].header.study.get("role", {})
    casts = casts_of(roles, comparison.records.platforms)
    if not casts:
        return Claims()
    cells = comparison.cells_in(unprofiled(comparison.points))
    return claims_in(
        cells,
        casts,
        baseline=comparison.baseline,
        margin=comparison.margin,
        shares=_share_rows(comparison),
        trials=trials_in(comparison),
    )


def _share_rows(comparison: Comparison) -> Sequence[Row]:
    """Return the rows of measured shares of a peak, including the baseline's."""
    names = sorted({share.metric for share in SHARES})
    return read_rows(comparison.summary.filter(pl.col("metric").is_in(names)), None)


def claims_in(
    rows: Sequence[Row],
    casts: Mapping[str, Mapping[str, str]],
    *,
    baseline: str,
    margin: float,
    shares: Sequence[Row] = (),
    trials: TrialValues,
) -> Claims:
    """Return a row for each claim of the given publications.

    - `casts`: for each publication, the run's platforms by published platform, from `casts_of`.
    - `shares`: rows of the shares of a peak on all platforms.
    - `trials`: a function that returns the values of single trials.
    """
    statements: list[ClaimRow] = []
    ratios: list[ClaimRow] = []
    for name, cast in casts.items():
        study = publications().get(name)
        if study is None:
            continue  # of a later bareline; the page lists it among its gaps
        with_peak = {**cast, PEAK: THE_PEAK}
        replication = Replication(rows, baseline, with_peak, margin, shares)
        judge = _Judge(study, replication, with_peak, trials)
        statements += map(judge.statement, study.findings)
        ratios += judge.ratios()
    statements.sort(key=lambda row: _PLACES.index(row.place))
    return Claims(tuple(statements), tuple(ratios))


_PLACES = ("abstract", "conclusions", "text")


def casts_of(
    roles: Mapping[str, Mapping[str, Any]], here: Collection[str]
) -> dict[str, dict[str, str]]:
    """Return for each publication its platforms and the run's platforms that represent them."""
    casts: dict[str, dict[str, str]] = {}
    for role in roles.values():
        for reference in role.get("published", ()):
            publication, _, platform = reference.partition(":")
            cast = casts.setdefault(publication, {})
            if role.get("platform") in here:
                cast.setdefault(platform, str(role["platform"]))
    return casts


class _Judge:
    """Judges the claims of one publication and makes their rows."""

    def __init__(
        self,
        study: PublishedStudy,
        replication: Replication,
        cast: Mapping[str, str],
        trials: TrialValues,
    ) -> None:
        self._study = study
        self._replication = replication
        self._cast = cast
        self._trials = trials
        self._printed = [*printed_ratios(study), *computed_ratios(study), *peak_ratios(study)]
        self._all = published_ratios(study)

    def statement(self, finding: PublishedFinding) -> ClaimRow:
        """Return the row of a claim that the publication states in words."""
        if not finding.checks:
            return self._row(finding.words, finding.part, None, finding.unmeasured)
        if finding.checks[0].kind == "trials":
            return self._of_trials(finding)
        tried = [self._tried(check) for check in finding.checks]
        return self._row(finding.words, finding.part, _first_measured(tried))

    def _of_trials(self, finding: PublishedFinding) -> ClaimRow:
        """Return the row of a claim that counts single trials in which an event occurs."""
        row = self._row(finding.words, finding.part, None, "no trial of it was measured")
        return with_trials(row, self._study, finding, self._cast, self._trials)

    def ratios(self) -> Iterator[ClaimRow]:
        """Yield a row for each printed ratio, in the document's order."""
        for ratio in self._printed:
            yield self._with_results(ratio, self._ratio_row(ratio))
        for result in own_bases(self._study):
            words = f"{result.benchmark}, {result.metric}: {result.words} than itself"
            base = self._row(words, result.part, None, "the divisor of the other rows: 1 always")
            yield replace(base, printed="1", results=(result.id,))

    def _ratio_row(self, ratio: PublishedRatio) -> ClaimRow:
        """Return the row of a printed ratio, judged with the first probe that measured it."""
        subject = [ratio.benchmark, ratio.metric.replace("_", " ")]
        place = conditions(ratio.conditions)
        if place:
            subject.append(place)
        words = f"{', '.join(subject)}: {ratio.text}"
        part = ratio.part.partition(":")[2]
        sizes = size_in_words(ratio)
        if sizes:
            return self._row(words, part, None, f'no number is printed for "{sizes}"', ratio)
        tried: list[_Tried] = []
        for printing in (ratio, *likewise(self._study, ratio)):
            if printing.probe_metric:
                check = _check_of(printing)
                about = partial(speaks_of, printing)
                tried.append(self._tried(check, about=about, only=printing))
        if not tried:
            return self._row(words, part, None, "no probe here measures it", ratio)
        return self._row(words, part, _first_measured(tried))

    def _with_results(self, ratio: PublishedRatio, row: ClaimRow) -> ClaimRow:
        """Return the row with the ids and sources of all published results that print the ratio."""
        again = again_printed(self._study, ratio)
        places = [f"{self._study.part(result.part).label} ({result.words})" for result in again]
        source = row.source
        if places:
            source += f"; again in {listing(places)}"
        results = (*ratio.results, *(result.id for result in again))
        return replace(row, source=source, results=results)

    def _tried(
        self, check: ClaimCheck, *, about: PlaceTest | None = None,
        only: PublishedRatio | None = None,
    ) -> _Tried:  # fmt: skip
        last = [only] if only else _chosen(check, check.printed, self._all)
        first = [] if only else _chosen(check, check.printed_first, self._all)

        def effect(
            program: str, losses: Sequence[PlaceLoss], begins: Sequence[PlaceLoss]
        ) -> Effect | None:
            end = _effect(check, _of_program(last, program), losses)
            if not begins:
                return end or _degree(check)
            begin = _effect(check, _of_program(first, program), begins)
            return end.over(begin) if begin and end else _degree(check)

        places = PrintedPlaces(
            partial(printed_at, last),
            partial(printed_at, first),
            partial(printed_of_ranks, last),
        )
        outcome = self._replication.outcome(check, places, effect, about)
        return _Tried(check, outcome, first, last)

    def _row(
        self, words: str, part: str, tried: _Tried | None, unmeasured: str = "",
        ratio: PublishedRatio | None = None,
    ) -> ClaimRow:  # fmt: skip
        document_part = self._study.part(part)
        source = f"{self._study.publication.short}, {document_part.label}"
        if tried is not None:
            return tried.row(words, source, document_part.weight, self._cast)
        printed = str(ratio.span) if ratio else ""
        return ClaimRow(
            claim=words,
            source=source,
            place=document_part.weight,
            sides="",
            printed=printed,
            measured="",
            where="",
            status=ClaimStatus.NOT_MEASURED,
            verdict=ClaimStatus.NOT_MEASURED.value,
            why=unmeasured,
        )


@dataclass(frozen=True, slots=True)
class _Tried:
    """A check, its outcome, and printed ratios (`first`: at the beginning of a growth)."""

    check: ClaimCheck
    outcome: Outcome
    first: Sequence[PublishedRatio]
    last: Sequence[PublishedRatio]

    def row(self, words: str, source: str, place: str, cast: Mapping[str, str]) -> ClaimRow:
        """Return the row of the check."""
        votes = self.outcome.votes
        begin_losses: list[PlaceLoss] = []
        losses: list[PlaceLoss] = []
        dots: list[ClaimMark] = []
        for vote in votes:
            begin_losses += vote.first_losses
            losses += vote.losses
            dots += marks_of(self.check, vote)
        first = _bar(self.check, self.first, begin_losses)
        last = _bar(self.check, self.last, losses)
        # A simulated time must never look like a measured time.
        simulated = "simulated" if any(loss.simulated for loss in losses) else ""
        reasons = (simulated, self.outcome.reason, disagreement(self.check, votes))
        return ClaimRow(
            claim=words,
            source=source,
            place=place,
            sides=sides_words(self.check, losses, cast),
            printed=printed_words(self.check, first, last),
            measured=measured_words(self.check, votes),
            where=where_words(votes),
            status=self.outcome.status,
            verdict=verdict_words(self.outcome),
            why="; ".join(filter(None, reasons)),
            bars=tuple(bar for bar in (first, last) if bar is not None),
            dots=tuple(dots),
        )


def _first_measured(tried: Sequence[_Tried]) -> _Tried:
    """Return the first check for which the run has values.

    If there is none, return the first check that compares two platforms. If all checks compare a
    platform with its own peak, return the first of them.
    """
    for attempt in tried:
        if attempt.outcome.status is not ClaimStatus.NOT_MEASURED:
            return attempt
    for attempt in tried:
        if not is_share(attempt.check):
            return attempt
    return tried[0]


def _check_of(ratio: PublishedRatio) -> ClaimCheck:
    """Return a claim that states only the given printed ratio."""
    assert ratio.probe is not None and ratio.probe_metric is not None
    ends = [float(end) for end in (ratio.span.low, ratio.span.high) if end is not None]
    better = bool(ends) and max(ends) < 1
    alike = len(ends) == 2 and all(1 / _ALIKE < end < _ALIKE for end in ends)
    expect: Expectation
    if alike:
        expect = "equal"
    else:
        expect = "better" if better else "worse"
    return ClaimCheck(
        kind="ratio",
        probe=[ratio.probe],
        metric=ratio.probe_metric,
        platform=ratio.platform,
        against=[ratio.baseline],
        expect=expect,
        within=_EQUAL if alike else None,
        printed=list(ratio.results),
    )


def _chosen(
    check: ClaimCheck, names: Sequence[str], ratios: Sequence[PublishedRatio]
) -> list[PublishedRatio]:
    return [
        ratio
        for ratio in ratios
        if ratio.platform == check.platform
        and ratio.baseline in check.against
        and not set(names).isdisjoint(ratio.results)
    ]


def _of_program(ratios: Sequence[PublishedRatio], program: str) -> list[PublishedRatio]:
    """Return the ratios that are printed for a program; if there are none, all ratios."""
    return [ratio for ratio in ratios if ratio.measured_by(program)] or list(ratios)


def _effect(
    check: ClaimCheck, printed: Sequence[PublishedRatio], losses: Sequence[PlaceLoss]
) -> Effect | None:
    bar = _bar(check, printed, losses)
    return None if bar is None else Effect(bar.low, bar.high, bar.printed_for)


def _degree(check: ClaimCheck) -> Effect | None:
    """Return the least effect that a word such as "much" in a claim means; None without a word."""
    return Effect(float(check.degree), None, PrintedFor.HERE) if check.degree else None


def _bar(
    check: ClaimCheck, printed: Sequence[PublishedRatio], losses: Sequence[PlaceLoss]
) -> PrintedRange | None:
    if not printed:
        return None
    low = outer_bound(min, (ratio.span.low for ratio in printed))
    high = outer_bound(max, (ratio.span.high for ratio in printed))
    if check.expect == "better":
        inverse_low = 1 / high if high else None
        inverse_high = 1 / low if low else None
        low = inverse_low
        high = inverse_high
    places = list(dict.fromkeys(filter(None, map(where_printed, printed))))
    where = listing(places) or "ranks not printed"
    return PrintedRange(low, high, _printed_for(printed, losses), where)


def _printed_for(printed: Sequence[PublishedRatio], losses: Sequence[PlaceLoss]) -> PrintedFor:
    """Return whether figures are printed for the ranks and nodes of `losses`, or for other ones."""
    if losses and all(_is_printed_for(printed, loss.place) for loss in losses):
        return PrintedFor.HERE
    return PrintedFor.ELSEWHERE if _names_number(printed) else PrintedFor.NOT_TOLD


def _is_printed_for(printed: Sequence[PublishedRatio], place: Place) -> bool:
    return any(same_place(ratio, place) for ratio in printed)


def _names_number(printed: Sequence[PublishedRatio]) -> bool:
    """Whether a figure names a number of ranks or nodes, not only "between nodes"."""
    return any({"ranks", "nodes"} & ratio.conditions.keys() for ratio in printed)
