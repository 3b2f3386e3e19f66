"""The importer of Phoronix Test Suite's ``composite.xml``: all results of all systems.

Each run of a test is a launch, so that each value of a ``RawString`` is a trial: a document is
split into a document for each run, with the run's number. The XML parser is expat, which refuses
declarations of types and entities and has limits for depth and number of elements.

References
----------
Phoronix Media, "Phoronix Test Suite", https://github.com/phoronix-test-suite/phoronix-test-suite.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import pairwise
from statistics import fmean
from typing import NoReturn
from xml.parsers import expat

from bareline.formats.foreign import figure, plain_name
from bareline.formats.importer import Importer, holding, lost_titles, moment_in, version_in
from bareline.formats.reading import UNTOLD, Reading, outcome_of, unread
from bareline.formats.settings import Settings
from bareline.formats.table import integer, number, rounding
from bareline.vocabulary.errors import ParseError
from bareline.vocabulary.model import Better, Failed, Layer, Measured, Metric, Sample, Scalar, Stage

_ROOT = "PhoronixTestSuite"
_BEGIN = re.compile(rf"^[ \t]*<{_ROOT}>", re.MULTILINE)
_END = f"</{_ROOT}>"
_LAST = re.compile(_END)
#: Elements below the first one; one that nothing precedes is of a document that lost its first.
_INSIDE = re.compile(r"^[ \t]*<(?:Generated|System|Result)>", re.MULTILINE)
_PROLOG = re.compile(r"^<\?xml ", re.MULTILINE)
#: What stands between the declaration of XML and the first element is shorter.
_LONGEST_PROLOG = 2000
_TIME = re.compile(r"<TimeStamp>(\d{4}-\d\d-\d\d \d\d:\d\d:\d\d)</TimeStamp>")
_VERSION = re.compile(r"<TestClientVersion>v?(?P<version>\d[\w.]{0,20})</TestClientVersion>")
_MOST_BYTES = 32 << 20
_RAW = re.compile(r"<RawString>([^<]*)</RawString>")
#: The number of a run, from 1, in the document that was made of it.
_RUN = "Run"
#: The documents of all runs together are not larger; values of larger ones stay means.
_MOST_SPLIT_BYTES = 128 << 20
_MOST_ELEMENTS = 1_000_000
_DEEPEST = 8
#: Results with these are figures; others are pictures, sensors over time, or passed and failed.
_FIGURES = frozenset(("", "BAR_GRAPH", "HORIZONTAL_BAR_GRAPH"))
_BETTER: Mapping[str, Better] = {"HIB": "higher", "LIB": "lower"}
_TEST = re.compile(r"(?P<test>[^\s.]{1,200}?)-(?P<version>\d{1,9}\.\d{1,9}\.\d{1,9})")
#: A test without a version, as early releases have them.
_PLAIN_TEST = re.compile(r"[\w/+-]{1,200}")
SETTINGS = Settings(
    labels=frozenset(("Title", "DisplayFormat")),
    results=frozenset(("Scale", "Proportion")),
    defaults={"Arguments": ("",), "Description": ("",), "AppVersion": ("",)},
)


@dataclass(slots=True)
class _Element:
    """A result or an entry: the texts of its elements, and the names of repeated elements."""

    texts: dict[str, str] = field(default_factory=dict)
    entries: list[_Element] = field(default_factory=list)
    twice: set[str] = field(default_factory=set)

    def text(self, name: str) -> str:
        """Return an element's text, which may be empty.

        Raises ParseError: the element is missing or repeated.
        """
        if name in self.twice:
            raise ParseError(f"'{name}' appears twice")
        if name not in self.texts:
            raise ParseError(f"'{name}' is missing")
        return self.texts[name]


class _Document:
    """The results of a document, collected while expat reads it."""

    def __init__(self) -> None:
        self.results: list[_Element] = []
        self.run = ""
        self._path: list[str] = []
        self._words: list[str] = []
        self._elements = 0
        self._result = _Element()
        self._entry = _Element()

    def read(self, xml: str) -> None:
        """Read the results and the run's number from a document.

        Raises ParseError: the XML is damaged or of another kind.
        """
        parser = expat.ParserCreate()
        parser.StartElementHandler = self._start
        parser.EndElementHandler = self._end
        parser.CharacterDataHandler = self._words.append
        parser.StartDoctypeDeclHandler = self._refuse
        parser.EntityDeclHandler = self._refuse
        parser.ExternalEntityRefHandler = self._refuse
        try:
            parser.Parse(xml, True)
        except (expat.ExpatError, UnicodeError) as error:
            raise ParseError(f"the XML is damaged: {error}") from error

    @staticmethod
    def _refuse(*_: object) -> NoReturn:
        raise ParseError("the XML declares a type or entities, which no result of the suite does")

    def _start(self, name: str, _: Mapping[str, str]) -> None:
        self._elements += 1
        self._path.append(name)
        self._words.clear()
        if len(self._path) > _DEEPEST:
            raise ParseError(f"the XML is nested more than {_DEEPEST} deep")
        if self._elements > _MOST_ELEMENTS:
            raise ParseError(f"the XML has more than {_MOST_ELEMENTS:,} elements")
        if self._path[1:] == ["Result"]:
            self._result = _Element()
        elif self._path[1:] == ["Result", "Data", "Entry"]:
            self._entry = _Element()

    def _end(self, name: str) -> None:
        parents = self._path[1:-1]
        text = "".join(self._words).strip()
        self._words.clear()
        self._path.pop()
        if parents == ["Result"]:
            _put(self._result, name, text)
        elif parents == ["Result", "Data", "Entry"]:
            _put(self._entry, name, text)
        elif parents == ["Result", "Data"] and name == "Entry":
            self._result.entries.append(self._entry)
        elif not parents and name == "Result":
            self.results.append(self._result)
        elif not parents and name == _RUN:
            self.run = text


def _put(element: _Element, name: str, text: str) -> None:
    if name in element.texts:
        element.twice.add(name)
    element.texts[name] = text


def starts(text: str) -> Sequence[int]:
    """Return the offsets of documents, with their XML declarations."""
    offsets = list(lost_titles(text, _BEGIN, _INSIDE, _LAST))
    for match in _BEGIN.finditer(text):
        low = max(0, match.start() - _LONGEST_PROLOG)
        low = max(low, text.rfind(_END, low, match.start()))
        prologs = [each.start() for each in _PROLOG.finditer(text, low, match.start())]
        offsets.append(prologs[-1] if prologs else match.start())
    return sorted(offsets)


def split(text: str) -> Sequence[str]:
    """Return a document for each run of the tests in each document of a text."""
    later = starts(text)[1:]
    documents = [text[low:high] for low, high in pairwise([0, *later, len(text)])]
    return [run for document in documents for run in _runs(document)]


def _runs(document: str) -> list[str]:
    """Return a document for each run; a document of one run, or a damaged one, is unchanged."""
    root = f"<{_ROOT}>"
    runs = max((raw.count(":") + 1 for raw in _RAW.findall(document)), default=1)
    is_one = runs == 1 or f"<{_RUN}>" in document or _END not in document
    if is_one or root not in document or runs * len(document) > _MOST_SPLIT_BYTES:
        return [document]
    try:
        _Document().read(_document(document))
    except ParseError:
        return [document]  # It fails once, not once for each run.
    return [
        document.replace(root, f"{root}<{_RUN}>{run}</{_RUN}>", 1) for run in range(1, runs + 1)
    ]


def read(text: str) -> Iterable[Reading]:
    """Return the trials of a run, for every entry of a document."""
    document = _Document()
    try:
        document.read(_document(text))
        if not document.results:
            raise ParseError("the document has no result")
        run = integer(document.run, _RUN) if document.run else 0
    except ParseError as error:
        yield _failed("unknown", {}, unread(error))
        return
    for result in document.results:
        yield from _result(result, run)


def _document(text: str) -> str:
    """Return the document without a launcher's lines before and after it.

    Raises ParseError: the end of the document is missing, or the document is too large.
    """
    begins, end = starts(text), text.find(_END)
    if not begins or end < begins[0]:
        raise ParseError(f"{_END} is missing: the document is truncated")
    xml = text[begins[0] : end + len(_END)]
    if len(xml) > _MOST_BYTES:
        raise ParseError(f"the document is larger than {_MOST_BYTES >> 20} MiB")
    return xml


def _result(result: _Element, run: int) -> Iterable[Reading]:
    """Yield the trials of a result; failures only belong to the first run."""
    readings = _readings(result, run)
    for reading in readings:
        if run < 2 or isinstance(reading.outcome, Measured):
            yield reading


def _readings(result: _Element, run: int) -> Iterable[Reading]:
    test = result.texts.get("Identifier", "") or "unnamed"
    try:
        settings = {name: result.text(name) for name in ("Arguments", "Description", "AppVersion")}
        labels = {name: result.text(name) for name in ("Scale", "Proportion")}
        shape = result.text("DisplayFormat")
        test = result.text("Identifier")
        if not (_TEST.fullmatch(test) or _PLAIN_TEST.fullmatch(test)):
            raise ParseError(f"'{test[:60]}' is not the identifier of a test")
    except ParseError as error:
        yield _failed(test, {}, unread(error))
        return
    labels["Title"] = result.texts.get("Title", "")
    if settings["Arguments"]:
        labels["Description"] = settings.pop("Description")
    params = SETTINGS.case(settings)
    match = _TEST.fullmatch(test)
    if match is not None:
        params["test_version"] = match["version"]
    if shape not in _FIGURES:
        reason = f"{shape[:40]} is not a figure: a picture, a sensor over time, or no value at all"
        yield _failed(test, params, Failed(Stage.ABSENT, reason))
        return
    ignored = SETTINGS.ignored({**labels, **settings})
    for entry in result.entries:
        yield from _entry(test, params, labels, ignored, entry, run)
    if not result.entries:
        yield _failed(test, params, Failed(Stage.ABSENT, "the result has no entry"))


def _entry(
    test: str,
    params: Mapping[str, Scalar],
    labels: Mapping[str, str],
    ignored: tuple[str, ...],
    entry: _Element,
    run: int,
) -> Iterable[Reading]:
    """Yield the trial of a run of a system's entry, if the entry has so many runs.

    - `run`: number of the run, from 1; 0 for the value of all runs.
    """
    system = entry.texts.get("Identifier", "")
    measured = figure("result", labels["Scale"], _BETTER.get(labels["Proportion"], "none"))
    metrics = {measured.name: measured.metric}
    try:
        if not entry.text("Identifier"):
            raise ParseError("an entry names no system")
        values = _values(entry)
        mean = number(entry.text("Value"), "Value")
    except ParseError as error:
        yield _reading(test, params, metrics, unread(error), system, ignored)
        return
    if run > len(values):
        return
    value = values[run - 1] if run else mean
    samples = [Sample(measured.name, value * measured.factor)]
    reading = _reading(test, params, metrics, outcome_of(metrics, samples.copy), system, ignored)
    if not run and len(values) > 1:
        reading = replace(reading, caveats=(f"the value is that of {len(values)} runs",))
    yield reading


def _values(entry: _Element) -> list[float]:
    """Return the value of each run, of which the entry's value is the mean, least or largest.

    Raises ParseError: there is no value, one is not a number, or values and entry contradict each
    other.
    """
    value_text, raw = entry.text("Value"), entry.text("RawString")
    if not value_text:
        raise ParseError("the test gave no value")
    value = number(value_text, "Value")
    if value == 0:
        raise ParseError("Value = 0 is not a valid measurement")
    texts = [text for text in raw.split(":") if text]
    if not texts:
        return [value]
    values = [number(text, "RawString") for text in texts]
    least = min(range(len(values)), key=values.__getitem__)
    most = max(range(len(values)), key=values.__getitem__)
    offs = [rounding(text) for text in texts]
    summaries = (
        (fmean(values), fmean(offs)),
        (values[least], offs[least]),
        (values[most], offs[most]),
    )
    if not any(
        math.isclose(value, taken, rel_tol=1e-9, abs_tol=1.01 * (rounding(value_text) + off))
        for taken, off in summaries
    ):
        raise ParseError("Value is not the mean of RawString")
    return values


def _failed(test: str, params: Mapping[str, Scalar], failed: Failed) -> Reading:
    return _reading(test, params, UNTOLD, failed, "", ())


def _reading(
    test: str,
    params: Mapping[str, Scalar],
    metrics: Mapping[str, Metric],
    outcome: Measured | Failed,
    system: str,
    ignored: tuple[str, ...],
) -> Reading:
    match = _TEST.fullmatch(test)
    name = plain_name(match["test"] if match else test) or "unnamed"
    return Reading(
        probe=f"phoronix.{name}",
        title=f"the test {name} (Phoronix Test Suite)",
        layer=Layer.APP,
        metrics=metrics,
        params=params,
        platform=system,
        ignored=ignored,
        outcome=outcome,
    )


IMPORTER = Importer(
    name="phoronix",
    title="Phoronix Test Suite's composite.xml",
    sniff=holding(_BEGIN),
    launches=split,
    starts=starts,
    parse=read,
    started=moment_in(_TIME, "%Y-%m-%d %H:%M:%S"),
    facts=version_in("import.phoronix", _VERSION),
)
