"""A published claim next to the measured values: its row, all rows of a run, and their score."""

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
    """A printed range; `where`: the ranks and nodes that it is printed for."""

    low: float | None
    high: float | None
    printed_for: PrintedFor
    where: str

    @property
    def same(self) -> bool:
        """Whether the run measured at its ranks and nodes."""
        return self.printed_for is PrintedFor.HERE


@dataclass(frozen=True, slots=True)
class ClaimMark:
    """A measured ratio of a program, turned so that above 1 agrees with the claim."""

    program: str
    ratio: Estimate
    begins: bool = False


@dataclass(frozen=True, slots=True)
class ClaimRow:
    """A claim of a publication, or a ratio that it prints, next to the measured values.

    - `verdict`: the status in words; of programs that disagree how many say yes.
    - `place`: the part of the document: "abstract", "conclusions" or "text".
    - `sides`: the platforms or programs that are compared here; empty where none are.
    - `why`: why it is not measured, or a remark on the measured values.
    - `bars`, `dots`: drawn toward the claim: above 1 is its direction. Of a growth the first and
      the last of either.
    - `results`: ids of the published results of which it is the row, also second printings.
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
        """Whether the run measured values for it."""
        return self.status is not ClaimStatus.NOT_MEASURED

    @property
    def elsewhere(self) -> str:
        """Where the printed figure was measured, if that is not where the run did."""
        places = [bar.where for bar in self.bars if not bar.same]
        return " → ".join(dict.fromkeys(places))


@dataclass(frozen=True, slots=True)
class Claims:
    """The claims of a study's publications: statements in words, and printed ratios.

    Statements are in the order of their weight: the abstract's, the conclusions', the text's.
    """

    statements: tuple[ClaimRow, ...] = ()
    ratios: tuple[ClaimRow, ...] = ()

    @property
    def rows(self) -> tuple[ClaimRow, ...]:
        """All rows: the statements, then the ratios."""
        return (*self.statements, *self.ratios)

    @property
    def open(self) -> tuple[ClaimRow, ...]:
        """The statements of the abstract, and all other statements that are measured."""
        return tuple(row for row in self.statements if row.is_measured or row.place == "abstract")

    @property
    def folded(self) -> tuple[ClaimRow, ...]:
        """Statements of the text that are not measured."""
        return tuple(row for row in self.statements if row not in self.open)

    @property
    def measured_ratios(self) -> tuple[ClaimRow, ...]:
        """Printed ratios that are measured."""
        return tuple(row for row in self.ratios if row.is_measured)

    @property
    def absent(self) -> tuple[ClaimRow, ...]:
        """Statements of the text, and printed ratios, that are not measured."""
        return (*self.folded, *(row for row in self.ratios if not row.is_measured))

    @property
    def score(self) -> ClaimScore:
        """How many printed ratios repeat here."""
        return ClaimScore.of(self.ratios)


@dataclass(frozen=True, slots=True)
class ClaimScore:
    """How many of a study's printed ratios a run repeats.

    - `counts`: printed ratios by status.
    - `coin`: how many would say yes by chance: ratios drawn evenly, on a log scale, over all that
      was printed; of `ranges`, the judged ratios with two printed ends.
    """

    printed: int
    counts: Mapping[ClaimStatus, int]
    coin: float
    ranges: int

    @classmethod
    def of(cls, rows: Sequence[ClaimRow]) -> ClaimScore:
        """Count rows of printed ratios."""
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
        """How many of the ratios the run judges."""
        return sum(self.counts.get(status, 0) for status in _JUDGED)

    @property
    def answer(self) -> str:
        """Whether the study repeats here, in a word or two.

        Undecided claims count for neither side. "Mostly" is more than half of the rest, "no" at
        most the share that a coin would have.
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
        """The question whether the study repeats, its answer and the score; empty as `words`."""
        return f"Does the study repeat here? {self.answer}. {self.words}" if self.printed else ""

    @property
    def words(self) -> str:
        """The score in sentences; empty where nothing is printed."""
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
    """Return the range of all that is printed, on a log scale; 0 without a figure."""
    ends: list[float] = []
    for row in rows:
        for bar in row.bars:
            ends += [end for end in (bar.low, bar.high) if end]
    return math.log(max(ends) / min(ends)) if ends else 0.0


def accepted_ranges(row: ClaimRow) -> Iterator[tuple[float, float]]:
    """Yield the range of ratios that would confirm a row, where both ends are printed."""
    for bar in row.bars[-1:]:
        low, high = accepted(Effect(bar.low, bar.high, bar.printed_for))
        if low is not None and high is not None:
            yield low, high


def claims_table(rows: Sequence[ClaimRow], *, sources: bool) -> Table:
    """Tabulate claims; `sources` adds the place in the document, and where it was measured."""
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
