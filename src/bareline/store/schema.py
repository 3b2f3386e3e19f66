"""The JSON Schemas of a run directory's files, made from the types that read the files.

Keys that a later version added are not required, so that files of earlier versions are valid.
"""

from __future__ import annotations

from typing import Any

from pydantic import TypeAdapter

from bareline.store.cases import LEFT_OUT_FILE, PLANNED_FILE, _LeftOut, _Planned
from bareline.store.header import HEADER_FILE, RECORDS_FILE, SCHEMA, _File
from bareline.store.lines import _Line
from bareline.store.raw import _About
from bareline.store.run_files import (
    _COST,
    _FACTS,
    COST_FILE,
    EVENTS_FILE,
    SESSIONS_FILE,
    Event,
    Session,
)

#: The type of each line of a file.
_LINES = {
    RECORDS_FILE: _Line,
    EVENTS_FILE: Event,
    SESSIONS_FILE: Session,
    PLANNED_FILE: _Planned,
    LEFT_OUT_FILE: _LeftOut,
}
#: The type of a whole file; there are many facts/<platform>.json and raw/<trial>.json.
_WHOLE: dict[str, TypeAdapter[Any]] = {
    COST_FILE: _COST,
    "facts.json": _FACTS,
    "raw.json": TypeAdapter(_About),
}


def run_schemas() -> dict[str, dict[str, Any]]:
    """Return the schema of each file by name; for a ``.jsonl`` file, the schema of a line."""
    lines = {
        name: {**TypeAdapter(kind).json_schema(), "title": f"a line of {name}"}
        for name, kind in _LINES.items()
    }
    whole = {name: {**kind.json_schema(), "title": name} for name, kind in _WHOLE.items()}
    header = _File.model_json_schema()
    header["title"] = HEADER_FILE
    header["properties"] |= {"schema": {"const": SCHEMA}, "config_hash": {"type": "string"}}
    header["required"] += ["schema", "config_hash"]
    return {HEADER_FILE: header, **lines, **whole}
