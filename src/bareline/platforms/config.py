"""Platform files: reading, checking, and combining with the platforms built into bareline."""

from __future__ import annotations

import os
import re
from collections.abc import Collection, Mapping
from functools import cache
from importlib import resources
from pathlib import Path
from typing import Annotated, Any

from pydantic import AfterValidator, Field, ValidationError
from pydantic.json_schema import models_json_schema

from bareline.platforms.base import load_platform_types
from bareline.vocabulary.errors import PlatformError, did_you_mean
from bareline.vocabulary.files import parse_toml, read_toml, step_to_read
from bareline.vocabulary.limits import Terms
from bareline.vocabulary.model import TRIAL_VARIABLE
from bareline.vocabulary.platform import PLATFORM_NAME, PLATFORM_NAME_HINT, PlatformSpec
from bareline.vocabulary.sanitize import sanitized_name
from bareline.vocabulary.validation_errors import problem_of

#: Read from the current folder when the command line names no platform file.
DEFAULT_FILE = Path("platforms.toml")
#: The next step for each error in a table.
_HINTS = {
    "cores_per_node": "write how many cores of each node ranks may have, or leave it out",
    "build": "write the path of a program or folder of the nodes",
    "command": 'write its words, e.g. command = ["./app", "--fast"]',
    "environment": 'write environment = { OPENBLAS_CORETYPE = "SkylakeX" }',
}


def _variables(environment: dict[str, str]) -> dict[str, str]:
    for name, value in environment.items():
        if not re.fullmatch(r"[A-Za-z_][A-Za-z0-9_]*", name) or name == TRIAL_VARIABLE:
            raise ValueError(f"'{name}' is not an environment variable that a platform can set")
        if "\0" in value:
            raise ValueError(f"the value of the variable '{name}' contains a null character")
    return environment


def _absolute(path: str) -> str:
    if path and not path.startswith("/"):
        raise ValueError(f"'{path}' is not an absolute path")
    return path


def _words(command: list[str]) -> list[str]:
    if command and not command[0]:
        raise ValueError("the first word of the command is empty; it must be the name of a program")
    if any("\0" in word for word in command):
        raise ValueError("a word of the command contains a null character")
    return command


class _Common(Terms):
    """The keys that every platform's table may have, in addition to the options of its type."""

    title: str = ""
    #: Nodes of the largest machines have fewer.
    cores_per_node: Annotated[int, Field(strict=True, ge=1, le=1_000_000)] | None = None
    environment: Annotated[dict[str, str], AfterValidator(_variables)] = Field(default_factory=dict)
    build: Annotated[str, AfterValidator(_absolute)] = ""
    command: Annotated[list[str], AfterValidator(_words)] = Field(default_factory=list)


@cache
def _builtin_content() -> bytes:
    return (resources.files("bareline.platforms") / "builtin.toml").read_bytes()


def load_platforms(
    path: Path | None = None,
    wrong: dict[str, PlatformError] | None = None,
    only: Collection[str] | None = None,
) -> dict[str, PlatformSpec]:
    """Return every platform by name; a platform of the user replaces a built-in one.

    - `path`: the user's platform file; by default ``platforms.toml`` of the current folder, if it
      exists and does not belong to another user.
    - `wrong`: a dictionary to which the error of each wrong table is added, by platform name; if
      None, the first error is raised.
    - `only`: names of the wanted platforms; the tables of all other platforms are ignored.
    """
    specs = platforms_from_toml(
        parse_toml(_builtin_content()), where="built-in platforms", builtin=True, only=only
    )
    if path is None and DEFAULT_FILE.exists():
        path = _own(DEFAULT_FILE)
    if path is not None:
        try:
            content = read_toml(path)
        except OSError as error:
            hint = step_to_read(error, "`bareline platforms` without it lists the built-in ones")
            why = f"the platform file cannot be read: {error.strerror}"
            raise PlatformError(why, where=str(path), hint=hint) from error
        except ValueError as error:
            raise PlatformError(
                f"the platform file is not valid TOML: {error}", where=str(path)
            ) from error
        specs |= platforms_from_toml(content, where=str(path), wrong=wrong, only=only)
    return specs


def _own(path: Path) -> Path:
    """Return the path of the default platform file, if its owner can be trusted.

    The owner must be the present user, root or the sudo user, because the file's commands are run.
    """
    owner = path.stat().st_uid
    friends = {0, os.geteuid()}
    if os.geteuid() == 0 and os.environ.get("SUDO_UID", "").isdecimal():
        friends.add(int(os.environ["SUDO_UID"]))
    if owner not in friends:
        raise PlatformError(
            f"the platform file belongs to another user (number {owner}), but you would run its "
            "commands",
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
    only: Collection[str] | None = None,
) -> dict[str, PlatformSpec]:
    """Check the content of a platform file, and return its platforms; see `load_platforms`."""
    rule = "platforms are named [platform.NAME]"
    for key in content:
        if key != "platform":
            raise PlatformError(f"unknown table '{key}'", where=where, hint=rule)
    tables = content.get("platform", {})
    if not isinstance(tables, Mapping):
        raise PlatformError(rule, where=where)
    specs = {}
    for name, table in tables.items():
        if only is not None and name not in only:
            continue
        place = f"{where}, [platform.{name}]"
        try:
            specs[name] = make_spec(name, table, where=place, builtin=builtin)
        except PlatformError as error:
            if wrong is None:
                raise
            wrong[name] = error
    return specs


def make_spec(name: str, table: Any, *, where: str, builtin: bool = False) -> PlatformSpec:
    """Check one platform's table, and return the platform's specification."""
    if not PLATFORM_NAME.fullmatch(name):
        wrong = f"'{sanitized_name(name)}' is not a valid name for a platform"
        raise PlatformError(wrong, where=where, hint=PLATFORM_NAME_HINT)
    if not isinstance(table, Mapping) or not isinstance(table.get("type"), str):
        raise PlatformError("the key 'type' is missing", where=where, hint=_types_hint())
    types = load_platform_types()
    kind = table["type"]
    if kind not in types:
        raise PlatformError(f"unknown platform type '{kind}'", where=where, hint=_types_hint(kind))
    model = types[kind].options
    shared = _Common.model_fields
    try:
        common = _Common.model_validate({key: table[key] for key in shared if key in table})
        options = model.model_validate(
            {key: value for key, value in table.items() if key != "type" and key not in shared}
        )
    except ValidationError as error:
        problem = problem_of(error)
        key = problem.key
        text = problem.clause
        hint = _HINTS.get(problem.key)
        if problem.kind == "extra_forbidden":
            text = "no such option"
            keys = sorted([*model.model_fields, *shared])
            hint = did_you_mean(key, keys, f"use one of: {', '.join(keys)}")
        raise PlatformError(f"'{key}': {text}" if key else text, where=where, hint=hint) from error
    return PlatformSpec(
        name,
        kind,
        options,
        common.title,
        builtin,
        common.cores_per_node,
        tuple(common.environment.items()),
        common.build,
        Terms.model_validate(common.model_dump(include=set(Terms.model_fields))),
        tuple(common.command),
    )


def _types_hint(wrong: str = "") -> str:
    types = load_platform_types()
    if wrong in ("ec2", "xen"):
        return "install the package that brings it: bareline-contrib"
    return did_you_mean(wrong, types, f"use one of: {', '.join(sorted(types))}")


def choose_platforms(names: list[str], path: Path | None = None) -> list[PlatformSpec]:
    """Return the named platforms."""
    wrong: dict[str, PlatformError] = {}
    specs = load_platforms(path, wrong, only=names)
    for name in names:
        if name in wrong:
            raise wrong[name]
        if name not in specs:
            all_platforms = load_platforms(path, {})
            hint = did_you_mean(name, all_platforms, "`bareline platforms` lists them")
            raise PlatformError(f"no platform is named '{name}'", hint=hint)
        if names.count(name) > 1:
            raise PlatformError(f"the platform '{name}' is given twice; give it once")
    return [specs[name] for name in names]


def platforms_schema() -> dict[str, Any]:
    """Return the JSON schema of a platform file, with the types of plug-ins."""
    types = load_platform_types()
    models = [(platform.options, "validation") for platform in types.values()]
    schemas, shared = models_json_schema(models)  # type: ignore[arg-type]
    definitions = shared.get("$defs", {})
    tables = []
    common = _Common.model_json_schema()["properties"]
    for name, platform in types.items():
        place = schemas[platform.options, "validation"]["$ref"].rpartition("/")[2]
        options = definitions[place]
        kind = {"type": {"const": name}}
        definitions[f"type-{name}"] = {
            **options,
            "properties": {**common, **options.get("properties", {}), **kind},
            "required": [*options.get("required", []), "type"],
        }
        tables.append({"$ref": f"#/$defs/type-{name}"})
    named_tables = {"patternProperties": {f"^{PLATFORM_NAME.pattern}$": {"oneOf": tables}}}
    return {
        "title": "platforms",
        "type": "object",
        "properties": {
            "platform": {"type": "object", **named_tables, "additionalProperties": False}
        },
        "additionalProperties": False,
        "$defs": definitions,
    }
