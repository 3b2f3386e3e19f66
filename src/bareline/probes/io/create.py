"""Making files: how many a second, and how long each step of making one takes.

The job of fs_mark: N files of a size, made by T threads in S directories.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Annotated, ClassVar, Literal

from pydantic import Field

from bareline.probes._native import MeasuredPoint, native, options, positive, read_report
from bareline.probes.base import Probe
from bareline.vocabulary.errors import ParseError
from bareline.vocabulary.model import Command, Layer, Layout, Metric, Output, Sample

_UNIT_BYTES = 4096


@dataclass(frozen=True, slots=True)
class CreateParams:
    """Parameters of making files; the layout's threads make them.

    - `files`: number of files.
    - `file_bytes`: size of each.
    - `directories`: directories that they are spread over, filled one after another.
    - `sync`: ``fsync`` of each file before it is closed, fsync of each ``directory`` after its last
      file (names are then safe, contents only where the file system writes them first), or
      ``none``.
    """

    files: Annotated[int, Field(ge=1, le=10_000_000)] = 500
    file_bytes: Annotated[int, Field(ge=0, le=1 << 30)] = 4096
    directories: Annotated[int, Field(ge=1, le=512)] = 1
    sync: Literal["none", "fsync", "directory"] = "fsync"

    def __post_init__(self) -> None:
        """Refuse directories that would stay empty."""
        if self.files < self.directories:
            raise ValueError("there are fewer files than directories")

    @property
    def phases(self) -> tuple[str, ...]:
        """Give the steps that are timed, in the order of iobench's output."""
        happens = {
            "create": True,
            "write": self.file_bytes > 0,
            "sync": self.sync == "fsync",
            "close": True,
            "file": True,
            "directory_sync": self.sync == "directory",
            "unlink": True,
        }
        return tuple(phase for phase, is_timed in happens.items() if is_timed)


class Create(Probe[CreateParams]):
    """Files are made, filled, synced, closed, read back and compared, and removed."""

    name: ClassVar[str] = "io.create"
    layer: ClassVar[Layer] = Layer.IO
    title: ClassVar[str] = "the rate of making files"
    summary: ClassVar[str] = "files made and removed a second, and the time of each step"
    source: ClassVar[str] = "fs_mark"
    params = CreateParams
    metrics: ClassVar[Mapping[str, Metric]] = {
        "create_rate": Metric("op/s", "higher"),
        "unlink_rate": Metric("op/s", "higher"),
        "phase_time": Metric("s", "lower", detail=True),
        "phase_time_p99": Metric("s", "lower", detail=True),
    }

    def command(self, params: CreateParams, layout: Layout) -> Command:
        units = -(-params.file_bytes // _UNIT_BYTES) + 1  # the file's own entry
        return native(
            *("iobench", "create", "--folder", "{workdir}", *options(params, "files")),
            *("--size", str(params.file_bytes), *options(params, "directories", "sync")),
            *("--threads", str(layout.threads_per_rank)),
            storage_bytes=params.files * units * _UNIT_BYTES,
        )

    def parse(self, params: CreateParams, output: Output) -> Iterable[Sample]:
        """Read iobench's JSON lines; ``phase = "file"`` is all steps of one file together."""
        points = read_report(output, "iobench", "create").points
        found = tuple(point.at.get("phase") for point in points)
        if found != params.phases:
            raise ParseError(f"phases {list(found)} instead of {list(params.phases)}")
        for point in points:
            expected = params.directories if _is_directory(point) else params.files
            if point.number("iterations") != expected:
                raise ParseError(f"the phase {point.at['phase']} is not of {expected} calls")
            median_s = positive(point.quantile("time", "median"), "time", point)
            yield Sample("phase_time", median_s, point.at)
            yield Sample("phase_time_p99", point.quantile("time", "p99"), point.at)
        by_phase = dict(zip(found, points, strict=True))
        for metric, phase in (("create_rate", "file"), ("unlink_rate", "unlink")):
            point = by_phase[phase]
            yield Sample(metric, positive(point.number("loop_rate"), "loop_rate", point))

    def caveats(self, params: CreateParams, output: Output) -> Iterable[str]:
        """Name files that nobody made permanent."""
        return ("not-synced",) if params.sync == "none" else ()


def _is_directory(point: MeasuredPoint) -> bool:
    return point.at.get("phase") == "directory_sync"


PROBE = Create()
