"""The reader of IOR's mdtest, 3.x and 4.x: rates of operations on files and directories.

The iterations of ``-i`` run in one launch. The value of a trial is their mean, because mdtest
prints nothing else. Phases that did not run have a rate of 0 and are left out.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterable, Iterator
from functools import partial
from itertools import pairwise

from bareline.formats.damage import Omission
from bareline.formats.ends import death_caveat
from bareline.formats.importer import Importer, holding, moment_in, starts_at, version_in
from bareline.formats.reading import UNKNOWN_RANKS, UNTOLD, Reading, as_detail, outcome_of, unread
from bareline.formats.table import check_last_line, check_whole, number, rounding
from bareline.vocabulary.errors import ParseError
from bareline.vocabulary.model import Layer, Metric, Sample, Scalar

_LAUNCHED = re.compile(
    r"^mdtest-(\d+\.\d+\S*) was launched with (\d{1,9}) total task\(s\) on (\d{1,9}) node\(s\)",
    re.MULTILINE,
)
_BEGAN = re.compile(r"^-- started at (.*) --$", re.MULTILINE)
_START = re.compile(r"^-- started at .* --\n(?:\s*mdtest-\d)?|^mdtest-\d", re.MULTILINE)
_COMMAND = re.compile(r"^Command line used: (.*)$", re.MULTILINE)
_SUMMARY = re.compile(r"^SUMMARY (rate|time).*?\(of (\d{1,6}) iterations\)", re.MULTILINE)
_ROW = re.compile(r"^   ([A-Z][a-z]+ [a-z]+(?: \(\w+\))?)\s*:? +(\S+) +(\S+) +(\S+) +(\S+)\s*$")
_ROW_START = re.compile(r"   [A-Z][a-z]+ [a-z]+")
_END = re.compile(r"^-- finished at .* --$", re.MULTILINE)
_RATE = Metric("op/s", "higher")
_OLD = re.compile(r"^mdtest-((?:1|2)\.\S+) was launched", re.MULTILINE)
#: Options whose next word does not belong to the case: paths, outputs, repetitions, seeds.
_WITH_VALUE = ("-d", "-i", "-o", "-x", "-V", "-G")
#: Such options with the value in the same word, and options of the output.
_LABELS = re.compile(
    r"-(?:[dioxVG])=.*|-v+|-P|-R\d+"
    r"|--(?:random-seed|saveRankPerformanceDetails|savePerOpDataCSV|run-cmd\S*)(?:=.*)?"
    r"|--(?:verbose|print-\S+)(?:=.*)?"
)


def read(text: str) -> Iterable[Reading]:
    """Return the trial of a launch."""
    launched = _LAUNCHED.search(text)
    ranks = int(launched[2]) if launched else UNKNOWN_RANKS
    made = partial(
        Reading,
        probe="mdtest.operations",
        title="operations on files and directories (mdtest)",
        layer=Layer.IO,
        ranks=ranks,
    )
    params: dict[str, Scalar] = {}
    left_out: list[Omission] = []
    ignored: tuple[str, ...] = ()
    caveats: tuple[str, ...] = ()
    try:
        old = _OLD.search(text)
        if old:
            raise ParseError(
                f"mdtest {old[1]} prints another format; bareline reads mdtest 3.x and 4.x"
            )
        caveats = _ending(text)
        if launched is None:
            raise ParseError("the output does not contain the number of tasks of mdtest")
        options, ignored = _options(text)
        params = {"nodes": int(launched[3]), "options": options}
        rates = _rates(text, left_out)
    except ParseError as error:
        yield made(metrics=UNTOLD, params=params, outcome=unread(error))
        return
    metrics = {name: _metric(name) for name in rates}
    samples = [Sample(name, rate) for name, rate in rates.items()]
    yield made(
        metrics=metrics,
        params=params,
        outcome=outcome_of(metrics, lambda: samples),
        caveats=caveats,
        ignored=ignored,
        left_out=tuple(left_out),
    )


def _ending(text: str) -> tuple[str, ...]:
    """Return the caveats of a complete output, or raise ParseError for a truncated one."""
    check_last_line(text)
    if _END.search(text):
        return death_caveat(text)
    check_whole(text)
    return ()


def _options(text: str) -> tuple[str, tuple[str, ...]]:
    """Return the options that belong to the case, and the ignored options with reasons."""
    command = _COMMAND.search(text)
    if command is None:
        raise ParseError("the command line is missing")
    try:
        words = shlex.split(command[1])[1:]
    except ValueError as error:
        raise ParseError("the command line is damaged") from error
    options: list[str] = []
    ignored: list[str] = []
    for before, word in pairwise(["", *words]):
        if word in _WITH_VALUE or before in _WITH_VALUE or _LABELS.fullmatch(word):
            ignored.append(word)
        else:
            options.append(word)
    return " ".join(options), tuple(f"{word}: a label" for word in ignored)


def _metric(name: str) -> Metric:
    # Trees are few, and their rates say little.
    return as_detail(_RATE) if name.startswith("tree") else _RATE


def _rates(text: str, left_out: list[Omission]) -> dict[str, float]:
    """Return the mean rate of every operation that ran, in op/s."""
    rates: dict[str, float] = {}
    for line_number, line in _summary_rows(text):
        try:
            name, mean = _row(line)
        except ParseError as error:
            left_out.append(Omission(str(error), line_number))
            continue
        if mean is None:
            reason = f"{name}: mdtest prints no maximum, minimum and spread of it"
            left_out.append(Omission(reason, line_number, lost=False))
        elif name in rates:
            raise ParseError(f"{name} appears twice")
        else:
            rates[name] = mean
    ran = {name: mean for name, mean in rates.items() if mean}
    if not ran:
        for omission in left_out:
            if omission.lost:
                raise ParseError(f"the rates cannot be read: {omission}")
        raise ParseError("no operation was measured")
    return ran


def _summary_rows(text: str) -> Iterator[tuple[int, str]]:
    """Yield the rows of the summary of rates, each with the number of its line.

    Raises ParseError: there is no such summary, or it is incomplete.
    """
    summaries = list(_SUMMARY.finditer(text))
    end = _END.search(text)
    rate = next((summary for summary in summaries if summary[1] == "rate"), None)
    if rate is None or end is None:
        raise ParseError("mdtest did not finish, or did not print rates")
    later = [summary.start() for summary in summaries if summary.start() > rate.start()]
    first_line = text.count("\n", 0, rate.end())
    rows = text[rate.end() : min([*later, end.start()])].splitlines()
    for line_number, line in enumerate(rows, first_line + 1):
        if _ROW_START.match(line):
            yield line_number, line


def _row(line: str) -> tuple[str, float | None]:
    """Return operation and mean rate of a row; the rate is None if the row contains "NA".

    With one iteration, the maximum, minimum and spread of mdtest 3.3 and later are over the tasks
    instead of over the iterations.
    """
    match = _ROW.match(line)
    if match is None:
        raise ParseError(f"the row of '{line[3:23].strip()}' is damaged")
    operation = match[1]
    name = re.sub(r"\W+", "_", operation.lower()).strip("_")
    if "NA" in match.groups()[1:]:
        return name, None
    highest, lowest, mean, spread = (number(cell, operation) for cell in match.groups()[1:])
    off = rounding(match[4]) * 2
    if not lowest - off <= mean <= highest + off:
        raise ParseError(f"{operation}: the mean is not between minimum and maximum")
    if spread > highest - lowest + off:
        raise ParseError(f"{operation}: spread, minimum and maximum contradict each other")
    return name, mean


IMPORTER = Importer(
    name="mdtest",
    title="mdtest 3.x and 4.x",
    sniff=holding(_LAUNCHED),
    starts=starts_at(_START),
    parse=read,
    started=moment_in(_BEGAN, "%m/%d/%Y %H:%M:%S"),
    facts=version_in("import.mdtest", _LAUNCHED),
)
