"""Split the output of `collect.sh` into named sections, and parse simple forms of text."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator, Mapping

from bareline.vocabulary.model import Scalar

Facts = dict[str, Scalar]
#: Facts as they are read: None and "" mean unknown.
Found = dict[str, Scalar | None]
Sections = Mapping[str, str]

_NUMBER = re.compile(r"[-+]?\d+(?:\.\d+)?")
#: A longer number cannot be a property of a machine.
_MOST_DIGITS = 19
_VERSION = re.compile(r"\d+(?:\.\d+)+")


def split_sections(raw: str) -> dict[str, str]:
    """Return the sections of the script's output by name, without text before the first section."""
    sections: dict[str, str] = {}
    for chunk in raw.split("\n\036")[1:]:
        name, _, body = chunk.partition("\n")
        sections.setdefault(name.strip(), body)
    return sections


def files_of(sections: Sections, name: str) -> dict[str, str]:
    """Return the contents of a section's files by path; a content may have several lines."""
    lines_of: dict[str, list[str]] = defaultdict(list)
    for line in sections.get(name, "").splitlines():
        path, colon, content = line.partition(":")
        if colon and path.startswith("/"):
            lines_of[path].append(content)
    return {path: "\n".join(lines).strip() for path, lines in lines_of.items()}


def pairs(text: str, separator: str = ":") -> Iterator[tuple[str, str]]:
    """Yield name and value of the ``name: value`` lines of a text, without outer blanks."""
    for line in text.splitlines():
        name, separated, value = line.partition(separator)
        if separated:
            yield name.strip(), value.strip()


def integer(text: str | None) -> int | None:
    """Return a text as a whole number; None if the text is not a whole number."""
    text = (text or "").strip()
    if not text.isdecimal() or not text.isascii() or len(text) >= _MOST_DIGITS:
        return None
    return int(text)


def number(text: str | None) -> float | None:
    """Return the first number in a text, or None."""
    match = _NUMBER.search(text or "")
    if match is None or len(match[0]) >= _MOST_DIGITS:
        return None
    return float(match[0])


def version(text: str) -> str | None:
    """Return the first version number with dots in a text, without a distribution's suffix."""
    match = _VERSION.search(text)
    return match[0] if match else None


def chosen(text: str | None) -> str | None:
    """Return the bracketed word of a kernel setting, e.g. of ``always [madvise] never``."""
    match = re.search(r"\[([^\]\s]+)\]", text or "")
    if match:
        return match[1]
    return (text or "").strip() or None


def list_count(text: str | None) -> int | None:
    """Return the number of members of a kernel's list, e.g. 6 for ``0-3,8,10``."""
    total = 0
    for part in (text or "").strip().split(","):
        first, dash, last = part.partition("-")
        low = integer(first)
        high = integer(last) if dash else low
        if low is None or high is None or high < low:
            return None
        total += high - low + 1
    return total


def times(value: float | None, factor: float) -> float | None:
    """Return a number multiplied by a factor, to change its unit; None if the number is None."""
    return None if value is None else value * factor


def known(facts: Found) -> Facts:
    """Return the facts whose values are known."""
    return {key: value for key, value in facts.items() if value is not None and value != ""}
