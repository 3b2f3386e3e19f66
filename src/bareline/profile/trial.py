"""Profile the program of a trial: what the platform must be asked for, and whether it came."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from bareline.profile.files import parse_profile
from bareline.vocabulary.errors import ProfileError
from bareline.vocabulary.model import Command, Output

#: Name of a trial's profile among the files that its program writes.
PROFILE_FILE = "app.profile"
#: And of its trace, of at most so many bytes: a longer program is profiled without one.
TRACE_FILE = "app.trace"
_TRACE_LIMIT = 16 << 20
#: Where the native programs are installed on every platform, the profiler is beside them.
_LIBRARY = "{native}/../lib/libbareline_pmpi.so"


def under_profiler(command: Command) -> Command:
    """Give the command that runs the same program with the profiler in every rank."""
    variables = (
        ("LD_PRELOAD", _LIBRARY),
        ("BARELINE_PROFILE", f"{{workdir}}/{PROFILE_FILE}"),
        ("BARELINE_TRACE", f"{{workdir}}/{TRACE_FILE}"),
        ("BARELINE_TRACE_LIMIT", str(_TRACE_LIMIT)),
    )
    files = (PROFILE_FILE, TRACE_FILE)
    return replace(command, env=command.env + variables, outputs=(*command.outputs, *files))


def why_unprofiled(output: Output) -> str:
    """Say why a successful launch has no whole profile; nothing if it has one.

    Its times are then not what was asked for either: perhaps nothing was profiled at all.
    """
    text = output.files.get(PROFILE_FILE, "")
    if not text:
        return "the profiler wrote nothing"
    try:
        profile = parse_profile(text, Path(PROFILE_FILE))
    except ProfileError as error:
        return str(error)
    return "" if profile.complete else f"the profile is unfinished: {profile.ended}"
