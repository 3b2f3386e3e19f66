"""The requirements of a study: the platforms that it names, and the programs of its probes."""

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


def needs(
    named: Mapping[str, str], probes: Collection[str], platforms: Path | None = None
) -> Iterator[HostCheck]:
    """Check the platforms and the programs of a study; `named`: platforms by role or name."""
    wrong: dict[str, PlatformError] = {}
    known = load_platforms(platforms, wrong)
    for role, name in named.items():
        label = name if role == name else f"{role}: {name}"
        if name in wrong:
            check = refused(label, wrong[name])
        elif name not in known:
            hint = f"define it in platforms.toml, or map another one: --as {role}=PLATFORM"
            check = HostCheck(label, Health.MISSING, "is not defined", hint)
        else:
            found = availability_of(known[name])
            status = Health.MISSING if not found.ok else Health.WARN if found.reason else Health.OK
            check = HostCheck(label, status, found.reason or "can be used", found.hint)
        yield replace(check, group=Area.PLATFORMS)
    for tool, wanted in required_programs().items():
        if asking := [probe for probe in wanted if probe in probes]:
            yield replace(program(tool, needed_by=asking), group=Area.PROGRAMS)
