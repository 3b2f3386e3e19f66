"""Run a program under the profiler: find its MPI library, preload the profiler, and run it."""

from __future__ import annotations

import contextlib
import os
import re
import shutil
import signal
import subprocess
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from bareline.host.cache import cache_folder
from bareline.platforms.hosts.launchers.installation import MpiInstallation
from bareline.platforms.localhost.allocation import build_here
from bareline.profile.files import is_profile, read_profile, write_profile
from bareline.profile.journal import journal_of
from bareline.profile.period import find_period, period_file, write_period
from bareline.profile.sites import with_sites_named
from bareline.profile.trace import read_trace, trace_of
from bareline.session.mpi_program import installation_of, why_nothing
from bareline.session.preloading import preloaded
from bareline.vocabulary.errors import BarelineError, ProfileError, ToolMissing
from bareline.vocabulary.files import check_replaceable, stands, step_to_write


@dataclass(frozen=True, slots=True)
class LaunchProfile:
    """The profile of one launch, and how the launch ended if the profile is unfinished.

    - `without_period`: if a period (the repeated part of the calls) was requested but not kept, the
      reason.
    """

    path: Path
    ended: str = ""
    without_period: str = ""

    @property
    def complete(self) -> bool:
        """Whether every rank reached ``MPI_Finalize``."""
        return not self.ended


@dataclass(frozen=True, slots=True)
class ProfiledRun:
    """The result of a command that was run under the profiler.

    - `exit_code`: the exit code of the command; 128 + n if signal n ended the command.
    - `launches`: the profile of each MPI launch of the command, in the order of their starts.
    - `problem`: why profiles are missing; empty if none is missing.
    """

    exit_code: int
    launches: tuple[LaunchProfile, ...] = ()
    problem: str = ""

    @property
    def path(self) -> Path | None:
        """The profile of the first launch; None if no MPI program ran."""
        return self.launches[0].path if self.launches else None

    @property
    def complete(self) -> bool:
        """Whether there is a profile, and every rank of every launch reached ``MPI_Finalize``."""
        return bool(self.launches) and not self.ended

    @property
    def ended(self) -> str:
        """Why a profile is missing or unfinished; empty if all profiles are complete."""
        reasons = [self.problem, *(launch.ended for launch in self.launches)]
        return "; ".join(filter(None, reasons))


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
    wait_s: int | None = None,
) -> ProfiledRun:
    """Run a command line whose MPI programs are profiled.

    - `argv`: a launcher with its arguments and the program, or a script that starts a launcher.
    - `out`: the profile to write; an earlier one is replaced.
    - `mpi`: the MPI library that the program uses: a flavour, the path of a launcher, or ``auto``.
      ``auto`` means the library of the launcher in `argv`, or of ``mpirun`` if `argv` contains no
      launcher.
    - `split`: put a barrier before every blocking collective, to separate waiting from transfer.
    - `trace`: also write all calls next to the profile, for a replay; at most `trace_limit_bytes`.
    - `period`: also keep one period of the calls (their repeated part: `bareline.profile.period`).
      This does not need `trace`.
    - `regions`: names of the regions that the program enters by ``MPI_Pcontrol``.
    - `wait_s`: how long ranks wait for each other, after MPI_Init and before MPI_Finalize.

    A script with several launches writes several profiles: ``app.1.profile``, ``app.2.profile``.

    Raises ProfileError: the command line is empty, or `out` cannot be written. Raises ToolMissing,
        PlatformError, BuildError: there is no MPI library, or no profiler for it.
    """
    if not argv:
        raise ProfileError(
            "no command to profile", hint="write `bareline profile -o FILE -- mpirun -n 4 ./app`"
        )
    if shutil.which(argv[0]) is None:
        raise ToolMissing(f"'{argv[0]}' is not found", hint="give the path of the program")
    if split and (trace or period):
        raise ProfileError(
            "--trace cannot be used with --split, which adds barriers to the program",
            hint="profile twice: once with --split, once with --trace",
        )
    out = out.absolute()
    _make_way(out)
    installation = installation_of(argv, mpi)
    variables = profile_environment(installation, out, split=split, regions=regions or {})
    variables["BARELINE_PROFILE_SERIES"] = "1"
    if wait_s is not None:
        variables["BARELINE_PROFILE_WAIT"] = str(wait_s)
    if trace or period:
        variables["BARELINE_TRACE"] = str(trace_of(out))
        variables["BARELINE_TRACE_LIMIT"] = str(trace_limit_bytes)
    with tempfile.TemporaryDirectory(prefix="bareline-") as folder:
        line, environment = preloaded(argv, installation.flavour, variables, Path(folder))
        environment |= installation.variables
        exit_code = _run(line, environment)
    profiled = collect_launches(exit_code, out, argv, installation)
    launches = []
    for launch in profiled.launches:
        try:
            if period and launch.complete:
                launch = _keep_period(launch)
            launches.append(launch)
        finally:
            if not trace:
                _remove_trace(launch.path)
    return replace(profiled, launches=tuple(launches))


def _keep_period(launch: LaunchProfile) -> LaunchProfile:
    """Write one period (the repeated part) of a launch's calls, or record why there is none.

    Raises ProfileError: the period cannot be written.
    """
    try:
        period = find_period(read_trace(trace_of(launch.path)), read_profile(launch.path))
    except ProfileError as error:
        return replace(launch, without_period=str(error))
    write_period(period, period_file(launch.path))
    return launch


def _remove_trace(profile: Path) -> None:
    trace_of(profile).unlink(missing_ok=True)
    journal_of(trace_of(profile)).unlink(missing_ok=True)


def profile_environment(
    mpi: MpiInstallation,
    out: Path,
    *,
    split: bool = False,
    regions: Mapping[int, str] | None = None,
) -> dict[str, str]:
    """Return the variables that profile a program's ranks; a missing profiler is built.

    Set the variables for all ranks of a job or for none, and not for the launcher.
    """
    library = profiler_library(build_here(mpi, cache_folder()).path)
    present = os.environ.get("LD_PRELOAD")
    preload = f"{library}:{present}" if present else str(library)
    variables = {"LD_PRELOAD": preload, "BARELINE_PROFILE": str(out)}
    if split:
        variables["BARELINE_PROFILE_SPLIT"] = "1"
    if regions:
        names = ",".join(f"{number}={name}" for number, name in sorted(regions.items()))
        variables["BARELINE_PROFILE_REGIONS"] = names
    return variables


def profiler_library(build: Path) -> Path:
    """Return the profiler in a folder of native programs; raises ProfileError: it was not built."""
    libraries = sorted(build.glob("lib*/**/libbareline_pmpi.so"))
    if not libraries:
        raise ProfileError(
            "the profiler is not among the native programs",
            where=str(build),
            hint="run `bareline build`, which prints the programs that it left out",
        )
    return libraries[0]


def parse_regions(texts: Sequence[str]) -> dict[int, str]:
    """Parse texts such as ``3=solver`` as names of regions by number.

    Raises ProfileError: a number is not from 3 to 255, or a name is missing or not valid.
    """
    regions = {}
    for text in texts:
        match = re.fullmatch(r"(\d{1,3})=([^,\"\\\x00-\x1f]{1,100})", text)
        if match is None or not 3 <= int(match[1]) <= 255:
            raise ProfileError(
                f"'{text}' is not a valid region",
                hint="write the level of MPI_Pcontrol and a name: 3=solver",
            )
        regions[int(match[1])] = match[2]
    return regions


def parse_limit(text: str) -> int:
    """Parse ``64MB`` or ``512 KiB`` as bytes; raises ProfileError: not a size in kB, MB or GB."""
    match = re.fullmatch(r"(\d{1,6}) ?(k|M|G)(i?)B?", text, re.IGNORECASE)
    if match is None or int(match[1]) == 0:
        raise ProfileError(
            f"'{text[:40]}' is not a valid size of a trace", hint="write --limit 64MB"
        )
    power = "kmg".index(match[2].lower()) + 1
    base = 1024 if match[3] else 1000
    return int(match[1]) * int(base**power)


def _make_way(out: Path) -> None:
    if out.is_dir():
        raise ProfileError(
            "-o names a folder instead of a file",
            where=str(out),
            hint="give the path of a file to -o",
        )
    try:
        beside = (journal_of(out), trace_of(out), journal_of(trace_of(out)), period_file(out))
        for path in (out, *beside):
            check_replaceable(path)  # neither a device nor a link of the user may be removed
        # A command that was killed earlier leaves launches without their final names.
        for path in (*_launches(out), out):
            for name in (path, journal_of(path), period_file(path)):
                name.unlink(missing_ok=True)
        for path in _launches(trace_of(out)):
            path.unlink(missing_ok=True)
            journal_of(path).unlink(missing_ok=True)
        _remove_trace(out)
    except OSError as error:
        raise ProfileError(
            f"the file cannot be written: {error.strerror}",
            where=str(error.filename or out),
            hint=step_to_write(error, "-o"),
        ) from error


def _run(line: Sequence[str], environment: Mapping[str, str]) -> int:
    """Run a command to its end and return the exit code; the program itself handles Ctrl-C."""
    with subprocess.Popen(line, env=dict(environment)) as process:
        previous = signal.signal(signal.SIGINT, signal.SIG_IGN)
        try:
            code = process.wait()
        finally:
            signal.signal(signal.SIGINT, previous)
    return code if code >= 0 else 128 - code


def _launches(first: Path) -> list[Path]:
    """Return the paths that the profiler gave to all launches after the first, in their order."""
    numbers: set[int] = set()
    for path in first.parent.iterdir():
        match = re.fullmatch(re.escape(first.name) + r"\.([1-9]\d{0,3})(\.journal)?", path.name)
        if match is not None and int(match[1]) > 1:
            numbers.add(int(match[1]))
    return [first.with_name(f"{first.name}.{number}") for number in sorted(numbers)]


def collect_launches(
    exit_code: int, out: Path, argv: Sequence[str], mpi: MpiInstallation
) -> ProfiledRun:
    """Return the launches of a command, with each profile finished and renamed.

    A single profile has the name `out`. The names of several profiles contain numbers for which no
    file exists.
    """
    by_signal = ""
    with contextlib.suppress(ValueError):  # other exit codes do not name a signal
        by_signal = f", by {signal.Signals(exit_code - 128).name} (exit code {exit_code})"
    left = [path for path in (out, *_launches(out)) if is_profile(path)]
    launches: list[LaunchProfile] = []
    reasons: list[str] = []
    names = _names(out, len(left))
    for path, name in zip(left, names, strict=True):
        try:
            end = by_signal if path == left[-1] else ""
            launches.append(_finish_launch(path, name, end))
        except BarelineError as error:
            reasons.append(str(error))
    if left:
        return ProfiledRun(exit_code, tuple(launches), "; ".join(reasons))
    nothing = "no MPI program ran to MPI_Init under the profiler"
    why = why_nothing(argv, mpi)
    if exit_code:
        failed = f"the command failed with exit code {exit_code}, its own messages say why"
        why = f"{failed}; else {why}"
    return ProfiledRun(exit_code, (), f"{nothing}{by_signal}: {why}")


def _names(out: Path, launches: int) -> list[Path]:
    """Return names with consecutive numbers for the profiles of launches; no file has them."""
    if launches <= 1:
        return [out] * launches
    first = 1
    while True:
        numbers = range(first, first + launches)
        names = [out.with_name(f"{out.stem}.{number}{out.suffix}") for number in numbers]
        taken = [number for number, name in zip(numbers, names, strict=True) if stands(name)]
        if not taken:
            return names
        first = taken[-1] + 1


def _finish_launch(path: Path, name: Path, by_signal: str) -> LaunchProfile:
    """Turn the file or journal of a launch at `path` into the profile `name`; move its trace.

    Raises ProfileError: the journal cannot be read, or the profile cannot be written.
    """
    journal = journal_of(path)
    if not path.exists():
        unfinished = read_profile(journal)
        unfinished = replace(unfinished, ended=unfinished.ended + by_signal)
        write_profile(unfinished, name)
        journal.unlink()
        ended = unfinished.ended
    else:
        path.replace(name)
        ended = ""
        with contextlib.suppress(BarelineError):
            profile = read_profile(name)
            named = with_sites_named(profile)
            if named is not profile:
                write_profile(named, name)
    _move_trace(path, name)
    return LaunchProfile(name, ended)


def _move_trace(path: Path, name: Path) -> None:
    """Move a launch's trace next to its profile."""
    first = re.sub(r"\.[1-9]\d*$", "", path.name) if path.suffix[1:].isdigit() else path.name
    number = path.name[len(first) :]
    trace = trace_of(path.with_name(first))
    trace = trace.with_name(trace.name + number)
    if trace == trace_of(name):
        return
    for left, target in (
        (trace, trace_of(name)),
        (journal_of(trace), journal_of(trace_of(name))),
    ):
        if stands(left):
            left.replace(target)
