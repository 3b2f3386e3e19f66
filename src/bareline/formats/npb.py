"""The reader of NASA's NAS Parallel Benchmarks, 2.x and 3.x: MPI, OpenMP, hybrid or serial.

A launch ends in a summary, from which everything is read. If the summary has neither processes nor
threads, the title decides whether the program is serial.

References
----------
D. Bailey et al., "The NAS Parallel Benchmarks", RNR-94-007, 1994.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from functools import partial

from bareline.formats.damage import Omission
from bareline.formats.ends import death_caveat, death_in
from bareline.formats.importer import Importer, holding, starts_at, version_in
from bareline.formats.reading import UNKNOWN_RANKS, Reading, outcome_of, unread
from bareline.formats.table import integer
from bareline.vocabulary.errors import ParseError
from bareline.vocabulary.model import Layer, Metric, Sample, Scalar

TITLE = re.compile(
    r"^ *NAS Parallel Benchmarks? \(?(?:NPB ?)?(?P<version>\d+(?:\.\d+)*)(?P<variant>.*)$",
    re.MULTILINE,
)
_COMPLETED = re.compile(r"^ *([A-Z]{2}(?:-MZ)?) Benchmark Completed\.?[ \r]*$", re.MULTILINE)
_NAME = re.compile(r"[A-Za-z/ ]+")
_VERSION = re.compile(r"^ *Version +=? +(?P<version>\d[\w.]*)[ \r]*$", re.MULTILINE)
_SERIAL = re.compile(r"-SER\b|\bserial\b", re.IGNORECASE)
_OPENMP = re.compile(r"-OMP\b|\bOpenMP\b", re.IGNORECASE)
#: The way in which BT writes its solution; BT with this output is a separate benchmark.
_BTIO = re.compile(r"^ *BTIO -- (\w+)", re.MULTILINE)
#: In every version, the last line contains the address for the submission of results.
_END = re.compile(r"^.*npb@nas\.nasa\.gov[ \r]*$", re.MULTILINE)
_DECIMAL = re.compile(r"\d{1,15}\.\d{2}")
#: NPB prints seconds and Mop/s with two decimals.
HALF_DIGIT = 0.006
#: Benchmarks whose Mop/s are operations; for DC and DT they are tuples and bytes.
_KERNELS = frozenset(("EP", "IS", "CG", "MG", "FT", "BT", "SP", "LU", "UA"))
_ZONES = frozenset(("BT-MZ", "SP-MZ", "LU-MZ"))
_CLASS = re.compile(r"[A-Z]")
#: Names of the number of processes that took part, by version.
_ACTIVE = ("Active processes", "Active procs")

METRICS: Mapping[str, Metric] = {"rate": Metric("op/s", "higher"), "time": Metric("s", "lower")}


@dataclass(frozen=True, slots=True)
class NpbSummary:
    """The lines of a summary by name, and the benchmark: ``CG``, ``BT-MZ``."""

    benchmark: str
    fields: Mapping[str, str]

    def field(self, name: str) -> str:
        """Return the text of a line.

        Raises ParseError: the line is missing.
        """
        if name not in self.fields:
            raise ParseError(f"the summary has no line '{name}'; is it of another version of NPB?")
        return self.fields[name]

    def decimal(self, name: str) -> float:
        """Return a number with two decimals.

        Raises ParseError: the text is not a number with two decimals.
        """
        text = self.field(name)
        if not _DECIMAL.fullmatch(text):
            raise ParseError(f"'{name}' is '{text[:40]}', not a number with two decimals")
        return float(text)

    def count(self, *names: str) -> int | None:
        """Return a number of processes or threads, by the first name that the summary has.

        Raises ParseError: the text is not a number, or it is 0.
        """
        for name in names:
            if name in self.fields:
                number = integer(self.fields[name], name)
                if not number:
                    raise ParseError(f"'{name}' is 0 in the summary, but must be above 0")
                return number
        return None

    def check_verified(self) -> None:
        """Check that the benchmark verified its result.

        Raises ParseError: the result was wrong, or was not verified.
        """
        verification = self.field("Verification")
        if verification != "SUCCESSFUL":
            raise ParseError(
                f"the result is wrong: NPB reports verification {verification[:40].lower()}"
            )


def read_summary(text: str) -> NpbSummary:
    """Return the summary at the end of an output.

    Raises ParseError: there is not exactly one summary, or it is incomplete or has a line twice.
    """
    titles = list(_COMPLETED.finditer(text))
    if not titles:
        death = death_in(text)
        died = f"; the job died: '{death.words}'" if death else ""
        reason = "the output has no summary: the program did not end"
        raise ParseError(reason + died)
    if len(titles) > 1:
        raise ParseError(
            f"{len(titles)} summaries instead of one: the ranks do not know of each other, so "
            "the program was compiled for another MPI library than the platform's, or for none"
        )
    end = _END.search(text, titles[0].end())
    if end is None:
        raise ParseError("the output is truncated: the summary has no end")
    fields: dict[str, str] = {}
    for line in text[titles[0].end() : end.start()].splitlines():
        before, _, after = line.partition("=")
        name = before.strip()
        value = after.strip()
        if not value or _NAME.fullmatch(name) is None:
            continue
        if name in fields:
            raise ParseError(f"'{name[:60]}' appears twice in the summary")
        fields[name] = value
    return NpbSummary(titles[0][1], fields)


def read(text: str) -> Iterable[Reading]:
    """Return the trial in the summary of a launch."""
    try:
        summary = read_summary(text)
        reading = _reading(text, summary)
    except ParseError as error:
        completed = _COMPLETED.search(text)
        name = completed[1] if completed else _titled(text)
        yield Reading(
            probe=_probe(name),
            title=_title(name),
            layer=Layer.NPB,
            metrics=METRICS,
            ranks=UNKNOWN_RANKS,
            outcome=unread(error),
        )
        return
    yield reading


def _titled(text: str) -> str:
    """Return the name of the benchmark in the title, or ``unknown``."""
    title = TITLE.search(text)
    named = re.search(r"\b([A-Z]{2}(?:-MZ)?) ", title["variant"]) if title else None
    return named[1] if named else "unknown"


def _probe(benchmark: str) -> str:
    return f"npb.reference.{benchmark.lower().replace('-', '_')}"


def _title(benchmark: str) -> str:
    return f"the NAS benchmark {benchmark}"


def _reading(text: str, summary: NpbSummary) -> Reading:
    """Return the trial of a complete summary.

    Raises ParseError: the case is unknown.
    """
    benchmark = summary.benchmark
    if benchmark not in _KERNELS | _ZONES:
        raise ParseError(f"the Mop/s of {benchmark} are not operations per second")
    problem_class = summary.field("Class")
    if not _CLASS.fullmatch(problem_class):
        raise ParseError(f"'{problem_class[:40]}' is not a problem class of NPB")
    started = summary.count("Total processes")
    ranks = summary.count(*_ACTIVE) or started
    threads = summary.count("Total threads", "Threads")
    if ranks is None:
        _check_without_mpi(text, threads)
    params: dict[str, Scalar] = {"class": problem_class}
    if started is not None and started != ranks:
        params["started_ranks"] = started
    btio = _BTIO.search(text)
    if btio is not None and btio[1] != "statistics":
        params["io"] = btio[1].lower()
    left_out: list[Omission] = []
    read_samples = partial(_samples, summary, ranks, threads, left_out)
    reading = Reading(
        probe=_probe(benchmark),
        title=_title(benchmark),
        layer=Layer.NPB,
        metrics=METRICS,
        params=params,
        ranks=ranks or 1,
        threads=_threads_of_a_rank(ranks or 1, threads or 1),
        caveats=death_caveat(text),
        outcome=outcome_of(METRICS, read_samples, left_out),
    )
    return replace(reading, left_out=tuple(left_out))


def _check_without_mpi(text: str, threads: int | None) -> None:
    """Check that the title shows a program without processes, or raise ParseError."""
    title = TITLE.search(text)
    variant = title["variant"] if title else ""
    expected = _SERIAL if threads is None else _OPENMP
    if "MPI" in variant or expected.search(variant) is None:
        kind = "serial" if threads is None else "of OpenMP alone"
        raise ParseError(
            f"the summary does not contain the number of processes, and no title shows that the"
            f" program is {kind}"
        )


def _threads_of_a_rank(ranks: int, threads: int) -> int:
    """Return the threads of each rank; multi-zone benchmarks print the sum over all ranks."""
    return max(1, threads // ranks)


def _samples(
    summary: NpbSummary, ranks: int | None, threads: int | None, left_out: list[Omission]
) -> Iterable[Sample]:
    summary.check_verified()
    time_s = summary.decimal("Time in seconds")
    rate_mops = summary.decimal("Mop/s total")
    if rate_mops <= 0:
        raise ParseError("Mop/s are zero: NPB could not resolve the time; take a larger class")
    _check_share(summary, rate_mops, "process", ranks)
    _check_share(summary, rate_mops, "thread", threads)
    yield Sample("rate", rate_mops * 1e6)
    if time_s == 0:
        left_out.append(Omission("Time in seconds = 0.00: NPB prints two decimals", lost=False))
        return
    yield Sample("time", time_s)


def _check_share(summary: NpbSummary, rate_mops: float, unit: str, number: int | None) -> None:
    """Check that the total Mop/s agree with the rate of a process or thread.

    Raises ParseError: the rates contradict each other, the rate of a process or thread is missing,
    or the number of processes or threads is missing.
    """
    name = f"Mop/s/{unit}"
    if number is None:
        if name in summary.fields:
            raise ParseError(f"the summary has '{name}', but not the number of {unit}s")
        return
    if name not in summary.fields and unit == "thread":
        return  # OpenMP versions in C, and hybrid ones, print one of both shares.
    if name not in summary.fields and "Mop/s/thread" in summary.fields:
        return
    share_mops = summary.decimal(name)
    if abs(rate_mops - number * share_mops) > HALF_DIGIT * (number + 2):
        raise ParseError(f"Mop/s in total and by {unit} contradict each other")


IMPORTER = Importer(
    name="npb",
    title="NAS Parallel Benchmarks 2.x and 3.x",
    sniff=holding(TITLE, _COMPLETED),
    starts=starts_at(TITLE, inside=_COMPLETED, last=_END),
    parse=read,
    facts=version_in("import.npb", _VERSION),
)
