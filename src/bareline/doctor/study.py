"""Checks for the requirements of a study: its platforms, and the programs of its probes."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from dataclasses import replace
from pathlib import Path

from bareline.doctor.check import Area, Health, HostCheck, refused
from bareline.doctor.programs import program
from bareline.platforms.base import availability_of
from bareline.platforms.config import load_platforms
from bareline.probes.base import required_programs
from bareline.vocabulary.errors import PlatformError
from bareline.vocabulary.platform import PlatformSpec


def _availability(label: str, spec: PlatformSpec) -> HostCheck:
    availability = availability_of(spec)
    status = Health.WARN if availability.reason else Health.OK
    if not availability.ok:
        status = Health.MISSING
    return HostCheck(label, status, availability.reason or "can be used", availability.hint)


def needs(
    named: Mapping[str, str], probes: Collection[str], platforms: Path | None = None
) -> Iterator[HostCheck]:
    """Check the platforms and the programs of a study.

    - `named`: the names of the platforms. The key is the role of a platform; in a study without
      roles it is the name again.
    """
    wrong: dict[str, PlatformError] = {}
    defined = load_platforms(platforms, wrong)
    for role, name in named.items():
        label = name if role == name else f"{role}: {name}"
        if name in wrong:
            check = refused(label, wrong[name])
        elif name not in defined:
            hint = f"define it in platforms.toml, or map another one: --as {role}=PLATFORM"
            check = HostCheck(label, Health.MISSING, "is not defined", hint)
        else:
            check = _availability(label, defined[name])
        yield replace(check, group=Area.PLATFORMS)
    for tool, wanted in required_programs().items():
        if asking := [probe for probe in wanted if probe in probes]:
            yield replace(program(tool, needed_by=asking), group=Area.PROGRAMS)
