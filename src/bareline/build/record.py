"""The record of a finished build, and builds of other machines in the same cache."""

from __future__ import annotations

import platform
import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import Any, NotRequired

from pydantic import TypeAdapter, ValidationError
from typing_extensions import TypedDict

from bareline.build import cache as build_cache
from bareline.build.toolchain import MpiCompiler, library_title
from bareline.host.cache import check_trust
from bareline.vocabulary.errors import PlatformError
from bareline.vocabulary.files import read_bounded

#: Size limit for a file of a node's build; the log may have thousands of lines.
_LARGEST_BYTES = 1 << 22


class Built(TypedDict):
    """A row of ``build``: the native programs that were built with a toolchain."""

    platform: NotRequired[str]
    toolchain: str
    path: str
    log: str
    left_out: list[str]
    seconds: float
    cached: bool
    host: str
    library: str
    machine: str


@dataclass(frozen=True, slots=True, kw_only=True)
class NativeBuild:
    """A finished build of the native programs.

    - `toolchain`: compiler and MPI library, for people.
    - `path`: the folder that contains ``bin`` and ``lib``.
    - `left_out`: programs that could not be built here, each with its reason.
    - `seconds`: duration of configuring and compiling.
    - `host`: the node that has the build; empty for this machine.
    - `library`: version text of the MPI library with which the programs were linked; empty if it is
      unknown.
    - `machine`: the architecture of the programs; empty in records of earlier versions.
    """

    toolchain: str
    path: Path
    log: Path
    left_out: tuple[str, ...]
    seconds: float
    cached: bool = False
    host: str = ""
    library: str = ""
    machine: str = ""

    @property
    def programs(self) -> Path:
        """The folder of the programs."""
        return self.path / "bin"

    def to_dict(self) -> dict[str, Any]:
        """Return the row that ``bareline build --json`` prints."""
        return _adapter().dump_python(self, mode="json")  # type: ignore[no-any-return]


@cache
def _adapter() -> TypeAdapter[NativeBuild]:
    return TypeAdapter(NativeBuild)


def trusted(build: Path) -> None:
    """Check that no other user could have changed a build, because its programs are executed.

    Raises StoreError: the build belongs to another user, or other users may write to it.
    """
    for path in (build.parent, build, *build.glob("*/"), *build.glob("*/*")):
        check_trust(path)


def finished_build(target: Path) -> NativeBuild | None:
    """Return a finished build that is safe to execute, or None; protect it from removal.

    Raises StoreError: other users could have changed the build.
    """
    record = build_cache.use(target)
    if record is None:
        return None
    trusted(target)
    return _build_of(record, target)


def recorded(target: Path) -> NativeBuild | None:
    """Return the record of a finished build, or None; protect the build from removal."""
    record = build_cache.use(target)
    return None if record is None else _build_of(record, target)


def _build_of(record: str, target: Path) -> NativeBuild | None:
    try:
        return replace(_adapter().validate_json(record), path=target, cached=True)
    except ValidationError:
        return None


def build_of_another(cache: Path, sources: str, mpi: MpiCompiler | None) -> NativeBuild | None:
    """Return a complete build for an MPI library that another machine put into the cache.

    Of several builds, return the last used build; None if there is no build for this architecture.

    - `sources`: the result of `sources_key`.

    Raises StoreError: other users could have changed the build.
    """
    for build in (*_of_machines(cache / "native", sources), *_of_nodes(cache, sources)):
        if build.machine != platform.machine() or not _is_for(build, mpi):
            continue
        trusted(build.path)
        return build
    return None


def node_builds(cache: Path, sources: str) -> list[str]:
    """Return the toolchains of builds that nodes have made in a cache that this machine shares."""
    return [build.toolchain for build in _of_nodes(cache, sources)]


def _is_for(build: NativeBuild, mpi: MpiCompiler | None) -> bool:
    if not build.toolchain.endswith(f", {library_title(mpi)}"):
        return False
    if mpi is None or not build.library:
        return True
    try:
        mpi.check_library(build.library)
    except PlatformError:
        return False
    return True


def _of_machines(folder: Path, sources: str) -> Iterator[NativeBuild]:
    for target in build_cache.finished(folder):
        if target.name.endswith(f"-{sources}") and (build := recorded(target)):
            yield build


def _of_nodes(cache: Path, sources: str) -> Iterator[NativeBuild]:
    """Yield the complete builds that nodes made in a shared cache, the latest first."""
    marks = [path for path in cache.glob(f"native-{sources}-*/seconds") if path.is_file()]
    for mark in sorted(marks, key=lambda path: path.stat().st_mtime, reverse=True):
        target = mark.parent
        try:
            toolchain, machine, seconds, log = (
                read_bounded(target / name, _LARGEST_BYTES).decode(errors="replace").strip()
                for name in ("toolchain", "machine", "seconds", "log")
            )
            taken_s = float(seconds)
        except (OSError, ValueError):
            continue  # of an earlier version, or being removed
        left_out = re.findall(r"^-- left out: (.+)$", log, re.MULTILINE)
        library_line = re.search(r"^-- MPI library of C programs: (.+)$", log, re.MULTILINE)
        library = library_line[1] if library_line else ""
        yield NativeBuild(
            toolchain=toolchain,
            path=target,
            log=target / "log",
            left_out=tuple(left_out),
            seconds=taken_s,
            cached=True,
            library=library,
            machine=machine,
        )
