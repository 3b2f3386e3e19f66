"""Checks of the nodes of platforms, before any node is reserved: cores, Python, compilers."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path

from bareline.doctor.check import Area, Health, HostCheck, refused
from bareline.host.cache import cache_folder, scratch_folder
from bareline.host.tools import install_hint
from bareline.platforms.base import Context, NodeLook, availability_of, load_platform_types
from bareline.platforms.config import choose_platforms
from bareline.vocabulary.errors import BarelineError, NotNow
from bareline.vocabulary.nodeset import nodes_text
from bareline.vocabulary.platform import PlatformSpec
from bareline.vocabulary.units import count, listing


def node_checks(names: list[str], platforms: Path | None = None) -> Iterator[HostCheck]:
    """Yield the checks of the nodes of platforms.

    Raises UsageError: no platform has one of the names.
    """
    for spec in choose_platforms(names, platforms):
        for check in _checks_of(spec):
            yield replace(check, name=f"{spec.name}: {check.name}", group=Area.PLATFORMS)


def _checks_of(spec: PlatformSpec) -> Iterator[HostCheck]:
    availability = availability_of(spec)
    if not availability.ok:
        yield HostCheck("platform", Health.MISSING, availability.reason, availability.hint)
        return
    kind = load_platform_types()[spec.type]
    try:
        with scratch_folder(spec.name) as scratch:
            looks = kind.look(spec, Context(scratch, cache_folder()))
    except NotNow as error:
        yield HostCheck("nodes", Health.WARN, f"were not looked at: {error.what}", error.hint or "")
        return
    except BarelineError as error:
        yield refused(error.where or "nodes", error)
        return
    if not looks:
        detail = f"nothing to look at before nodes of type '{spec.type}' are acquired"
        yield HostCheck("nodes", Health.OK, detail)
        return
    yield _cores(spec, looks)
    yield from _python(looks)
    yield from _compilers(looks)


def _cores(spec: PlatformSpec, looks: Sequence[NodeLook]) -> HostCheck:
    """Check that all nodes have equally many cores, not fewer than the platform file names."""
    by_cores: dict[int, list[str]] = {}
    for look in looks:
        by_cores.setdefault(look.cores, []).append(look.name)
    parts = [
        f"{nodes_text(names)} {'has' if len(names) == 1 else 'have'} {count(cores, 'core')}"
        for cores, names in sorted(by_cores.items(), reverse=True)
    ]
    fewest = min(by_cores)
    small = nodes_text(by_cores[fewest])
    if spec.cores_per_node is not None and fewest < spec.cores_per_node:
        text = f"{listing(parts)}; the platform's file has cores_per_node = {spec.cores_per_node}"
        return HostCheck("cores", Health.WARN, text, f"write {fewest}, or leave out {small}")
    if len(by_cores) > 1:
        hint = f"ranks beyond {fewest} on a node share cores on {small}: use fewer, or leave it out"
        return HostCheck("cores", Health.WARN, listing(parts), hint)
    return HostCheck("cores", Health.OK, listing(parts))


def _python(looks: Iterable[NodeLook]) -> Iterator[HostCheck]:
    seen = [look for look in looks if look.has_python is not None]
    without = [look.name for look in seen if not look.has_python]
    if without:
        yield HostCheck(
            "Python",
            Health.WARN,
            f"{sys.executable} does not start on {nodes_text(without)}: only `submit` needs it",
            "install bareline in a folder that the nodes see at the same path",
        )
    elif seen:
        yield HostCheck("Python", Health.OK, f"{sys.executable} starts there")


def _compilers(looks: Iterable[NodeLook]) -> Iterator[HostCheck]:
    for look in looks:
        if look.lacking is None:
            continue
        name = f"build on {look.name}"
        if look.has_build:
            yield HostCheck(name, Health.OK, "native programs are in its cache")
        elif not look.lacking:
            yield HostCheck(name, Health.OK, "a compiler, CMake and make are there")
        else:
            needed = "cmake" if "cmake" in look.lacking else "gcc"
            yield HostCheck(
                name,
                Health.WARN,
                f"no {listing(list(look.lacking))}: it can build nothing, and has no build",
                f"{install_hint(needed)} there, set `software` to modules that provide them, or "
                "build where the library and a compiler are",
            )
