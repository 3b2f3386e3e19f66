"""The raw text of `collect.sh`, taken apart into named sections and simple shapes."""

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
_VERSION = re.compile(r"\d+(?:\.\d+)+")


def split_sections(raw: str) -> dict[str, str]:
    """Take the script's output apart; the text before the first section is dropped."""
    sections: dict[str, str] = {}
    for chunk in raw.split("\n\036")[1:]:
        name, _, body = chunk.partition("\n")
        sections.setdefault(name.strip(), body)
    return sections


def files_of(sections: Sections, name: str) -> dict[str, str]:
    """Return the files of a section by path; several lines stay several lines."""
    found: dict[str, list[str]] = defaultdict(list)
    for line in sections.get(name, "").splitlines():
        path, colon, content = line.partition(":")
        if colon and path.startswith("/"):
            found[path].append(content)
    return {path: "\n".join(lines).strip() for path, lines in found.items()}


def pairs(text: str, separator: str = ":") -> Iterator[tuple[str, str]]:
    """Yield the ``name: value`` lines of a text, stripped."""
    for line in text.splitlines():
        name, found, value = line.partition(separator)
        if found:
            yield name.strip(), value.strip()


def integer(text: str | None) -> int | None:
    """Read a whole number that is all of a text."""
    text = (text or "").strip()
    return int(text) if text.isdecimal() and text.isascii() and len(text) < 19 else None


def number(text: str | None) -> float | None:
    """Read the first number of a text."""
    match = _NUMBER.search(text or "")
    return float(match[0]) if match and len(match[0]) < 19 else None


def version(text: str) -> str | None:
    """Find the first dotted version in a text, without a distribution's additions."""
    match = _VERSION.search(text)
    return match[0] if match else None


def chosen(text: str | None) -> str | None:
    """Return the bracketed word of a kernel's choice, e.g. ``always [madvise] never``."""
    match = re.search(r"\[([^\]\s]+)\]", text or "")
    return match[1] if match else (text or "").strip() or None


def list_count(text: str | None) -> int | None:
    """Count the members of a kernel's list, e.g. 6 for ``0-3,8,10``."""
    total = 0
    for part in (text or "").strip().split(","):
        first, dash, last = part.partition("-")
        low, high = integer(first), integer(last) if dash else integer(first)
        if low is None or high is None or high < low:
            return None
        total += high - low + 1
    return total


def times(value: float | None, factor: float) -> float | None:
    """Return a number in another unit."""
    return None if value is None else value * factor


def known(facts: Found) -> Facts:
    """Return the facts without unknown values."""
    return {key: value for key, value in facts.items() if value is not None and value != ""}
