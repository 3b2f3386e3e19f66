"""Platforms that are put beside another one in a run: two builds of it, and the negative control.

The two builds of ``--build-a`` and ``--build-b`` differ in what they say and in nothing else: a
program or folder that ``{build}`` stands for, an option of the platform's type such as the MPI
library, variables. As any two platforms they share every block, so that the machine's own noise
falls on both alike.

The control is the baseline under another name: planned, brought up, booted and given its turn as
any other platform, in the same blocks. Nothing that it shows can be the platform's: what differs is
boots, drift, neighbours or chance. `bareline.analysis.judgements.control` says how often the
comparison calls it different.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from bareline.platforms.base import Allocation, exact_among
from bareline.platforms.config import make_spec
from bareline.study.study import Study
from bareline.vocabulary.errors import UsageError
from bareline.vocabulary.model import Scalar
from bareline.vocabulary.platform import PlatformSpec, needs_build

#: Of ``KEY=VALUE``; a path that holds "=" begins with "./" or "/".
_SETTING = re.compile(r"([a-z_]+)(?:\.([A-Za-z_][A-Za-z0-9_]*))?=(.*)", re.DOTALL)


@dataclass(frozen=True, slots=True)
class Varied:
    """A study and its platforms as run; `name` is the control's, or empty; `note` is to be said."""

    study: Study
    platforms: list[PlatformSpec]
    name: str = ""
    note: str = ""


def with_builds(
    study: Study, platforms: Sequence[PlatformSpec], a: Sequence[str], b: Sequence[str]
) -> Varied:
    """Put two builds of it, "a" and "b", in the place of a platform, where builds are given.

    - `a`, `b`: ``--build-a`` and ``--build-b``: a path, or ``KEY=VALUE`` of a platform file.

    Raises UsageError: only one is given, there is more than one platform or a role, or no program
    of the study asks for what differs.
    Raises PlatformError: a key is no option of the platform's type.
    """
    if not (a or b):
        return Varied(study, list(platforms))
    if not (a and b):
        lacking = "--build-b" if a else "--build-a"
        raise UsageError(
            "a build is compared with another one", hint=f"add {lacking} PATH or KEY=VALUE"
        )
    if len(platforms) != 1 or study.roles:
        names = ", ".join(spec.name for spec in platforms)
        raise UsageError(
            f"two builds are compared on one platform, not on {names}"
            if len(platforms) != 1
            else f"the study '{study.name}' has roles, which builds do not take",
            hint="name one with --on" if not study.roles else "write a study without roles",
        )
    base = platforms[0]
    pair = [_built(base, "a", a), _built(base, "b", b)]
    if any(spec.build for spec in pair) and not _asks(study, pair):
        raise UsageError(
            f"nothing of the study '{study.name}' runs {{build}}, so that both builds are the same",
            hint='name the program by it, e.g. command = ["{build}"] of an [app.NAME]',
        )
    alike = replace(pair[0], name="", title="") == replace(pair[1], name="", title="")
    note = "a and b are one build: what differs between them is chance" if alike else ""
    standing = study.asking_also(base.name, [spec.name for spec in pair])
    return Varied(standing.model_copy(update={"baseline": "a"}), pair, note=note)


def build_facts(spec: PlatformSpec, allocation: Allocation) -> dict[str, Scalar]:
    """Tell what a platform's build is: its path, and of a single file what it holds."""
    if not spec.build:
        return {}
    facts: dict[str, Scalar] = {"build.path": spec.build}
    if summed := allocation.sha256_of(spec.build):
        facts["build.sha256"] = summed[:16]  # enough to tell two files apart
    return facts


def _built(base: PlatformSpec, name: str, given: Sequence[str]) -> PlatformSpec:
    where = f"--build-{name}"
    table: dict[str, Any] = base.to_dict()
    for text in given:
        match = _SETTING.fullmatch(text)
        if match is None:
            path = Path(text)
            if not path.is_absolute() and not path.exists():
                raise UsageError(
                    f"{where}: there is no '{text}' here",
                    hint="build it first, or write KEY=VALUE as in a platform file, e.g. mpi=mpich",
                )
            table["build"] = str(path.absolute())
            continue
        key, variable, value = match.groups()
        if key == "environment" and variable:
            table["environment"] = {**table.get("environment", {}), variable: value}
            continue
        try:
            table[key] = tomllib.loads(f"value = {value}")["value"]
        except tomllib.TOMLDecodeError:
            table[key] = value
    table["title"] = f"{base.name} with {', '.join(given)}"
    return make_spec(name, table, where=where)


def _asks(study: Study, platforms: Sequence[PlatformSpec]) -> bool:
    """Tell whether a command of the study, or a variable of the platforms, names a build."""
    return any("{build}" in value for spec in platforms for _, value in spec.environment) or any(
        needs_build(study.command_of(case)) for _, case in study.cases(platforms)
    )


def with_control(
    study: Study, platforms: Sequence[PlatformSpec], baseline: str, asked: bool | None
) -> Varied:
    """Add the baseline under a second name where that is wanted.

    - `asked`: what the command line says. Without it the study decides, and its word holds where a
      platform is compared with the baseline at all: of one platform alone it would double the price
      of a run that compares nothing.
    """
    wanted = study.control and len(platforms) > 1 if asked is None else asked
    exact = wanted and baseline in exact_among(platforms)
    if exact or not wanted:
        why = f"no control: '{baseline}' is simulated, a second time it would give the same figures"
        plain = study.model_copy(update={"control": False})
        return Varied(plain, list(platforms), note=why if exact and asked else "")
    specs = {spec.name: spec for spec in platforms}
    spec, name, number = specs[baseline], f"{baseline}-again", 2
    while name in specs:
        name, number = f"{baseline}-again-{number}", number + 1
    again = replace(spec, name=name, title=f"the negative control: {baseline}, measured again")
    asking = study.asking_also(baseline, [name]).model_copy(update={"control": True})
    return Varied(asking, [*platforms, again], name)
