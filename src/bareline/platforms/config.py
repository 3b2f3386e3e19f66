"""Platform files: read, check, and join them with the platforms that come with bareline."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from importlib import resources
from pathlib import Path
from typing import Any

from pydantic import ValidationError
from pydantic.json_schema import models_json_schema

from bareline.platforms.base import load_platform_types
from bareline.vocabulary.errors import PlatformError, did_you_mean
from bareline.vocabulary.files import parse_toml, read_toml, step_to_read
from bareline.vocabulary.invalid import problem_of
from bareline.vocabulary.limits import Terms
from bareline.vocabulary.model import TRIAL_VARIABLE
from bareline.vocabulary.platform import PLATFORM_NAME, PLATFORM_NAME_HINT, PlatformSpec
from bareline.vocabulary.texts import shown_name

#: Read from the current folder when the command line names no platform file.
DEFAULT_FILE = Path("platforms.toml")
_VARIABLE = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
#: What a table of every type may hold beside its options.
_COMMON_SCHEMA: dict[str, Any] = {
    "title": {"type": "string"},
    "cores_per_node": {"type": "integer", "minimum": 1},
    "environment": {"type": "object", "additionalProperties": {"type": "string"}},
    "build": {"type": "string"},
    **Terms.model_json_schema()["properties"],
}
_COMMON = ("type", *_COMMON_SCHEMA)
#: Nodes of the largest machines have fewer.
_MOST_CORES = 1_000_000


def load_platforms(
    path: Path | None = None, wrong: dict[str, PlatformError] | None = None
) -> dict[str, PlatformSpec]:
    """Give every platform by name: the built-in ones, and over them the user's.

    - `path`: the user's platform file; without it ``platforms.toml`` of the current folder, if any
      and not another user's.
    - `wrong`: takes what is wrong with tables, by name; the first one is raised without it.
    """
    builtin = resources.files("bareline.platforms") / "builtin.toml"
    specs = platforms_from_toml(
        parse_toml(builtin.read_bytes()), where="built-in platforms", builtin=True
    )
    if path is None and DEFAULT_FILE.exists():
        path = _own(DEFAULT_FILE)
    if path is not None:
        try:
            content = read_toml(path)
        except OSError as error:
            hint = step_to_read(error, "`bareline platforms` without it lists the built-in ones")
            why = f"cannot be read: {error.strerror}"
            raise PlatformError(why, where=str(path), hint=hint) from error
        except ValueError as error:
            raise PlatformError(f"not valid TOML: {error}", where=str(path)) from error
        specs |= platforms_from_toml(content, where=str(path), wrong=wrong)
    return specs


def _own(path: Path) -> Path:
    """Refuse a file that nobody named, where somebody else put it: what it says is run.

    Root's is not refused, nor that of the user who became root by sudo.
    """
    owner = path.stat().st_uid
    friends = {0, os.geteuid()}
    if os.geteuid() == 0 and os.environ.get("SUDO_UID", "").isdecimal():
        friends.add(int(os.environ["SUDO_UID"]))
    if owner not in friends:
        raise PlatformError(
            f"belongs to another user (number {owner}), and what it says would be run as you",
            where=str(path.absolute()),
            hint=f"if you trust it, name it: --platforms {path}; else work in another folder",
        )
    return path


def platforms_from_toml(
    content: Mapping[str, Any],
    *,
    where: str,
    builtin: bool = False,
    wrong: dict[str, PlatformError] | None = None,
) -> dict[str, PlatformSpec]:
    """Check what a platform file holds; see `load_platforms`."""
    for key in content:
        if key != "platform":
            raise PlatformError(
                f"unknown table '{key}'", where=where, hint="platforms are named [platform.NAME]"
            )
    tables = content.get("platform", {})
    if not isinstance(tables, Mapping):
        raise PlatformError("platforms are named [platform.NAME]", where=where)
    specs = {}
    for name, table in tables.items():
        try:
            specs[name] = make_spec(
                name, table, where=f"{where}, [platform.{name}]", builtin=builtin
            )
        except PlatformError as error:
            if wrong is None:
                raise
            wrong[name] = error
    return specs


def make_spec(name: str, table: Any, *, where: str, builtin: bool = False) -> PlatformSpec:
    """Check one platform's table."""
    if not PLATFORM_NAME.fullmatch(name):
        raise PlatformError(
            f"'{shown_name(name)}' is no name for a platform", where=where, hint=PLATFORM_NAME_HINT
        )
    if not isinstance(table, Mapping) or not isinstance(table.get("type"), str):
        raise PlatformError("the key 'type' is missing", where=where, hint=_types_hint())
    types = load_platform_types()
    kind = table["type"]
    if kind not in types:
        raise PlatformError(f"no platform type '{kind}'", where=where, hint=_types_hint(kind))
    options = {key: value for key, value in table.items() if key not in _COMMON}
    title, cores = table.get("title", ""), table.get("cores_per_node")
    if not isinstance(title, str):
        raise PlatformError("'title' is not a text", where=where)
    if cores is not None and (type(cores) is not int or not 1 <= cores <= _MOST_CORES):
        raise PlatformError(
            "'cores_per_node' is no number of cores",
            where=where,
            hint="write how many cores of each node ranks may have, or leave it out",
        )
    build = _build(table.get("build", ""), where)
    limits = _limits(table, where)
    variables = _environment(table.get("environment", {}), where)
    model = types[kind].options
    try:
        checked = model.model_validate(options)
        return PlatformSpec(name, kind, checked, title, builtin, cores, variables, build, limits)
    except ValidationError as error:
        problem = problem_of(error)
        key, message, hint = problem.key, problem.said, None
        if problem.kind == "extra_forbidden":
            message = "no such option"
            known = sorted([*model.model_fields, *_COMMON[1:]])
            hint = did_you_mean(key, known, f"use one of: {', '.join(known)}")
        raise PlatformError(
            f"'{key}': {message}" if key else message, where=where, hint=hint
        ) from (error)


def _limits(table: Mapping[str, Any], where: str) -> Terms:
    """Check what a run may take of a platform."""
    given = {key: table[key] for key in Terms.model_fields if key in table}
    try:
        return Terms.model_validate(given)
    except ValidationError as error:
        problem = problem_of(error)
        raise PlatformError(f"'{problem.key}': {problem.said}", where=where) from error


def _build(path: Any, where: str) -> str:
    """Check the path that ``{build}`` stands for in commands."""
    if not isinstance(path, str) or (path and not path.startswith("/")):
        raise PlatformError(
            "'build' is no absolute path",
            where=where,
            hint="write the path of a program or folder of the nodes",
        )
    return path


def _environment(table: Any, where: str) -> tuple[tuple[str, str], ...]:
    """Check the variables that programs get on a platform."""
    if not isinstance(table, Mapping):
        raise PlatformError(
            "'environment' is no table",
            where=where,
            hint='write environment = { OPENBLAS_CORETYPE = "SkylakeX" }',
        )
    for name, value in table.items():
        if not _VARIABLE.fullmatch(name) or name == TRIAL_VARIABLE:
            raise PlatformError(f"'environment': '{name}' is no variable to set", where=where)
        if not isinstance(value, str) or "\0" in value:
            raise PlatformError(
                f"'environment': the value of '{name}' is not a text",
                where=where,
                hint="write it in quotes",
            )
    return tuple(table.items())


#: Types that `packages/bareline-contrib` brings.
_CONTRIBUTED = ("ec2", "xen")


def _types_hint(wrong: str = "") -> str:
    types = load_platform_types()
    if wrong in _CONTRIBUTED:
        return "install the package that brings it: bareline-contrib"
    return did_you_mean(wrong, types, f"use one of: {', '.join(sorted(types))}")


def choose_platforms(names: list[str], path: Path | None = None) -> list[PlatformSpec]:
    """Give the named platforms."""
    wrong: dict[str, PlatformError] = {}
    specs = load_platforms(path, wrong)
    for name in names:
        if name in wrong:
            raise wrong[name]
        if name not in specs:
            hint = did_you_mean(name, specs, "`bareline platforms` lists them")
            raise PlatformError(f"no platform is named '{name}'", hint=hint)
        if names.count(name) > 1:
            raise PlatformError(f"the platform '{name}' is named twice")
    return [specs[name] for name in names]


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
            "properties": {**_COMMON_SCHEMA, **options.get("properties", {}), **kind},
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
