"""A run that is ended from outside, by Ctrl-C, by a batch system or with its terminal."""

from __future__ import annotations

import signal
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager


@contextmanager
def terminated_like_interrupted() -> Iterator[Callable[[], None]]:
    """Let SIGTERM and SIGHUP release platforms as Ctrl-C does.

    What is yielded raises the interruption again: Python drops what a signal raises where nobody
    could catch it, such as in what it does at a fork, and would print it.
    """
    asked: list[int] = []
    print_dropped = sys.unraisablehook

    def drop(unraisable: sys.UnraisableHookArgs) -> None:
        if not (asked and unraisable.exc_type is KeyboardInterrupt):
            print_dropped(unraisable)

    def interrupt(number: int, _frame: object) -> None:
        asked.append(number)
        raise KeyboardInterrupt

    def go_on() -> None:
        if asked:
            raise KeyboardInterrupt

    try:
        before = {
            number: signal.signal(number, interrupt) for number in (signal.SIGTERM, signal.SIGHUP)
        }
    except ValueError:  # not in the main thread: whoever called cares for signals
        yield go_on
        return
    sys.unraisablehook = drop
    try:
        yield go_on
    finally:
        sys.unraisablehook = print_dropped
        for number, handler in before.items():
            signal.signal(number, handler)
