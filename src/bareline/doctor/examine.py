"""Make all checks, each for itself: one that fails is reported as such and stops nothing."""

from __future__ import annotations

from dataclasses import replace
from importlib import import_module

from bareline.doctor.check import Area, Health, HostCheck, Look, refused
from bareline.vocabulary.errors import BarelineError

#: Area, module and function of every look, in the order of display. The modules are loaded one
#: by one, so that one that cannot be imported is a finding too.
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
    """Find out what works here, what does not, why, and what mends it.

    - `deep`: also compile and run an MPI job with every MPI library, which takes seconds.
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
    """Make one look; whatever goes wrong becomes its last finding."""
    found: list[HostCheck] = []
    try:
        found.extend(look())
    except BarelineError as error:
        found.append(refused(name, error))
    except Exception as error:  # the doctor must survive any illness
        text = f"the check itself failed: {type(error).__name__}: {error}"
        found.append(HostCheck(name, Health.WARN, text))
    return [replace(check, group=area) for check in found]
