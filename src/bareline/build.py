"""Build bareline's native programs with CMake, once per toolchain.

A build lies in the cache folder under a key made of the sources, the compilers and the MPI
library. It appears there complete or not at all, whoever else builds at the same time. Each
toolchain keeps its object files, so that changed sources compile only what they touch. A new build
of a toolchain removes old ones that nobody uses, and all that forgotten toolchains left.
"""

from __future__ import annotations

import hashlib
import json
import logging
import os
import platform
import re
import shutil
import subprocess
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import cache as remembered
from pathlib import Path
from typing import Any, Protocol

from bareline import build_cache
from bareline.errors import BuildError, ToolMissing
from bareline.tools import install_hint, package_hint

_LOG = logging.getLogger(__name__)
_LOG_LINES = 12
#: What pkg-config is asked for: libraries without which programs are left out.
_LIBRARIES = ("openblas", "fftw3", "scalapack-openmpi", "scalapack-mpich")


class MpiCompiler(Protocol):
    """What of an MPI library matters for a build; see `bareline.platforms.launcher`."""

    @property
    def flavour(self) -> str:
        """Which library it is, e.g. ``openmpi``."""

    @property
    def title(self) -> str:
        """Name and version for people."""

    @property
    def mpicc(self) -> str | None:
        """Path of the compiler wrapper, None when only the runtime is installed."""


@dataclass(frozen=True, slots=True, kw_only=True)
class NativeBuild:
    """A finished build of the native programs.

    Parameters
    ----------
    toolchain
        Compiler and MPI library, for people.
    path
        The folder that holds ``bin`` and ``lib``.
    log
        What CMake and the compilers printed.
    left_out
        Programs that could not be built here, each with its reason.
    seconds
        How long configuring and compiling took.
    cached
        It was there already.
    """

    toolchain: str
    path: Path
    log: Path
    left_out: tuple[str, ...]
    seconds: float
    cached: bool = False

    @property
    def programs(self) -> Path:
        """The folder of the programs."""
        return self.path / "bin"

    def to_dict(self) -> dict[str, Any]:
        """Give the row that ``bareline build --json`` prints."""
        return {
            **asdict(self),
            "path": str(self.path),
            "log": str(self.log),
            "left_out": list(self.left_out),
        }


def ensure_native(mpi: MpiCompiler | None, cache: Path) -> Path:
    """Give the folder of the native programs for an MPI library, built if need be.

    See `build_native`.
    """
    return build_native(mpi, cache).programs


def build_native(mpi: MpiCompiler | None, cache: Path, *, force: bool = False) -> NativeBuild:
    """Build the native programs, or find them in the cache.

    Parameters
    ----------
    mpi
        The library to build against; None builds only what needs no MPI.
    cache
        bareline's cache folder.
    force
        Build again even if the cache has it.

    Raises
    ------
    ToolMissing
        CMake, a C compiler or the MPI library's compiler wrapper is not installed.
    BuildError
        Configuring or compiling failed; the message holds the error and the path of the log.
    """
    if mpi is not None and mpi.mpicc is None:
        raise _no_wrapper(mpi)
    for tool in ("cmake", "cc"):
        if shutil.which(_compiler() if tool == "cc" else tool) is None:
            raise ToolMissing(
                f"'{tool}' is not installed, and the native programs have to be built",
                hint=install_hint("gcc" if tool == "cc" else tool),
            )
    source = source_folder()
    toolchain = _toolchain(mpi)
    tools = _tools_key(toolchain, mpi)
    folder = cache / "native"
    folder.mkdir(parents=True, exist_ok=True)
    target = folder / f"{tools}-{_sources_key(source)}"
    found = None if force else _read(target)
    if found is not None:
        return found
    with build_cache.locked(folder, tools) as lock:
        # Another process may have built it while this one waited.
        found = None if force else _read(target)
        if found is not None:
            return found
        tree = folder / f"{tools}.tree"
        if force:
            shutil.rmtree(tree, ignore_errors=True)
        built = _Builder(source, tree, target, mpi, toolchain, lock).build()
        build_cache.use(target)
        build_cache.prune(folder, tools)
        build_cache.prune_forgotten(folder)
        return built


def source_folder() -> Path:
    """Give the folder of the top CMakeLists.txt: inside the wheel, or of the source checkout.

    Raises
    ------
    BuildError
        This installation came without the sources.
    """
    here = Path(__file__).resolve().parent
    for folder in (here / "_native", here.parent.parent):
        if (folder / "native" / "CMakeLists.txt").is_file():
            return folder
    raise BuildError(
        "the sources of the native programs are missing",
        where=str(here),
        hint="install bareline again from its wheel",
    )


@dataclass(frozen=True, slots=True)
class _Builder:
    """One build: from where, through which tree of object files, to where, with what.

    `lock` is the descriptor of the lock that the builder holds.
    """

    source: Path
    tree: Path
    target: Path
    mpi: MpiCompiler | None
    toolchain: str
    lock: int

    @property
    def log(self) -> Path:
        return self.target.with_suffix(".log")

    @property
    def part(self) -> Path:
        return self.target.with_suffix(".part")

    def build(self) -> NativeBuild:
        """Configure, compile and install beside the final place, then move there in one step."""
        _LOG.info("building the native programs for %s, once (%s)", self.toolchain, self.log)
        started = time.monotonic()
        try:
            shutil.rmtree(self.part, ignore_errors=True)
            _mirror(self.source, self.tree / "source")
            with self.log.open("w", encoding="utf-8") as output:
                for line in self._steps():
                    self._run(line, output.fileno())
            build = NativeBuild(
                toolchain=self.toolchain,
                path=self.target,
                log=self.log,
                left_out=_left_out(self.log),
                seconds=round(time.monotonic() - started, 3),
            )
            self._publish(build)
        except OSError as error:
            raise BuildError(
                f"the native programs cannot be stored: {error.strerror}",
                where=str(self.target.parent),
            ) from error
        finally:
            shutil.rmtree(self.part, ignore_errors=True)
        for reason in build.left_out:
            _LOG.warning("left out of the native programs: %s", reason)
        return build

    def _steps(self) -> tuple[list[str], ...]:
        source, tree = str(self.tree / "source"), str(self.tree / "build")
        configure = ["cmake", "-S", source, "-B", tree, "-DCMAKE_BUILD_TYPE=Release"]
        configure += ["-DBARELINE_TESTS=OFF"]
        if shutil.which("ninja"):
            configure += ["-G", "Ninja"]
        if self.mpi is None:
            configure += ["-DCMAKE_DISABLE_FIND_PACKAGE_MPI=ON"]
        else:
            configure += [f"-DMPI_C_COMPILER={self.mpi.mpicc}"]
        jobs = str(len(os.sched_getaffinity(0)))
        return (
            configure,
            ["cmake", "--build", tree, "--parallel", jobs],
            ["cmake", "--install", tree, "--prefix", str(self.part / "prefix")],
        )

    def _run(self, line: Sequence[str], output: int) -> None:
        """Run one step of the build.

        The step inherits the lock: if bareline is killed, the next builder waits for what it left
        running instead of working in the same folder.
        """
        done = subprocess.run(
            line,
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=subprocess.STDOUT,
            env={**os.environ, "LC_ALL": "C"},
            pass_fds=(self.lock,),
            check=False,
        )
        if done.returncode != 0:
            # What CMake remembers may be the cause; the next build begins afresh.
            (self.tree / "build" / "CMakeCache.txt").unlink(missing_ok=True)
            raise BuildError(
                f"the native programs do not build for {self.toolchain}:\n{_error_in(self.log)}",
                hint=f"the whole log is {self.log}",
            )

    def _publish(self, build: NativeBuild) -> None:
        prefix = self.part / "prefix"
        prefix.mkdir(exist_ok=True)
        record = prefix / build_cache.RECORD
        record.write_text(json.dumps(build.to_dict(), indent=1), encoding="utf-8")
        shutil.rmtree(self.target, ignore_errors=True)
        prefix.rename(self.target)


def _sources(source: Path) -> Iterator[Path]:
    """Give the files that a build reads, as paths below the source folder."""
    yield Path("CMakeLists.txt")
    for path in sorted((source / "native").rglob("*")):
        if path.is_file():
            yield path.relative_to(source)


def _mirror(source: Path, copy: Path) -> None:
    """Make a folder hold the sources and nothing else.

    An unchanged file keeps its time stamp, which is what Ninja and Make look at.
    """
    wanted = set(_sources(source))
    for path in [path for path in copy.rglob("*") if path.is_file()]:
        if path.relative_to(copy) not in wanted:
            path.unlink()
    for name in wanted:
        content = (source / name).read_bytes()
        place = copy / name
        if not place.is_file() or place.read_bytes() != content:
            place.parent.mkdir(parents=True, exist_ok=True)
            place.write_bytes(content)


def _error_in(log: Path) -> str:
    """Give the part of a build log that says what went wrong."""
    lines = log.read_text(encoding="utf-8", errors="replace").splitlines()
    first = next(
        (at for at, line in enumerate(lines) if re.search(r"\berror\b", line, re.IGNORECASE)),
        max(0, len(lines) - _LOG_LINES),
    )
    return "\n".join(lines[first : first + _LOG_LINES])


def _left_out(log: Path) -> tuple[str, ...]:
    text = log.read_text(encoding="utf-8", errors="replace")
    return tuple(re.findall(r"^-- left out: (.+)$", text, re.MULTILINE))


def _read(target: Path) -> NativeBuild | None:
    """Find a finished build and keep it from now on; None when there is none."""
    record = build_cache.use(target)
    if record is None:
        return None
    try:
        stored = json.loads(record)
        return NativeBuild(
            toolchain=stored["toolchain"],
            path=target,
            log=Path(stored["log"]),
            left_out=tuple(stored["left_out"]),
            seconds=stored["seconds"],
            cached=True,
        )
    except (ValueError, KeyError, TypeError):
        return None


# What a build depends on --------------------------------------------------------------------------


def _compiler() -> str:
    return os.environ.get("CC", "cc").split()[0]


def _toolchain(mpi: MpiCompiler | None) -> str:
    """Name compiler and MPI library in one line for people."""
    return f"{_version(_compiler())}, {mpi.title if mpi else 'no MPI'}"


def _tools_key(toolchain: str, mpi: MpiCompiler | None) -> str:
    """Hash what of this machine decides what the programs will be."""
    parts: Mapping[str, str] = {
        "toolchain": toolchain,
        "wrapper": str(mpi.mpicc) if mpi else "",
        "flags": " ".join(os.environ.get(name, "") for name in ("CFLAGS", "FFLAGS", "LDFLAGS")),
        "fortran": _version(os.environ.get("FC", "gfortran")),
        # Installing a library later must bring the programs that wanted it.
        "libraries": " ".join(
            f"{name} {_version('pkg-config', '--modversion', name)}" for name in _LIBRARIES
        ),
        "machine": platform.machine(),
    }
    return hashlib.sha256(json.dumps(parts, sort_keys=True).encode()).hexdigest()[:8]


def _sources_key(source: Path) -> str:
    digest = hashlib.sha256()
    for name in _sources(source):
        digest.update(f"\0{name}\0".encode())
        digest.update((source / name).read_bytes())
    return digest.hexdigest()[:12]


@remembered
def _version(*line: str) -> str:
    """Give the first line of what a program says about its version, empty when it is missing."""
    arguments = line if len(line) > 1 else (*line, "--version")
    try:
        done = subprocess.run(
            arguments,
            capture_output=True,
            text=True,
            env={**os.environ, "LC_ALL": "C"},
            check=False,
        )
    except OSError:
        return ""
    return done.stdout.strip().partition("\n")[0] if len(line) == 1 else done.stdout.strip()


def _no_wrapper(mpi: MpiCompiler) -> ToolMissing:
    packages = {"openmpi": "libopenmpi-dev", "mpich": "libmpich-dev"}
    package = packages.get(mpi.flavour)
    return ToolMissing(
        f"{mpi.title} is installed without its compiler wrapper mpicc",
        hint=package_hint(package) if package else "install its development files",
    )
