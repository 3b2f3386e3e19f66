"""Add platforms to a run: variants of its only platform, and the negative control.

The variants of a study (``[variant.NAME]``), and the two builds of ``--build-a`` and ``--build-b``,
differ only in the keys that they set. A key can set the program or folder for ``{build}``, the
words for ``{command}``, environment variables, or an option of the platform's type, such as the MPI
library. All variants run in every block, as platforms do, so that the machine's noise affects each
of them in the same way.

The control is the baseline under another name. It is planned, started, booted and measured like any
other platform, in the same blocks. A difference between the two cannot come from the platform: the
causes are boots, drift, neighbours or chance. `bareline.analysis.judgements.control` counts how
often the comparison calls the control different.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from bareline.platforms.base import Allocation, exact_among
from bareline.platforms.config import make_spec
from bareline.study.study import Study
from bareline.vocabulary.errors import UsageError
from bareline.vocabulary.model import Scalar
from bareline.vocabulary.platform import PlatformSpec, needs_build
from bareline.vocabulary.units import listing

#: ``KEY=VALUE``; a path that contains "=" begins with "./" or "/".
_SETTING = re.compile(r"([a-z_]+)(?:\.([A-Za-z_][A-Za-z0-9_]*))?=(.*)", re.DOTALL)


@dataclass(frozen=True, slots=True)
class StudyVariant:
    """A study and its platforms after variants or a control were added.

    - `name`: the name of the control, or "".
    - `note`: a remark for the user, or "".
    """

    study: Study
    platforms: list[PlatformSpec]
    name: str = ""
    note: str = ""


def with_variants(
    study: Study, platforms: Sequence[PlatformSpec], a: Sequence[str], b: Sequence[str]
) -> StudyVariant:
    """Return a study in which its variants, if there are any, replace the platform.

    - `a`, `b`: the values of ``--build-a`` and ``--build-b``: paths, or settings ``KEY=VALUE`` as
      in a platform file. If they are given, they replace the study's variants.

    Raises UsageError: only one build or variant is given, the study has roles or several platforms,
        or no command of the study contains ``{build}``.
    Raises PlatformError: a key is not an option of the platform's type.
    """
    if a or b:
        given = _given_builds(a, b)
    else:
        given = {name: variant.settings for name, variant in study.variants.items()}
    if not given:
        return StudyVariant(study, list(platforms))
    if len(given) == 1:
        raise UsageError(
            "the study has only one variant, so that there is nothing to compare",
            where=f"study '{study.name}'",
            hint="add a second [variant.NAME]",
        )
    base = _only_platform(study, platforms)
    titles = {}
    if not (a or b):
        titles = {name: variant.title for name, variant in study.variants.items()}
    specs = []
    for name, settings in given.items():
        title = titles.get(name) or _title(base, settings)
        specs.append(_varied(base, name, {**settings, "title": title}))
    if any(spec.build for spec in specs) and not _asks(study, specs):
        raise UsageError(
            f"no case of the study '{study.name}' uses {{build}} in its command, so that both "
            "builds would be equal",
            hint='write {build} in place of the program, e.g. command = ["{build}"] in [app.NAME]',
        )
    names = [spec.name for spec in specs]
    note = ""
    if len({replace(spec, name="", title="") for spec in specs}) == 1:
        noun = "build" if a or b else "variant"
        note = f"{listing(names)} are one {noun}: a difference between them is chance"
    baseline = study.baseline if study.baseline in names else names[0]
    varied = study.asking_also(base.name, names).changed(baseline=baseline, variants={})
    return StudyVariant(varied, specs, note=note)


def _given_builds(a: Sequence[str], b: Sequence[str]) -> dict[str, dict[str, Any]]:
    """Return the settings of both builds of the command line, by name: ``a`` and ``b``."""
    if not (a and b):
        lacking = "--build-b" if a else "--build-a"
        raise UsageError(
            "only one build is given, but two builds are compared",
            hint=f"add {lacking} PATH or KEY=VALUE",
        )
    return {name: _settings(f"--build-{name}", given) for name, given in (("a", a), ("b", b))}


def _only_platform(study: Study, platforms: Sequence[PlatformSpec]) -> PlatformSpec:
    """Return the only platform, which the variants replace."""
    if len(platforms) != 1:
        names = ", ".join(spec.name for spec in platforms)
        raise UsageError(
            f"variants can be compared on only one platform, but these are given: {names}",
            hint="name one with --on",
        )
    if study.roles:
        raise UsageError(
            f"the study '{study.name}' has roles, which builds and variants do not take",
            hint="write a study without roles",
        )
    return platforms[0]


def build_facts(spec: PlatformSpec, allocation: Allocation) -> dict[str, Scalar]:
    """Return the path of a platform's build, and the hash of its content if it is a single file."""
    if not spec.build:
        return {}
    facts: dict[str, Scalar] = {"build.path": spec.build}
    if summed := allocation.sha256_of(spec.build):
        facts["build.sha256"] = summed[:16]  # enough to distinguish two files
    return facts


def _settings(where: str, given: Sequence[str]) -> dict[str, Any]:
    """Return the values of ``--build-a`` or ``--build-b`` as keys of a platform's table."""
    table: dict[str, Any] = {}
    for text in given:
        match = _SETTING.fullmatch(text)
        if match is None:
            table["build"] = _build_path(where, text)
            continue
        key, variable, value = match.groups()
        if key == "environment" and variable:
            table["environment"] = {**table.get("environment", {}), variable: value}
            continue
        try:
            table[key] = tomllib.loads(f"value = {value}")["value"]
        except tomllib.TOMLDecodeError:
            table[key] = value
    return table


def _build_path(where: str, text: str) -> str:
    path = Path(text)
    if not path.is_absolute() and not path.exists():
        raise UsageError(
            f"{where}: the path '{text}' does not exist",
            hint="build it first, or write KEY=VALUE as in a platform file, e.g. mpi=mpich",
        )
    return str(path.absolute())


def _title(base: PlatformSpec, settings: Mapping[str, Any]) -> str:
    """Return the default title of a variant: its platform and its settings."""
    words = []
    for key, value in settings.items():
        if key == "build":
            words.append(str(value))
        elif key == "environment" and isinstance(value, Mapping):
            words += [f"environment.{name}={text}" for name, text in value.items()]
        else:
            words.append(f"{key}={value}")
    return f"{base.name} with {', '.join(words)}"


def _varied(base: PlatformSpec, name: str, settings: Mapping[str, Any]) -> PlatformSpec:
    """Return the platform `base` with some keys replaced.

    Environment variables are added to the variables of `base`.
    """
    table = {**base.to_dict(), **settings}
    variables = settings.get("environment")
    if isinstance(variables, Mapping):
        table["environment"] = {**dict(base.environment), **variables}
    return make_spec(name, table, where=f"variant {name}")


def _asks(study: Study, platforms: Sequence[PlatformSpec]) -> bool:
    """Whether a command of the study, or a variable of the platforms, contains ``{build}``."""
    for spec in platforms:
        if any("{build}" in value for _, value in spec.environment):
            return True
    cases = study.cases(platforms)
    return any(needs_build(study.command_of(case)) for _, case in cases)


def with_control(
    study: Study, platforms: Sequence[PlatformSpec], baseline: str, asked: bool | None
) -> StudyVariant:
    """Return a study and its platforms; on request, the control is one of the platforms.

    - `asked`: the option of the command line. With None, the study decides, but a run of one
      platform has no control: it compares nothing, and would take twice as long.
    """
    wanted = asked
    if asked is None:
        wanted = study.control and len(platforms) > 1
    exact = baseline in exact_among(platforms)
    if exact or not wanted:
        note = ""
        if exact and asked:
            note = (
                f"no control: '{baseline}' is simulated, a second time it would give the same "
                "figures"
            )
        return StudyVariant(study.changed(control=False), list(platforms), note=note)
    specs = {spec.name: spec for spec in platforms}
    name = f"{baseline}-again"
    number = 2
    while name in specs:
        name = f"{baseline}-again-{number}"
        number += 1
    title = f"the negative control: {baseline}, measured again"
    again = replace(specs[baseline], name=name, title=title)
    controlled = study.asking_also(baseline, [name]).changed(control=True)
    return StudyVariant(controlled, [*platforms, again], name)
