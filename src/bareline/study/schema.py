"""The JSON Schema of a study file, made from what checks it."""

from __future__ import annotations

from typing import Any

from bareline.study.problems import TABLES
from bareline.study.study import Study

#: What `Study.at_scale` writes, in run directories only.
_OF_RUNS = ("scale", "scale_changes")


def study_schema() -> dict[str, Any]:
    """Give the schema of a file such as `load_study` reads."""
    whole = Study.model_json_schema()
    keys, definitions = whole["properties"], whole.pop("$defs")
    # What makes a source of a text is no property: both forms are named here.
    definitions["Source"] = {"anyOf": [{"type": "string"}, definitions["Source"]]}
    definitions["Program"]["properties"]["from"] = {"$ref": "#/$defs/Source"}
    tables = {table: keys.pop(name) for table, (name, _) in TABLES.items()}
    head = {name: about for name, about in keys.items() if name not in _OF_RUNS}
    study = {"type": "object", "properties": head, "required": ["name"]}
    return {
        "title": "study",
        "type": "object",
        "properties": {"study": {**study, "additionalProperties": False}, **tables},
        "required": ["study", "measure"],
        "additionalProperties": False,
        "$defs": definitions,
    }
