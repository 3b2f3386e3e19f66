"""The published figures that come with bareline: loading, search and lists."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from decimal import Decimal
from functools import cache
from importlib import resources
from typing import Any

from pydantic import ValidationError
from typing_extensions import TypedDict

from bareline.published.model import Part, PublishedStudy, Result, Trials
from bareline.published.quantities import Spread
from bareline.published.ratios import Span, span_of
from bareline.vocabulary.errors import UsageError, did_you_mean
from bareline.vocabulary.model import Better
from bareline.vocabulary.rows import row_of
from bareline.vocabulary.source_place import CODES_FILE
from bareline.vocabulary.units import format_size, listing
from bareline.vocabulary.validation_errors import problem_of


@cache
def publications() -> dict[str, PublishedStudy]:
    """Return all publications by their id."""
    studies = {}
    for entry in sorted(resources.files(__package__).iterdir(), key=lambda entry: entry.name):
        if entry.name.endswith(".toml") and entry.name != CODES_FILE:
            study = read_publication(entry.read_text(encoding="utf-8"), where=entry.name)
            studies[study.id] = study
    return studies


def read_publication(text: str, *, where: str) -> PublishedStudy:
    """Return the publication in a text, after a check of its values.

    Raises UsageError: the text is not TOML, or a value is not valid; the message names file and
    key.
    """
    try:
        return PublishedStudy.model_validate(tomllib.loads(text, parse_float=Decimal))
    except tomllib.TOMLDecodeError as error:
        raise UsageError(f"not valid TOML: {error}", where=where) from error
    except ValidationError as error:
        problem = problem_of(error)
        text = f"'{problem.key}': {problem.clause}" if problem.place else problem.clause
        raise UsageError(text, where=where) from error


def find_publications(name: str) -> list[PublishedStudy]:
    """Return the publication with this id, or all publications that the study of this name repeats.

    Raises UsageError: neither a publication nor a study has the name.
    """
    everything = publications()
    if name in everything and everything[name].publication.study != name:
        return [everything[name]]
    studies = everything.values()
    chosen = [study for study in studies if name in (study.publication.study, study.id)]
    if not chosen:
        names = dict.fromkeys([*everything, *(study.publication.study for study in studies)])
        hint = did_you_mean(name, names, f"there are: {', '.join(names)}")
        raise UsageError(f"no publication or study is named '{name}'", hint=hint)
    return chosen


def find_part(reference: str) -> tuple[PublishedStudy, Part]:
    """Return the publication and the part that a reference such as ``nebula:table-4`` names.

    Raises UsageError: there is no such publication, or no such part of it.
    """
    name, colon, part = reference.partition(":")
    everything = publications()
    if not colon or name not in everything:
        hint = did_you_mean(name, everything, f"there are: {', '.join(everything)}")
        raise UsageError(f"no publication is named '{name}'", where=reference, hint=hint)
    study = everything[name]
    parts = {row.id: row for row in study.parts}
    if part not in parts:
        hint = did_you_mean(part, parts, f"it has: {', '.join(parts)}")
        raise UsageError(
            f"{study.publication.short} has no part '{part}'", where=reference, hint=hint
        )
    return study, parts[part]


class PublishedFigure(TypedDict):
    """A row of ``published``: a figure as a publication prints it.

    - `low`, `high`: the printed ends of a range; a bound has only one of them.
    - `conditions`: the conditions in `at`, in words.
    - `worse_low`, `worse_high`: the ends of the ratio to the baseline (above 1 is worse); null for
      an open end, or without a baseline.
    """

    publication: str
    id: str
    benchmark: str
    metric: str
    kind: str
    platform: str
    baseline: str | None
    value: float | None
    low: float | None
    high: float | None
    bound: str | None
    approx: bool
    unit: str
    better: Better
    at: dict[str, Any]
    conditions: str
    worse_low: float | None
    worse_high: float | None
    text: str
    probe: str | None
    probe_metric: str | None
    part: str
    label: str
    where: str
    note: str
    doubts: list[str]


def published_rows(name: str | None = None) -> list[PublishedFigure]:
    """Return the published figures as rows of ``bareline published``, one row per figure."""
    studies = list(publications().values())
    if name is not None:
        studies = find_publications(name)
    rows = []
    for study in studies:
        rows += [_result_row(study, result) for result in study.results]
        for trials in study.trials:
            rows += _trial_rows(study, trials)
    return rows


def _result_row(study: PublishedStudy, result: Result) -> PublishedFigure:
    span = span_of(result) or Span(None, None)
    return _row(
        study,
        result,
        value=_number(result.value),
        low=_number(result.low),
        high=_number(result.high),
        at={key: _plain(value) for key, value in result.at.items()},
        conditions=conditions(result.at),
        worse_low=_number(span.low),
        worse_high=_number(span.high),
        text=result.words,
        doubts=study.doubts(result.id),
    )


def _trial_rows(study: PublishedStudy, trials: Trials) -> list[PublishedFigure]:
    rows = []
    place = "trial" if trials.order == "time" else "rank"
    for number, value in enumerate(trials.values, 1):
        coordinates: dict[str, Any] = {"nodes": trials.nodes, place: number}
        if trials.retransmissions is not None:
            coordinates["retransmissions"] = trials.retransmissions[number - 1]
        row = _row(
            study,
            trials,
            **dict.fromkeys(("baseline", "low", "high", "bound", "worse_low", "worse_high")),
            id=f"{trials.id}-{number:02d}",
            kind="absolute",
            value=_number(value),
            approx=False,
            at=coordinates,
            conditions=conditions(coordinates),
            text=f"{value} {trials.unit}",
            note="",
            doubts=[],
        )
        rows.append(row)
    return rows


def _row(study: PublishedStudy, printed: Result | Trials, **given: Any) -> PublishedFigure:
    return row_of(
        PublishedFigure,
        printed,
        publication=study.id,
        probe=study.probe_of(printed),
        probe_metric=study.probe_metric_of(printed),
        part=f"{study.id}:{printed.part}",
        label=study.part(printed.part).label,
        **given,
    )


def _number(value: Decimal | None) -> int | float | None:
    if value is None:
        return None
    return int(value) if value == value.to_integral_value() else float(value)


def _plain(value: Any) -> Any:
    if not isinstance(value, Spread):
        return value
    return value.model_dump(by_alias=True, exclude_none=True, exclude_defaults=True)


#: Wording of a condition; a condition without one is written as "8 ranks".
_FORMS = {
    "size_bytes": "{} messages",
    "block_bytes": "{} blocks",
    "file_bytes": "{} files",
    "n": "order {}",
    "nb": "blocks of {}",
    "test": "step {}",
    "trial": "trial {}",
    "rank": "number {} by size",
}


def conditions(coordinates: Mapping[str, Any]) -> str:
    """Format conditions in one line: ``64 KiB messages, 16 to 128 ranks, between nodes``."""
    return ", ".join(_condition(key, value) for key, value in coordinates.items())


def _condition(key: str, value: Any) -> str:
    if isinstance(value, bool):
        return key if value else f"no {key}"
    if key == "sync":
        return "not synced" if value == "none" else "synced"
    if key == "placement":
        return "inside a node" if value == "intra_node" else "between nodes"
    text = _value_text(key, value)
    if key == "size_bytes" and isinstance(value, Spread) and value.label is not None:
        return text
    if key in _FORMS:
        return _FORMS[key].format(text)
    noun = key.removesuffix("s") if value == 1 else key
    return f"{text} {noun}"


def _value_text(key: str, value: Any) -> str:
    """Format the value of a condition; sizes have binary units."""
    write = format_size if key.endswith("_bytes") else str
    if isinstance(value, Spread):
        return value.text(write)
    if isinstance(value, list):
        return listing([str(item) for item in value])
    return write(value)
