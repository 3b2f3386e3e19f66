"""Run a program under the profiler: find its MPI library, preload, keep its exit code."""

from __future__ import annotations

import contextlib
import os
import re
import shutil
import signal
import stat
import subprocess
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from bareline.host.cache import cache_folder
from bareline.platforms.here import build_here
from bareline.platforms.launchers.installation import MpiInstallation, find_mpi
from bareline.profile.files import read_profile, write_profile
from bareline.profile.journal import journal_of
from bareline.profile.period import find_period, period_file, write_period
from bareline.profile.sites import with_sites_named
from bareline.profile.trace import read_trace, trace_of
from bareline.vocabulary.errors import BarelineError, PlatformError, ProfileError, ToolMissing
from bareline.vocabulary.files import check_replaceable, step_to_write

#: Launchers that hand their own environment on to every rank by themselves.
_BATCH = ("srun", "prun", "aprun", "jsrun", "flux")
_LAUNCHER = re.compile(r"(mpirun|mpiexec|orterun|prterun)(\..+|-.+)?")


@dataclass(frozen=True, slots=True)
class ProfiledRun:
    """What became of a program that was run under the profiler.

    - `exit_code`: the program's own; 128 + n if it was ended by signal n.
    - `path`: its profile, None if no MPI program ran.
    - `complete`: every rank reached ``MPI_Finalize``.
    - `ended`: why it is not complete.
    - `without_period`: why no period of its calls was kept, where one was asked for.
    """

    exit_code: int
    path: Path | None
    complete: bool
    ended: str = ""
    without_period: str = ""


def profile_command(
    argv: Sequence[str],
    out: Path,
    *,
    mpi: str = "auto",
    split: bool = False,
    trace: bool = False,
    period: bool = False,
    trace_limit_bytes: int = 64 << 20,
    regions: Mapping[int, str] | None = None,
) -> ProfiledRun:
    """Run a command line whose MPI program is profiled.

    - `argv`: a launcher with its arguments and the program, or a script that starts one.
    - `out`: the profile to write; an earlier one is replaced.
    - `mpi`: the library that the program uses: ``auto`` (that of the launcher in `argv`, else what
      ``mpirun`` is), a flavour, or the path of a launcher.
    - `split`: put a barrier before every blocking collective, to tell waiting from transfer.
    - `trace`: also write every call beside the profile, for a replay; `trace_limit_bytes` at most.
    - `period`: also keep one period of its calls (`bareline.profile.period`), without the trace.
    - `regions`: names of the regions that the program enters by ``MPI_Pcontrol``.

    Raises ProfileError: the command line is empty, or `out` cannot be written.
    Raises ToolMissing, PlatformError, BuildError: no MPI library, or no profiler for it.
    """
    if not argv:
        raise ProfileError(
            "no command to profile", hint="write `bareline profile -o FILE -- mpirun -n 4 ./app`"
        )
    if shutil.which(argv[0]) is None:
        raise ToolMissing(f"'{argv[0]}' is not found", hint="give the path of the program")
    if split and (trace or period):
        raise ProfileError(
            "a trace of a split profile would contain its barriers",
            hint="profile twice: once with --split, once with --trace",
        )
    out = out.absolute()
    _make_way(out)
    installation = _installation(argv, mpi)
    variables = profile_environment(installation, out, split=split, regions=regions or {})
    traced = trace_of(out) if trace else period_file(out).with_suffix(".trace")
    if trace or period:
        variables["BARELINE_TRACE"] = str(traced)
        variables["BARELINE_TRACE_LIMIT"] = str(trace_limit_bytes)
    line, environment = preloaded(argv, installation.flavour, variables)
    try:
        done = _finish(_run(line, environment), out, argv, installation)
        if period and done.complete:
            done = replace(done, without_period=_keep_period(traced, out))
    finally:
        if not trace:
            traced.unlink(missing_ok=True)
            journal_of(traced).unlink(missing_ok=True)
    return done


def _keep_period(trace: Path, out: Path) -> str:
    """Keep one period of a program's calls; say why not where the program has none.

    Raises ProfileError: the period cannot be written.
    """
    try:
        found = find_period(read_trace(trace), read_profile(out))
    except ProfileError as error:
        return str(error)
    write_period(found, period_file(out))
    return ""


def profile_environment(
    mpi: MpiInstallation,
    out: Path,
    *,
    split: bool = False,
    regions: Mapping[int, str] | None = None,
) -> dict[str, str]:
    """Give the variables that have a program's ranks profiled; the profiler is built if need be.

    They are for the ranks, not for the launcher: every rank of a job must have them, or none.
    """
    library = profiler_library(build_here(mpi, cache_folder()).path)
    present = os.environ.get("LD_PRELOAD")
    variables = {
        "LD_PRELOAD": f"{library}:{present}" if present else str(library),
        "BARELINE_PROFILE": str(out),
    }
    if split:
        variables["BARELINE_PROFILE_SPLIT"] = "1"
    if regions:
        names = ",".join(f"{number}={name}" for number, name in sorted(regions.items()))
        variables["BARELINE_PROFILE_REGIONS"] = names
    return variables


def profiler_library(build: Path) -> Path:
    """Find the profiler in a folder of native programs, or raise ProfileError: it was not built."""
    found = sorted(build.glob("lib*/**/libbareline_pmpi.so"))
    if not found:
        raise ProfileError(
            "the profiler is not among the native programs",
            where=str(build),
            hint="look at what `bareline build` left out",
        )
    return found[0]


def parse_regions(texts: Sequence[str]) -> dict[int, str]:
    """Read ``3=solver`` and the like; raises ProfileError: no number from 3 to 255, or no name."""
    regions = {}
    for text in texts:
        match = re.fullmatch(r"(\d{1,3})=([^,\"\\\x00-\x1f]{1,100})", text)
        if match is None or not 3 <= int(match[1]) <= 255:
            raise ProfileError(
                f"'{text}' is not a region",
                hint="write the level of MPI_Pcontrol and a name: 3=solver",
            )
        regions[int(match[1])] = match[2]
    return regions


def parse_limit(text: str) -> int:
    """Read ``64MB`` or ``512 KiB`` as bytes; raises ProfileError: no size, or unfit for a trace."""
    match = re.fullmatch(r"(\d{1,6}) ?(k|M|G)(i?)B?", text, re.IGNORECASE)
    if match is None or int(match[1]) == 0:
        raise ProfileError(f"'{text[:40]}' is not a size", hint="write --limit 64MB")
    power = "kmg".index(match[2].lower()) + 1
    return int(match[1]) * int((1024 if match[3] else 1000) ** power)


def preloaded(
    argv: Sequence[str], flavour: str, variables: Mapping[str, str]
) -> tuple[list[str], dict[str, str]]:
    """Give the command line and environment with which every rank gets the variables.

    Launchers that do not export them to other nodes are told to, and stay unprofiled themselves.
    """
    environment = dict(os.environ)
    name = Path(argv[0]).name
    if not _LAUNCHER.fullmatch(name):
        return list(argv), environment | dict(variables)
    if flavour == "openmpi":
        given = [part for key, value in variables.items() for part in ("-x", f"{key}={value}")]
    else:
        given = [part for key, value in variables.items() for part in ("-genv", key, value)]
    return [argv[0], *given, *argv[1:]], environment


def _make_way(out: Path) -> None:
    if out.is_dir():
        raise ProfileError("is a folder", where=str(out), hint="give the name of a file to -o")
    try:
        paths = (
            out, journal_of(out), trace_of(out), journal_of(trace_of(out)), period_file(out),
        )  # fmt: skip
        for path in paths:
            check_replaceable(path)  # a device is not to be unlinked, nor a link of the user's
        for path in paths:
            path.unlink(missing_ok=True)
    except OSError as error:
        raise ProfileError(
            f"cannot be written: {error.strerror}",
            where=str(error.filename or out),
            hint=step_to_write(error, "-o"),
        ) from error


def _installation(argv: Sequence[str], mpi: str) -> MpiInstallation:
    if mpi != "auto":
        return find_mpi(mpi)
    name, path = Path(argv[0]).name, shutil.which(argv[0])
    if path is not None and _LAUNCHER.fullmatch(name):
        return find_mpi(path)
    if path is not None and name not in _BATCH and (linked := _flavour(_libraries(Path(path)))):
        with contextlib.suppress(PlatformError):
            return find_mpi(linked)
    return find_mpi("auto")


def _run(line: Sequence[str], environment: Mapping[str, str]) -> int:
    """Run to the end; Ctrl-C is the program's to answer."""
    with subprocess.Popen(line, env=dict(environment)) as process:
        previous = signal.signal(signal.SIGINT, signal.SIG_IGN)
        try:
            code = process.wait()
        finally:
            signal.signal(signal.SIGINT, previous)
    return code if code >= 0 else 128 - code


def _finish(exit_code: int, out: Path, argv: Sequence[str], mpi: MpiInstallation) -> ProfiledRun:
    journal, by_signal = journal_of(out), ""
    with contextlib.suppress(ValueError):  # other exit codes name no signal
        by_signal = f", by {signal.Signals(exit_code - 128).name} (exit code {exit_code})"
    if not out.exists() and journal.exists():
        try:
            left = read_profile(journal)
            left = replace(left, ended=left.ended + by_signal)
            write_profile(left, out)
        except BarelineError as error:
            return ProfiledRun(exit_code, None, False, str(error))
        journal.unlink()
        return ProfiledRun(exit_code, out, False, left.ended)
    if out.exists():
        with contextlib.suppress(BarelineError):
            profile = read_profile(out)
            named = with_sites_named(profile)
            if named is not profile:
                write_profile(named, out)
        return ProfiledRun(exit_code, out, True)
    what = "no MPI program ran to MPI_Init under the profiler"
    failed = f"the command failed with exit code {exit_code}, its own messages say why; else "
    why = f"{failed if exit_code else ''}{why_nothing(argv, mpi)}"
    return ProfiledRun(exit_code, None, False, f"{what}{by_signal}: {why}")


def why_nothing(argv: Sequence[str], mpi: MpiInstallation) -> str:
    """Say why the profiler saw nothing of a program: what is known, else the likely causes."""
    program = _program_of(argv)
    if program is not None:
        libraries = _libraries(program)
        if program.stat().st_mode & (stat.S_ISUID | stat.S_ISGID):
            return f"{program} is set-uid, and the system preloads nothing into such a program"
        if re.search("not a dynamic executable|statically linked", libraries or ""):
            return f"{program} is linked statically, so nothing can be preloaded; link it anew"
        flavour = _flavour(libraries)
        if flavour is not None and flavour != mpi.flavour:
            return f"{program} is linked with {flavour}, profiled was {mpi.title}; add --mpi"
        if libraries is not None and flavour is None:
            return f"{program} is linked with no MPI library"
    return (
        "it calls no MPI function, is linked statically, is set-uid, or uses another MPI library "
        f"than {mpi.title} (--mpi names one)"
    )


def _program_of(argv: Sequence[str]) -> Path | None:
    """Find the program in a command line: what a launcher's arguments first name of that kind."""
    known = {"env", "nice", "taskset", "numactl"}
    rest = argv[1:] if _LAUNCHER.fullmatch(Path(argv[0]).name) or argv[0] in _BATCH else argv
    for text in rest:
        path = shutil.which(text)
        if path is not None and Path(path).name not in known:
            return Path(path).resolve()
    return None


def _libraries(program: Path) -> str | None:
    """Give what ``ldd`` prints of a program; None for a script or without ``ldd``."""
    try:
        with program.open("rb") as file:
            if file.read(4) != b"\x7fELF":
                return None
        done = subprocess.run(
            ["ldd", str(program)], capture_output=True, text=True, check=False, timeout=20
        )
    except (OSError, subprocess.TimeoutExpired):
        return None
    return done.stdout + done.stderr


def _flavour(libraries: str | None) -> str | None:
    if re.search(r"libmpi\.so\.(20|40)", libraries or ""):
        return "openmpi"
    return "mpich" if re.search(r"libmpich\.so|libmpi\.so\.12", libraries or "") else None
