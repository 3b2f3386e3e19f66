"""The probes of ``iobench_mpi``, on files of all ranks: parallel access and metadata.

The patterns of access are IOR's. The phases of metadata are mdtest's, which comes with IOR. The
descriptions of the parameters name the corresponding options of IOR and mdtest. The time of a phase
begins with the first rank's start, ends with the last rank's end, and includes opening, all calls,
fsync and closing, as in IOR. Rates are decimal (MB/s), whereas IOR prints MiB/s. A phase begins
when all ranks have ended the previous phase.

If the time is too short, or data may have come from memory, the result is not a rate of the
storage. The probe then adds a caveat with the reason. IO500 marks a result as invalid if its time
is too short.

References
----------
H. Shan and J. Shalf, "Using IOR to analyze the I/O performance for HPC platforms", Cray User
Group, 2007.
J. Kunkel, J. Bent, J. Lofstead and G. S. Markomanolis, "Establishing the IO-500 benchmark", 2017.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass
from typing import Annotated, Any, ClassVar, Literal

from pydantic import Field

from bareline.probes._native import MeasuredPoint, Report, native, options, read_report
from bareline.probes.base import Probe, ProbeReading
from bareline.vocabulary.errors import ParseError
from bareline.vocabulary.model import Command, Layer, Layout, Metric, Output, Sample

#: A shorter phase gets a caveat, because its rate may not be a sustained rate. IO500 needs 300 s.
_SUSTAINED_S = 10.0
_PAGE_BYTES = 4096
_PHASES = ("create", "stat", "read", "remove")

Files = Literal["shared", "own"]
Readers = Literal["other", "same"]
Sync = Literal["none", "fsync"]


def _read_job(output: Output, benchmark: str, requested: Mapping[str, Any]) -> Report:
    """Return the content of a complete output of the requested job.

    Raises ParseError: the output is incomplete, or of another job.
    """
    report = read_report(output, "iobench_mpi", benchmark)
    given = report.header.get("options")
    printed = given if isinstance(given, Mapping) else {}
    for key, value in requested.items():
        if printed.get(key) != value:
            raise ParseError(f"the output is of another job: {key} = {printed.get(key)}")
    return report


def _phase_samples(
    report: Report,
    point: MeasuredPoint,
    metric: str,
    each: float,
    doubts: Iterable[str],
    phase: str = "",
) -> Iterable[Sample]:
    """Yield a phase's rate, time and longest call, and the rates of the slowest and median rank.

    - `metric`: name of the phase's rate.
    - `each`: amount of work of a rank, in bytes or files.
    - `doubts`: codes of caveats of the samples.
    - `phase`: name of the phase, as coordinate of the samples, if all phases have the same metrics.

    Raises ParseError: the values of the phase contradict each other.
    """
    name = "phase" if phase else metric.removesuffix("_rate")
    field = "rate" if phase else metric
    ranks = f"{name}_rank_time"
    time_s = point.positive(f"{name}_time_s")
    rate = point.positive(f"loop_{field}")
    slowest_s = point.positive(ranks, "max")
    median_s = point.positive(ranks, "median")
    call_max_s = point.number(f"{name}_call_max_s")
    if not math.isclose(rate * time_s, each * report.count("ranks"), rel_tol=1e-6):
        raise ParseError(f"{name}: rate, amount and time contradict each other")
    if not call_max_s <= slowest_s <= time_s * (1 + 1e-9):
        raise ParseError(f"{name}: one rank took longer than the whole measurement")
    caveats: tuple[str, ...] = tuple(doubts)
    if time_s < _SUSTAINED_S:
        caveats = ("too-short", *caveats)
    if report.header.get("one_folder") is not True:
        caveats = ("node-local", *caveats)
    yield Sample(metric, rate, {}, caveats)
    coordinates = {"phase": phase} if phase else {}
    of_rank = f"rank_{field}"
    yield Sample(f"{name}_time", time_s, coordinates, caveats)
    yield Sample(f"{name}_call_max", call_max_s, coordinates, caveats)
    yield Sample(f"slowest_{of_rank}", each / slowest_s, coordinates, caveats)
    yield Sample(f"median_{of_rank}", each / median_s, coordinates, caveats)


def _reading_caveats(report: Report, point: MeasuredPoint, read_bytes: float) -> Iterable[str]:
    """Yield caveats if data may have come from the memory of a node instead of from a device."""
    if point.number("cached_before_read_bytes") > 0:
        yield "page-cache"
    remote = report.header.get("remote")
    own_readers = report.header.get("own_readers")
    # No page cache shows the data that a network file system's client keeps; the platform has the
    # caveat about the memory of servers.
    if remote is not False and own_readers != 0 and read_bytes < report.count("memory_bytes"):
        yield "own-data"


@dataclass(frozen=True, slots=True)
class ParallelParams:
    """Parameters of parallel access, with IOR's options.

    - `api`: ``posix``; ``mpiio``, MPI-IO with independent calls of each rank; or
      ``mpiio-collective``, MPI-IO with calls of all ranks together. IOR's ``-a`` and ``-c``.
    - `files`: one ``shared`` file, or an ``own`` file of each rank (``-F``).
    - `transfer_bytes`: size of a call in bytes (``-t``); any multiple of 8, such as IO500's 47008.
    - `block_bytes`: size of a block: the contiguous part of a file that one rank writes (``-b``).
    - `segments`: number of blocks of each rank (``-s``). One large block is the segmented pattern,
      many blocks of one transfer each are the strided pattern.
    - `duration_s`: time of writing; at its end, every rank continues until it has made as many
      calls as the fastest rank (``-D`` with IOR's stonewalling wear-out). With 0, all segments are
      written.
    - `mode`: ``buffered`` uses the page cache, ``direct`` (O_DIRECT) bypasses it.
    - `readers`: the rank that reads a rank's data: a rank of an ``other`` node (``-C``; on a single
      node, the next rank), or the ``same`` rank.
    - `sync`: ``fsync`` at the end of writing, as part of its time (``-e``), or ``none``.
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
        if self.block_bytes % self.transfer_bytes:
            raise ValueError("block_bytes is not a multiple of transfer_bytes")
        if self.mode == "direct" and self.api != "posix":
            raise ValueError('MPI-IO has no direct I/O: mode = "direct" needs api = "posix"')
        if self.mode == "direct" and self.transfer_bytes % _PAGE_BYTES:
            raise ValueError(f"direct I/O needs a multiple of {_PAGE_BYTES} as transfer_bytes")
        if self.api == "mpiio-collective" and self.files == "own":
            raise ValueError('api = "mpiio-collective" needs files = "shared"')

    @property
    def rank_bytes(self) -> int:
        return self.block_bytes * self.segments


def _details(way: str) -> dict[str, Metric]:
    return {
        f"slowest_rank_{way}_rate": Metric("B/s", "higher", detail=True),
        f"median_rank_{way}_rate": Metric("B/s", "higher", detail=True),
        f"{way}_time": Metric("s", "none", detail=True),
        f"{way}_call_max": Metric("s", "lower", detail=True),
    }


class Parallel(Probe[ParallelParams]):
    """The probe of files that all ranks write, sync, remove from the page cache, and read."""

    name: ClassVar[str] = "io.parallel"
    layer: ClassVar[Layer] = Layer.IO
    title: ClassVar[str] = "the rate at which all ranks write together"
    summary: ClassVar[str] = "writing and reading by all ranks: shared file or own, POSIX, MPI-IO"
    source: ClassVar[str] = "IOR"
    params = ParallelParams
    metrics: ClassVar[Mapping[str, Metric]] = {
        "write_rate": Metric("B/s", "higher"),
        "read_rate": Metric("B/s", "higher"),
        **_details("write"),
        **_details("read"),
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

    def parse(self, params: ParallelParams, output: Output) -> ProbeReading:
        report = _read_job(output, "parallel", asdict(params))
        if len(report.points) != 1 or report.points[0].coordinates:
            raise ParseError("the output must have exactly one point, without parameters")
        point = report.point
        ranks = report.count("ranks")
        written_bytes = point.number("written_bytes")
        each_bytes = written_bytes / ranks
        is_all = each_bytes == params.rank_bytes
        is_part = params.duration_s > 0 and 0 < each_bytes < params.rank_bytes
        if not (is_all or is_part) or each_bytes % params.transfer_bytes:
            raise ParseError(
                f"{ranks} ranks together wrote {written_bytes:g} B, which contradicts the "
                "parameters `rank_bytes` and `transfer_bytes`"
            )
        if point.number("read_bytes") != written_bytes:
            raise ParseError("the data read are not the data written")
        if point.number("iterations") * params.transfer_bytes != written_bytes:
            raise ParseError("the number of calls and the written bytes contradict each other")
        doubts = ["not-synced"] if params.sync == "none" else []
        if params.mode == "direct" and point.number("cached_after_write_bytes") > 0:
            doubts.append("not-direct")
        cached = _reading_caveats(report, point, written_bytes)
        samples = [
            *_phase_samples(report, point, "write_rate", each_bytes, doubts),
            *_phase_samples(report, point, "read_rate", each_bytes, cached),
            Sample("open_time", point.number("open_s")),
            Sample("close_time", point.number("close_s")),
        ]
        sync_share = point.number("sync_s") / point.number("write_time_s")
        samples.append(Sample("sync_share", sync_share))
        return ProbeReading(tuple(samples))


@dataclass(frozen=True, slots=True)
class MetadataParams:
    """Parameters of files that all ranks create, with mdtest's options.

    - `items`: number of files of each rank (``-n``).
    - `file_bytes`: size of each file (``-w``, ``-e``): 3901 in IO500's hard pattern, 0 in its easy
      pattern.
    - `files`: one directory ``shared`` by all ranks, or an ``own`` directory of each rank (``-u``).
    - `readers`: the rank that calls stat for, reads and removes a rank's files: a rank of an
      ``other`` node (``-N``; on a single node, the next rank), or the ``same`` rank.
    - `sync`: ``fsync`` of each file before it is closed (``-y``), or ``none``, which is mdtest's
      default.
    """

    items: Annotated[int, Field(ge=1, le=10_000_000)] = 100
    file_bytes: Annotated[int, Field(ge=0, le=1 << 30)] = 3901
    files: Files = "own"
    readers: Readers = "other"
    sync: Sync = "fsync"


class Metadata(Probe[MetadataParams]):
    """The probe of files that all ranks create, stat, read, compare and remove, in phases."""

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
        pages = -(-params.file_bytes // _PAGE_BYTES) + 1  # the file's own entry
        return native(
            *("iobench_mpi", "metadata", "--folder", "{workdir}", *options(params, "items")),
            *("--size", str(params.file_bytes), *options(params, "files", "readers", "sync")),
            mpi=True,
            storage_bytes=params.items * layout.ranks * pages * _PAGE_BYTES,
        )

    def parse(self, params: MetadataParams, output: Output) -> ProbeReading:
        requested = asdict(params)
        requested["size_bytes"] = requested.pop("file_bytes")
        report = _read_job(output, "metadata", requested)
        phases = tuple(report.coordinates("phase"))
        if phases != _PHASES:
            raise ParseError(f"the output has the phases {list(phases)} instead of {list(_PHASES)}")
        calls = params.items * report.count("ranks")
        samples: list[Sample] = []
        for name, point in zip(_PHASES, report.points, strict=True):
            if point.number("iterations") != calls:
                raise ParseError(f"the phase {name} did not make the expected {calls} calls")
            doubts: Iterable[str] = ()
            if name == "create" and params.sync == "none":
                doubts = ("not-synced",)
            if name in ("stat", "read"):
                doubts = _reading_caveats(report, point, calls * params.file_bytes)
            metric = f"{name}_rate"
            samples += _phase_samples(report, point, metric, params.items, doubts, name)
        return ProbeReading(tuple(samples))


PROBES = (Parallel(), Metadata())
