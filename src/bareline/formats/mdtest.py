"""mdtest, 3.x and 4.x, which comes with IOR: rates of operations on files and directories.

The iterations of ``-i`` run in one launch, of which mdtest prints the mean: that is the trial's
value, as no other one can be had. Phases that did not run stand with a rate of 0 and are left out.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterable, Sequence
from functools import partial
from itertools import pairwise

from bareline.formats.importer import Importer, holding, moment_in, version_in
from bareline.formats.reading import UNKNOWN_RANKS, UNTOLD, Reading, as_detail, outcome_of, unread
from bareline.formats.table import check_whole, number, rounding, split_before
from bareline.vocabulary.errors import ParseError
from bareline.vocabulary.model import Layer, Metric, Sample, Scalar

_LAUNCHED = re.compile(
    r"^mdtest-(\d+\.\d+\S*) was launched with (\d{1,9}) total task\(s\) on (\d{1,9}) node\(s\)",
    re.MULTILINE,
)
_BEGAN = re.compile(r"^-- started at (.*) --$", re.MULTILINE)
_START = re.compile(r"^(?:-- started at .* --\n\s*)?mdtest-\d", re.MULTILINE)
_COMMAND = re.compile(r"^Command line used: (.*)$", re.MULTILINE)
_SUMMARY = re.compile(r"^SUMMARY (rate|time).*?\(of (\d{1,6}) iterations\)", re.MULTILINE)
_ROW = re.compile(r"^   ([A-Z][a-z]+ [a-z]+)\s*:? +(\S+) +(\S+) +(\S+) +(\S+)$")
_END = re.compile(r"^-- finished at .* --$", re.MULTILINE)
_RATE = Metric("op/s", "higher")
#: Options that say where it ran or how often, not what was measured.
_LEFT_OUT = ("-d", "-i", "-o")


def read(text: str) -> Iterable[Reading]:
    """Read a launch."""
    launched = _LAUNCHED.search(text)
    made = partial(
        Reading,
        probe="mdtest.operations",
        title="operations on files and directories (mdtest)",
        layer=Layer.IO,
        ranks=int(launched[2]) if launched else UNKNOWN_RANKS,
    )
    params: dict[str, Scalar] = {}
    try:
        check_whole(text)
        if launched is None:
            raise ParseError("mdtest does not say with how many tasks it was launched")
        params = {"nodes": int(launched[3]), "options": _options(text)}
        rates = _rates(text)
    except ParseError as error:
        yield made(metrics=UNTOLD, params=params, outcome=unread(error))
        return
    # Trees are few, and their rates say little.
    metrics = {name: as_detail(_RATE) if name.startswith("tree") else _RATE for name in rates}
    samples = [Sample(name, rate) for name, rate in rates.items()]
    yield made(metrics=metrics, params=params, outcome=outcome_of(metrics, lambda: samples))


def _options(text: str) -> str:
    command = _COMMAND.search(text)
    if command is None:
        raise ParseError("the command line is missing")
    try:
        words = shlex.split(command[1])[1:]
    except ValueError as error:
        raise ParseError("the command line is damaged") from error
    options = (
        word
        for before, word in pairwise(["", *words])
        if before not in _LEFT_OUT and word not in _LEFT_OUT
    )
    return " ".join(options)


def _rates(text: str) -> dict[str, float]:
    """Give the mean rate of every operation that ran, in op/s."""
    summaries, end = list(_SUMMARY.finditer(text)), _END.search(text)
    rate = next((one for one in summaries if one[1] == "rate"), None)
    if rate is None or end is None:
        raise ParseError("mdtest did not finish, or did not print rates")
    later = [one.start() for one in summaries if one.start() > rate.start()]
    rates: dict[str, float] = {}
    for line in text[rate.end() : min([*later, end.start()])].splitlines():
        match = _ROW.match(line)
        if match is None:
            if re.match(r"   [A-Z][a-z]+ [a-z]+", line):
                raise ParseError(f"the row of '{line[3:23].strip()}' is damaged")
            continue
        name = match[1].lower().replace(" ", "_")
        if name in rates:
            raise ParseError(f"{match[1]} appears twice")
        rates[name] = _mean(match.groups()[1:], int(rate[2]), match[1])
    ran = {name: mean for name, mean in rates.items() if mean}
    if not ran:
        raise ParseError("no operation was measured")
    return ran


def _mean(cells: Sequence[str], iterations: int, what: str) -> float:
    highest, lowest, mean, spread = (number(cell, what) for cell in cells)
    off = rounding(cells[2]) * 2
    if not lowest - off <= mean <= highest + off:
        raise ParseError(f"{what}: the mean is not between minimum and maximum")
    if (iterations == 1 and (highest != lowest or spread)) or spread > highest - lowest + off:
        raise ParseError(f"{what}: spread, minimum and maximum contradict each other")
    return mean


IMPORTER = Importer(
    name="mdtest",
    title="mdtest 3.x and 4.x",
    sniff=holding(_LAUNCHED),
    launches=partial(split_before, _START),
    parse=read,
    started=moment_in(_BEGAN, "%m/%d/%Y %H:%M:%S"),
    facts=version_in("import.mdtest", _LAUNCHED),
)
