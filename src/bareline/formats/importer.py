"""Importers of outputs, and the search for importers.

``bareline import`` uses the reader of a module if the module ends in ``IMPORTER = ...``. A part of
a launch that cannot be trusted becomes a failed trial with the reason.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import cache
from itertools import chain, pairwise

from bareline.formats.reading import Reading
from bareline.vocabulary.model import Scalar
from bareline.vocabulary.plugins import brought, checked, named, own


def holding(*marks: re.Pattern[str]) -> Callable[[str], bool]:
    """Return a function that returns whether a text matches any of these patterns."""
    return lambda text: any(mark.search(text) for mark in marks)


def facts_in(marks: Mapping[str, re.Pattern[str]]) -> Callable[[str], Mapping[str, Scalar]]:
    """Return a function that reads facts from a text.

    A fact is the group ``version`` of its pattern, or the first group.
    """

    def read(text: str) -> Mapping[str, Scalar]:
        facts: dict[str, Scalar] = {}
        for fact, mark in marks.items():
            match = mark.search(text)
            if match is None:
                continue
            group = mark.groupindex.get("version", 1)
            if match[group]:
                facts[fact] = match[group]
        return facts

    return read


def version_in(fact: str, mark: re.Pattern[str]) -> Callable[[str], Mapping[str, Scalar]]:
    """Return a function that reads the version of a program from a text, as a fact."""
    return facts_in({fact: mark})


def moment_in(mark: re.Pattern[str], form: str) -> Callable[[str], datetime | None]:
    """Return a function that reads a launch's start in UTC from a pattern's group.

    - `form`: format of the text for `strptime`.
    """

    def started(text: str) -> datetime | None:
        match = mark.search(text)
        if match is None:
            return None
        try:
            moment = datetime.strptime(match[1].strip(), form)
        except ValueError:
            return None
        return moment.replace(tzinfo=UTC)

    return started


def starts_at(
    title: re.Pattern[str],
    inside: re.Pattern[str] | None = None,
    last: re.Pattern[str] | None = None,
) -> Callable[[str], Sequence[int]]:
    """Return a function that returns the offsets in a text at which launches begin.

    - `title`: the pattern of a line that begins a launch.
    - `inside`: the pattern of a line below a title. If no title precedes it, the line begins a
      launch whose title is lost, so that this launch is not read as a part of the previous launch.
    - `last`: the pattern of the last line of a launch. If neither a title nor a line below a title
      precedes it, it also begins a launch whose title is lost.
    """

    def starts(text: str) -> Sequence[int]:
        titles = [match.start() for match in title.finditer(text)]
        return sorted([*titles, *lost_titles(text, title, inside, last)])

    return starts


def lost_titles(
    text: str,
    title: re.Pattern[str],
    inside: re.Pattern[str] | None,
    last: re.Pattern[str] | None = None,
) -> Sequence[int]:
    """Return the offsets of the launches in a text whose titles are lost; see `starts_at`."""
    marks: list[tuple[int, int]] = []
    for order, mark in enumerate((title, inside, last)):
        if mark is not None:
            marks += ((match.start(), order) for match in mark.finditer(text))
    starts: list[int] = []
    has_begun = False
    for offset, order in sorted(marks):
        is_title = order == 0
        is_last = order == 2
        if not is_title and not has_begun:
            starts.append(offset)
        has_begun = not is_last
    return starts


def _whole(text: str) -> Sequence[str]:
    return (text,)


@dataclass(frozen=True, slots=True)
class Commit:
    """The commit that a launch measured.

    - `date`: time of the commit; None if the output does not contain it.
    - `platform`: if the platform's name in the output contains the commit, this name without the
      commit (which may be ""); otherwise None.
    """

    id: str
    date: datetime | None = None
    platform: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Importer:
    """The importer of the outputs of one program; all its functions are pure.

    - `name`: short name of the format, with which the names of its probes begin.
    - `title`: the programs and versions that can be read, for people.
    - `sniff`: returns whether a text is a complete or incomplete output of the program.
    - `parse`: reads the trials of one launch; raises `ParseError` if even the benchmark is unknown.
    - `launches`: splits a file into the outputs of single launches, in file order.
    - `starts`: returns the offsets in a text at which launches of the program begin. A file with
      outputs of several programs is split at these offsets. Without `launches`, a file with several
      launches is also split at these offsets. Text before the first launch belongs to the first
      launch.
    - `started`: reads the start of the launch, if the output contains it; UTC by default.
    - `identity`: reads a text that no other launch's output contains, such as a process number, a
      cookie or a time with the host; "" without such a text. The start is then used instead.
    - `facts`: reads the facts of the platform from the output.
    - `commit`: reads the measured commit, if the output contains it.
    """

    name: str
    title: str
    sniff: Callable[[str], bool]
    parse: Callable[[str], Iterable[Reading]]
    launches: Callable[[str], Sequence[str]] = _whole
    starts: Callable[[str], Sequence[int]] | None = None
    started: Callable[[str], datetime | None] = lambda _: None
    identity: Callable[[str], str] = lambda _: ""
    facts: Callable[[str], Mapping[str, Scalar]] = lambda _: {}
    commit: Callable[[str], Commit | None] = lambda _: None

    def __post_init__(self) -> None:
        if self.starts is not None and self.launches is _whole:
            object.__setattr__(self, "launches", self._split)

    def _split(self, text: str) -> Sequence[str]:
        assert self.starts is not None
        later = sorted(set(self.starts(text)))[1:]
        return [text[low:high] for low, high in pairwise([0, *later, len(text)])]


@cache
def load_importers() -> Mapping[str, Importer]:
    """Return every importer of this package and of installed plug-ins, by name.

    Raises PluginError: two importers have the same name, or a plug-in is not an importer.
    """
    plugins = chain(own("bareline.formats", "IMPORTER"), brought("bareline.importers"))
    return named("importer", checked("importer", plugins, Importer), lambda importer: importer.name)
