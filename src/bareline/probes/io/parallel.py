"""Parallel access: all ranks write a file, or one each, and read what another rank wrote.

The patterns are IOR's, whose letters the parameters name. Times hold opening, all calls, the fsync
and closing, from the first rank's start to the last one's end, as IOR's bandwidths do; rates are
decimal (MB/s), IOR's are binary (MiB/s).

References
----------
H. Shan and J. Shalf, "Using IOR to analyze the I/O performance for HPC platforms", Cray User
Group, 2007.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Annotated, ClassVar, Literal

from pydantic import Field

from bareline.probes._native import MeasuredPoint, Report, native, options
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

_PAGE_BYTES = 4096


@dataclass(frozen=True, slots=True)
class ParallelParams:
    """Parameters of parallel access, with IOR's letters.

    - `api`: ``posix``, or MPI-IO: ``mpiio`` each rank for itself, ``mpiio-collective`` every call
      by all ranks together. IOR's ``-a`` and ``-c``.
    - `files`: one ``shared`` file, or each rank its ``own`` (``-F``).
    - `transfer_bytes`: bytes of a call (``-t``); any multiple of 8, as IO500's 47008.
    - `block_bytes`: bytes that a rank writes in one piece of the file (``-b``).
    - `segments`: blocks of each rank (``-s``): one of large blocks is the segmented pattern, many
      whose block is one transfer the strided one.
    - `duration_s`: writing ends after so long, with as many calls of every rank as the fastest one
      made (``-D`` with wear-out); 0 writes all segments.
    - `mode`: ``buffered`` goes through the page cache, ``direct`` (O_DIRECT) around it.
    - `readers`: who reads what a rank wrote: one of ``other`` nodes (on one node the next rank;
      ``-C``), or the ``same`` rank.
    - `sync`: ``fsync`` at the end of writing, within its time (``-e``), or ``none``.
    """

    api: Literal["posix", "mpiio", "mpiio-collective"] = "posix"
    files: Files = "shared"
    transfer_bytes: Annotated[int, Field(ge=8, le=1 << 30, multiple_of=8)] = 1 << 20
    block_bytes: Annotated[int, Field(ge=8, le=1 << 44)] = 16 << 20
    segments: Annotated[int, Field(ge=1, le=100_000_000)] = 1
    duration_s: Annotated[float, Field(ge=0, le=3600)] = 0.0
    mode: Literal["buffered", "direct"] = "buffered"
    readers: Readers = "other"
    sync: Sync = "fsync"

    def __post_init__(self) -> None:
        """Hold the parameters against each other."""
        if self.block_bytes % self.transfer_bytes:
            raise ValueError("block_bytes is no multiple of transfer_bytes")
        if self.mode == "direct" and self.api != "posix":
            raise ValueError('MPI-IO has no direct I/O: mode = "direct" needs api = "posix"')
        if self.mode == "direct" and self.transfer_bytes % _PAGE_BYTES:
            raise ValueError(f"direct I/O needs transfer_bytes of a multiple of {_PAGE_BYTES}")
        if self.api == "mpiio-collective" and self.files == "own":
            raise ValueError('collective calls need files = "shared"')

    @property
    def rank_bytes(self) -> int:
        """Give what each rank writes, at most."""
        return self.block_bytes * self.segments


class Parallel(Probe[ParallelParams]):
    """Written by all ranks, synced, taken out of the page caches, read by others, compared."""

    name: ClassVar[str] = "io.parallel"
    layer: ClassVar[Layer] = Layer.IO
    title: ClassVar[str] = "the rate at which all ranks write together"
    summary: ClassVar[str] = "writing and reading by all ranks: shared file or own, POSIX, MPI-IO"
    source: ClassVar[str] = "IOR"
    params = ParallelParams
    metrics: ClassVar[Mapping[str, Metric]] = {
        "write_rate": Metric("B/s", "higher"),
        "read_rate": Metric("B/s", "higher"),
        **{
            name.format(way): metric
            for way in ("write", "read")
            for name, metric in {
                "slowest_rank_{}_rate": Metric("B/s", "higher", detail=True),
                "median_rank_{}_rate": Metric("B/s", "higher", detail=True),
                "{}_time": Metric("s", "none", detail=True),
                "{}_call_max": Metric("s", "lower", detail=True),
            }.items()
        },
        "open_time": Metric("s", "lower", detail=True),
        "close_time": Metric("s", "lower", detail=True),
        "sync_share": Metric("1", "none", detail=True),
    }

    def command(self, params: ParallelParams, layout: Layout) -> Command:
        amounts = ("transfer_bytes", "block_bytes", "segments")
        duration = ("duration_s",) if params.duration_s else ()
        return native(
            *("iobench_mpi", "parallel", "--folder", "{workdir}"),
            *options(params, "api", "files", "mode", *amounts, *duration, "readers", "sync"),
            mpi=True,
            storage_bytes=params.rank_bytes * layout.ranks,
        )

    def parse(self, params: ParallelParams, output: Output) -> Iterable[Sample]:
        """Read iobench_mpi's JSON lines; written and read is the same amount by every rank."""
        asked = {
            "api": params.api,
            "files": params.files,
            "transfer_bytes": params.transfer_bytes,
            "block_bytes": params.block_bytes,
            "segments": params.segments,
            "duration_s": params.duration_s,
            "mode": params.mode,
            "readers": params.readers,
            "sync": params.sync,
        }
        report, ranks = read_job(output, "parallel", asked)
        if len(report.points) != 1 or report.points[0].at:
            raise ParseError("one point without parameters was expected")
        (point,) = report.points
        each_bytes = _each_bytes(params, point, ranks)
        doubts = {
            "write": _writing_caveats(params, point),
            "read": reading_caveats(
                report, point.number("cached_before_read_bytes"), each_bytes * ranks
            ),
        }
        for way, caveats in doubts.items():
            yield from _samples(report, point, way, each_bytes, ranks, caveats)
        write_s = point.number("write_time_s")
        yield Sample("open_time", point.number("open_s"))
        yield Sample("close_time", point.number("close_s"))
        yield Sample("sync_share", point.number("sync_s") / write_s)


def _each_bytes(params: ParallelParams, point: MeasuredPoint, ranks: int) -> float:
    """Give what every rank wrote and read."""
    written_bytes = point.number("written_bytes")
    each_bytes = written_bytes / ranks
    is_all = each_bytes == params.rank_bytes
    is_part = params.duration_s > 0 and 0 < each_bytes < params.rank_bytes
    if not (is_all or is_part) or each_bytes % params.transfer_bytes:
        raise ParseError(f"{written_bytes:g} B were written by {ranks} ranks")
    if point.number("read_bytes") != written_bytes:
        raise ParseError("the data read are not the data written")
    if point.number("iterations") * params.transfer_bytes != written_bytes:
        raise ParseError("calls and amount contradict each other")
    return each_bytes


def _samples(
    report: Report,
    point: MeasuredPoint,
    way: str,
    each_bytes: float,
    ranks: int,
    doubts: tuple[str, ...],
) -> Iterable[Sample]:
    phase = read_phase(point, way, f"loop_{way}_rate", each_bytes * ranks)
    caveats = (*common_caveats(report, phase), *doubts)
    yield Sample(f"{way}_rate", phase.rate, {}, caveats)
    yield from phase_samples(phase, way, each_bytes, {}, caveats)


def _writing_caveats(params: ParallelParams, point: MeasuredPoint) -> tuple[str, ...]:
    cached = params.mode == "direct" and point.number("cached_after_write_bytes") > 0
    unsynced = ("not-synced",) if params.sync == "none" else ()
    return (*unsynced, "not-direct") if cached else unsynced


PROBE = Parallel()
