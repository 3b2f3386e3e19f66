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
from bareline.vocabulary.invalid import problem_of
from bareline.vocabulary.sources import Source

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
    """Describe the errors of a study in the words of its file, and with its keys."""
    problem = problem_of(error)
    place = list(problem.place)
    table = next((table for table, (key, _) in TABLES.items() if place[:1] == [key]), "")
    model = TABLES[table][1] if table else study
    message, hint = problem.clause, None
    if not table:
        key = f"[study], key '{'.'.join(place)}'" if place else "[study]"
    elif table in LISTED:
        key = f"[[{table}]] number {int(place[1]) + 1}" if len(place) > 1 else f"[[{table}]]"
        model = MeasureScale if place[2:3] == ["scale"] else model
    else:
        key = f"[{table}.{place[1]}]" if len(place) > 1 else f"[{table}]"
    if table and len(place) > 2:
        key += f", key '{'.'.join(place[2:])}'"
    if problem.kind == "extra_forbidden":
        hint = suggest(place[-1], set(model.model_fields) - {key for key, _ in TABLES.values()})
    elif problem.kind == "too_short" and place == ["measures"]:
        message, hint = "the study measures nothing", "add a [[measure]] table"
    return StudyError(f"{key}: {message}", where=where, hint=hint)


def suggest(wrong: str, known: set[str]) -> str:
    """Name the key that was probably meant, or all."""
    return did_you_mean(wrong, known, f"use one of: {', '.join(sorted(known))}")


def check_question(
    question: Sequence[str],
    probes: Iterable[Probe[Any]],
    platforms: Sequence[str] = (),
    *,
    where: str = "[study], key 'question'",
) -> None:
    """Refuse a question, ``question = ["app.ocean time"]``, that no result of the study can answer.

    Each text is a probe or a layer of the study. A metric other than the headline follows it, and
    ``PLATFORM:`` before it restricts the question to one platform.
    `bareline.analysis.numbers.selection.selector_filter` chooses the rows of a comparison by it.

    - `platforms`: the run's, as soon as they are known.

    Raises StudyError: the study measures no such probe, layer or metric, or the run has no such
    platform.
    """
    metrics: dict[str, list[str]] = {}
    for probe in probes:
        metrics[probe.name] = list(probe.metrics)
        metrics.setdefault(probe.layer, []).extend(probe.metrics)
    answers = {subject: subject for subject in metrics}
    answers |= {f"{subject}.{one}": subject for subject, of in metrics.items() for one in of}
    for text in question:
        platform, colon, name = ".".join(text.split()).rpartition(":")
        if colon and platforms and platform not in platforms:
            raise StudyError(
                f"'{text}' asks of '{platform}', which is not a platform of the run",
                where=where,
                hint=did_you_mean(platform, platforms, f"it has: {', '.join(platforms)}"),
            )
        if name in answers:
            continue
        subject = next((one for one in metrics if name.startswith(f"{one}.")), "")
        lacking = f"{subject} has no such metric" if subject else "nothing of that is measured"
        known = metrics[subject] if subject else metrics
        raise StudyError(
            f"'{text}' cannot be answered: {lacking}",
            where=where,
            hint=did_you_mean(
                name.removeprefix(f"{subject}."), known, f"ask e.g. {', '.join(list(known)[:6])}"
            ),
        )
