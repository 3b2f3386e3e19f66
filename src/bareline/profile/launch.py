"""A launch under the profiler: its command in a trial, and the check of its profile."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from bareline.vocabulary.errors import ProfileError
from bareline.vocabulary.model import Command, Output

#: Name of a trial's profile among the files that its program writes.
PROFILE_FILE = "app.profile"
TRACE_FILE = "app.trace"
#: Where the native programs are installed on every platform; the profiler is next to them.
_LIBRARY = "{native}/../lib/libbareline_pmpi.so"


def under_profiler(command: Command, trace_bytes: int) -> Command:
    """Return the command that runs every rank under the profiler.

    - `trace_bytes`: the largest size of a trace.
    """
    variables = (
        ("LD_PRELOAD", _LIBRARY),
        ("BARELINE_PROFILE", f"{{workdir}}/{PROFILE_FILE}"),
        ("BARELINE_TRACE", f"{{workdir}}/{TRACE_FILE}"),
        ("BARELINE_TRACE_LIMIT", str(trace_bytes)),
    )
    files = (PROFILE_FILE, TRACE_FILE)
    return replace(command, env=command.env + variables, outputs=(*command.outputs, *files))


def why_unprofiled(output: Output) -> str:
    """Return the reason why a launch has no complete profile, so that its times do not count.

    The result is empty if the profile is complete.
    """
    from bareline.profile.files import parse_profile  # this import takes as long as many verbs

    text = output.files.get(PROFILE_FILE, "")
    if not text:
        return "the profiler wrote nothing"
    try:
        profile = parse_profile(text, Path(PROFILE_FILE))
    except ProfileError as error:
        return str(error)
    return "" if profile.complete else f"the profile is unfinished: {profile.ended}"
