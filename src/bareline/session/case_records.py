"""The existing records of a case on a platform."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from bareline.vocabulary.model import Measured, Record, format_point


@dataclass(slots=True)
class CaseRecords:
    """A case on a platform, with its planned launches and its existing records.

    - `absent_since`: the first block in which the case's program was not installed.
    """

    planned: int = 0
    records: list[Record] = field(default_factory=list)
    seconds: float = 0.0
    absent_since: int | None = None

    def add(self, record: Record) -> None:
        """Add a record of any block."""
        self.records.append(record)
        self.seconds += record.duration_s
        if record.skipped:
            block = record.trial.block
            earliest = block if self.absent_since is None else self.absent_since
            self.absent_since = min(block, earliest)

    def before(self, block: int) -> Iterator[Record]:
        """Yield the records of earlier blocks."""
        return (record for record in self.records if record.trial.block < block)

    def measured_before(self, block: int) -> Record | None:
        """Return the first measured record of an earlier block; None without one."""
        measured = (record for record in self.before(block) if record.status == "measured")
        return next(measured, None)

    def values_before(self, block: int, metric: str) -> Any:
        """Return a metric's values before a block as an array of shape (points, trials).

        The result is None if no earlier trial measured the metric.
        """
        import numpy as np

        points: dict[str, list[float]] = defaultdict(list)
        for record in self.before(block):
            if not isinstance(record.outcome, Measured):
                continue
            for sample in record.outcome.samples:
                if sample.metric == metric:
                    points[format_point(sample.point)].append(sample.value)
        if not points:
            return None
        fewest = min(map(len, points.values()))
        return np.array([values[:fewest] for values in points.values()])
