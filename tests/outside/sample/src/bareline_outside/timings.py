"""An importer: below the title ``# timings`` a line such as ``12.50 ms task-clock``."""

from __future__ import annotations

import re
from collections.abc import Iterable

from bareline.formats.importer import Importer, holding
from bareline.formats.reading import Reading, outcome_of
from bareline.vocabulary.errors import ParseError
from bareline.vocabulary.model import Layer, Metric, Sample

_LINE = re.compile(r"^(\d+(?:\.\d+)?) ms task-clock$", re.MULTILINE)
_METRICS = {"time": Metric("s", "lower")}


def _parse(text: str) -> Iterable[Reading]:
    """Yield one trial."""

    def read() -> Iterable[Sample]:
        match = _LINE.search(text)
        if match is None:
            raise ParseError("no line of task-clock")
        yield Sample("time", float(match[1]) * 1e-3)

    yield Reading(
        probe="timings.task-clock",
        title="the processor time",
        layer=Layer.APP,
        metrics=_METRICS,
        outcome=outcome_of(_METRICS, read),
    )


IMPORTER = Importer(
    name="timings",
    title="task-clock lines",
    sniff=holding(re.compile(r"\A# timings\n")),
    parse=_parse,
)
