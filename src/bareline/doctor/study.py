"""What a study needs here: the platforms of its roles, and the programs of its probes."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path

from bareline.doctor.check import Area, Check, Status
from bareline.doctor.programs import program
from bareline.platforms.base import availability_of
from bareline.platforms.config import load_platforms
from bareline.probes.listing import required_programs
from bareline.study.study import Study


def needs(study: Study, platforms: Path | None = None) -> Iterator[Check]:
    """Look at what a study would be measured on, and with."""
    known = load_platforms(platforms)
    for name, title in _named(study):
        spec = known.get(name)
        label = f"{title}: {name}" if title else name
        if spec is None:
            hint = f"define it in platforms.toml, or map another one: --as {title}=PLATFORM"
            yield Check(label, Area.PLATFORMS, Status.MISSING, "is not defined", hint)
            continue
        found = availability_of(spec)
        status = Status.MISSING if not found.ok else Status.WARN if found.reason else Status.OK
        yield Check(label, Area.PLATFORMS, status, found.reason or "can be used", found.hint)
    probes = {measure.probe for measure in study.measures}
    for tool, wanted in required_programs().items():
        if asking := [probe for probe in wanted if probe in probes]:
            yield program(tool, Area.PROGRAMS, needed_by=asking)


def _named(study: Study) -> Iterable[tuple[str, str]]:
    """Give the platforms that a study names, each with its role."""
    for role, declared in study.roles.items():
        yield declared.platform or role, role
    for name in study.platforms:
        yield name, ""
