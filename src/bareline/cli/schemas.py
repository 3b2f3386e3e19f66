"""The JSON Schemas of what people and programs read and write: ``bareline schema``.

Each is made from the model that checks the file, or from the class of the rows that a command
prints, whenever it is asked for: there is no second description to go stale.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from typing_extensions import TypedDict

from bareline.cli.output import OUTPUTS, printed_type
from bareline.vocabulary.errors import UsageError, did_you_mean

DIALECT = "https://json-schema.org/draft/2020-12/schema"


class SchemaListed(TypedDict):
    """``schema``: a schema, and what it is of."""

    schema: str
    of: str


def files() -> dict[str, Callable[[], dict[str, Any]]]:
    """Give what makes the schema of each file."""
    from bareline.platforms.config import platforms_schema
    from bareline.store.schema import run_schemas
    from bareline.study.schema import study_schema

    lines = {name: lambda one=one: one for name, one in run_schemas().items()}
    return {"study.toml": study_schema, "platforms.toml": platforms_schema, **lines}


def schema_rows() -> list[SchemaListed]:
    """List the schemas: of files by their names, of outputs by their commands."""
    every = {"a file": files(), "--json": sorted(OUTPUTS)}
    return [SchemaListed(schema=name, of=what) for what, names in every.items() for name in names]


def schema_of(name: str) -> dict[str, Any]:
    """Give a schema, or raise UsageError: there is none of that name."""
    from pydantic import TypeAdapter

    made = files()
    if name in made:
        return {"$schema": DIALECT, **made[name]()}
    if name in OUTPUTS:
        title = f"bareline {name.replace('-', ' ', 1)} --json"
        return {"$schema": DIALECT, "title": title, **TypeAdapter(printed_type(name)).json_schema()}
    hint = did_you_mean(name, [*made, *OUTPUTS], "`bareline schema` lists them")
    raise UsageError(f"no schema is named '{name}'", hint=hint)
