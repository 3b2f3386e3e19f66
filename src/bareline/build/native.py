"""The build of bareline's native programs with CMake, once per toolchain.

The name of a build in the cache folder is a hash of the sources, the compilers and the MPI library.
A build appears there only when it is complete, even if several processes build at the same time.
Each toolchain keeps its object files, so that only files that depend on changed sources are
compiled. A new build removes old unused builds of the same toolchain. It also removes all files of
toolchains that were not used for a month.
"""

from __future__ import annotations

import ctypes
import errno
import json
import logging
import os
import platform
import re
import shutil
import subprocess
import time
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from bareline.build import cache as build_cache
from bareline.build.record import NativeBuild, build_of_another, finished_build, recorded, trusted
from bareline.build.sources import mirror, source_folder, sources_key
from bareline.build.toolchain import (
    MpiCompiler,
    build_environment,
    missing_tool,
    toolchain_key,
    toolchain_title,
)
from bareline.host.cache import cache_folder
from bareline.vocabulary.errors import BuildError, ToolMissing
from bareline.vocabulary.files import replace_file

_LOG = logging.getLogger(__name__)
_LOG_LINES = 12


def ensure_native(mpi: MpiCompiler | None, cache: Path) -> Path:
    """Return the folder of the native programs for an MPI library; see `build_native`."""
    return build_native(mpi, cache).programs


def build_native(mpi: MpiCompiler | None, cache: Path, *, force: bool = False) -> NativeBuild:
    """Return a build of the native programs, from the cache or newly built.

    If a build program such as a compiler is missing here, return instead a complete build in the
    cache that another machine or node made for the same library, with whatever compiler.

    - `mpi`: the MPI library to build for; None builds only programs without MPI.
    - `force`: whether to build even if the cache has the build.

    Raises ToolMissing: CMake, a C compiler or the MPI library's compiler wrapper is not installed.
    Raises BuildError: configuring or compiling failed; the message contains the error and the path
    of the log.
    """
    source = source_folder()
    lacking = missing_tool(mpi)
    if lacking is not None:
        made = None if force else build_of_another(cache, sources_key(source), mpi)
        if made is None:
            raise lacking
        return made
    toolchain = toolchain_title(mpi)
    tools = toolchain_key(toolchain, mpi)
    folder = cache / "native"
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    except OSError as error:
        raise BuildError(
            f"the native programs cannot be stored: {error.strerror}",
            where=str(folder),
            hint="name another folder with BARELINE_CACHE",
        ) from error
    target = folder / f"{tools}-{sources_key(source)}"
    build = None if force else finished_build(target)
    if build is None:
        build = _build_locked(
            _Builder(source, folder / f"{tools}.tree", target, mpi, toolchain), force
        )
    if mpi is not None:
        mpi.check_library(build.library)
    return build


#: Builds that failed in this process, by their place: each trial of a run would try them again.
_failures: dict[Path, BuildError] = {}


def _build_locked(builder: _Builder, force: bool) -> NativeBuild:
    """Build while this process has the lock, unless another process has finished the build.

    A build that has failed in this process is not repeated.
    """
    target = builder.target
    if not force and target in _failures:
        raise _failures[target]
    tools = target.name.partition("-")[0]
    with build_cache.locked(target.parent, tools) as lock:
        # Another process may have built it while this one waited.
        build = None if force else finished_build(target)
        if build is not None:
            return build
        if force:
            shutil.rmtree(builder.tree, ignore_errors=True)
        try:
            build = builder.build(lock)
        except BuildError as error:
            _failures[target] = error
            raise
        build_cache.use(target)
        build_cache.prune(target.parent, tools)
        build_cache.prune_forgotten(target.parent)
        return build


@dataclass(frozen=True, slots=True)
class _Builder:
    """A build, with the paths of its sources, its object files and its result."""

    source: Path
    tree: Path
    target: Path
    mpi: MpiCompiler | None
    toolchain: str

    @property
    def log(self) -> Path:
        return self.target.with_suffix(".log")

    @property
    def part(self) -> Path:
        return self.target.with_suffix(".part")

    def build(self, lock: int) -> NativeBuild:
        """Configure, compile and install into a temporary folder, then rename the complete folder.

        - `lock`: the descriptor of the toolchain's lock, which this process has.
        """
        _LOG.info("building the native programs for %s, once (%s)", self.toolchain, self.log)
        started = time.monotonic()
        try:
            shutil.rmtree(self.part, ignore_errors=True)
            mirror(self.source, self.tree / "source")
            self._forget_another_place()
            with self.log.open("w", encoding="utf-8") as output:
                for line in self._steps():
                    self._run(line, output.fileno(), lock)
            build = NativeBuild(
                toolchain=self.toolchain,
                path=self.target,
                log=self.log,
                left_out=tuple(re.findall(r"^-- left out: (.+)$", _text(self.log), re.MULTILINE)),
                seconds=round(time.monotonic() - started, 3),
                library=_library_in(self.log),
                machine=platform.machine(),
            )
            prefix = self.part / "prefix"
            prefix.mkdir(exist_ok=True)
            record = json.dumps(build.to_dict(), indent=1)
            replace_file(prefix / build_cache.RECORD, record, durable=False)
            shutil.rmtree(self.target, ignore_errors=True)
            prefix.rename(self.target)
        except OSError as error:
            raise self._not_stored(error.strerror or str(error)) from error
        finally:
            shutil.rmtree(self.part, ignore_errors=True)
        for reason in build.left_out:
            _LOG.warning("left out of the native programs: %s", reason)
        return build

    def _forget_another_place(self) -> None:
        """Remove CMake's cache if bareline's cache folder was moved.

        CMake refuses its cache after a move, because the cache contains its own path.
        """
        remembered = self.tree / "build" / "CMakeCache.txt"
        if remembered.is_file():
            place = re.search(r"^CMAKE_CACHEFILE_DIR:INTERNAL=(.*)$", remembered.read_text(), re.M)
            if place is None or Path(place[1]).resolve() != remembered.parent.resolve():
                shutil.rmtree(remembered.parent)

    def _steps(self) -> tuple[list[str], ...]:
        source = str(self.tree / "source")
        tree = str(self.tree / "build")
        configure = ["cmake", "-S", source, "-B", tree, "-DCMAKE_BUILD_TYPE=Release"]
        configure += ["-DBARELINE_TESTS=OFF"]
        if shutil.which("ninja"):
            configure += ["-G", "Ninja"]
        if self.mpi is None:
            configure += ["-DCMAKE_DISABLE_FIND_PACKAGE_MPI=ON"]
        else:
            configure += [f"-DMPI_C_COMPILER={self.mpi.mpicc}"]
            configure += [f"-D{name}={value}" for name, value in self.mpi.choices.items()]
        jobs = str(len(os.sched_getaffinity(0)))
        return (
            configure,
            ["cmake", "--build", tree, "--parallel", jobs],
            ["cmake", "--install", tree, "--prefix", str(self.part / "prefix")],
        )

    def _run(self, line: Sequence[str], output: int, lock: int) -> None:
        """Run a step of the build as a process that inherits the lock.

        If this process is killed, the next process that builds therefore waits for the end of the
        step.
        """
        finished = subprocess.run(
            line,
            # CMake tests compilers in its working directory, and SimGrid's compiler leaves a file
            # there.
            cwd=self.tree,
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=subprocess.STDOUT,
            env=build_environment(self.mpi),
            pass_fds=(lock,),
            check=False,
        )
        if finished.returncode != 0:
            # CMake's cache may be the cause; the next build starts without it.
            (self.tree / "build" / "CMakeCache.txt").unlink(missing_ok=True)
            full = _full_disk_in(self.log)
            if full is not None:
                raise self._not_stored(full)
            raise BuildError(
                f"the native programs do not build for {self.toolchain}:\n{_error_in(self.log)}",
                hint=f"the whole log is {self.log}",
            )

    def _not_stored(self, reason: str) -> BuildError:
        return BuildError(
            f"the native programs cannot be stored: {reason}",
            where=str(self.target.parent),
            hint="make room there, or name another folder with BARELINE_CACHE",
        )


def _reasons(build: NativeBuild, program: str) -> list[str]:
    """Return the reasons for which a build left out a program."""
    reasons: list[str] = []
    for line in build.left_out:
        # A reason names a program, or the folder of the sources of several (`apps` of `app_ocean`).
        owner, _, reason = line.partition(": ")
        if program.startswith(owner.removesuffix("s")):
            reasons.append(reason)
    return reasons


def require_programs(programs: Path, names: Iterable[str]) -> None:
    """Check that a build on this machine has not left out programs.

    - `programs`: the folder of the build's programs; a folder of another machine is not checked.

    Raises ToolMissing: a program is missing; the error has the reason and the package to install.
    """
    # Nothing of it is executed, so that it need not be trusted: it may be a copy in /tmp.
    build = recorded(programs.parent)
    if build is None:
        return
    for name in names:
        if (programs / name).exists():
            continue
        reasons = _reasons(build, name)
        raise ToolMissing(
            f"the program '{name}' was left out of the build:"
            f" {'; '.join(reasons) or 'its log has the reason'}",
            where=str(build.log),
            hint="install the missing part, then run `bareline build`",
        )


def _error_in(log: Path) -> str:
    lines = _text(log).splitlines()
    errors = (
        number for number, line in enumerate(lines) if re.search(r"\berror\b", line, re.IGNORECASE)
    )
    first = next(errors, max(0, len(lines) - _LOG_LINES))
    return "\n".join(lines[first : first + _LOG_LINES])


def _full_disk_in(log: Path) -> str | None:
    """Return the message in a log about a full file system or a used-up quota, or None."""
    text = _text(log)
    messages = map(os.strerror, (errno.ENOSPC, errno.EDQUOT))
    return next((message for message in messages if message in text), None)


def _library_in(log: Path) -> str:
    """Return the MPI library that the configure step found for linking."""
    line = re.search(r"^-- MPI library of C programs: (.+)$", _text(log), re.MULTILINE)
    return line[1] if line else ""


def _text(log: Path) -> str:
    return log.read_text(encoding="utf-8", errors="replace")


_REPLAY = Path("lib") / "libbareline_replay.so"


@cache
def load_library() -> ctypes.CDLL:
    """Return the compiled library of bareline's own computations; build it if necessary.

    Raises ToolMissing: a build program is missing; the hint names the package to install.
    Raises BuildError: the library cannot be built or loaded.
    """
    folder = _built() or build_native(None, cache_folder()).path
    try:
        return ctypes.CDLL(str(folder / _REPLAY))
    except OSError as error:
        raise BuildError(
            f"the compiled replay cannot be loaded: {error}",
            where=str(folder / _REPLAY),
            hint="build it again: `bareline build --force`",
        ) from error


def _built() -> Path | None:
    """Return the last used build of the present sources, for any MPI library, or None."""
    for build in build_cache.finished(cache_folder() / "native"):
        if build.name.endswith(f"-{_key()}") and (build / _REPLAY).exists():
            build_cache.use(build)
            trusted(build)
            return build
    return None


@cache
def _key() -> str:
    return sources_key(source_folder())
