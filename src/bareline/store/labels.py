"""Short labels that distinguish paths that are shown together."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

from bareline.vocabulary.platform import platform_name


def path_labels(paths: Sequence[Path]) -> tuple[str, ...]:
    """Return a unique label for each path: its name, or the part in which the paths differ.

    The labels of ``nights/n1`` and ``nights/n8`` are n1 and n8; the labels of ``old/osu.txt`` and
    ``new/osu.txt`` are old and new. If a path is repeated, a number is added to its second label.
    """
    resolved = [path.resolve() for path in paths]
    for labels in _candidates(resolved):
        if len(set(labels)) == len(labels):
            return labels
    names = [platform_name(path.name) for path in resolved]
    numbered: list[str] = []
    for index, name in enumerate(names):
        if name in names[:index]:
            numbered.append(f"{name}-{index + 1}")
        else:
            numbered.append(name)
    return tuple(numbered)


def _candidates(paths: Sequence[Path]) -> Iterator[tuple[str, ...]]:
    """Yield possible labels, one for each path.

    A label is first a single part of its path (the last, the last but one ...), then several last
    parts that are joined.
    """
    deepest = max((len(path.parts) for path in paths), default=1) - 1
    for depth in range(1, deepest + 1):
        yield tuple(platform_name(_part(path, depth)) for path in paths)
    for depth in range(2, deepest + 1):
        yield tuple(platform_name("-".join(path.parts[1:][-depth:])) for path in paths)


def _part(path: Path, depth: int) -> str:
    """Return the part of a path at `depth`, counted from 1 at the end of the path.

    If the path is shorter, return its name.
    """
    parts = path.parts[1:]
    return parts[-depth] if depth <= len(parts) else path.name
