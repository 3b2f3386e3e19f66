"""What failed, is missing, or carries a caveat: told on the page, never dropped."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import polars as pl

from bareline.report.content.cells import Cell, by_caveat
from bareline.report.content.document import Document
from bareline.report.content.wording import count, describe_case
from bareline.store.header import ExhibitSpec
from bareline.vocabulary.caveats import caveat_text
from bareline.vocabulary.model import Case
from bareline.vocabulary.units import listing
from bareline.vocabulary.verdicts import Verdict

_LONGEST_REASON = 400


@dataclass(frozen=True, slots=True)
class Failure:
    """Trials of one case on one platform that failed for the same reason."""

    platform: str
    case: str
    stage: str
    reason: str
    trials: int
    of: int


@dataclass(frozen=True, slots=True)
class Hole:
    """Values that the baseline or another platform has and this one lacks."""

    platform: str
    case: str
    values: str
    verdict: str


@dataclass(frozen=True, slots=True)
class Unfit:
    """Cases that the plan did not ask of a platform, for the same reason."""

    platform: str
    probe: str
    ranks: str
    cases: int
    reason: str


@dataclass(frozen=True, slots=True)
class Caveat:
    """A caveat and where it applies."""

    text: str
    platforms: str
    probes: str
    values: int


@dataclass(frozen=True, slots=True)
class Gaps:
    """Everything that keeps the numbers from being complete or plain."""

    failures: tuple[Failure, ...]
    holes: tuple[Hole, ...]
    unfit: tuple[Unfit, ...]
    caveats: tuple[Caveat, ...]
    empty: tuple[str, ...]

    @property
    def none(self) -> bool:
        """Whether there is nothing to tell."""
        return not (self.failures or self.holes or self.unfit or self.caveats or self.empty)


def find(document: Document, empty: Sequence[ExhibitSpec]) -> Gaps:
    """Gather the gaps of a document.

    Parameters
    ----------
    empty
        Exhibits that the study asks for and that the run holds nothing for.
    """
    return Gaps(
        tuple(_failures(document)),
        tuple(_holes(document)),
        tuple(_unfit(document)),
        tuple(_caveats(document)),
        tuple(_exhibit_name(spec) for spec in empty),
    )


def _exhibit_name(spec: ExhibitSpec) -> str:
    asked = " ".join(filter(None, [spec.probe, spec.metric]))
    return spec.title or f"{spec.kind} of {asked or 'every probe'}"


def _failures(document: Document) -> list[Failure]:
    case = ["platform", "probe", "params", "ranks", "threads", "nodes"]
    trials = document.trials
    planned = trials.group_by(case).agg(pl.len().alias("of"))
    failed = (
        trials.filter(pl.col("status") == "failed")
        .group_by(*case, "stage", "reason", maintain_order=True)
        .agg(pl.len().alias("trials"))
        .join(planned, on=case, how="left", maintain_order="left")
    )
    return [
        Failure(
            row["platform"],
            Case(
                probe=row["probe"],
                params=row["params"],
                ranks=row["ranks"],
                threads=row["threads"],
                nodes=row["nodes"] or None,
            ).label,
            row["stage"] or "",
            _shortened(row["reason"] or ""),
            row["trials"],
            row["of"],
        )
        for row in failed.iter_rows(named=True)
    ]


def _shortened(reason: str) -> str:
    if len(reason) <= _LONGEST_REASON:
        return reason
    return f"{reason[:_LONGEST_REASON]} … (the rest is in the trial's raw folder)"


def _holes(document: Document) -> list[Hole]:
    groups: dict[tuple[str, str, str], list[Cell]] = {}
    for cell in document.cells:
        if cell.verdict == "missing" and not cell.detail:
            case = ", ".join(filter(None, [cell.probe, describe_case(cell)]))
            groups.setdefault((cell.platform, case, cell.verdict), []).append(cell)
    holes = []
    for (platform, case, verdict), cells in groups.items():
        lacking = "this platform" if all(cell.value is None for cell in cells) else "the baseline"
        holes.append(Hole(platform, case, f"{count(len(cells), 'value')} on {lacking}", verdict))
    return holes


def _unfit(document: Document) -> list[Unfit]:
    """Give what was left out, in a row what shares platform, probe and reason."""
    if document.left_out is None:
        return []
    groups = document.left_out.group_by("platform", "probe", "reason", maintain_order=True).agg(
        pl.len().alias("cases"), pl.col("ranks").unique(maintain_order=True)
    )
    return [
        Unfit(
            row["platform"],
            row["probe"],
            listing([str(ranks) for ranks in row["ranks"]]),
            row["cases"],
            row["reason"],
        )
        for row in groups.iter_rows(named=True)
    ]


def _caveats(document: Document) -> list[Caveat]:
    return [
        Caveat(
            caveat_text(code),
            listing(list(dict.fromkeys(cell.platform for cell in cells))),
            listing(list(dict.fromkeys(cell.probe for cell in cells))),
            len(cells),
        )
        for code, cells in by_caveat(
            cell
            for cell in document.cells
            if not cell.detail and cell.verdict != Verdict.DOES_NOT_FIT
        ).items()
    ]
