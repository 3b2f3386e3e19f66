"""MPI bandwidth: a window of messages from the first to the last rank, by message size.

Counterparts: ``osu_bw``, IMB Uniband.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Annotated, ClassVar

from pydantic import Field

from bareline.probes._native import Point
from bareline.probes.mpi._mpibench import MpiFunction, MpiParams, rate_metrics, rate_samples
from bareline.vocabulary.model import Metric, Sample


@dataclass(frozen=True, slots=True)
class WindowParams(MpiParams):
    """Parameters of a window of messages by size.

    Attributes
    ----------
    window
        Messages in flight; 0 leaves the program's choice, 64. OSU's ``-W``.
    """

    window: Annotated[int, Field(ge=0, le=65536)] = 0

    def options(self, smallest: int = 0) -> tuple[str, ...]:
        """Add the window to the options of any function."""
        # Without super(): a dataclass with slots is made anew, and its methods know the old one.
        chosen = MpiParams.options(self, smallest)
        return (*chosen, "-W", str(self.window)) if self.window else chosen


class Bandwidth(MpiFunction):
    """A window of messages from the first to the last rank."""

    name: ClassVar[str] = "mpi.bandwidth"
    title: ClassVar[str] = "MPI bandwidth"
    summary: ClassVar[str] = "a window of messages from the first to the last rank"
    source: ClassVar[str] = "osu_bw, IMB Uniband"
    params: type[MpiParams] = WindowParams
    benchmark: ClassVar[str] = "bandwidth"
    smallest_bytes: ClassVar[int] = 1
    metrics: ClassVar[Mapping[str, Metric]] = rate_metrics()

    def point_samples(self, point: Point) -> Iterable[Sample]:
        """Give the bandwidth of one message size."""
        yield from rate_samples(point)


PROBE = Bandwidth()
