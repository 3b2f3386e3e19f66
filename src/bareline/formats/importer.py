"""Importers, and the way in which they are found.

A reader whose outputs ``bareline import`` takes ends its module in ``IMPORTER = ...``. A
part of a launch that cannot be trusted becomes a failed trial with its reason.
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
    """Return a function that finds any of these marks in a text."""
    return lambda text: any(mark.search(text) for mark in marks)


def facts_in(marks: Mapping[str, re.Pattern[str]]) -> Callable[[str], Mapping[str, Scalar]]:
    """Return a function that reads facts: the group ``version`` of each mark, or its first."""

    def facts(text: str) -> Mapping[str, Scalar]:
        matches = {fact: mark.search(text) for fact, mark in marks.items()}
        texts = {
            name: match and match[match.re.groupindex.get("version", 1)]
            for name, match in matches.items()
        }
        return {fact: words for fact, words in texts.items() if words}

    return facts


def version_in(fact: str, mark: re.Pattern[str]) -> Callable[[str], Mapping[str, Scalar]]:
    """Return a function that reads the version of a program as a fact."""
    return facts_in({fact: mark})


def moment_in(mark: re.Pattern[str], form: str) -> Callable[[str], datetime | None]:
    """Return the reader of a launch's start: a mark's group in a form of `strptime`, in UTC."""

    def started(text: str) -> datetime | None:
        match = mark.search(text)
        try:
            moment = datetime.strptime(match[1].strip(), form) if match else None
        except ValueError:
            return None
        return moment.replace(tzinfo=UTC) if moment else None

    return started


def starts_at(
    title: re.Pattern[str],
    inside: re.Pattern[str] | None = None,
    last: re.Pattern[str] | None = None,
) -> Callable[[str], Sequence[int]]:
    """Return a function that gives the offsets in a text at which launches begin.

    - `title`: begins a launch.
    - `inside`: a line below a title. Without a title above it, it begins a launch whose
      title is lost, so that this launch is not read as a part of its neighbour.
    - `last`: the same, for a line that a launch has once: behind it, the launch has no other
      line of these marks.
    """
    return lambda text: sorted(
        [
            *(match.start() for match in title.finditer(text)),
            *lost_titles(text, title, inside, last),
        ]
    )


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

    - `date`: when it was committed; None where the output does not say it.
    - `platform`: the platform without the commit, "" if nothing is left of it; None where the
      output's own name of its platform has no commit.
    """

    id: str
    date: datetime | None = None
    platform: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Importer:
    """Reads the outputs of one program, by functions that are pure.

    - `name`: short name of the format; the probes it gives start with it.
    - `title`: which programs and versions it reads, for people.
    - `sniff`: whether a text is an output of the program, complete or not.
    - `parse`: reads the trials out of one launch; raises `ParseError` where even the benchmark
      is unknown.
    - `launches`: splits a file into the outputs of single launches, in their order.
    - `starts`: offsets in a text at which launches of the program begin; by them a file with
      outputs of several programs is split, and, without `launches`, one of several launches: the
      text before the first belongs to it.
    - `started`: reads when the launch began, if its output contains that; UTC by default.
    - `identity`: reads a text that no other launch's output contains, such as a process number, a
      cookie or a time with the host; "" where there is none. Without it the start is taken.
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
    """Find every importer of this package and of installed plug-ins, by name.

    Raises PluginError: two share a name, or a plug-in is not an importer.
    """
    plugins = chain(own("bareline.formats", "IMPORTER"), brought("bareline.importers"))
    return named("importer", checked("importer", plugins, Importer), lambda importer: importer.name)
