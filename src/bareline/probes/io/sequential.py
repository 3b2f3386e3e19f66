"""Sequential access: write a new file and read it back, block size by block size.

The job of Nebula's SRW. Writing ends when the data is on the device, in every mode, and the file
is taken out of the page cache before it is read; what is still in there is a caveat of the rate.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Annotated, ClassVar, Literal

from pydantic import Field

from bareline.probes._native import MeasuredPoint, native, options, positive, read_report
from bareline.probes.base import Probe
from bareline.vocabulary.errors import ParseError
from bareline.vocabulary.model import Command, Layer, Layout, Metric, Output, Sample

_PAGE_BYTES = 4096
_CALL = ("median", "p99", "max")


@dataclass(frozen=True, slots=True)
class SequentialParams:
    """Parameters of sequential access.

    - `file_bytes`: size of the file; a multiple of each block size is used.
    - `min_block_bytes`, `max_block_bytes`, `block_factor`: sizes of a read or write: each is so
      many times the one before.
    - `mode`: ``buffered`` goes through the page cache and calls fsync at the end, ``direct`` goes
      around it (O_DIRECT), ``synced`` waits for the device at every write (O_SYNC).
    - `budget_s`: longest time for writing, and for reading, one file; it then ends there.
    """

    file_bytes: Annotated[int, Field(ge=_PAGE_BYTES, le=1 << 44)] = 64 << 20
    min_block_bytes: Annotated[int, Field(ge=_PAGE_BYTES, multiple_of=_PAGE_BYTES)] = 16 << 10
    max_block_bytes: Annotated[int, Field(ge=_PAGE_BYTES, le=1 << 30)] = 16 << 20
    block_factor: Annotated[int, Field(ge=2, le=1024)] = 4
    mode: Literal["buffered", "direct", "synced"] = "buffered"
    budget_s: Annotated[float, Field(gt=0, le=3600)] = 10.0

    def __post_init__(self) -> None:
        """Refuse sizes that leave nothing to measure."""
        if self.max_block_bytes < self.min_block_bytes:
            raise ValueError("max_block_bytes is less than min_block_bytes")
        if self.file_bytes < self.max_block_bytes:
            raise ValueError("file_bytes is less than max_block_bytes")

    @property
    def blocks_bytes(self) -> tuple[int, ...]:
        """Give the block sizes, in ascending order."""
        return tuple(self._blocks())

    def _blocks(self) -> Iterator[int]:
        block_bytes = self.min_block_bytes
        while block_bytes <= self.max_block_bytes:
            yield block_bytes
            block_bytes *= self.block_factor


class Sequential(Probe[SequentialParams]):
    """A new file for every block size: written, synced, taken out of the cache, read, compared."""

    name: ClassVar[str] = "io.sequential"
    layer: ClassVar[Layer] = Layer.IO
    title: ClassVar[str] = "the rate of sequential writing"
    summary: ClassVar[str] = "sequential writing and reading of a file, by block size"
    source: ClassVar[str] = "SRW of the Nebula study; fio rw=write, rw=read"
    params = SequentialParams
    metrics: ClassVar[Mapping[str, Metric]] = {
        "write_rate": Metric("B/s", "higher"),
        "read_rate": Metric("B/s", "higher"),
        "sync_share": Metric("1", "none", detail=True),
        **{f"write_call_{name}": Metric("s", "lower", detail=True) for name in _CALL},
        **{f"read_call_{name}": Metric("s", "lower", detail=True) for name in _CALL},
    }

    def command(self, params: SequentialParams, layout: Layout) -> Command:
        blocks = ",".join(map(str, params.blocks_bytes))
        return native(
            *("iobench", "sequential", "--folder", "{workdir}", "--size", str(params.file_bytes)),
            *("--blocks", blocks, *options(params, "mode", "budget_s")),
            storage_bytes=params.file_bytes,
        )

    def parse(self, params: SequentialParams, output: Output) -> Iterable[Sample]:
        points = read_report(output, "iobench", "sequential").points
        found = [point.at.get("block_bytes") for point in points]
        if found != list(params.blocks_bytes):
            raise ParseError(f"blocks of {found} B instead of {list(params.blocks_bytes)}")
        for point in points:
            yield from _samples(params, point)


def _samples(params: SequentialParams, point: MeasuredPoint) -> Iterator[Sample]:
    """Give a point's samples, each with what makes it doubtful."""
    block_bytes = int(str(point.at["block_bytes"]))
    whole_bytes = params.file_bytes // block_bytes * block_bytes
    written_bytes = point.number("written_bytes")
    sync_s = point.number("sync_s")
    ways = (
        ("write", written_bytes, sync_s, _writing_caveats(params, point)),
        ("read", point.number("read_bytes"), 0.0, _reading_caveats(point)),
    )
    for way, moved_bytes, more_s, caveats in ways:
        if not 0 < moved_bytes <= (whole_bytes if way == "write" else written_bytes):
            raise ParseError(f"{way}: {moved_bytes:g} B of {whole_bytes} B were moved")
        rate = positive(point.number(f"loop_{way}_rate"), f"loop_{way}_rate", point)
        calls_s = point.quantile(f"{way}_time", "mean") * moved_bytes / block_bytes
        if not math.isclose(rate * (calls_s + more_s), moved_bytes, rel_tol=0.01):
            raise ParseError(f"{way}: rate, amount and time contradict each other")
        if moved_bytes < whole_bytes:
            caveats = (*caveats, "short-file")
        yield Sample(f"{way}_rate", rate, point.at, caveats)
        for name in _CALL:
            value = point.quantile(f"{way}_time", name)
            yield Sample(f"{way}_call_{name}", value, point.at, caveats)
    yield Sample("sync_share", sync_s * point.number("loop_write_rate") / written_bytes, point.at)


def _writing_caveats(params: SequentialParams, point: MeasuredPoint) -> tuple[str, ...]:
    cached = params.mode == "direct" and point.number("cached_after_write_bytes") > 0
    return ("not-direct",) if cached else ()


def _reading_caveats(point: MeasuredPoint) -> tuple[str, ...]:
    return ("page-cache",) if point.number("cached_before_read_bytes") > 0 else ()


PROBE = Sequential()
