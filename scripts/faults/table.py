"""What came of a fault: the row of the table."""

from __future__ import annotations

import json
import os
import time
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path

#: Names the file that verdicts are written to as they happen.
JOURNAL = "BARELINE_FAULTS_JOURNAL"


class NotHere(Exception):
    """A fault cannot be tried on this machine; says why."""


@dataclass
class Count:
    """How often a fault was tried, and what it broke.

    Attributes
    ----------
    tries
        How often.
    lost, repeated
        Finished trials that vanished or changed, and trials that ran twice.
    tracebacks
        Commands that ended in a traceback or an exit code of none of ours, or did not end.
    aborts
        Commands that a crash ended.
    large
        Commands that took more than 1 GB of memory.
    trials, failed
        Where runs went on after a blow: trials that they then hold, and how many of them failed.
    left
        Processes, folders, bridges that were still there after the next start.
    notes
        What went wrong, for people; the seed makes it again.
    """

    tries: int = 0
    lost: int = 0
    repeated: int = 0
    tracebacks: int = 0
    aborts: int = 0
    large: int = 0
    left: int = 0
    trials: int = 0
    failed: int = 0
    notes: list[str] = field(default_factory=list)

    def record(self, what: str, **verdict: object) -> None:
        """Write a verdict to the campaign's journal at once: a killed campaign loses none."""
        _append({"what": what, **verdict})

    def add(self, other: Count) -> None:
        """Count another one in."""
        self.tries += other.tries
        self.lost += other.lost
        self.repeated += other.repeated
        self.tracebacks += other.tracebacks
        self.aborts += other.aborts
        self.large += other.large
        self.left += other.left
        self.trials += other.trials
        self.failed += other.failed
        self.notes += other.notes

    @property
    def clean(self) -> bool:
        """Whether nothing broke."""
        broken = (self.tracebacks, self.aborts, self.large)
        return not (self.lost or self.repeated or any(broken) or self.left)


@dataclass(frozen=True)
class Part:
    """Some tries of a fault, which the journal contains as a whole or not at all."""

    fault: str
    seed: int
    first: int
    tries: int

    def record(self, count: Count) -> None:
        """Write to the campaign's journal what came of all tries of this part."""
        _append({"part": asdict(self), "count": asdict(count)})


def recorded_parts(journal: Path) -> dict[Part, Count]:
    """Return what came of the parts that a journal contains; of a torn last line nothing."""
    parts = {}
    for line in journal.read_text(encoding="utf-8").splitlines() if journal.exists() else ():
        try:
            entry = json.loads(line)
        except ValueError:
            continue
        if "part" in entry:
            parts[Part(**entry["part"])] = Count(**entry["count"])
    return parts


def _append(entry: dict[str, object]) -> None:
    if path := os.environ.get(JOURNAL):
        line = json.dumps({"at": round(time.time(), 1), **entry})
        with Path(path).open("a", encoding="utf-8") as file:
            file.write(line + "\n")


def print_table(rows: Sequence[tuple[str, Count | str]]) -> None:
    """Print one line per fault; a text says why it was not tried."""
    width = max(len(name) for name, _ in rows)
    head = ("tries", "lost", "repeated", "tracebacks", "aborts", "over 1 GB", "left behind")
    head += ("trials", "failed")
    print(f"{'fault':{width}}  " + "  ".join(head))
    for name, count in rows:
        if isinstance(count, str):
            print(f"{name:{width}}  not tried: {count}")
            continue
        values = (count.tries, count.lost, count.repeated, count.tracebacks)
        values += (count.aborts, count.large, count.left, count.trials, count.failed)
        cells = "  ".join(
            f"{value:>{len(title)}}" for title, value in zip(head, values, strict=True)
        )
        print(f"{name:{width}}  {cells}")
