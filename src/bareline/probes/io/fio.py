"""The probe of fio: one job on one file.

The tool is the unchanged package ``fio``; the reader of its JSON is the same as for imported
outputs.

References
----------
J. Axboe, "fio", https://fio.readthedocs.io.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import chain
from typing import Annotated, ClassVar, Literal

from pydantic import Field

from bareline.formats import fio
from bareline.formats.damage import lost_only
from bareline.formats.document import split_documents
from bareline.probes.base import Probe, ProbeReading
from bareline.vocabulary.errors import ParseError
from bareline.vocabulary.model import Command, Layer, Layout, Metric, Output, Sample
from bareline.vocabulary.units import listing

_JOB = "bareline"


@dataclass(frozen=True, slots=True)
class FioParams:
    """Parameters of a job, with fio's names.

    - `rw`: kind of access.
    - `bs`: size of a read or write in bytes.
    - `size`: size of the file in bytes; each byte is read or written once.
    - `direct`: whether I/O bypasses the page cache (O_DIRECT).
    - `iodepth`: number of simultaneous requests; more than one needs an asynchronous engine.
    - `ioengine`: the interface by which fio makes requests.
    - `end_fsync`: whether fio calls fsync after writing, as part of the job's time.
    """

    rw: Literal["read", "write", "randread", "randwrite", "rw", "randrw"] = "write"
    bs: Annotated[int, Field(ge=512, le=1 << 30)] = 1 << 20
    size: Annotated[int, Field(ge=4096, le=1 << 44)] = 64 << 20
    direct: bool = True
    iodepth: Annotated[int, Field(ge=1, le=4096)] = 1
    ioengine: Literal["psync", "sync", "libaio", "io_uring"] = "psync"
    end_fsync: bool = True

    def __post_init__(self) -> None:
        if self.bs > self.size:
            raise ValueError("bs is greater than size")
        if self.iodepth > 1 and self.ioengine in ("psync", "sync"):
            raise ValueError(
                f"iodepth > 1 needs libaio or io_uring: {self.ioengine} waits for each request"
            )

    @property
    def ways(self) -> tuple[str, ...]:
        if self.rw in ("rw", "randrw"):
            return ("read", "write")
        return ("read",) if "read" in self.rw else ("write",)


class Fio(Probe[FioParams]):
    """The probe of one fio job.

    If the job only reads its file, the file is first written to the device. This is not timed.
    """

    name: ClassVar[str] = "io.fio"
    layer: ClassVar[Layer] = Layer.IO
    title: ClassVar[str] = "the rate of a fio job"
    summary: ClassVar[str] = "fio: reading or writing of a file with any engine and depth"
    source: ClassVar[str] = "fio 3"
    params = FioParams
    metrics: ClassVar[Mapping[str, Metric]] = fio.METRICS

    def command(self, params: FioParams, layout: Layout) -> Command:
        return Command(
            argv=(
                *("fio", "--output-format=json", f"--name={_JOB}", "--directory={workdir}"),
                *(f"--rw={params.rw}", f"--bs={params.bs}", f"--size={params.size}"),
                *(f"--direct={params.direct:d}", f"--iodepth={params.iodepth}"),
                *(f"--ioengine={params.ioengine}", f"--end_fsync={params.end_fsync:d}"),
                # Space that is reserved beforehand is written at another rate.
                *("--fallocate=none", "--unlink=1", "--thread"),
            ),
            requires=("fio",),
            storage_bytes=params.size,
        )

    def parse(self, params: FioParams, output: Output) -> ProbeReading:
        requested: dict[str, str | int] = {"job": _JOB, "rw": params.rw, "bs": params.bs}
        requested |= {"direct": int(params.direct), "ioengine": params.ioengine}
        documents = split_documents(output.stdout)
        readings = list(chain.from_iterable(map(fio.read, documents)))
        samples: list[Sample] = []
        for item in readings:
            measured = item.samples
            for lost in lost_only(item.left_out):
                raise ParseError(f"a value of fio cannot be read: {lost}")
            for key, value in requested.items():
                if item.params.get(key) != value:
                    reported = item.params.get(key)
                    raise ParseError(f"the output is of another job: {key} = {reported}")
            way = item.probe.removeprefix("fio.")
            for sample in measured:
                samples.append(Sample(sample.metric, sample.value, {"way": way}, item.caveats))
        ways = tuple(item.probe.removeprefix("fio.") for item in readings)
        if ways != params.ways:
            raise ParseError(f"fio did {', '.join(ways) or 'nothing'}, not {listing(params.ways)}")
        return ProbeReading(tuple(samples))


PROBE = Fio()
