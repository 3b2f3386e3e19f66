"""The host's own package sources, out of which a guest image is built."""

from __future__ import annotations

import os
import subprocess
import time
from collections.abc import Collection, Iterable, Mapping
from pathlib import Path

from bareline.vocabulary.errors import PlatformError

#: Names that differ between distributions: the first that the host's sources know is taken.
_ALTERNATIVES: Mapping[str, tuple[str, ...]] = {
    "libopenmpi3": ("libopenmpi3t64", "libopenmpi40"),
    "libmpich12": ("libmpich12t64",),
    "libscalapack-openmpi2.2": ("libscalapack-openmpi2.2t64", "libscalapack-openmpi2.1"),
    "libscalapack-mpich2.2": ("libscalapack-mpich2.2t64", "libscalapack-mpich2.1"),
}
#: How long another apt (an automatic upgrade, another bareline) may hold the package lists.
_APT_WAIT_S, _APT_LOOK_S = 300.0, 1.0


def os_release() -> dict[str, str]:
    """Read what this host's distribution says about itself."""
    values = {}
    for line in Path("/etc/os-release").read_text(encoding="utf-8").splitlines():
        key, equals, value = line.partition("=")
        if equals:
            values[key] = value.strip('"')
    return values


def package_sources(suite: str) -> str:
    """Give the host's own package sources of its distribution, one line each.

    The guest must run what the host runs: the same MPI, the same libraries.
    """
    lines = _listed_sources(suite)
    if not lines and os.geteuid() == 0:
        # Container images come without package lists.
        lines = _updated_sources(suite)
    if not lines:
        raise PlatformError(
            f"the package sources of this host list nothing for '{suite}'",
            where='image = "auto"',
            hint="run `apt-get update` and see that it succeeds",
        )
    return "".join(f"{line}\n" for line in sorted(lines))


def _updated_sources(suite: str) -> set[str]:
    """Fetch the package lists, and wait while another one does: apt fails at once then."""
    deadline = time.monotonic() + _APT_WAIT_S
    while True:
        try:
            _ask(["apt-get", "update", "-q"])
        except PlatformError as error:
            if "Could not get lock" not in error.what or time.monotonic() > deadline:
                raise
            time.sleep(_APT_LOOK_S)
        else:
            return _listed_sources(suite)


def _listed_sources(suite: str) -> set[str]:
    columns = "$(CREATED_BY)|$(CODENAME)|$(TRUSTED)|deb $(REPO_URI) $(RELEASE) $(COMPONENT)"
    lines = set()
    for line in _ask(["apt-get", "indextargets", "--format", columns]).splitlines():
        created_by, codename, _, source = line.split("|", 3)
        if created_by == "Packages" and codename.partition("-")[0] == suite:
            lines.add(source)
    return lines


def known_names(packages: Iterable[str], ours: Collection[str]) -> list[str]:
    """Give the names under which the host's sources have the packages.

    Parameters
    ----------
    ours
        Those that every image has; the others are its user's.
    """
    wanted = [name for package in packages for name in (package, *_ALTERNATIVES.get(package, ()))]
    shown = _ask(["apt-cache", "show", "--no-all-versions", *wanted], check=False)
    known = {line[9:] for line in shown.splitlines() if line.startswith("Package: ")}
    found = []
    for package in packages:
        names = [name for name in (package, *_ALTERNATIVES.get(package, ())) if name in known]
        if not names:
            raise PlatformError(
                f"the package sources of this host have no '{package}'",
                where='image = "auto"' if package in ours else "packages",
                hint="run `apt-get update`; on Ubuntu the component 'universe' must be enabled",
            )
        found.append(names[0])
    return found


def _ask(argv: list[str], *, check: bool = True) -> str:
    done = subprocess.run(
        argv, capture_output=True, text=True, check=False, env={**os.environ, "LC_ALL": "C"}
    )
    if check and done.returncode:
        raise PlatformError(f"`{' '.join(argv[:2])}` failed: {done.stderr.strip()}")
    return done.stdout


def proxy_options() -> list[str]:
    """Give the host's settings of how packages are fetched, for apt inside the new root."""
    options = []
    for line in _ask(["apt-config", "dump", "Acquire"]).splitlines():
        if "::Proxy" in line and not line.rstrip().endswith('"";'):
            options.append(f"--aptopt={line.rstrip(';')}")
    return options
