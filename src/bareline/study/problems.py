"""Errors of a study file, in the words of the file."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from pydantic import BaseModel, ValidationError

from bareline.probes.app.program import Program
from bareline.probes.base import Probe
from bareline.study.measure import Exhibit, Measure, MeasureScale, StudyScale
from bareline.study.roles import Role
from bareline.study.variant import Variant
from bareline.vocabulary.errors import StudyError, did_you_mean
from bareline.vocabulary.sources import Source
from bareline.vocabulary.validation_errors import problem_of

#: Tables of a file: the key of `Study` that has them, and the model that checks one.
TABLES: Mapping[str, tuple[str, type[BaseModel]]] = {
    "measure": ("measures", Measure),
    "exhibit": ("exhibits", Exhibit),
    "role": ("roles", Role),
    "scale": ("scales", StudyScale),
    "app": ("programs", Program),
    "from": ("sources", Source),
    "variant": ("variants", Variant),
}
#: Tables of which a file has a list.
LISTED = ("measure", "exhibit")


def study_error(error: ValidationError, study: type[BaseModel], *, where: str) -> StudyError:
    """Return a StudyError for the errors in a study, with the words and keys of its file."""
    problem = problem_of(error)
    place = list(problem.place)
    table = next((name for name, (key, _) in TABLES.items() if place[:1] == [key]), "")
    message = problem.clause
    hint = None
    if problem.kind == "extra_forbidden":
        listed_keys = {key for key, _ in TABLES.values()}
        hint = suggest(place[-1], set(_model_of(table, place, study).model_fields) - listed_keys)
    elif problem.kind == "too_short" and place == ["measures"]:
        message = "the study measures nothing"
        hint = "add a [[measure]] table"
    return StudyError(f"{_key_words(table, place)}: {message}", where=where, hint=hint)


def _model_of(table: str, place: Sequence[str], study: type[BaseModel]) -> type[BaseModel]:
    """Return the model that checks the table of a key, or the study for a key without a table."""
    if not table:
        return study
    if table in LISTED and place[2:3] == ["scale"]:
        return MeasureScale
    _, model = TABLES[table]
    return model


def _key_words(table: str, place: Sequence[str]) -> str:
    """Describe a key as the file names it: ``[[measure]] number 2, key 'ranks'``."""
    if not table:
        return f"[study], key '{'.'.join(place)}'" if place else "[study]"
    head = f"[[{table}]]" if table in LISTED else f"[{table}]"
    if len(place) > 1:
        head = f"[{table}.{place[1]}]"
        if table in LISTED:
            head = f"[[{table}]] number {int(place[1]) + 1}"
    if len(place) > 2:
        head += f", key '{'.'.join(place[2:])}'"
    return head


def suggest(wrong: str, keys: set[str]) -> str:
    """Return a hint with the most similar key, or with all keys."""
    return did_you_mean(wrong, keys, f"use one of: {', '.join(sorted(keys))}")


def check_question(
    question: Sequence[str],
    probes: Iterable[Probe[Any]],
    platforms: Sequence[str] = (),
    *,
    where: str = "[study], key 'question'",
) -> None:
    """Refuse a question, ``question = ["app.ocean time"]``, that no result of the study can answer.

    Each text of a question names a probe or a layer of the study, and after it a metric if this is
    not the headline metric. ``PLATFORM:`` in front restricts the text to one platform.
    `bareline.analysis.numbers.selection.selector_filter` selects the rows of a comparison by this
    text.

    - `platforms`: the platforms of the run, if they are known.

    Raises StudyError: the study does not measure the probe, layer or metric, or the run does not
        have the platform.
    """
    metrics: dict[str, list[str]] = {}
    for probe in probes:
        metrics[probe.name] = list(probe.metrics)
        metrics.setdefault(probe.layer, []).extend(probe.metrics)
    answers = set(metrics)
    for subject, names in metrics.items():
        answers.update(f"{subject}.{name}" for name in names)
    for text in question:
        platform, colon, name = ".".join(text.split()).rpartition(":")
        if colon and platforms and platform not in platforms:
            raise StudyError(
                f"the question '{text}' is about '{platform}', which is not a platform of the run",
                where=where,
                hint=did_you_mean(platform, platforms, f"the run has: {', '.join(platforms)}"),
            )
        if name not in answers:
            raise _unanswerable(text, name, metrics, where)


def subjects_of(probe: Probe[Any]) -> set[str]:
    """Return the words with which a question can name a probe: its name, layer and metrics."""
    layer = probe.layer.value
    subjects = {probe.name, layer}
    for metric in probe.metrics:
        subjects |= {f"{probe.name}.{metric}", f"{layer}.{metric}"}
    return subjects


def _unanswerable(
    text: str, name: str, metrics: Mapping[str, Sequence[str]], where: str
) -> StudyError:
    """Return the error for a text of a question, with the closest possible answer.

    - `name`: the probe or layer in the text, with the metric.
    """
    subject = next((subject for subject in metrics if name.startswith(f"{subject}.")), "")
    lacking = "the study does not measure it"
    possible = list(metrics)
    if subject:
        lacking = f"{subject} has no such metric"
        possible = list(metrics[subject])
    examples = f"ask e.g. {', '.join(possible[:6])}"
    return StudyError(
        f"'{text}' cannot be the question of this study because {lacking}",
        where=where,
        hint=did_you_mean(name.removeprefix(f"{subject}."), possible, examples),
    )
