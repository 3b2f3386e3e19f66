"""The JSON Schemas of what people and programs read and write: ``bareline schema``.

Each is made from the model that checks the file, or from the columns of `bareline.cli.rows`,
`explanations` and `listed`, whenever it is asked for: there is no second description to go stale.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any

from bareline.cli import explanations, listed, rows
from bareline.vocabulary.errors import UsageError, did_you_mean

DIALECT = "https://json-schema.org/draft/2020-12/schema"


_FINDINGS = (
    explanations.Finding
    | explanations.Explained
    | explanations.Concluded
    | explanations.Suited
    | explanations.Controlled
)
_ANSWERS = explanations.NeededFact | explanations.NeededMeasurement | explanations.WhyNot

#: The type of what each command prints with ``--json``; an option that changes it follows the name.
OUTPUTS: Mapping[str, Any] = MappingProxyType(
    {
        "build": list[listed.Built],
        "calibrate": list[listed.Agreement],
        "compare": list[rows.Compared],
        "compare-profiles": list[rows.ProfileRow],
        "continue": list[listed.Standing],
        "doctor": list[listed.Check],
        "explain": list[_FINDINGS],
        "explain-app": list[rows.LossShare],
        "explain-why-not": list[_ANSWERS],
        "export": list[listed.Written],
        "import": list[listed.Imported],
        "new": list[listed.Written],
        "nodes": list[rows.Deviation],
        "platforms": list[listed.PlatformListed],
        "platforms-clean": list[listed.Removed],
        "platforms-from-reframe": listed.FromReframe,
        "platforms-from-benchpark": listed.FromReframe,
        "platforms-show": listed.PlatformShown,
        "predict": list[rows.Prediction],
        "predict-ranks": list[rows.GrownRanks],
        "predict-validate": list[
            rows.ModelScore | rows.PredictedTrial | rows.LackingCall | rows.Refused
        ],
        "probes": list[listed.ProbeListed],
        "published": list[listed.PublishedFigure],
        "reparse": list[listed.ReadAgain],
        "report": list[listed.Written],
        "run": list[listed.Standing],
        "run-dry-run": list[listed.PlannedTrial],
        "runs": list[listed.RunListed],
        "schema": list[listed.SchemaListed],
        "show": list[rows.Summary | rows.Silent],
        "show-facts": list[rows.Fact],
        "show-profile": list[rows.ProfileRow],
        "status": list[listed.Standing],
        "studies": list[listed.StudyListed],
        "submit": list[listed.Submitted],
        "submit-dry-run": listed.Submitting,
        "trend": list[rows.Series],
    }
)


def files() -> dict[str, Callable[[], dict[str, Any]]]:
    """Give what makes the schema of each file."""
    from bareline.platforms.config import platforms_schema
    from bareline.store.schema import run_schemas
    from bareline.study.schema import study_schema

    lines = {name: lambda one=one: one for name, one in run_schemas().items()}
    return {"study.toml": study_schema, "platforms.toml": platforms_schema, **lines}


def schema_rows() -> list[dict[str, str]]:
    """List the schemas: of files by their names, of outputs by their commands."""
    named = [{"schema": name, "of": "a file"} for name in files()]
    return named + [{"schema": name, "of": "--json"} for name in OUTPUTS]


def schema_of(name: str) -> dict[str, Any]:
    """Give a schema, or raise UsageError: there is none of that name."""
    from pydantic import TypeAdapter

    made = files()
    if name in made:
        return {"$schema": DIALECT, **made[name]()}
    if name in OUTPUTS:
        title = f"bareline {name.replace('-', ' ', 1)} --json"
        return {"$schema": DIALECT, "title": title, **TypeAdapter(OUTPUTS[name]).json_schema()}
    hint = did_you_mean(name, [*made, *OUTPUTS], "`bareline schema` lists them")
    raise UsageError(f"no schema is named '{name}'", hint=hint)
