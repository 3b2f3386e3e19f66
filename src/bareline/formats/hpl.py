"""The reader of High-Performance Linpack (HPL 1.0 to 2.3, and vendors' builds).

A launch solves one or several linear systems. Each line of results must have a valid residual, and
a rate that agrees with order and time: (2/3 n^3 + 3/2 n^2) / time.

References
----------
A. Petitet, R. C. Whaley, J. Dongarra, A. Cleary, "HPL: a portable implementation of the
High-Performance Linpack benchmark", https://www.netlib.org/benchmark/hpl.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from statistics import median

from bareline.formats.importer import Importer, moment_in, version_in
from bareline.formats.reading import UNKNOWN_RANKS, Reading, outcome_of
from bareline.formats.rounded import Rounded
from bareline.formats.table import check_whole, integer
from bareline.vocabulary.errors import ParseError
from bareline.vocabulary.model import Layer, Metric, Sample, Scalar

TITLE = re.compile(r"^HPLinpack (\S+) +-- ", re.MULTILINE)
_HEADER = re.compile(r"T/V +N +NB +P +Q +Time +Gflops")
#: The rate of one GPU, which vendors print in brackets behind the rate.
_PER_GPU = re.compile(r"\( *\S+ *\)\s*$")
_STARTED = re.compile(r"^HPL_pdgesv\(\) start time (.*\d)\s*$", re.MULTILINE)
_RESULT = re.compile(r"W[A-Z]\S*\s+\S+\s+\S")
#: Code of order, look-ahead depth, broadcast, recursive and panel factorisation; vendors' builds
#: print only the first parts.
_VARIANT = re.compile(r"W[A-Z]{1,3}\d(?:\d[LCR]\d{1,3}[LCR]\d{1,3})?")
_ASKED = re.compile(r"^(N|NB|P|Q) +:((?:\s+\d{1,9})+)\s*$", re.MULTILINE)
_RESIDUAL = re.compile(r"\|\|Ax-b\|\|.*=\s*(\S+) \.+ (PASSED|FAILED)")
_UNCHECKED = "completed without checking"
_END = "End of Tests."

#: The output of HPC Challenge, which may be truncated.
_HPCC = re.compile(
    r"HPC Challenge Benchmark(?s:.*?)(?:^End of HPC Challenge tests\.|\Z)", re.MULTILINE
)

_HPCC_END = re.compile(r"^End of HPC Challenge tests\.", re.MULTILINE)
_HPCC_SECTION = re.compile(r"^Begin of \w+ section\.", re.MULTILINE)
_HPCC_RULE = re.compile(r"^#{40,}$", re.MULTILINE)

METRICS: Mapping[str, Metric] = {
    "rate": Metric("flop/s", "higher"),
    "time": Metric("s", "lower", detail=True),
}


_MADE = partial(Reading, probe="hpl", title="the HPL rate", layer=Layer.COMPUTE, metrics=METRICS)


def operations(order: float) -> float:
    """Return the number of operations of a solution as HPL counts them.

    HPL uses this formula even if the program does fewer operations.
    """
    return (2 / 3 * order + 3 / 2) * float(order) ** 2


@dataclass(slots=True)
class _Result:
    fields: list[str]
    number: int
    passed: bool | None = None


@dataclass(frozen=True, slots=True)
class _Solution:
    """The rate in flop/s and the time in s of the solution of a linear system."""

    rate: float
    time_s: float


def read(text: str, *, end: str = _END) -> Iterable[Reading]:
    """Return the trials of a launch, one for each case.

    The values of a trial are the medians over all lines of results of its case.
    """
    cases: dict[tuple[str, ...], list[_Result]] = {}
    for result in _results(text):
        cases.setdefault(tuple(result.fields[:5]), []).append(result)
    if not cases:
        yield _MADE(ranks=UNKNOWN_RANKS, outcome=outcome_of(METRICS, partial(_nothing, text)))
    for results in cases.values():
        yield _imported(results, text, whole=end in text)


def _nothing(text: str) -> Iterable[Sample]:
    check_whole(text)
    raise ParseError("there is no line of results: the output is truncated")


def _results(text: str) -> list[_Result]:
    results: list[_Result] = []
    for line_number, line in enumerate(text.splitlines(), 1):
        if _RESULT.match(line):
            results.append(_Result(_PER_GPU.sub("", line).split(), line_number))
        elif results and (match := _RESIDUAL.search(line)):
            earlier = results[-1].passed
            results[-1].passed = match[2] == "PASSED" and earlier is not False
    return results


def _imported(results: Sequence[_Result], text: str, *, whole: bool) -> Reading:
    fields = results[0].fields
    params: dict[str, Scalar] = {"variant": fields[0]}
    ranks = UNKNOWN_RANKS
    if len(fields) == 7 and all(field.isascii() and field.isdecimal() for field in fields[1:5]):
        n, nb, p, q = (int(field[:9]) for field in fields[1:5])
        params |= {"n": n, "nb": nb, "p": p, "q": q}
        ranks = p * q
    caveats: tuple[str, ...] = ()
    if _UNCHECKED in text and all(result.passed is None for result in results):
        caveats += ("HPL ran without a check of its residuals",)
    if not whole:
        caveats += ("the output ends before HPL does: later tests are missing",)
    if len(results) > 1:
        caveats += (f"median of {len(results)} equal tests in one launch",)

    def read() -> Iterable[Sample]:
        if not _HEADER.search(text):
            raise ParseError("the titles of HPL's columns are missing")
        if not whole and results[-1].passed is None:
            check_whole(text)
        solutions = [_check(result, text) for result in results]
        yield Sample("rate", median(solution.rate for solution in solutions))
        yield Sample("time", median(solution.time_s for solution in solutions))

    outcome = outcome_of(METRICS, read)
    return _MADE(params=params, ranks=ranks, caveats=caveats, outcome=outcome)


def _check(result: _Result, text: str) -> _Solution:
    """Check that the numbers of a line agree with each other; return its rate and time."""
    where = f"line {result.number}"
    if len(result.fields) != 7:
        raise ParseError(f"{where} has {len(result.fields)} columns, but HPL prints 7")
    if result.passed is False:
        raise ParseError(f"{where}: the residual check FAILED")
    if result.passed is None and _UNCHECKED not in text:
        raise ParseError(f"{where} has no residual check: the output is truncated")
    variant, *counts, time_text, rate_text = result.fields
    if not _VARIANT.fullmatch(variant):
        raise ParseError(f"{where}: '{variant}' is not a variant of HPL")
    n, nb, p, q = (
        integer(field, f"{where}: {name}")
        for name, field in zip(("N", "NB", "P", "Q"), counts, strict=True)
    )
    _check_asked(n, nb, (p, q), text, where)
    if "e" in time_text or "e" not in rate_text:
        # Swapped values have the same product; only their notation reveals the swap.
        raise ParseError(f"{where}: Time and Gflops are swapped")
    time_s = Rounded.of(time_text, f"{where}: Time")
    gflops = Rounded.of(rate_text, f"{where}: Gflops")
    return _solution(n, time_s, gflops, where)


def _solution(order: int, time_s: Rounded, gflops: Rounded, where: str) -> _Solution:
    """Return the rate and the time of the solution of a linear system.

    Raises ParseError: rate and time contradict the order of the system.
    """
    if gflops.value <= 0:
        raise ParseError(f"{where}: a rate of 0 is not a valid measurement")
    needed = operations(order)
    slack_s = 1.01 * time_s.off
    slack = 1.01 * gflops.off
    low = needed / (time_s.value + slack_s) * 1e-9
    high = needed / max(time_s.value - slack_s, 1e-9) * 1e-9
    if not low - slack <= gflops.value <= high + slack:
        raise ParseError(f"{where}: Gflops contradicts N and Time")
    rate = gflops.value * 1e9
    if time_s.value < 1000 * time_s.off:
        # The two decimals of a short time are less precise than the four digits of the rate.
        return _Solution(rate, needed / rate)
    return _Solution(rate, time_s.value)


def _check_asked(n: int, nb: int, grid: tuple[int, int], text: str, where: str) -> None:
    requested = {name: list(map(int, values.split())) for name, values in _ASKED.findall(text)}
    grids = list(zip(requested.get("P", []), requested.get("Q", []), strict=False))
    rows = (("N", n, requested.get("N")), ("NB", nb, requested.get("NB")), ("P x Q", grid, grids))
    for name, value, values in rows:
        if not values:
            raise ParseError(f"the parameter {name} is missing above the results")
        if value not in values:
            raise ParseError(
                f"{where}: {name} = {value} is not one of the requested values; a column is "
                "probably shifted"
            )


def _starts(text: str) -> Sequence[int]:
    """Return the offsets of HPL's outputs, without the HPL runs inside HPC Challenge."""
    parts = [match.span() for match in _HPCC.finditer(text)]
    parts += _hpcc_without_title(text)
    starts: list[int] = []
    for title in TITLE.finditer(text):
        start = title.start()
        if not any(low <= start < high for low, high in parts):
            starts.append(start)
    return starts


def _hpcc_without_title(text: str) -> list[tuple[int, int]]:
    """Return start and end of each HPC Challenge output that has lost its title.

    Such an output is recognised by its sections and its last line. It begins at the last line of
    ``#`` before the first section; without such a line, at the end of the previous output.
    """
    spans = []
    previous_end = 0
    for match in _HPCC_END.finditer(text):
        section = _HPCC_SECTION.search(text, previous_end, match.start())
        if section is not None:
            start = previous_end
            for rule in _HPCC_RULE.finditer(text, previous_end, section.start()):
                start = rule.start()
            spans.append((start, match.end()))
        previous_end = match.end()
    return spans


IMPORTER = Importer(
    name="hpl",
    title="HPL (HPLinpack) 1.0 to 2.3",
    # HPC Challenge contains HPL, and has a separate importer.
    sniff=lambda text: bool(_starts(text)),
    starts=_starts,
    parse=read,
    started=moment_in(_STARTED, "%a %b %d %H:%M:%S %Y"),
    facts=version_in("import.hpl", TITLE),
)
