"""Checks for external programs: benchmarks, cluster tools, simulator, browser."""

from __future__ import annotations

import re
import shutil
from collections.abc import Iterable
from dataclasses import replace
from importlib import metadata

from bareline.doctor.check import Health, HostCheck, ask, judged, refused
from bareline.host.tools import TOOLS, find_browser, install_hint
from bareline.probes.base import required_programs
from bareline.vocabulary.errors import BarelineError
from bareline.vocabulary.units import listing

_VERSION = re.compile(r"\d+(?:\.\d+)+(?:[-.]?[a-z]\w*)?")


def find_program(name: str) -> str | None:
    """Return the path of a program on PATH or in ``/usr/sbin`` or ``/sbin``; None if missing."""
    return shutil.which(name) or shutil.which(name, path="/usr/sbin:/sbin")


def program(name: str, *, title: str = "", needed_by: Iterable[str] = ()) -> HostCheck:
    """Check for a program.

    The result has the version of the program if `TOOLS` has the option that prints it.
    """
    tool = TOOLS.get(name)
    path = find_program(name)
    title = title or name
    if path is None:
        why = [tool.purpose] if tool else []
        why += [f"for {listing(list(needed_by))}"] if needed_by else []
        detail = f"not installed ({'; '.join(why)})"
        return HostCheck(title, Health.MISSING, detail, install_hint(name))
    if not tool or not tool.version:
        return HostCheck(title, Health.OK, path)
    finished = ask([path, tool.version])
    if finished.timed_out or finished.exit_code < 0:
        return HostCheck(title, Health.WARN, f"does not run: {finished.why}")
    match = _VERSION.search(finished.stdout) or _VERSION.search(finished.stderr)
    return HostCheck(title, Health.OK, f"{match[0]} {path}" if match else path)


def benchmarks() -> Iterable[HostCheck]:
    """Check for the external programs of the probes."""
    for name, probes in required_programs().items():
        yield program(name, needed_by=probes)


def fact_tools() -> Iterable[HostCheck]:
    """Check for the programs from which facts about the nodes are read."""
    for name in ("lscpu", "ethtool", "dmidecode"):
        check = program(name)
        if check.status is Health.MISSING:
            detail = f"not installed: fewer {TOOLS[name].part}"
            check = replace(check, status=Health.WARN, detail=detail)
        yield check


def clusters() -> Iterable[HostCheck]:
    """Check for the tools that reach other machines and cloud instances, such as ssh."""
    yield program("ssh")
    slurm = program("srun", title="Slurm")
    yield slurm
    if slurm.status is Health.OK:
        yield _slurm_controller()
    yield _openstack()


def _openstack() -> HostCheck:
    """Check for the OpenStack SDK and for clouds in ``clouds.yaml``; no cloud is contacted."""
    from bareline.platforms.made.cloud.openstack import known_clouds

    try:
        clouds = known_clouds()
    except BarelineError as error:
        return refused("OpenStack", error)
    version = f"openstacksdk {metadata.version('openstacksdk')}; "
    return judged(
        "OpenStack",
        clouds,
        f"{version}no clouds.yaml",
        f"{version}clouds.yaml has {', '.join(clouds)}",
        "write a clouds.yaml: see docs/how-to/openstack.md",
        ill=Health.MISSING,
    )


def _slurm_controller() -> HostCheck:
    name = "Slurm controller"
    if find_program("sinfo") is None:
        return HostCheck(name, Health.MISSING, "no sinfo", install_hint("sinfo"))
    finished = ask(["sinfo", "--noheader", "--format=%R"], timeout_s=1.0)
    return judged(
        name,
        finished.exit_code == 0 and not finished.timed_out,
        f"does not answer: {finished.why}",
        f"partitions {', '.join(dict.fromkeys(finished.stdout.split()))}",
        "start slurmctld, or work where the cluster's configuration is",
        ill=Health.MISSING,
    )


def simulation() -> Iterable[HostCheck]:
    """Check for SimGrid."""
    check = program("smpicc", title="SimGrid SMPI")
    yield check
    if check.status is Health.OK and find_program("smpirun") is None:
        yield HostCheck("smpirun", Health.MISSING, "not installed", install_hint("smpirun"))


def pages() -> Iterable[HostCheck]:
    """Check for the browser that writes PDF reports and with which report pages are tested."""
    path = find_browser()
    yield judged(
        "Chromium",
        path,
        "PDF reports and the page tests need a browser; HTML and Markdown do without",
        path or "",
        install_hint("chromium"),
        ill=Health.MISSING,
    )
