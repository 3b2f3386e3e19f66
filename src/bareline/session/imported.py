"""The result of an import: a row for each trial, and lines for people."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

from typing_extensions import TypedDict

from bareline.analysis.numbers.records import read_runs
from bareline.analysis.words.power import launches_words
from bareline.formats.importer import load_importers
from bareline.store.run import Run
from bareline.vocabulary.grouping import grouped_by
from bareline.vocabulary.model import Case
from bareline.vocabulary.units import count
from bareline.vocabulary.verdicts import MIN_LAUNCHES

#: So many losses are named for people.
_NAMED_LOSSES = 20


class Imported(TypedDict):
    """A row of ``import``: a trial in a file.

    - `trial`: the number of the trial in the run; null if the run already had it, or with
      ``--explain``.
    - `left_out`: the values that the reader did not use, with reasons.
    - `ignored`: the settings that are not part of the case, with reasons.
    """

    file: str
    format: str
    trial: int | None
    platform: str
    probe: str
    params: str
    ranks: int | None
    status: Literal["measured", "failed"]
    reason: str | None
    samples: int
    first_line: int
    left_out: list[str]
    ignored: list[str]


@dataclass(slots=True)
class Intake:
    """The result of an import into a run.

    - `skipped`: the files of unknown formats.
    - `lost`: values and rows of files that were left out, with reasons.
    """

    run: Run
    rows: list[Imported] = field(default_factory=list)
    skipped: tuple[Path, ...] = ()
    lost: list[str] = field(default_factory=list)

    @property
    def failed(self) -> int:
        """The number of new trials without numbers."""
        return sum(map(_is_new_failure, self.rows))

    @property
    def incomplete(self) -> bool:
        """Whether a new trial failed, or a measured value was left out."""
        return bool(self.failed or self.lost)

    def lines(self) -> list[str]:
        """Return lines for people: imported trials, omissions, and cases with too few launches."""
        lines = []
        for name, rows in grouped_by(self.rows, lambda row: row["format"]).items():
            files = len({row["file"] for row in rows})
            new = sum(row["trial"] is not None for row in rows)
            title = load_importers()[name].title
            line = f"{title}: {count(new, 'trial')} from {count(files, 'file')}"
            if new < len(rows):
                line += f", {len(rows) - new} already there"
            lines.append(line)
        return [*lines, *self.losses(), *self._launch_lines()]

    def _launch_lines(self) -> list[str]:
        """Describe how many launches the cases have, and how many they need."""
        lines = []
        platforms = {row["platform"] for row in self.rows}
        cases: Counter[tuple[str, Case]] = Counter()
        for record in self.run.finished().values():
            if record.status == "measured" and record.trial.platform in platforms:
                cases[record.trial.platform, record.trial.case] += 1
        if not cases:
            return []
        single = sum(number == 1 for number in cases.values())
        few = sum(number < MIN_LAUNCHES for number in cases.values())
        if few:
            of_them = f" ({single} with one)" if single else ""
            trials = f"cases with fewer than {MIN_LAUNCHES} trials: {few} of {len(cases)}{of_them}"
            lines.append(
                f"{trials}: no interval and no verdict; import more outputs of the same cases"
            )
        needed = launches_words(read_runs([self.run]))
        if needed:
            lines.append(needed)
        return lines

    def losses(self) -> list[str]:
        """Return lines for people: failures, omissions and files of unknown formats."""
        lines = []
        for row in filter(_is_new_failure, self.rows):
            lines.append(f"failed: {row['file']}: {row['probe']}: {row['reason']}")
        if self.lost:
            lines.append(f"{count(len(self.lost), 'value or row', 'values or rows')} left out:")
            lines += [f"left out: {words}" for words in self.lost[:_NAMED_LOSSES]]
        if len(self.lost) > _NAMED_LOSSES:
            rest = len(self.lost) - _NAMED_LOSSES
            lines.append(f"left out: {rest} more, which --json names")
        lines += [f"skipped, of no known format: {file}" for file in self.skipped]
        return lines


def _is_new_failure(row: Imported) -> bool:
    return row["trial"] is not None and row["status"] == "failed"


def commit_lines(intakes: Sequence[Intake]) -> list[str]:
    """Return lines for people: the runs of an import per commit, and the values left out."""
    trials = 0
    new = 0
    losses: list[str] = []
    for intake in intakes:
        trials += len(intake.rows)
        new += sum(row["trial"] is not None for row in intake.rows)
        losses += intake.losses()
    commits = count(len({intake.run.path for intake in intakes}), "commit")
    already = f", {trials - new} already there" if new < trials else ""
    return [f"{commits}, a run each: {count(new, 'trial')}{already}", *losses]


def explanation(rows: Iterable[Imported]) -> list[str]:
    """Return lines for people: the recognised trials, their cases, and the omissions."""
    lines = []
    for row in rows:
        title = load_importers()[row["format"]].title
        lines.append(f"{row['file']}, line {row['first_line']}: {title}")
        ranks = row["ranks"] or "not in the output"
        lines.append(f"  case: {row['probe']}, ranks {ranks}, {row['params'] or 'no settings'}")
        if row["platform"]:
            lines.append(f"  platform: {row['platform']}")
        if row["status"] == "failed":
            lines.append(f"  refused: {row['reason']}")
        else:
            lines.append(f"  measured: {count(row['samples'], 'value')}")
        lines += [f"  ignored: {words}" for words in row["ignored"]]
        lines += [f"  left out: {words}" for words in row["left_out"]]
    return lines
