"""The reader of the Intel MPI Benchmarks, 3.2 to 2021: IMB-MPI1, -NBC, -EXT, -RMA, -IO and -P2P.

One launch runs several benchmarks, each with several numbers of processes. The output has a section
for each benchmark and number of processes. Each section is a separate trial, so that an incomplete
last section does not affect the other sections. A section in which further processes wait is named
``imb.NAME.subset``, because its few processes probably share a node.

References
----------
Intel, "Intel MPI Benchmarks User Guide and Methodology Description".
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import groupby, pairwise
from typing import TypeVar

from bareline.formats.damage import Omission
from bareline.formats.ends import death_caveat
from bareline.formats.imb_table import (
    DECIMAL_SINCE,
    PLAIN,
    ImbLaunch,
    expected_metrics,
    samples_of,
    table_metrics,
)
from bareline.formats.importer import Importer, facts_in, holding, moment_in, starts_at
from bareline.formats.reading import UNKNOWN_RANKS, Reading, outcome_of, unread
from bareline.formats.table import (
    NumberedLine,
    check_last_line,
    check_whole,
    number_lines,
    read_table,
)
from bareline.vocabulary.collectives import COLLECTIVES
from bareline.vocabulary.errors import ParseError
from bareline.vocabulary.model import Failed, Layer, Measured, Metric, Sample, Scalar

T = TypeVar("T")

TITLE = re.compile(
    r"^#\s+Intel ?\(R\) MPI Benchmarks?(?: Suite)? V?(?P<version>\d+(?:\.\d+)*(?: Update \d+)?)"
    r"(?:, (?P<part>\S+) part)?",
    re.MULTILINE,
)
_SECTION = re.compile(r"# Benchmarking (?:Multi-)?(?P<name>\w+)\s*$")
#: The title of a section; this pattern searches a whole text.
_SECTION_LINE = re.compile(rf"^{_SECTION.pattern}", re.MULTILINE)
_PROCESSES = re.compile(r"# #processes = (\d{1,9})\b(; rank order)?")
_GROUPS = re.compile(r"# \( (\d{1,9}) groups? of (\d{1,9}) processes")
_IDLE = re.compile(r"# \( (\d{1,9}) additional process(?:es)? waiting")
_MODE = re.compile(r"#\s+MODE: (\S+)")
_LARGEST = re.compile(
    r"^# Maximum (?:message length|io portion) in bytes:\s+(\d{1,15})\s*$", re.MULTILINE
)
_USER_LENGTHS = re.compile(r"(?:Message|IO) lengths were user defined|[ /]-msglen\b")
#: Benchmarks of IMB-IO.
_IO = re.compile(r"[SPC]_I?(?:Read|Write)_\w+|Open_Close")
_CHOSEN_SIZES = re.compile(r"^# .*[ /]-msglog\b", re.MULTILINE)
_CUT = re.compile(r"(out-of-mem\.|time-out\.|int-overflow\.)")
#: The last line of a whole output.
END = "All processes entering MPI_Finalize"
_DATE = re.compile(r"^# Date\s*: (\S.*\S)\s*$", re.MULTILINE)
_CALL = re.compile(r"^# Calling sequence was:\s*\n(?:\s*\n)*# (.*)$", re.MULTILINE)
_FACTS = {
    "import.imb": TITLE,
    "kernel.release": re.compile(r"^# Release\s*:\s*(\S.*?)\s*$", re.MULTILINE),
    "kernel.machine": re.compile(r"^# Machine\s*:\s*(\S.*?)\s*$", re.MULTILINE),
}
_LISTED = re.compile(r"^# ([A-Z]\w*)\s*$", re.MULTILINE)

#: First year in which calls are synchronised and the root stays, unless options say otherwise.
_SYNCHRONISED_SINCE = 2017
_SIZED = tuple(each for each in COLLECTIVES.values() if each.smallest_bytes)
_ROOTED = frozenset(each.imb for each in _SIZED if each.role != "all")
_REDUCTIONS = frozenset(each.imb for each in _SIZED if each.reduces)
_COLLECTIVES = frozenset(each.imb for each in _SIZED)
#: Options that change the measurement: their defaults, and the benchmarks that they affect (all
#: where none is named).
_OPTIONS: Mapping[str, tuple[str, frozenset[str]]] = {
    "off_cache": ("", frozenset()),
    "root_shift": ("off", _ROOTED),
    "sync": ("on", _COLLECTIVES),
    "imb_barrier": ("off", _COLLECTIVES),
    "data_type": ("byte", frozenset()),
    "red_data_type": ("float", _REDUCTIONS | {"Reduce_local"}),
    "contig_type": ("base", frozenset()),
    "thread_level": ("single", frozenset()),
    "window_size": ("", frozenset(("Uniband", "Biband"))),
    "warm_up": ("on", frozenset()),
    "msg_pause": ("off", frozenset()),
    "aggregate_mode": ("multiple", frozenset()),
    "mem_alloc_type": ("", frozenset()),
}
_OPTION = re.compile(r"-[A-Za-z][\w-]*")
#: Options that do not belong to a case: the sections print their values, or they define
#: repetitions, times or paths.
_LABELS = frozenset(
    (
        *("npmin", "multi", "map", "msglen", "msglog", "iter", "iter_policy", "time", "mem"),
        *("input", "include", "exclude", "h", "help", "part_rank", "list", "output", "yaml"),
        *("load", "dump", "pause_time", "alignment"),
    )
)
_SWITCHES = {
    **dict.fromkeys(("1", "enable", "yes", "on"), "on"),
    **dict.fromkeys(("0", "disable", "no", "off"), "off"),
}

#: Benchmarks whose last section runs all processes, unlike benchmarks of two processes.
_FOR_ALL = {"Sendrecv", "Exchange", "Uniband", "Biband", "Barrier", *_COLLECTIVES}


@dataclass(slots=True)
class _Part:
    name: str
    ranks: int = UNKNOWN_RANKS
    params: dict[str, Scalar] = field(default_factory=dict)
    columns: list[str] = field(default_factory=list)
    lines: list[NumberedLine] = field(default_factory=list)
    idle: int = 0
    cut: bool = False
    problem: str = ""
    caveats: tuple[str, ...] = ()


def read(text: str) -> Iterable[Reading]:
    """Return the trials of all sections, and failed trials of benchmarks without a section."""
    title = TITLE.search(text)
    if title is None:
        raise ParseError("there is no title of the Intel MPI Benchmarks")
    parts = _parts(text)
    listed = _listed(text)
    largest = _LARGEST.search(text)
    largest_bytes = int(largest[1]) if largest else None
    launch = ImbLaunch(
        _year(text),
        free_sizes=_USER_LENGTHS.search(text) is not None,
        largest_bytes=largest_bytes,
        any_after_zero=_CHOSEN_SIZES.search(text) is not None,
    )
    for part in parts:
        # IMB-P2P measures benchmarks of the same names in a different way.
        if title["part"] == "IMB-P2P":
            part.params["part"] = "p2p"
        yield _imported(part, launch)
    # In a complete output, the sections of some benchmarks may be missing (too few processes), but
    # not all sections.
    missing = [] if END in text and parts else set(listed) - {part.name for part in parts}
    for name in filter(missing.__contains__, listed):
        lacking = ParseError(f"{name} was requested, but the output has no section of it")
        yield _reading(_Part(name), expected_metrics(name), unread(lacking))
    if not parts and not listed:
        raise ParseError("no benchmark is named: the output is truncated")


def _listed(text: str) -> list[str]:
    rest = text.partition("# List of Benchmarks to run:")[2]
    return _LISTED.findall(rest.partition("#-----")[0])


def _parts(text: str) -> list[_Part]:
    """Return the sections of a launch, each with its error, if it has one."""
    parts = _sections(text)
    # If the head of a section is above the rows of another section, each row looks right; only the
    # sequence of heads is wrong.
    wrong = _contradicting_heads(parts, _listed(text), ended=END in text)
    for part in parts:
        unknown = "" if part.ranks else "the number of processes is missing"
        part.problem = wrong or part.problem or unknown
    if parts:
        _check_end(text, parts[-1])
    return parts


def _check_end(text: str, last: _Part) -> None:
    """If the launch ended with an error, record this error in its last section."""
    try:
        check_last_line(text)
        if END in text:  # the launch ended; another one may have died
            last.caveats = death_caveat(text)
        else:
            check_whole(text)
    except ParseError as error:
        last.problem = str(error)


def _sections(text: str) -> list[_Part]:
    """Return the sections with their rows, without checks."""
    parts: list[_Part] = []
    options = _options(text)
    for line in number_lines(text):
        if END in line.text:
            break
        if section := _SECTION.match(line.text):
            parts.append(_Part(section["name"], params=_params(section["name"], options)))
        elif parts:
            # The same benchmark in another mode has a separate table.
            if parts[-1].lines and _MODE.match(line.text):
                parts.append(replace(parts[-1], lines=[], columns=[], params={**parts[-1].params}))
            _take(line, parts[-1])
    return parts


def _options(text: str) -> dict[str, str]:
    """Return the options in the printed command line that change the measurement.

    Before 2017, the root rank changed between repetitions, and ranks were only synchronised if an
    option requested it.
    """
    old = _year(text) < _SYNCHRONISED_SINCE
    options = {"root_shift": "on", "sync": "off"} if old else {}
    line = _CALL.search(text)
    words = line[1].split() if line else []
    for word, value in pairwise(words):
        name = word.removeprefix("-")
        if _OPTION.fullmatch(word) and name not in _LABELS:
            given = "on" if _OPTION.fullmatch(value) else value.lower()
            options[name] = _SWITCHES.get(given, given)
    return options


def _params(name: str, options: Mapping[str, str]) -> dict[str, Scalar]:
    plain = name.removesuffix("_pure")
    blocking = plain[1:].capitalize() if plain[:1] == "I" and plain[1:2].islower() else plain
    params: dict[str, Scalar] = {}
    for option, value in options.items():
        default, concerned = _OPTIONS.get(option, ("", frozenset()))
        concerns_it = not concerned or blocking in concerned
        if concerns_it and value != default:
            params[option] = value
    return params


def _year(text: str) -> int:
    """Return the year or number of the version; 2018 if the output has no version."""
    match = TITLE.search(text)
    return int(match["version"].partition(".")[0].split()[0]) if match else DECIMAL_SINCE


def _contradicting_heads(parts: Sequence[_Part], listed: Sequence[str], *, ended: bool) -> str:
    """Return the error in the sequence of sections, or "".

    In a sequence without error, every section has the same total of running and waiting processes,
    and the benchmarks are in the order of the list. The number of processes doubles from section to
    section of a benchmark, until all processes run.
    """
    worlds = {part.ranks + part.idle for part in parts if part.ranks}
    if len(worlds) > 1:
        return "the running and waiting processes of the sections are not equally many"
    names = _without_repeats(part.name for part in parts)
    if listed and names != [name for name in listed if name in names]:
        return "the sections differ from the list of benchmarks, or from its order"
    for _, group in groupby(parts, key=lambda part: part.name):
        problem = _contradicting_counts(list(group), max(worlds, default=0), ended=ended)
        if problem:
            return problem
    return ""


def _without_repeats(values: Iterable[T]) -> list[T]:
    """Return the values, except each value that is equal to the previous value."""
    return [value for value, _ in groupby(values)]


def _contradicting_counts(sections: Sequence[_Part], world: int, *, ended: bool) -> str:
    """Return the error in the numbers of processes of a benchmark's sections, or ""."""
    if any("groups" in part.params for part in sections):
        return ""
    name = sections[0].name
    ranks = _without_repeats(part.ranks for part in sections)
    if any(after != min(2 * before, world) for before, after in pairwise(ranks)):
        return f"the numbers of processes of {name} do not double until all run"
    if ended and (len(ranks) > 1 or name in _FOR_ALL) and ranks[-1] != world:
        return f"the last section of {name} does not run all {world} processes"
    return ""


def _take(line: NumberedLine, part: _Part) -> None:
    text = line.text
    if text.split()[:1] in [[title] for title in PLAIN]:
        part.columns = text.replace("overlap [%]", "overlap[%]").split()
        if part.lines:
            part.problem = "one section contains two tables: lines are missing"
    elif match := _MODE.match(text):
        part.params["mode"] = match[1].lower()
    elif match := _PROCESSES.match(text):
        part.ranks = int(match[1])
        if match[2]:
            part.params["order"] = "mapped"
    elif match := _GROUPS.match(text):
        part.ranks = int(match[1]) * int(match[2])
        part.params["groups"] = int(match[1])
    elif match := _IDLE.match(text):
        part.idle = int(match[1])
        part.params["world_ranks"] = part.ranks + part.idle
    elif text.startswith("#"):
        pass  # a comment that does not belong to the section
    elif _CUT.search(text):
        part.cut = True
    elif part.columns:
        part.lines.append(line)


def _imported(part: _Part, launch: ImbLaunch) -> Reading:
    try:
        metrics = table_metrics(part.columns)
    except ParseError as error:
        return _reading(part, expected_metrics(part.name), unread(error))

    left_out: list[Omission] = []

    def read() -> Iterable[Sample]:
        if part.problem:
            raise ParseError(part.problem)
        table = read_table(part.columns, part.lines, left_out=left_out)
        return samples_of(table, part.name, launch, left_out, cut=part.cut)

    reading = _reading(part, metrics, outcome_of(metrics, read, left_out))
    return replace(reading, left_out=tuple(left_out), caveats=part.caveats)


def _reading(part: _Part, metrics: Mapping[str, Metric], outcome: Measured | Failed) -> Reading:
    probe = f"imb.{part.name.lower()}"
    title = f"IMB {part.name}"
    if part.idle:
        # A few of many processes mostly share a node, so that their times are a separate curve.
        probe += ".subset"
        title += " on some of the processes"
    layer = Layer.IO if _IO.fullmatch(part.name) else Layer.MPI
    return Reading(
        probe=probe,
        title=title,
        layer=layer,
        metrics=metrics,
        params=part.params,
        ranks=part.ranks,
        outcome=outcome,
    )


IMPORTER = Importer(
    name="imb",
    title="Intel MPI Benchmarks 3.2 to 2021",
    sniff=holding(TITLE),
    starts=starts_at(TITLE, inside=_SECTION_LINE),
    parse=read,
    started=moment_in(_DATE, "%a %b %d %H:%M:%S %Y"),
    facts=facts_in(_FACTS),
)
