"""The study of one MPI program from a launcher's command line, for ``bareline forecast``."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from bareline.study.commands import PROBE, TIME
from bareline.study.study import Study, study_from_toml
from bareline.vocabulary.errors import UsageError

_LONGEST_S = 3600.0
_MOST_RANKS = 1_000_000
#: Launchers of MPI programs, and their options for the number of ranks.
_LAUNCHER = re.compile(r"(mpirun|mpiexec|orterun|prterun|srun)([.-].+)?")
_COUNTS = ("-n", "-np", "--np", "-c", "--ntasks")
#: Options that bareline sets itself, and that do not change the program.
_NEEDLESS = ("--oversubscribe", "--allow-run-as-root", "--quiet", "-q")


@dataclass(frozen=True, slots=True)
class MpiProgram:
    """An MPI program from a launcher's command line: its words and its number of ranks."""

    words: tuple[str, ...]
    ranks: int

    @property
    def title(self) -> str:
        """The name of the program in sentences."""
        return Path(self.words[0]).name


def parse_launch(argv: Sequence[str]) -> MpiProgram:
    """Return the program of a command line such as ``mpirun -n 4 ./app input``.

    Each platform starts the ranks with its own launcher. Options other than the number of ranks
    would be lost, so they are refused.

    Raises UsageError: there is no launcher, no number of ranks, or an option of another kind.
    """
    form = "write e.g. `-- mpirun -n 4 ./app`"
    if not argv or not _LAUNCHER.fullmatch(Path(argv[0]).name):
        named = (
            (f"the command begins with '{argv[0][:60]}', which is")
            if argv
            else "there is no command, so that there is"
        )
        raise UsageError(f"{named} not a valid launcher of an MPI program", hint=form)
    if ":" in argv:
        raise UsageError("a launch of several programs cannot be forecast", hint=form)
    words = list(argv[1:])
    ranks = _take_ranks(words, form)
    if not ranks:
        raise UsageError("the command does not give the number of ranks", hint=form)
    if not words:
        raise UsageError(
            "the command names no program after the launcher and its options", hint=form
        )
    return MpiProgram(tuple(words), ranks)


def _take_ranks(words: list[str], form: str) -> int:
    """Remove the launcher's options from `words`; return the number of ranks, 0 if missing.

    - `form`: the next step in the error's hint.
    """
    ranks = 0
    while words and words[0].startswith("-"):
        name, equals, value = words.pop(0).partition("=")
        if name in _NEEDLESS:
            continue
        if name not in _COUNTS:
            raise UsageError(
                f"the option '{name[:40]}' of the launcher would have no effect, because the"
                " platform starts the ranks",
                hint=f"leave it out, or pin ranks by an option of the platform; {form}",
            )
        text = value
        if not equals:
            text = words.pop(0) if words else ""
        if not text.isdecimal() or not 0 < int(text) <= _MOST_RANKS:
            raise UsageError(
                f"'{name} {text[:20]}' does not give a valid number of ranks", hint=form
            )
        ranks = int(text)
    return ranks


def program_study(program: MpiProgram, folder: Path, launches: int) -> Study:
    """Return the study that launches a program under the profiler, with its trace."""
    content = {
        "study": {"name": "program", "title": program.title, "launches": launches, "precision": 0},
        "app": {
            PROBE.partition(".")[2]: {
                "title": f"Wall time of {program.title}"[:80],
                "command": list(program.words),
                "folder": str(folder),
                "metrics": {TIME: {"wall": True}},
                "verify": [f"{TIME} > 0"],
            }
        },
        "measure": [
            {
                "probe": PROBE,
                "ranks": program.ranks,
                "profile": {"trace": "256MB"},
                "timeout_s": _LONGEST_S,
            }
        ],
    }
    content["study"]["min_launches"] = launches  # type: ignore[index]
    return study_from_toml(content, where="forecast")
