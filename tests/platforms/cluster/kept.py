"""Platforms that stay acquired for the tests of a module."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

from bareline.platforms.base import load_platform_types
from bareline.testing.bench import Bench, open_bench


class Kept:
    """Platforms in use, opened once for all who ask for the same: each costs a second."""

    def __init__(self, folder: Path, stack: ExitStack) -> None:
        self._folder, self._stack = folder, stack
        self._opened: dict[str, Bench] = {}

    def bench(self, kind: str, program: str | None = None, **options: object) -> Bench:
        """Give a platform in use, with a mark of its own."""
        key = f"{kind} {sorted(options.items())}"
        if key not in self._opened:
            opened = open_bench(load_platform_types()[kind], self._folder, **options)
            self._opened[key] = self._stack.enter_context(opened)
        kept = self._opened[key]
        return Bench(kept.allocation, kept.options, program)


@contextmanager
def keeping(folder: Path) -> Iterator[Kept]:
    """Keep platforms until the context ends."""
    with ExitStack() as stack:
        yield Kept(folder, stack)
