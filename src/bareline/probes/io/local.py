"""The probes of ``iobench``, on one node: sequential access, and the creation of files.

Sequential access does the same work as SRW of the Nebula study. In every mode, writing ends when
the data is on the device, and the file is removed from the page cache before it is read. If a part
of the file remains in the page cache, the rate gets a caveat. A second read, from the page cache,
has a separate metric. The creation of files does the same work as fs_mark: T threads create N files
of equal size in S directories.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import count, takewhile
from typing import Annotated, ClassVar, Literal

from pydantic import Field

from bareline.probes._native import MeasuredPoint, native, options, read_report
from bareline.probes.base import Probe, ProbeReading
from bareline.vocabulary.errors import ParseError
from bareline.vocabulary.model import Command, Layer, Layout, Metric, Output, Sample

_PAGE_BYTES = 4096
_CALL = ("median", "p99", "max")


@dataclass(frozen=True, slots=True)
class SequentialParams:
    """Parameters of sequential access.

    - `file_bytes`: size of the file; the largest multiple of the block size is used.
    - `min_block_bytes`: the smallest size of a read or write.
    - `max_block_bytes`: limit for the sizes of a read or write.
    - `block_factor`: each size of a read or write divided by the next smaller size.
    - `mode`: ``buffered`` uses the page cache and calls fsync at the end, ``direct`` bypasses the
      page cache (O_DIRECT), ``synced`` waits for the device at every write (O_SYNC).
    - `budget_s`: time limit for writing one file, and for reading it. If writing takes longer, the
      file becomes shorter.
    """

    file_bytes: Annotated[int, Field(ge=_PAGE_BYTES, le=1 << 44)] = 64 << 20
    min_block_bytes: Annotated[int, Field(ge=_PAGE_BYTES, multiple_of=_PAGE_BYTES)] = 16 << 10
    max_block_bytes: Annotated[int, Field(ge=_PAGE_BYTES, le=1 << 30)] = 16 << 20
    block_factor: Annotated[int, Field(ge=2, le=1024)] = 4
    mode: Literal["buffered", "direct", "synced"] = "buffered"
    budget_s: Annotated[float, Field(gt=0, le=3600)] = 10.0

    def __post_init__(self) -> None:
        if self.max_block_bytes < self.min_block_bytes:
            raise ValueError("max_block_bytes is less than min_block_bytes")
        if self.file_bytes < self.max_block_bytes:
            raise ValueError("file_bytes is less than max_block_bytes")

    @property
    def blocks_bytes(self) -> list[int]:
        sizes = (self.min_block_bytes * self.block_factor**power for power in count())
        return list(takewhile(lambda size: size <= self.max_block_bytes, sizes))


class Sequential(Probe[SequentialParams]):
    """The probe of sequential access to a file, for every block size.

    The file is written, synced, removed from the page cache, read and compared.
    """

    name: ClassVar[str] = "io.sequential"
    layer: ClassVar[Layer] = Layer.IO
    title: ClassVar[str] = "the rate of sequential writing"
    summary: ClassVar[str] = "sequential writing and reading of a file, by block size"
    source: ClassVar[str] = "SRW of the Nebula study; fio rw=write, rw=read"
    params = SequentialParams
    metrics: ClassVar[Mapping[str, Metric]] = {
        "write_rate": Metric("B/s", "higher"),
        "read_rate": Metric("B/s", "higher"),
        "cached_read_rate": Metric("B/s", "higher", detail=True),
        "sync_share": Metric("1", "none", detail=True),
        **{f"write_call_{name}": Metric("s", "lower", detail=True) for name in _CALL},
        **{f"read_call_{name}": Metric("s", "lower", detail=True) for name in _CALL},
    }

    def delivers(self, params: SequentialParams) -> Mapping[str, Metric]:
        """Return the metrics except ``cached_read_rate``.

        This metric is missing if the page cache does not contain the whole file.
        """
        return {name: self.metrics[name] for name in self.metrics if name != "cached_read_rate"}

    def command(self, params: SequentialParams, layout: Layout) -> Command:
        blocks = ",".join(map(str, params.blocks_bytes))
        return native(
            *("iobench", "sequential", "--folder", "{workdir}", "--size", str(params.file_bytes)),
            *("--blocks", blocks, *options(params, "mode", "budget_s")),
            storage_bytes=params.file_bytes,
        )

    def parse(self, params: SequentialParams, output: Output) -> ProbeReading:
        report = read_report(output, "iobench", "sequential")
        sizes = report.coordinates("block_bytes")
        if sizes != params.blocks_bytes:
            raise ParseError(f"the test used blocks of {sizes} B instead of {params.blocks_bytes}")
        samples: list[Sample] = []
        for point in report.points:
            samples += _samples(params, point)
        return ProbeReading(tuple(samples))


def _samples(params: SequentialParams, point: MeasuredPoint) -> Iterator[Sample]:
    block_bytes = int(str(point.coordinates["block_bytes"]))
    whole_bytes = params.file_bytes // block_bytes * block_bytes
    written_bytes = point.number("written_bytes")
    sync_s = point.number("sync_s")
    cached = params.mode == "direct" and point.number("cached_after_write_bytes") > 0
    unread = point.number("cached_before_read_bytes") > 0
    of_writing: tuple[str, ...] = ("not-direct",) if cached else ()
    of_reading: tuple[str, ...] = ("page-cache",) if unread else ()
    ways = (
        ("write", written_bytes, whole_bytes, sync_s, of_writing),
        ("read", point.number("read_bytes"), written_bytes, 0.0, of_reading),
    )
    for way, moved_bytes, most_bytes, more_s, caveats in ways:
        if not 0 < moved_bytes <= most_bytes:
            raise ParseError(f"{way}: {moved_bytes:g} B were moved instead of {whole_bytes} B")
        rate = point.positive(f"loop_{way}_rate")
        calls_s = point.quantile(f"{way}_time", "mean") * moved_bytes / block_bytes
        _check_amount(way, moved_bytes, rate, calls_s + more_s)
        if moved_bytes < whole_bytes:
            caveats += ("short-file",)
        yield point.sample(f"{way}_rate", rate, caveats)
        for name in _CALL:
            value = point.quantile(f"{way}_time", name)
            yield point.sample(f"{way}_call_{name}", value, caveats)
    sync_share = sync_s * point.number("loop_write_rate") / written_bytes
    yield point.sample("sync_share", sync_share)
    yield from _cached_samples(point, written_bytes)


def _check_amount(way: str, moved_bytes: float, rate: float, seconds: float) -> None:
    """Check that the amount of data agrees with the rate and the time.

    Raises ParseError: they contradict each other.
    """
    if not math.isclose(rate * seconds, moved_bytes, rel_tol=0.01):
        raise ParseError(f"{way}: rate, amount and time contradict each other")


def _cached_samples(point: MeasuredPoint, written_bytes: float) -> Iterator[Sample]:
    """Yield the rate of the read from the page cache, if the cache contained the whole file.

    Older programs, and modes with direct I/O, do not read the file from the page cache.
    """
    if "loop_cached_read_rate" not in point.fields:
        return
    rate = point.positive("loop_cached_read_rate")
    block_bytes = int(str(point.coordinates["block_bytes"]))
    read_bytes = point.number("cached_read_bytes")
    calls_s = point.quantile("cached_read_time", "mean") * read_bytes / block_bytes
    if not 0 < read_bytes <= written_bytes:
        raise ParseError(f"the cached read moved {read_bytes:g} B instead of {written_bytes:g} B")
    _check_amount("cached read", read_bytes, rate, calls_s)
    if point.number("kept_bytes") >= written_bytes:
        yield point.sample("cached_read_rate", rate)


@dataclass(frozen=True, slots=True)
class CreateParams:
    """Parameters of the creation of files.

    - `files`: number of files.
    - `writers`: number of threads that create files (fs_mark's ``-t``); 0 means the layout's
      threads. The number may exceed the number of cores, because a writer mostly waits for the file
      system.
    - `file_bytes`: size of each file.
    - `directories`: number of directories for the files, which are filled one after the other.
    - `sync`: the calls of fsync. ``fsync``: for each file, before it is closed. ``directory``: for
      each directory, after its last file; this secures the files' names, but the contents only if
      the file system writes them before the names. ``none``: no calls.
    """

    files: Annotated[int, Field(ge=1, le=10_000_000)] = 500
    file_bytes: Annotated[int, Field(ge=0, le=1 << 30)] = 4096
    directories: Annotated[int, Field(ge=1, le=512)] = 1
    sync: Literal["none", "fsync", "directory"] = "fsync"
    writers: Annotated[int, Field(ge=0, le=512)] = 0

    def __post_init__(self) -> None:
        if self.files < self.directories:
            raise ValueError("there are fewer files than directories")
        if self.files < self.writers:
            raise ValueError("there are fewer files than writers")

    @property
    def calls(self) -> dict[str, int]:
        """Number of timings of each step, in the order of iobench's output."""
        calls = {"create": self.files}
        if self.file_bytes:
            calls["write"] = self.files
        if self.sync == "fsync":
            calls["sync"] = self.files
        calls |= {"close": self.files, "file": self.files}
        if self.sync == "directory":
            calls["directory_sync"] = self.directories
        calls["unlink"] = self.files
        return {phase: number for phase, number in calls.items() if number}


class Create(Probe[CreateParams]):
    """The probe of files that are created, filled, synced, closed, read, compared and removed."""

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
        pages = -(-params.file_bytes // _PAGE_BYTES) + 1  # the file's own entry
        return native(
            *("iobench", "create", "--folder", "{workdir}", *options(params, "files")),
            *("--size", str(params.file_bytes), *options(params, "directories", "sync")),
            *("--threads", str(params.writers or layout.threads_per_rank)),
            storage_bytes=params.files * pages * _PAGE_BYTES,
        )

    def parse(self, params: CreateParams, output: Output) -> ProbeReading:
        """Return the values of iobench's output.

        The time at the point ``phase = "file"`` includes all steps from creating to closing a file.
        """
        report = read_report(output, "iobench", "create")
        phases = report.coordinates("phase")
        requested = list(params.calls)
        if phases != requested:
            raise ParseError(f"the output has the phases {phases} instead of {requested}")
        by_phase = dict(zip(requested, report.points, strict=True))
        samples: list[Sample] = []
        for phase, point in by_phase.items():
            expected = params.calls[phase]
            if point.number("iterations") != expected:
                raise ParseError(f"the phase {phase} did not make the expected {expected} calls")
            median_s = point.positive("time", "median")
            samples.append(point.sample("phase_time", median_s))
            samples.append(point.sample("phase_time_p99", point.quantile("time", "p99")))
        for metric, phase in (("create_rate", "file"), ("unlink_rate", "unlink")):
            point = by_phase[phase]
            samples.append(Sample(metric, point.positive("loop_rate")))
        caveats = ("not-synced",) if params.sync == "none" else ()
        return ProbeReading(tuple(samples), caveats=caveats)


PROBES = (Sequential(), Create())
