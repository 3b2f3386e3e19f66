"""The reader of HPC Challenge 1.0 to 1.5: the summary at the end of ``hpccoutf.txt``.

Each benchmark of HPC Challenge is a separate trial. A "Star" value is a mean over processes that
run at the same time; a "single" value is of one process alone.

References
----------
P. Luszczek et al., "The HPC Challenge (HPCC) benchmark suite", SC 2006,
doi:10.1145/1188455.1188677.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from functools import partial

from bareline.formats import hpl
from bareline.formats.importer import Importer, holding
from bareline.formats.reading import UNKNOWN_RANKS, Column, Reading, outcome_of, unread
from bareline.formats.table import check_whole, integer, number
from bareline.vocabulary.errors import ParseError
from bareline.vocabulary.model import Better, Failed, Layer, Measured, Metric, Sample, Scalar

HEAD = re.compile(r"^This is the DARPA/DOE HPC Challenge Benchmark", re.MULTILINE)
_SUMMARY = re.compile(
    r"^Begin of Summary section\.\n(.*?)^End of Summary section\.", re.MULTILINE | re.DOTALL
)
_SUMMARY_BEGIN = re.compile(r"^Begin of Summary section\.", re.MULTILINE)
_STARTED = re.compile(r"^Current time \((\d{1,11})\) is ", re.MULTILINE)
_HPL_END = "End of HPL section."
_HPL = re.compile(rf"^Begin of HPL section\..*?^{_HPL_END}\n", re.MULTILINE | re.DOTALL)
_RESIDUAL_FAILED = re.compile(r"\|\|Ax-b\|\|.*\.+ FAILED")
#: For the end of a value's key: the base unit, and the factor from the value to this unit.
_UNITS = {
    "Tflops": ("flop/s", 1e12),
    "Gflops": ("flop/s", 1e9),
    "GUPs": ("op/s", 1e9),
    "usec": ("s", 1e-6),
    "time": ("s", 1.0),
}
#: Rates of memory and messages are in GB/s, even if the key does not contain the unit.
_BYTES = ("B/s", 1e9)
#: Metrics that repeat another metric or describe its spread.
_DETAIL = re.compile(r"single|lcg|_(min|max)$|^time$")


@dataclass(frozen=True, slots=True)
class _Group:
    """A benchmark of HPC Challenge.

    - `later`: keys that versions before 1.4 do not print.
    """

    name: str
    title: str
    layer: Layer
    values: Mapping[str, str]
    params: Mapping[str, str] = field(default_factory=dict)
    later: Mapping[str, str] = field(default_factory=dict)

    def known(self, values: Mapping[str, str]) -> Mapping[str, Column]:
        later = {key: name for key, name in self.later.items() if key in values}
        return {key: _column(key, name) for key, name in {**self.values, **later}.items()}


def _column(key: str, name: str) -> Column:
    unit, scale = _UNITS.get(key.rpartition("_")[2], _BYTES)
    detail = _DETAIL.search(name) is not None
    better: Better = "lower" if unit == "s" else "higher"
    return name, Metric(unit, better, detail), scale


_STREAM = ("Triad", "Copy", "Scale", "Add")
_GROUPS = (
    _Group(
        "hpl",
        "the HPL rate (HPCC)",
        Layer.COMPUTE,
        {"HPL_Tflops": "rate", "HPL_time": "time"},
        {"n": "HPL_N", "nb": "HPL_NB", "p": "HPL_nprow", "q": "HPL_npcol"},
    ),
    _Group(
        "dgemm",
        "the DGEMM rate (HPCC)",
        Layer.COMPUTE,
        {"StarDGEMM_Gflops": "rate", "SingleDGEMM_Gflops": "rate_single"},
        {"n": "DGEMM_N"},
    ),
    _Group(
        "fft",
        "the FFT rate (HPCC)",
        Layer.COMPUTE,
        {"StarFFT_Gflops": "rate", "SingleFFT_Gflops": "rate_single"},
        {"n": "FFT_N"},
    ),
    _Group(
        "stream",
        "memory bandwidth (HPCC STREAM)",
        Layer.MEMORY,
        {f"StarSTREAM_{kernel}": kernel.lower() for kernel in _STREAM}
        | {f"SingleSTREAM_{kernel}": f"single_{kernel.lower()}" for kernel in _STREAM},
        {"vector": "STREAM_VectorSize"},
    ),
    _Group(
        "randomaccess",
        "random memory updates (HPCC)",
        Layer.MEMORY,
        {"StarRandomAccess_GUPs": "rate", "SingleRandomAccess_GUPs": "rate_single"},
        {"n": "RandomAccess_N"},
        {
            "StarRandomAccess_LCG_GUPs": "rate_lcg",
            "SingleRandomAccess_LCG_GUPs": "rate_lcg_single",
        },
    ),
    _Group(
        "ptrans",
        "the parallel transpose (HPCC PTRANS)",
        Layer.MPI,
        {"PTRANS_GBs": "bandwidth"},
        {"n": "PTRANS_n", "nb": "PTRANS_nb", "p": "PTRANS_nprow", "q": "PTRANS_npcol"},
    ),
    _Group(
        "mpirandomaccess",
        "random updates over MPI (HPCC)",
        Layer.MPI,
        {"MPIRandomAccess_GUPs": "rate"},
        {"n": "MPIRandomAccess_N"},
        {"MPIRandomAccess_LCG_GUPs": "rate_lcg"},
    ),
    _Group(
        "mpifft",
        "the FFT over MPI (HPCC)",
        Layer.MPI,
        {"MPIFFT_Gflops": "rate"},
        {"n": "MPIFFT_N"},
    ),
    _Group(
        "pingpong",
        "MPI ping-pong (HPCC)",
        Layer.MPI,
        {
            "AvgPingPongLatency_usec": "latency",
            "MinPingPongLatency_usec": "latency_min",
            "MaxPingPongLatency_usec": "latency_max",
            "AvgPingPongBandwidth_GBytes": "bandwidth",
            "MinPingPongBandwidth_GBytes": "bandwidth_min",
            "MaxPingPongBandwidth_GBytes": "bandwidth_max",
        },
    ),
    _Group(
        "ring",
        "the random-order ring (HPCC)",
        Layer.MPI,
        {
            "RandomlyOrderedRingLatency_usec": "latency",
            "NaturallyOrderedRingLatency_usec": "latency_natural",
            "RandomlyOrderedRingBandwidth_GBytes": "bandwidth",
            "NaturallyOrderedRingBandwidth_GBytes": "bandwidth_natural",
        },
    ),
)


def summary_metrics() -> dict[str, Metric]:
    """Return the metrics of all benchmarks in one table, named ``<benchmark>_<metric>``."""
    metrics: dict[str, Metric] = {}
    for group in _GROUPS:
        for name, metric, _ in group.known(group.later).values():
            metrics[f"{group.name}_{name}"] = metric
    return metrics


def read(text: str) -> Iterable[Reading]:
    """Return the trials of the benchmarks in the summary."""
    try:
        values = _summary(text)
    except ParseError as error:
        for group in _GROUPS:
            yield replace(_imported(group, {}, text), outcome=unread(error))
        return
    for group in _GROUPS:
        yield _imported(group, values, text)
    yield from _other_systems(values, text)


def started(text: str) -> datetime | None:
    """Return the start of the launch, from the seconds since 1970 that HPCC prints."""
    match = _STARTED.search(text)
    return datetime.fromtimestamp(int(match[1]), UTC) if match else None


def facts(text: str) -> Mapping[str, Scalar]:
    """Return the version of HPC Challenge."""
    numbers = re.findall(r"^Version(?:Major|Minor|Micro)=(\d{1,3})$", text, re.MULTILINE)
    return {"import.hpcc": ".".join(numbers[:3])} if numbers else {}


def _other_systems(values: Mapping[str, str], text: str) -> Iterable[Reading]:
    """Yield the linear systems that HPL solved, except the system that the summary reports.

    If the summary does not contain the parameters of this system, yield nothing.
    """
    if not all(key in values for key in _GROUPS[0].params.values()):
        return
    section = _HPL.search(text)
    for reading in hpl.read(section[0], end=_HPL_END) if section else ():
        params = {name: value for name, value in reading.params.items() if name != "variant"}
        summed_up = {name: values[key] for name, key in _GROUPS[0].params.items()}
        if {name: str(value) for name, value in params.items()} != summed_up:
            # One launch measured all its systems, on all its processes.
            yield replace(
                reading,
                probe="hpcc.hpl",
                title=_GROUPS[0].title,
                params=params,
                ranks=_world(values) or reading.ranks,
            )


def _world(values: Mapping[str, str]) -> int:
    """Return the number of processes of the launch; 0 if the summary has no number."""
    text = values.get("CommWorldProcs", "")
    return int(text) if re.fullmatch(r"[1-9]\d{0,8}", text) else UNKNOWN_RANKS


def _starts(text: str) -> Sequence[int]:
    """Return the offsets of the outputs: of their heads or, without heads, of their summaries."""
    heads = [match.start() for match in HEAD.finditer(text)]
    return heads or [match.start() for match in _SUMMARY_BEGIN.finditer(text)]


def _summary(text: str) -> dict[str, str]:
    summaries = _SUMMARY.findall(text)
    if not summaries:
        check_whole(text)
        raise ParseError("there is no whole summary section: the run did not end")
    if len(summaries) > 1:
        raise ParseError("one launch has several summary sections")
    values: dict[str, str] = {}
    # A line without a key is from a launcher.
    for key, value in re.findall(r"^(\w+)=(.*)$", summaries[0], re.MULTILINE):
        if values.setdefault(key, value) != value:
            raise ParseError(f"the summary has two values of {key}")
    return values


def _imported(group: _Group, values: Mapping[str, str], text: str) -> Reading:
    metrics = {name: metric for name, metric, _ in group.known(values).values()}
    ranks = UNKNOWN_RANKS
    params = dict[str, Scalar]()
    try:
        for name, key in group.params.items():
            if key in values:
                params[name] = integer(values[key], key)
        if values.get("CommWorldProcs"):
            ranks = integer(values["CommWorldProcs"], "CommWorldProcs")
        outcome: Measured | Failed = outcome_of(metrics, partial(_samples, group, values, text))
    except ParseError as error:
        outcome = unread(error)
    return Reading(
        probe=f"hpcc.{group.name}",
        title=group.title,
        layer=group.layer,
        metrics=metrics,
        params=params,
        ranks=ranks,
        outcome=outcome,
    )


def _samples(group: _Group, values: Mapping[str, str], text: str) -> Iterable[Sample]:
    _check(group, values, text)
    for key, (name, _, scale) in group.known(values).items():
        if key not in values:
            raise ParseError(f"the summary has no {key}")
        if values[key].startswith("-"):
            raise ParseError(f"{key} = {values[key]}: the benchmark failed or was not run")
        value = number(values[key], key)
        if value == 0:
            raise ParseError(f"{key} = 0 is not a valid measurement")
        yield Sample(name, value * scale)


def _check(group: _Group, values: Mapping[str, str], text: str) -> None:
    if group.name == "hpl":
        _check_hpl(values, text)
    if group.name == "mpirandomaccess":
        wrong = number(values.get("MPIRandomAccess_ErrorsFraction", "0"), "ErrorsFraction")
        if wrong > 0.01:  # the benchmark's own limit
            raise ParseError(f"{wrong:.1%} of the updates of MPIRandomAccess are wrong")
    if group.name == "pingpong":
        _check_pingpong(values, "Latency_usec")
        _check_pingpong(values, "Bandwidth_GBytes")


def _check_hpl(values: Mapping[str, str], text: str) -> None:
    if _RESIDUAL_FAILED.search(text):
        raise ParseError("the residual check of HPL FAILED")
    n = number(values.get("HPL_N", ""), "HPL_N")
    time_s = number(values.get("HPL_time", "").lstrip("-"), "HPL_time")
    tflops = number(values.get("HPL_Tflops", "").lstrip("-"), "HPL_Tflops")
    if not 0.999 <= tflops * 1e12 * time_s / max(hpl.operations(n), 1.0) <= 1.001:
        raise ParseError("HPL_Tflops contradicts HPL_N and HPL_time")


def _check_pingpong(values: Mapping[str, str], quantity: str) -> None:
    low, mean, high = (
        number(values.get(f"{part}PingPong{quantity}", ""), f"{part}PingPong{quantity}")
        for part in ("Min", "Avg", "Max")
    )
    if not low <= mean <= high:
        raise ParseError(f"AvgPingPong{quantity} is not between Min and Max")


IMPORTER = Importer(
    name="hpcc",
    title="HPC Challenge (hpccoutf.txt)",
    sniff=holding(re.compile(r"HPC Challenge Benchmark|^Begin of Summary section\.", re.MULTILINE)),
    starts=_starts,  # HPCC appends to its file
    parse=read,
    started=started,
    facts=facts,
)
