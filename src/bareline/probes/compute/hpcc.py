"""The probe of HPC Challenge: HPL, PTRANS, DGEMM, STREAM, RandomAccess, FFT, ping-pong, rings.

The program is Debian's unchanged package ``hpcc``, with an input that this module writes. It is
linked with Open MPI and must be started by Open MPI's launcher: under another launcher, its
processes do not find each other.

References
----------
P. Luszczek et al., "The HPC Challenge (HPCC) benchmark suite", SC 2006,
doi:10.1145/1188455.1188677.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, ClassVar

from pydantic import Field

from bareline.formats import hpcc
from bareline.probes._native import TELL_KERNELS, kernels_printed
from bareline.probes.base import Probe, ProbeReading
from bareline.probes.compute import linpack_mpi as hpl
from bareline.vocabulary.errors import ParseError
from bareline.vocabulary.model import Command, Failed, Layer, Layout, Metric, Output, Sample

_INPUT = "hpccinf.txt"
_OUTPUT = "hpccoutf.txt"
#: The last lines of a complete output. A truncated output may also contain a complete summary.
_END = re.compile(r"^End of HPC Challenge tests\.\nCurrent time [^\n]*\n\n#{72}\n?\Z", re.MULTILINE)
_RANKS = re.compile(r"^CommWorldProcs=(\d{1,9})$", re.MULTILINE)
_SUCCESS = re.compile(r"^Success=1$", re.MULTILINE)
#: Metrics that imported outputs treat as details of the star metrics, but this probe does not.
_SINGLE = re.compile(r"^stream_single_|^(dgemm|fft|randomaccess)_rate_single$")
_DOUBLE_BYTES = 8
#: The parameter with the number of 8-byte words of a rank's array, by benchmark.
_ARRAY_WORDS = {"stream": "vector", "randomaccess": "n"}


@dataclass(frozen=True, slots=True)
class HpccParams:
    """Parameters of HPC Challenge.

    - `memory_bytes`: memory of each rank for HPL's matrix. Each STREAM array gets a third of this
      size, and the RandomAccess table at most half of it. In published results, a STREAM array is
      at least four times as large as the last-level cache, and HPL uses half of a node's memory.
    - `n`: order of HPL's matrix; with 0, the matrix fills `memory_bytes` on every rank.
    - `nb`: block size of HPL and PTRANS.
    """

    memory_bytes: Annotated[int, Field(ge=1 << 16, le=1 << 44)] = 32 << 20
    n: Annotated[int, Field(ge=0, le=10_000_000)] = 0
    nb: Annotated[int, Field(ge=1, le=1024)] = 80

    def order(self, ranks: int) -> int:
        """Return the order of HPL's matrix.

        With `n` = 0, this is the largest multiple of the block size that fits into the memory.
        """
        if self.n:
            return self.n
        fits = math.isqrt(self.memory_bytes * ranks // _DOUBLE_BYTES)
        return max(self.nb, fits // self.nb * self.nb)


def _summary_metrics() -> dict[str, Metric]:
    """Return the metrics of the summary.

    In this probe, results of a single rank are not details: they are compared by default.
    """
    metrics = hpcc.summary_metrics()
    for name, metric in metrics.items():
        if _SINGLE.search(name):
            metrics[name] = Metric(metric.unit, metric.better)
    return metrics


class Hpcc(Probe[HpccParams]):
    """The probe of the whole suite, with every value of its summary.

    A ``star`` value is the mean over ranks that run at the same time; a ``single`` value is of one
    rank while the other ranks wait. ``hpl_efficiency`` is HPL's rate divided by the number of ranks
    and by the ``single`` rate of DGEMM.
    """

    name: ClassVar[str] = "hpcc"
    layer: ClassVar[Layer] = Layer.COMPUTE
    title: ClassVar[str] = "the HPL rate (HPC Challenge)"
    summary: ClassVar[str] = "HPC Challenge: HPL, PTRANS, DGEMM, STREAM, RandomAccess, FFT, rings"
    source: ClassVar[str] = "HPC Challenge 1.5, run as it is"
    params = HpccParams
    metrics: ClassVar[Mapping[str, Metric]] = {
        **_summary_metrics(),
        "hpl_efficiency": Metric("1", "higher"),
    }
    min_ranks: ClassVar[int] = 2

    def command(self, params: HpccParams, layout: Layout) -> Command:
        threads = str(layout.threads_per_rank)
        return Command(
            argv=("hpcc",),
            mpi=True,
            # Without these variables, the BLAS of each rank would use every core.
            env=(("OMP_NUM_THREADS", threads), ("OPENBLAS_NUM_THREADS", threads), TELL_KERNELS),
            inputs=((_INPUT, input_text(params, layout.ranks)),),
            outputs=(_OUTPUT,),
            requires=("hpcc",),
        )

    def parse(self, params: HpccParams, output: Output) -> ProbeReading:
        text = output.files.get(_OUTPUT, "")
        ranks = _check_whole(text)
        values: dict[str, float] = {}
        arrays: dict[str, int] = {}
        for benchmark in hpcc.read(text):
            name = benchmark.probe.removeprefix("hpcc.")
            if name == "hpl" and benchmark.params.get("n") != params.order(ranks):
                raise ParseError(
                    f"HPL_N is {benchmark.params.get('n')} instead of the requested"
                    f" {params.order(ranks)}"
                )
            if isinstance(benchmark.outcome, Failed):
                raise ParseError(f"the benchmark {name} of hpcc failed: {benchmark.outcome.reason}")
            for sample in benchmark.outcome.samples:
                values[f"{name}_{sample.metric}"] = sample.value
            key = _ARRAY_WORDS.get(name)
            if key is not None and key in benchmark.params:
                arrays[f"{name}_"] = int(benchmark.params[key]) * _DOUBLE_BYTES
        single = ranks * values["dgemm_rate_single"]
        values["hpl_efficiency"] = values["hpl_rate"] / single
        samples = tuple(Sample(metric, value) for metric, value in values.items())
        return ProbeReading(samples, facts=kernels_printed(output), arrays=arrays)


def _check_whole(text: str) -> int:
    """Return the number of ranks of a complete run.

    Raises ParseError: the output is cut, or the processes ran as separate jobs.
    """
    if not text:
        raise ParseError(f"hpcc did not write its output file {_OUTPUT}")
    ranks = {int(match) for match in _RANKS.findall(text)}
    if len(hpcc.HEAD.findall(text)) > 1 or ranks == {1}:
        raise ParseError(
            "hpcc's processes did not find each other: hpcc is linked with another MPI library "
            "than the platform's (Debian's hpcc uses Open MPI); use a platform with mpi = 'openmpi'"
        )
    if not _END.search(text):
        raise ParseError(f"{_OUTPUT} is truncated: its last lines are missing")
    if not _SUCCESS.search(text):
        raise ParseError(f"{_OUTPUT} does not contain Success=1: a benchmark failed its own check")
    if len(ranks) != 1:
        raise ParseError(f"{_OUTPUT} does not give the number of ranks")
    return ranks.pop()


def input_text(params: HpccParams, ranks: int) -> str:
    """Return the text of hpccinf.txt: HPL's input, then the additions for PTRANS."""
    return (
        f"{hpl.input_text(params.order(ranks), params.nb, ranks, to_stdout=False)}"
        "separator\n"
        "0            number of additional problem sizes for PTRANS\n"
        f"{params.order(ranks):<12} values of N\n"
        "0            number of additional blocking sizes for PTRANS\n"
        f"{params.nb:<12} values of NB\n"
    )


PROBE = Hpcc()
