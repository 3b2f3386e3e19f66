"""How long bareline itself takes between trials."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager


class Pauses:
    """How long bareline itself takes between trials, apart from what is told apart."""

    def __init__(self) -> None:
        self._since: float | None = None
        self._apart_s = 0.0
        self._sum_s = 0.0
        self._count = 0

    @property
    def mean_s(self) -> float:
        """Mean pause; 0 before there was one."""
        return self._sum_s / self._count if self._count else 0.0

    def begin(self) -> None:
        """A trial has ended."""
        self._since, self._apart_s = time.monotonic(), 0.0

    def end(self) -> None:
        """The next one starts."""
        if self._since is not None:
            self._sum_s += time.monotonic() - self._since - self._apart_s
            self._count += 1

    @contextmanager
    def apart(self) -> Iterator[None]:
        """Do something that does not count: a platform comes up, programs are built."""
        began = time.monotonic()
        try:
            yield
        finally:
            self._apart_s += time.monotonic() - began
