"""The checks of the doctor. A failed check does not stop other checks."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from importlib import import_module

from bareline.platforms.hosts.process import Finished, run_process
from bareline.vocabulary.errors import BarelineError

_PROGRAM_S = 3.0


class Health(StrEnum):
    """The result of a check.

    ``warn`` is for a part that works but disturbs measurements or is incomplete; ``missing`` is for
    a part that cannot be used.
    """

    OK = "ok"
    WARN = "warn"
    MISSING = "missing"


class Area(StrEnum):
    """The groups of checks, in the order of display."""

    BARELINE = "bareline"
    BUILD = "Native build"
    MPI = "MPI"
    LOCAL = "Measuring on this machine"
    NETNS = "Network namespaces"
    GUESTS = "Virtual machines"
    CONTAINERS = "Containers"
    FILES = "File systems to mount"
    PROGRAMS = "Benchmark programs"
    HARDWARE = "Network adapters"
    CLUSTERS = "Clusters and clouds"
    SIMULATION = "Simulation"
    PAGES = "Pages"
    PLATFORMS = "Platforms"
    CLAIMS = "Claims of the publication"


@dataclass(frozen=True, slots=True)
class HostCheck:
    """The result of one check.

    - `detail`: the result in words, or the reason why the checked part does not work.
    - `hint`: the next step, as an imperative; empty if there is none.
    - `group`: group of the check, which `examine` sets.
    """

    name: str
    status: Health
    detail: str
    hint: str = ""
    group: Area = Area.BARELINE


def judged(
    name: str, good: object, bad: str, well: str, hint: str = "", ill: Health = Health.WARN
) -> HostCheck:
    """Return a check: OK with the text `well`, or the result `ill` with the text `bad` and a hint.

    The check is OK if `good` is true.
    """
    return HostCheck(name, Health.OK, well) if good else HostCheck(name, ill, bad, hint)


def refused(name: str, error: BarelineError) -> HostCheck:
    """Return the check of a part that cannot be used, with the message and hint of `error`."""
    return HostCheck(name, Health.MISSING, error.what, error.hint or "")


#: A function that checks one subject; it may yield several checks and raise any exception.
Look = Callable[[], Iterable[HostCheck]]


def ask(
    argv: Sequence[str],
    *,
    env: Mapping[str, str] | None = None,
    timeout_s: float = _PROGRAM_S,
    stdin: str | None = None,
    cwd: str | None = None,
) -> Finished:
    """Run a program in the C locale, with a short time limit, and with ``sbin`` folders on PATH."""
    path = os.environ.get("PATH", "") + ":/usr/sbin:/sbin"
    return run_process(
        argv,
        env={**os.environ, "LC_ALL": "C", "PATH": path, **(env or {})},
        timeout_s=timeout_s,
        stdin=stdin,
        cwd=cwd,
    )


#: Area, module and function of every look, in the order of display. The modules are imported one by
#: one, so that an import that fails becomes a check that failed.
_LOOKS = (
    (Area.BARELINE, "toolchain", "python"),
    (Area.BARELINE, "toolchain", "cache"),
    (Area.BUILD, "toolchain", "compilers"),
    (Area.BUILD, "toolchain", "native_programs"),
    (Area.MPI, "toolchain", "mpi"),
    (Area.LOCAL, "conditions", "conditions"),
    (Area.NETNS, "isolation", "namespaces"),
    (Area.GUESTS, "isolation", "kvm"),
    (Area.GUESTS, "isolation", "guests"),
    (Area.CONTAINERS, "isolation", "runtimes"),
    (Area.FILES, "isolation", "file_systems"),
    (Area.HARDWARE, "isolation", "adapters"),
    (Area.PROGRAMS, "programs", "benchmarks"),
    (Area.PROGRAMS, "programs", "fact_tools"),
    (Area.CLUSTERS, "programs", "clusters"),
    (Area.SIMULATION, "programs", "simulation"),
    (Area.PAGES, "programs", "pages"),
)


def examine(*, deep: bool = False) -> list[HostCheck]:
    """Return the checks of this machine's parts, with reason and fix of missing parts.

    - `deep`: whether to compile and run an MPI job with every MPI library, which takes seconds.
    """
    checks: list[HostCheck] = []
    for area, module, function in _LOOKS:
        try:
            name = "mpi_jobs" if deep and function == "mpi" else function
            look: Look = getattr(import_module(f"bareline.doctor.{module}"), name)
            checks += look_safely(look, function.replace("_", " "), area)
        except ImportError as error:
            text = f"cannot be looked at: {error}"
            checks.append(HostCheck(function, Health.MISSING, text, group=area))
    return checks


def look_safely(look: Look, name: str, area: Area) -> list[HostCheck]:
    """Return the checks that `look()` yields; an error that it raises becomes the last check."""
    checks: list[HostCheck] = []
    try:
        checks.extend(look())
    except BarelineError as error:
        checks.append(refused(name, error))
    except Exception as error:  # the doctor must survive any illness
        text = f"the check itself failed: {type(error).__name__}: {error}"
        checks.append(HostCheck(name, Health.WARN, text))
    return [replace(check, group=area) for check in checks]
