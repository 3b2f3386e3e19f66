"""The programs of a study file: its tables ``[app.NAME]``, and the source of each program."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any


def declared_programs(content: Mapping[str, Any]) -> dict[str, Any]:
    """Return the fields ``programs`` and ``sources`` of a study, unchecked.

    A table ``[app.NAME]`` of one of bareline's probes has only the key ``from``: it is a source,
    not a program.
    """
    programs = content.get("app", {})
    sources = content.get("from", {})
    if not isinstance(programs, Mapping) or not isinstance(sources, Mapping):
        return {"programs": programs, "sources": sources}
    declared = {}
    sources_of_programs = {}
    for name, table in programs.items():
        if not isinstance(table, Mapping) or "from" not in table:
            declared[name] = table
            continue
        sources_of_programs[f"app.{name}"] = table["from"]
        keys = {key: value for key, value in table.items() if key != "from"}
        if keys:
            declared[name] = keys
    return {"programs": declared, "sources": {**sources, **sources_of_programs}}
