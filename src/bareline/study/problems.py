"""What is wrong with a study file, in the words of whoever wrote it."""

from __future__ import annotations

from pydantic import BaseModel, ValidationError

from bareline.probes.app.program import Program
from bareline.study.measure import Exhibit, Measure
from bareline.study.roles import Role
from bareline.study.scale import MeasureScale, StudyScale
from bareline.vocabulary.errors import StudyError, did_you_mean
from bareline.vocabulary.invalid import problem_of
from bareline.vocabulary.sources import Source

#: How a file names what a study holds.
_TABLES = {
    "measures": "measure",
    "exhibits": "exhibit",
    "scales": "scale",
    "roles": "role",
    "programs": "app",
    "sources": "from",
}


def study_error(error: ValidationError, study: type[BaseModel], *, where: str) -> StudyError:
    """Say what is wrong with a study in the words of its file, and with its keys.

    - `study`: what was to be made of the file.
    """
    problem = problem_of(error)
    location = list(problem.place)
    model: type[BaseModel]
    if location[:1] in (["scales"], ["roles"], ["programs"], ["sources"]):
        table = _TABLES[location[0]]
        key = f"[{table}.{location[1]}]" if len(location) > 1 else f"[{table}]"
        key += f", key '{'.'.join(location[2:])}'" if len(location) > 2 else ""
        models: dict[str, type[BaseModel]] = {
            **{"scale": StudyScale, "role": Role, "app": Program, "from": Source}
        }
        model = models[table]
    elif location and location[0] in ("measures", "exhibits"):
        table = _TABLES[location[0]]
        number = int(location[1]) + 1 if len(location) > 1 else 0
        key = f"[[{table}]] number {number}" if number else f"[[{table}]]"
        key += f", key '{'.'.join(location[2:])}'" if len(location) > 2 else ""
        model = Measure if table == "measure" else Exhibit
        if location[2:3] == ["scale"]:
            model = MeasureScale
    else:
        key, model = f"[study], key '{'.'.join(location)}'", study
    message, hint = problem.said, None
    if problem.kind == "extra_forbidden":
        hint = suggest(location[-1], set(model.model_fields) - _TABLES.keys())
    elif not location:
        key = "[study]"
    elif problem.kind == "too_short" and location == ["measures"]:
        message, hint = "the study measures nothing", "add a [[measure]] table"
    return StudyError(f"{key}: {message}", where=where, hint=hint)


def suggest(wrong: str, known: set[str]) -> str:
    """Name the key that was probably meant, or all."""
    return did_you_mean(wrong, known, f"use one of: {', '.join(sorted(known))}")
