"""The errors of a simulated platform, compared with the measurements of its calibration."""

from __future__ import annotations

import statistics
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from bareline.report.blocks import Rows, Table
from bareline.store.header import CalibrationKeys
from bareline.vocabulary.grouping import grouped_by
from bareline.vocabulary.model import Scalar, parse_point
from bareline.vocabulary.place import coordinate

CURVE = "mpi.pingpong"
_MADE_OF = (CURVE, "mpi.multi_pair", "mpi.bibandwidth")
SIZE = "size_bytes"


@dataclass(frozen=True, slots=True)
class CalibrationPoint:
    """A measured value and the simulated value.

    - `error`: 0.1 if the simulated value is 10 % larger than the measured value.
    """

    probe: str
    ranks: int
    params: Mapping[str, Scalar]
    measured: float
    simulated: float
    unit: str = ""

    @property
    def error(self) -> float:
        """The relative deviation of the simulated value from the measured value."""
        return self.simulated / self.measured - 1

    @property
    def size_bytes(self) -> float | None:
        """The message size of the point in bytes; None if its probe has no message size."""
        size = self.params.get(SIZE)
        return float(size) if isinstance(size, int | float) else None

    @property
    def words(self) -> str:
        """Return a label of the measured case, e.g. "CG, problem class W"."""
        return ", ".join(coordinate(name, value) for name, value in self.params.items())


@dataclass(frozen=True, slots=True)
class CalibrationPoints:
    """The calibration points of one probe on one number of ranks."""

    probe: str
    ranks: int
    points: Sequence[CalibrationPoint]

    @property
    def median(self) -> float:
        """The median of the absolute errors of the points."""
        return statistics.median(abs(point.error) for point in self.points)

    @property
    def worst(self) -> CalibrationPoint:
        """The point with the largest error."""
        return max(self.points, key=lambda point: abs(point.error))


def read_points(calibration: CalibrationKeys) -> list[CalibrationPoint]:
    """Return the points of a calibration whose measured value is above 0.

    A relative error cannot be computed for the other points.
    """
    points: list[CalibrationPoint] = []
    for probe, ranks, params, unit, measured, simulated in calibration.checks:
        if float(measured) <= 0:
            continue
        point = CalibrationPoint(
            probe=str(probe),
            ranks=int(ranks),
            params=parse_point(str(params)),
            measured=float(measured),
            simulated=float(simulated),
            unit=str(unit),
        )
        points.append(point)
    return points


def by_probe(points: Iterable[CalibrationPoint]) -> list[CalibrationPoints]:
    """Group the points by probe and number of ranks."""
    groups = grouped_by(points, lambda point: (point.probe, point.ranks))
    return [CalibrationPoints(*case, group) for case, group in groups.items()]


def points_table(points: Iterable[CalibrationPoint]) -> Table:
    """Return a table with a row per probe and number of ranks; a row names the worst point."""
    rows = Rows(by_probe(points)).text("probe", lambda group: group.probe)
    rows.number("ranks", lambda group: group.ranks)
    rows.number("points", lambda group: len(group.points))
    rows.number("median error (%)", lambda group: 100 * group.median, "{:.1f}".format)
    rows.number("worst (%)", lambda group: 100 * group.worst.error, "{:+.1f}".format)
    rows.text("worst at", lambda group: group.worst.words)
    rows.text("made of it", lambda group: "yes" if group.probe in _MADE_OF else "no")
    return rows.table()
