"""The JSON Schema of a platform file, made from the options of every type."""

from __future__ import annotations

from typing import Any

from pydantic.json_schema import models_json_schema

from bareline.platforms.base import load_platform_types
from bareline.vocabulary.limits import Terms
from bareline.vocabulary.platform import PLATFORM_NAME

#: What a table of every type may hold beside its options; `make_spec` checks it.
_COMMON: dict[str, Any] = {
    "title": {"type": "string"},
    "cores_per_node": {"type": "integer", "minimum": 1},
    "environment": {"type": "object", "additionalProperties": {"type": "string"}},
    "build": {"type": "string"},
    **Terms.model_json_schema()["properties"],
}


def platforms_schema() -> dict[str, Any]:
    """Give the schema of a file such as `load_platforms` reads, plug-ins' types included."""
    types = load_platform_types()
    models = [(platform.options, "validation") for platform in types.values()]
    found, shared = models_json_schema(models)  # type: ignore[arg-type]
    definitions = shared.get("$defs", {})
    tables = []
    for name, platform in types.items():
        place = found[platform.options, "validation"]["$ref"].rpartition("/")[2]
        options = definitions[place]
        kind = {"type": {"const": name}}
        definitions[f"type-{name}"] = {
            **options,
            "properties": {**_COMMON, **options.get("properties", {}), **kind},
            "required": [*options.get("required", []), "type"],
        }
        tables.append({"$ref": f"#/$defs/type-{name}"})
    one = {"patternProperties": {f"^{PLATFORM_NAME.pattern}$": {"oneOf": tables}}}
    return {
        "title": "platforms",
        "type": "object",
        "properties": {"platform": {"type": "object", **one, "additionalProperties": False}},
        "additionalProperties": False,
        "$defs": definitions,
    }
