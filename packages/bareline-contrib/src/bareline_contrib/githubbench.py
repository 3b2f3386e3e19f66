"""The importer of github-action-benchmark's store of all commits: ``data.js`` or its JSON.

An entry contains the results of a commit in a suite, and is a launch. The name of a result is the
benchmark; the suite is a parameter unless it has the default name. The spread in an entry
(``range``, ``extra``) has another form for every tool, and is left out.

The store does not contain the machine of an entry.

References
----------
"GitHub Action for Continuous Benchmarking", https://github.com/benchmark-action.
"""

from __future__ import annotations

import json
import re
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, datetime
from typing import Annotated, Any

from pydantic import Field

from bareline.formats.document import Amount, JsonModel, find_object, read_object
from bareline.formats.foreign import ForeignFigure, figure, plain_name
from bareline.formats.importer import Commit, Importer, holding
from bareline.formats.reading import UNTOLD, Reading, outcome_of, unread
from bareline.vocabulary.errors import ParseError
from bareline.vocabulary.model import Better, Failed, Layer, Measured, Sample, Scalar

_SNIFF = re.compile(r'"benches"\s*:\s*\[\s*(?:\{\s*"name"\s*:|\])')
_SCRIPT = re.compile(r"\s*window\.BENCHMARK_DATA\s*=\s*")
#: The suite of those who did not name theirs.
_DEFAULT_SUITE = "Benchmark"
_PER_CALL = re.compile(r"(.*)/(?:iter|iteration|op|call|run)", re.DOTALL)
_RATE = re.compile(r"(?:iter|iterations|ops|operations)/s(?:ec|econd)?")
#: Names of figures by their base units.
_NAMES: Mapping[str, str] = {
    "s": "time",
    "B": "memory",
    "op/s": "rate",
    "B/s": "bandwidth",
    "bit/s": "bandwidth",
    "flop/s": "rate",
}
#: Tools whose user declares which direction is better; all other tools measure costs.
_CHOSEN: Mapping[str, Better] = {
    "customBiggerIsBetter": "higher",
    "customSmallerIsBetter": "lower",
}
_TOOLS_OF_COSTS = frozenset(
    {"cargo", "go", "googlecpp", "catch2", "julia", "jmh", "benchmarkluau", "benchmarkdotnet"}
)


class _Commit(JsonModel):
    id: Annotated[str, Field(min_length=1)]
    timestamp: str | None = None


class _Entry(JsonModel):
    """The results of a commit; `date` is the time of storing, in ms."""

    commit: _Commit
    date: Annotated[int, Field(ge=0)]
    tool: str = ""
    benches: Annotated[list[dict[str, Any]], Field(min_length=1)]


class _Bench(JsonModel):
    name: Annotated[str, Field(min_length=1)]
    value: Amount
    unit: str


class _Store(JsonModel):
    entries: dict[str, list[dict[str, Any]]]


def _content(text: str) -> Mapping[str, Any]:
    script = _SCRIPT.match(text)
    return find_object(text[script.end() :] if script else text)


def split(text: str) -> Sequence[str]:
    """Return every entry as a separate store, in groups by commit.

    Commits are in the order of their first entries. The last update of each store is that of its
    entry, so that an entry has the same text in every later store. A damaged store stays whole.
    """
    try:
        content = _content(text)
        store = read_object(_Store, content)
    except ParseError:
        return (text,)
    entries = [(suite, entry) for suite, listed in store.entries.items() for entry in listed]
    if len(entries) == 1 and content.get("lastUpdate", 0) == entries[0][1].get("date", 0):
        return (text,)
    of_commit: dict[str, list[str]] = defaultdict(list)
    script = _SCRIPT.match(text)
    prefix = script[0] if script else ""
    for suite, entry in entries:
        head = {"lastUpdate": entry.get("date")} if "lastUpdate" in content else {}
        alone = {**content, **head, "entries": {suite: [entry]}}
        of_commit[json.dumps(_id_in(entry))].append(prefix + json.dumps(alone, indent=1))
    return [launch for launches in of_commit.values() for launch in launches]


def _id_in(entry: Mapping[str, Any]) -> Any:
    commit = entry.get("commit")
    return commit.get("id") if isinstance(commit, dict) else None


def read(text: str) -> Iterable[Reading]:
    """Return the trials of every result of an entry."""
    try:
        suite, entry = _only_entry(text)
    except ParseError as error:
        yield _reading("unknown", "", unread(error))
        return
    for bench in entry.benches:
        yield _result(suite, entry, bench)


def _only_entry(text: str) -> tuple[str, _Entry]:
    store = read_object(_Store, _content(text))
    found = [(suite, entry) for suite, listed in store.entries.items() for entry in listed]
    if not found:
        raise ParseError("'entries' is empty")
    suite, entry = found[0]
    return suite, read_object(_Entry, entry)


def _result(suite: str, entry: _Entry, content: Mapping[str, Any]) -> Reading:
    name = content.get("name")
    label = name if isinstance(name, str) else "unknown"
    try:
        bench = read_object(_Bench, content)
    except ParseError as error:
        return _reading(label, suite, unread(error), entry=entry)
    measured = _figure(bench.unit, entry.tool)
    value = bench.value * measured.factor
    metrics = {measured.name: measured.metric}
    if not value and measured.metric.unit == "s":
        outcome: Measured | Failed = unread(ParseError("a time of 0 was not measured"))
    else:
        outcome = outcome_of(metrics, lambda: [Sample(measured.name, value)])
    return _reading(label, suite, outcome, metrics, entry)


def _figure(unit: str, tool: str) -> ForeignFigure:
    """Return the metric of a unit: ``ns/iter`` is a time, ``iter/sec`` a rate."""
    per_call = _PER_CALL.fullmatch(unit)
    plain = per_call[1] if per_call else unit
    found = figure("value", "op/s" if _RATE.fullmatch(unit) else plain)
    if per_call and found.metric.unit not in ("s", "B"):
        found = figure("value", unit)
    chosen = _CHOSEN.get(tool)
    better: Better = chosen or found.metric.better
    if better == "none" and tool in _TOOLS_OF_COSTS:
        better = "lower"
    base = found.metric.unit
    metric = type(found.metric)(base, better)
    return ForeignFigure(_NAMES.get(base, found.name), metric, found.factor)


def _reading(
    name: str,
    suite: str,
    outcome: Measured | Failed,
    metrics: Mapping[str, Any] | None = None,
    entry: _Entry | None = None,
) -> Reading:
    plain = plain_name(name) or "unnamed"
    params: dict[str, Scalar] = {}
    # Two names of one plain name are two benchmarks.
    if plain != name:
        params["name"] = name
    if suite not in ("", _DEFAULT_SUITE):
        params["suite"] = suite
    return Reading(
        probe=f"githubbench.{plain}",
        title=f"{plain} (github-action-benchmark)",
        layer=Layer.APP,
        metrics=metrics or UNTOLD,
        params=params,
        outcome=outcome,
        platform=entry.commit.id[:8] if entry else "",
    )


def _started(text: str) -> datetime | None:
    """Return the time when the entry was stored."""
    try:
        return datetime.fromtimestamp(_only_entry(text)[1].date / 1e3, UTC)
    except (ParseError, ValueError, OverflowError, OSError):
        return None


def _identity(text: str) -> str:
    """Return suite, commit and time of the entry as one text."""
    try:
        suite, entry = _only_entry(text)
    except ParseError:
        return ""
    return f"{suite} {entry.commit.id} {entry.date}"


def _commit(text: str) -> Commit | None:
    """Return the commit with its date; the store does not contain the platform."""
    try:
        commit = _only_entry(text)[1].commit
    except ParseError:
        return None
    try:
        date = datetime.fromisoformat(commit.timestamp or "")
    except ValueError:
        return Commit(commit.id, platform="")
    return Commit(commit.id, date if date.tzinfo else date.replace(tzinfo=UTC), platform="")


def _facts(text: str) -> Mapping[str, Scalar]:
    try:
        _, entry = _only_entry(text)
    except ParseError:
        return {}
    facts: dict[str, Scalar] = {"import.commit": entry.commit.id}
    if entry.tool:
        facts["import.tool"] = entry.tool
    return facts


IMPORTER = Importer(
    name="githubbench",
    title="github-action-benchmark's data.js, or its JSON",
    sniff=holding(_SNIFF),
    launches=split,
    parse=read,
    started=_started,
    identity=_identity,
    facts=_facts,
    commit=_commit,
)
