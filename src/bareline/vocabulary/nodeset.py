"""Write the names of many nodes briefly, as batch systems do: ``node[001-128]``, and parse them."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Callable, Iterable, Iterator
from itertools import groupby
from typing import TypeVar

Name = TypeVar("Name", str, int)

#: Largest number of hosts; a larger number is probably a mistake.
MOST_HOSTS = 10_000
_RANGE = re.compile(r"\[([0-9]{1,6})[-:]([0-9]{1,6})\]|\[([0-9,-]{1,20000})\]")
_HOST = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.:@%-]*")
#: The text before the last number of a name, the number, and the text after it, without domain.
_NUMBERED = re.compile(r"([^.]*?)(\d{1,6})((?:[^\d.][^.\d]*)?(?:\..*)?)")
#: A comma between names, but not between the numbers in brackets.
_BETWEEN = re.compile(r",(?![^\[]*\])")


def fold(names: Iterable[str]) -> str:
    """Return names in their order, with successive numbers as ranges: ``n[1-3,7],login``.

    `unfold` parses this text.
    """
    parts: list[str] = []
    for stem, group in groupby(names, _stem):
        alike = list(group)
        if stem is None or len(alike) == 1:
            parts += alike
            continue
        before, after = stem
        numbers = [name[len(before) : len(name) - len(after)] for name in alike]
        ranges = ",".join(_ranges(numbers))
        parts.append(f"{before}[{ranges}]{after}")
    return ",".join(parts)


def _stem(name: str) -> tuple[str, str] | None:
    """Return the texts before and after the last number of a name; None without a number."""
    match = _NUMBERED.fullmatch(name)
    return (match[1], match[3]) if match else None


def _ranges(numbers: list[str]) -> Iterator[str]:
    """Yield successive numbers as ranges: ``1-3``, ``7``."""
    first = numbers[0]
    last = first
    for text in [*numbers[1:], ""]:
        following = str(int(last) + 1).zfill(len(first))
        if text == following:
            last = text
            continue
        if first == last:
            yield first
        else:
            yield f"{first}-{last}"
        first = text
        last = text


def fold_numbers(numbers: Iterable[int]) -> str:
    """Format numbers as in a range of nodes: ``1-3,7``; `unfold_numbers` parses them."""
    return ",".join(_ranges([str(number) for number in numbers]))


def unfold_numbers(text: str) -> tuple[int, ...]:
    """Parse a text that `fold_numbers` wrote; raises ValueError for any other text."""
    return tuple(int(number) for number in _numbers(text))


def unfold(text: str) -> list[str]:
    """Return the names in ``n[01,03-05].cluster,login``.

    Raises ValueError: the text contains no names, or too many.
    """
    names: list[str] = []
    for part in _BETWEEN.split(text):
        names += _hosts(part)
    return names


def _hosts(text: str) -> list[str]:
    match = _RANGE.search(text)
    if match is None:
        if not _HOST.fullmatch(text):
            raise ValueError(f"{text[:60]!r} is not a valid host name; write n1, user@n1 or n[1-4]")
        return [text]
    before = text[: match.start()]
    after = text[match.end() :]
    numbers = match[3] or f"{match[1]}-{match[2]}"
    names: list[str] = []
    for number in _numbers(numbers):
        names += _hosts(f"{before}{number}{after}")
        if len(names) > MOST_HOSTS:
            raise ValueError(f"{text[:60]!r} names more than {MOST_HOSTS} hosts")
    return names


def _numbers(text: str) -> Iterator[str]:
    for part in text.split(","):
        first, dash, last = part.partition("-")
        if not first.isdigit() or (dash and not last.isdigit()):
            raise ValueError(f"[{text[:60]}] is not a valid range; write [1-4] or [01,03-05]")
        width = len(first)
        lowest = int(first)
        highest = int(last or first)
        if highest - lowest >= MOST_HOSTS:
            raise ValueError(f"[{text[:60]}] names more than {MOST_HOSTS} hosts")
        for number in range(lowest, highest + 1):
            yield f"{number:0{width}d}"


def nodes_text(names: Iterable[str], most: int = 8) -> str:
    """Format names for people, in at most `most` parts of a list."""
    text, more = _cut(list(names), fold, most)
    return ", ".join(_BETWEEN.split(text)) + more


def numbers_text(numbers: Iterable[int], most: int = 8) -> str:
    """Format numbers of nodes for people: ``1-3,7``, in at most `most` ranges."""
    return "".join(_cut(list(numbers), fold_numbers, most))


def _cut(names: list[Name], write: Callable[[list[Name]], str], most: int) -> tuple[str, str]:
    """Write the names that fit into `most` ranges, and the number of remaining names."""

    def ranges(count: int) -> int:
        return write(names[:count]).count(",") + 1

    fitting = bisect_right(range(len(names) + 1), most, key=ranges) - 1
    left = len(names) - fitting
    more = f" and {left} more" if left else ""
    return write(names[:fitting]), more
