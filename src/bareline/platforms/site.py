"""Common parts of the readers that make platforms from a site's description of its systems."""

from __future__ import annotations

import shlex
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from typing_extensions import TypedDict

from bareline.platforms.config import make_spec
from bareline.vocabulary.errors import PlatformError, one_line
from bareline.vocabulary.files import NotRegular, read_bounded, step_to_read
from bareline.vocabulary.platform import platform_name
from bareline.vocabulary.sanitize import cleaned

#: Options of Slurm that platforms have of their own, by how ``access`` may spell them.
SLURM = {
    **{"-p": "partition", "-A": "account", "-q": "qos", "-C": "constraint"},
    **{f"--{name}": name for name in ("partition", "account", "qos", "constraint", "reservation")},
}
#: No site describes more systems, partitions and environments.
MOST_SYSTEMS = 2000
#: The names of launchers in platform files.
LAUNCHERS = {"srun": "srun", "mpirun": "mpirun", "mpiexec": "mpirun"}


class FromReframe(TypedDict):
    """The output of ``platforms from-...``: tables of a platform file, notes on omitted parts."""

    platform: dict[str, dict[str, Any]]
    notes: dict[str, list[str]]


@dataclass(slots=True)
class SitePlatforms:
    """The platforms of a site, by name.

    - `tables`: the tables of a platform file.
    - `notes`: for each platform, the parts that could not be converted; for a platform that has no
      table, the reason.
    """

    tables: dict[str, dict[str, Any]] = field(default_factory=dict)
    notes: dict[str, list[str]] = field(default_factory=dict)

    def toml(self) -> str:
        """Return the text of the platform file, with the notes as comments."""
        import tomli_w

        parts = []
        for name, notes in self.notes.items():
            comments = "".join(cleaned(" ".join(f"# {note}".split())) + "\n" for note in notes)
            if name in self.tables:
                parts.append(comments + tomli_w.dumps({"platform": {name: self.tables[name]}}))
            else:
                parts.append(f"# {name} is left out:\n{comments}")
        return "\n".join(parts)

    def add(
        self,
        title: str,
        notes: Sequence[str],
        table_of: Callable[[list[str]], dict[str, Any] | None],
    ) -> None:
        """Add a system.

        - `table_of`: adds notes to a list, and returns the system's table, or None if no type fits.
        """
        name = platform_name(title)
        if name in self.tables:
            self.leave_out(title, f"{title} would have the same name and is left out")
            return
        all_notes = list(notes)
        table = table_of(all_notes)
        if table is not None:
            try:
                make_spec(name, table, where=name)
                self.tables[name] = table
            except PlatformError as error:
                all_notes.append(str(error))
        self._notes_of(name).extend(map(one_line, all_notes))

    def leave_out(self, title: str, reason: str) -> None:
        """Record why a system has no platform."""
        self._notes_of(platform_name(title)).append(one_line(reason))

    def _notes_of(self, name: str) -> list[str]:
        """Return the notes of a platform.

        Raises PlatformError: there are too many platforms.
        """
        if len(self.notes) >= MOST_SYSTEMS and name not in self.notes:
            raise PlatformError(
                f"the file describes more than {MOST_SYSTEMS:,} platforms",
                hint="give the description of fewer systems",
            )
        return self.notes.setdefault(name, [])


def read_site_file(file: Path, most_bytes: int, hint: str) -> bytes:
    """Return the content of a file of a site.

    Raises PlatformError: the file cannot be read.
    """
    try:
        return read_bounded(file, most_bytes)
    except OSError as error:
        refused = "" if isinstance(error, NotRegular) else "the file cannot be read: "
        why = f"{refused}{error.strerror or error}"
        raise PlatformError(why, where=str(file), hint=step_to_read(error, hint)) from error


def options(access: Sequence[str]) -> Iterable[tuple[str, str]]:
    """Yield the options in ReFrame's ``access`` as pairs; the value of an option may be ""."""
    words = []
    for text in access:
        try:
            words += shlex.split(text)
        except ValueError:
            words.append(text)
    index = 0
    while index < len(words):
        option, equals, value = words[index].partition("=")
        short = not option.startswith("--") and option.startswith("-")
        if short and len(option) > 2:
            value = option[2:] + equals + value
            option = option[:2]
        elif (
            short and not equals and index + 1 < len(words) and not words[index + 1].startswith("-")
        ):
            index += 1
            value = words[index]
        yield option, value
        index += 1
