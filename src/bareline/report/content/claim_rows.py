"""The rows of a run's published claims with their measured values, and the score of these rows."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from bareline.analysis.judgements.wording import ClaimStatus, Effect, PrintedFor, accepted
from bareline.analysis.numbers.row import Estimate
from bareline.report.blocks import Field, Rows, Table, Tone

_TONES: Mapping[ClaimStatus, Tone] = {
    ClaimStatus.YES: "bold",
    ClaimStatus.NO: "worse",
    ClaimStatus.CANNOT_TELL: "muted",
    ClaimStatus.GIVEN: "muted",
    ClaimStatus.NOT_MEASURED: "muted",
}


@dataclass(frozen=True, slots=True)
class PrintedRange:
    """A printed range of ratios; `where` names the ranks and nodes for which it is printed."""

    low: float | None
    high: float | None
    printed_for: PrintedFor
    where: str

    @property
    def same(self) -> bool:
        """Whether the range is printed for the ranks and nodes that the run measured."""
        return self.printed_for is PrintedFor.HERE


@dataclass(frozen=True, slots=True)
class ClaimMark:
    """A measured ratio of a program.

    A ratio above 1 agrees with the claim, also if the claim is that something is lower.
    """

    program: str
    ratio: Estimate
    begins: bool = False


@dataclass(frozen=True, slots=True)
class ClaimRow:
    """A claim of a publication, or a ratio that it prints, next to the measured values.

    - `verdict`: the status in words; if programs disagree, the number of programs that confirm the
      claim.
    - `place`: the part of the document: "abstract", "conclusions" or "text".
    - `sides`: the platforms or programs of the run that are compared; empty if none are.
    - `why`: why the claim is not measured, or a remark on the measured values.
    - `bars`, `dots`: the printed and the measured ratios; above 1 they agree with the claim. A
      claim about growth has two of each: the first and the last ratio, e.g. on the fewest and on
      the most ranks.
    - `results`: ids of the published results that the row is about. A result that the publication
      prints several times has several ids.
    """

    claim: str
    source: str
    place: str
    sides: str
    printed: str
    measured: str
    where: str
    status: ClaimStatus
    verdict: str
    why: str
    bars: tuple[PrintedRange, ...] = ()
    dots: tuple[ClaimMark, ...] = ()
    results: tuple[str, ...] = ()

    @property
    def is_measured(self) -> bool:
        """Whether the run measured values for the claim."""
        return self.status is not ClaimStatus.NOT_MEASURED

    @property
    def elsewhere(self) -> str:
        """The ranks and nodes of the printed figure; "" if the run measured on the same ones."""
        places = [bar.where for bar in self.bars if not bar.same]
        return " → ".join(dict.fromkeys(places))


@dataclass(frozen=True, slots=True)
class Claims:
    """The claims of a study's publications: statements in words, and printed ratios.

    Statements are sorted by weight: first those of the abstract, then the conclusions, then the
    text.
    """

    statements: tuple[ClaimRow, ...] = ()
    ratios: tuple[ClaimRow, ...] = ()

    @property
    def rows(self) -> tuple[ClaimRow, ...]:
        """All rows: first the statements, then the ratios."""
        return (*self.statements, *self.ratios)

    @property
    def open(self) -> tuple[ClaimRow, ...]:
        """The statements of the abstract, and all other statements that the run measured."""
        return tuple(row for row in self.statements if row.is_measured or row.place == "abstract")

    @property
    def folded(self) -> tuple[ClaimRow, ...]:
        """The statements of the conclusions and of the text that the run did not measure."""
        return tuple(row for row in self.statements if row not in self.open)

    @property
    def measured_ratios(self) -> tuple[ClaimRow, ...]:
        """The printed ratios that the run measured."""
        return tuple(row for row in self.ratios if row.is_measured)

    @property
    def absent(self) -> tuple[ClaimRow, ...]:
        """The `folded` statements, and the printed ratios that the run did not measure."""
        return (*self.folded, *(row for row in self.ratios if not row.is_measured))

    @property
    def score(self) -> ClaimScore:
        """The numbers of printed ratios that the run confirms, refutes and leaves undecided."""
        return ClaimScore.of(self.ratios)


@dataclass(frozen=True, slots=True)
class ClaimScore:
    """The number of a study's printed ratios that a run confirms.

    - `counts`: printed ratios by status.
    - `coin`: the number of confirmed ratios to expect by chance. This assumes that measured ratios
      are uniform on a log scale over the range of all printed ratios.
    - `ranges`: the number of ratios that `coin` can include: the judged ratios of which both ends
      are printed.
    """

    printed: int
    counts: Mapping[ClaimStatus, int]
    coin: float
    ranges: int

    @classmethod
    def of(cls, rows: Sequence[ClaimRow]) -> ClaimScore:
        """Return the score of rows of printed ratios."""
        width = _printed_width(rows)
        shares: list[float] = []
        for row in rows:
            if row.status not in _JUDGED or not width:
                continue
            for low, high in accepted_ranges(row):
                shares.append(min(1.0, math.log(high / low) / width))
        counts = Counter(row.status for row in rows)
        return cls(len(rows), counts, sum(shares), len(shares))

    @property
    def judged(self) -> int:
        """The number of printed ratios that the run judges."""
        return sum(self.counts.get(status, 0) for status in _JUDGED)

    @property
    def answer(self) -> str:
        """The short answer whether the run repeats the results of the study, e.g. "mostly".

        Undecided claims are not counted. "Mostly" means more than half of the rest, "no" at most
        the share that would be confirmed by chance.
        """
        as_printed = self.counts.get(ClaimStatus.YES, 0)
        chance = self.coin / self.ranges if self.ranges else 0.0
        decided = self.judged - self.counts.get(ClaimStatus.CANNOT_TELL, 0)
        if not decided:
            return "That cannot be told"
        if as_printed == decided:
            return "Yes"
        share = as_printed / decided
        if share <= chance:
            return "No"
        return "Mostly" if share > 0.5 else "In part"

    @property
    def line(self) -> str:
        """The question, the answer and the score on one line; empty if no ratio is printed."""
        return f"Does the study repeat here? {self.answer}. {self.words}" if self.printed else ""

    @property
    def words(self) -> str:
        """The score in sentences; empty if the publications print no ratio."""
        if not self.printed:
            return ""
        judged = self.judged
        if not judged:
            return f"None of the {self.printed} printed ratios can be judged from this run."
        parts = [
            f"{self.counts[status]} {words}"
            for status, words in _SCORED.items()
            if self.counts.get(status)
        ]
        text = f"Of {self.printed} printed ratios this run judges {judged}: {', '.join(parts)}."
        if unmeasured := self.counts.get(ClaimStatus.NOT_MEASURED, 0):
            text += f" Not measured: {unmeasured}."
        if self.ranges:
            text += f" By chance {self.coin:.1f} of {self.ranges} would be as printed."
        if given := self.counts.get(ClaimStatus.GIVEN, 0):
            text += f" {given} more were given to the simulation and are not counted."
        return text


_SCORED: Mapping[ClaimStatus, str] = {
    ClaimStatus.YES: "as printed",
    ClaimStatus.WEAKER: "weaker",
    ClaimStatus.STRONGER: "stronger",
    ClaimStatus.PARTLY: "for some programs only",
    ClaimStatus.NO: "not so",
    ClaimStatus.CANNOT_TELL: "undecided",
}
_JUDGED = frozenset(_SCORED)


def _printed_width(rows: Sequence[ClaimRow]) -> float:
    """Return the width of the range of all printed figures on a log scale; 0 without a figure."""
    ends: list[float] = []
    for row in rows:
        for bar in row.bars:
            ends += [end for end in (bar.low, bar.high) if end]
    return math.log(max(ends) / min(ends)) if ends else 0.0


def accepted_ranges(row: ClaimRow) -> Iterator[tuple[float, float]]:
    """Yield each range of measured ratios that confirms a row.

    A range of which only one end is printed is left out.
    """
    for bar in row.bars[-1:]:
        low, high = accepted(Effect(bar.low, bar.high, bar.printed_for))
        if low is not None and high is not None:
            yield low, high


def claims_table(rows: Sequence[ClaimRow], *, sources: bool) -> Table:
    """Return the table of claims.

    - `sources`: whether the table has columns for the part of the document, and for the ranks and
      nodes at which the run measured.
    """
    table = Rows(rows).text("claim", lambda row: row.claim)
    if sources:
        table.text("source", lambda row: row.source)
    table.text("printed", _printed)
    table.text("measured here", lambda row: row.measured)
    if sources:
        table.text("where", _where)
    return table.column("the same here?", _verdict, "text").table()


def _printed(row: ClaimRow) -> str:
    return f"{row.printed} ({row.elsewhere})" if row.elsewhere else row.printed


def _where(row: ClaimRow) -> str:
    return "; ".join(filter(None, [row.sides, row.where, row.why]))


def _verdict(row: ClaimRow) -> Field:
    return Field(row.verdict, tone=_TONES.get(row.status, ""))
