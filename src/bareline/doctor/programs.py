"""Look for external programs: benchmarks, cluster tools, simulator, browser."""

from __future__ import annotations

import re
import shutil
from collections.abc import Iterable
from importlib import metadata

from bareline.doctor.check import Area, Health, HostCheck, ask
from bareline.host.tools import TOOLS, find_browser, install_hint
from bareline.probes.base import required_programs
from bareline.vocabulary.errors import BarelineError
from bareline.vocabulary.units import listing

_SYSTEM_PATHS = ("/usr/sbin", "/sbin")
_VERSION = re.compile(r"\d+(?:\.\d+)+(?:[-.]?[a-z]\w*)?")


def find_program(name: str) -> str | None:
    """Find a program on the path or where only root's path looks."""
    return shutil.which(name) or shutil.which(name, path=":".join(_SYSTEM_PATHS))


def program(
    name: str,
    area: Area,
    *,
    title: str = "",
    needed_by: Iterable[str] = (),
) -> HostCheck:
    """Look for a program and, where the table says how, ask for its version."""
    tool = TOOLS.get(name)
    title = title or name
    path = find_program(name)
    if path is None:
        why = [tool.purpose] if tool else []
        why += [f"for {listing(list(needed_by))}"] if needed_by else []
        detail = f"not installed ({'; '.join(why)})"
        return HostCheck(title, area, Health.MISSING, detail, install_hint(name))
    found = ""
    if tool and tool.version:
        done = ask([path, tool.version])
        if done.timed_out or done.exit_code < 0:
            return HostCheck(title, area, Health.WARN, f"does not run: {done.why}")
        match = _VERSION.search(done.stdout) or _VERSION.search(done.stderr)
        found = match[0] if match else ""
    return HostCheck(title, area, Health.OK, " ".join(part for part in (found, path) if part))


def benchmarks() -> Iterable[HostCheck]:
    """Look for the real tools that probes run, as the probes themselves name them."""
    for name, probes in required_programs().items():
        yield program(name, Area.PROGRAMS, needed_by=probes)


def fact_tools() -> Iterable[HostCheck]:
    """Look for what describes the nodes; facts are fewer without."""
    for name in ("lscpu", "ethtool", "dmidecode"):
        found = program(name, Area.PROGRAMS)
        if found.status is Health.MISSING:
            tool = TOOLS[name]
            found = HostCheck(
                name, Area.PROGRAMS, Health.WARN, f"not installed: fewer {tool.part}", found.hint
            )
        yield found


def clusters() -> Iterable[HostCheck]:
    """Look for the ways to other machines; a cloud's instances are reached by ssh."""
    yield program("ssh", Area.CLUSTERS)
    slurm = program("srun", Area.CLUSTERS, title="Slurm")
    yield slurm
    if slurm.status is Health.OK:
        yield _slurm_controller()
    yield _openstack()


def _openstack() -> HostCheck:
    """Look for the SDK and for clouds that the user has; none of them is asked."""
    from bareline.platforms.cloud.openstack import known_clouds

    name = "OpenStack"
    try:
        known = known_clouds()
    except BarelineError as error:
        return HostCheck(name, Area.CLUSTERS, Health.MISSING, error.what, error.hint or "")
    said = f"openstacksdk {metadata.version('openstacksdk')}; "
    if not known:
        hint = "write a clouds.yaml: see docs/how-to/openstack.md"
        return HostCheck(name, Area.CLUSTERS, Health.MISSING, f"{said}no clouds.yaml", hint)
    return HostCheck(name, Area.CLUSTERS, Health.OK, f"{said}clouds.yaml has {', '.join(known)}")


def _slurm_controller() -> HostCheck:
    name = "Slurm controller"
    if find_program("sinfo") is None:
        return HostCheck(name, Area.CLUSTERS, Health.MISSING, "no sinfo", install_hint("sinfo"))
    done = ask(["sinfo", "--noheader", "--format=%R"], timeout_s=1.0)
    if done.exit_code != 0 or done.timed_out:
        return HostCheck(
            name,
            Area.CLUSTERS,
            Health.MISSING,
            f"does not answer: {done.why}",
            "start slurmctld, or work where the cluster's configuration is",
        )
    partitions = ", ".join(dict.fromkeys(done.stdout.split()))
    return HostCheck(name, Area.CLUSTERS, Health.OK, f"partitions {partitions}")


def simulation() -> Iterable[HostCheck]:
    """Look for SimGrid."""
    found = program("smpicc", Area.SIMULATION, title="SimGrid SMPI")
    yield found
    if found.status is Health.OK and find_program("smpirun") is None:
        yield HostCheck(
            "smpirun", Area.SIMULATION, Health.MISSING, "not installed", install_hint("smpirun")
        )


def pages() -> Iterable[HostCheck]:
    """Look for the browser that tests the report; reading it needs none."""
    path = find_browser()
    if path is not None:
        yield HostCheck("Chromium", Area.PAGES, Health.OK, path)
        return
    yield HostCheck(
        "Chromium",
        Area.PAGES,
        Health.MISSING,
        "PDF reports and the page tests need a browser; HTML and Markdown do without",
        install_hint("chromium"),
    )
