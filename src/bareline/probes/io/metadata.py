"""Metadata: all ranks make files, look at, read and remove those that another rank made.

The phases are mdtest's, which comes with IOR; each begins when all ranks have ended the one before.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Annotated, ClassVar

from pydantic import Field

from bareline.probes._native import native, options
from bareline.probes.base import Probe
from bareline.probes.io._job import (
    Files,
    Readers,
    Sync,
    common_caveats,
    phase_samples,
    read_job,
    read_phase,
    reading_caveats,
)
from bareline.vocabulary.errors import ParseError
from bareline.vocabulary.model import Command, Layer, Layout, Metric, Output, Sample

_UNIT_BYTES = 4096
_PHASES = ("create", "stat", "read", "remove")


@dataclass(frozen=True, slots=True)
class MetadataParams:
    """Parameters of files made by all ranks, with mdtest's letters.

    - `items`: files of each rank (``-n``).
    - `file_bytes`: size of each (``-w``, ``-e``); 3901 is that of IO500's hard pattern, 0 of its
      easy one.
    - `files`: in one directory ``shared`` by all ranks, or each rank in its ``own`` (``-u``).
    - `readers`: who looks at, reads and removes what a rank made: one of ``other`` nodes (on one
      node the next rank; ``-N``), or the ``same`` rank.
    - `sync`: ``fsync`` of each file before it is closed (``-y``), or ``none``, as mdtest does by
      itself.
    """

    items: Annotated[int, Field(ge=1, le=10_000_000)] = 100
    file_bytes: Annotated[int, Field(ge=0, le=1 << 30)] = 3901
    files: Files = "own"
    readers: Readers = "other"
    sync: Sync = "fsync"


class Metadata(Probe[MetadataParams]):
    """Files are made, looked at, read, compared and removed, each phase by all ranks at once."""

    name: ClassVar[str] = "io.metadata"
    layer: ClassVar[Layer] = Layer.IO
    title: ClassVar[str] = "the rate at which all ranks make files"
    summary: ClassVar[str] = "files made, looked at, read and removed a second, by all ranks"
    source: ClassVar[str] = "mdtest"
    params = MetadataParams
    metrics: ClassVar[Mapping[str, Metric]] = {
        **{f"{phase}_rate": Metric("op/s", "higher") for phase in _PHASES},
        "slowest_rank_rate": Metric("op/s", "higher", detail=True),
        "median_rank_rate": Metric("op/s", "higher", detail=True),
        "phase_time": Metric("s", "none", detail=True),
        "phase_call_max": Metric("s", "lower", detail=True),
    }

    def command(self, params: MetadataParams, layout: Layout) -> Command:
        units = -(-params.file_bytes // _UNIT_BYTES) + 1  # the file's own entry
        return native(
            *("iobench_mpi", "metadata", "--folder", "{workdir}", *options(params, "items")),
            *("--size", str(params.file_bytes), *options(params, "files", "readers", "sync")),
            mpi=True,
            storage_bytes=params.items * layout.ranks * units * _UNIT_BYTES,
        )

    def parse(self, params: MetadataParams, output: Output) -> Iterable[Sample]:
        """Read iobench_mpi's JSON lines, a point for each phase."""
        asked = {
            "items": params.items,
            "size_bytes": params.file_bytes,
            "files": params.files,
            "readers": params.readers,
            "sync": params.sync,
        }
        report, ranks = read_job(output, "metadata", asked)
        found = tuple(point.at.get("phase") for point in report.points)
        if found != _PHASES:
            raise ParseError(f"phases {list(found)} instead of {list(_PHASES)}")
        for name, point in zip(_PHASES, report.points, strict=True):
            if point.number("iterations") != params.items * ranks:
                raise ParseError(f"the phase {name} is not of {params.items * ranks} calls")
            phase = read_phase(point, "phase", "loop_rate", params.items * ranks)
            caveats = common_caveats(report, phase)
            if name == "create" and params.sync == "none":
                caveats = (*caveats, "not-synced")
            if name in ("stat", "read"):
                cached_bytes = point.number("cached_before_read_bytes")
                amount = params.items * ranks * params.file_bytes
                caveats = (*caveats, *reading_caveats(report, cached_bytes, amount))
            yield Sample(f"{name}_rate", phase.rate, {}, caveats)
            yield from phase_samples(phase, "phase", params.items, {"phase": name}, caveats)


PROBE = Metadata()
