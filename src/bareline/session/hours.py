"""Hours of the day in which no trial begins, and waiting until they are over."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable
from datetime import datetime

from bareline.vocabulary.limits import closed_until

#: A machine that slept through a longer wait would wake up late.
_LOOK_S = 30.0


def see_hours(
    every: Iterable[str | None],
    wait: Callable[[str, str], None],
    now: Callable[[], datetime] = lambda: datetime.now().astimezone(),
) -> None:
    """Wait until none of several hours of the day holds any more.

    - `every`: hours in which no trial begins, each as ``08:00-18:00``.
    - `wait`: called before each wait with what is closed and until when, in words; it gives back
      what need not be held, or ends the run.
    """
    spans = [text for text in every if text]
    while found := [(until, text) for text in spans if (until := closed_until(text, now()))]:
        until, text = max(found)
        zone = f"{until:%Z}, UTC{until:%z}" if f"{until:%Z}" != "UTC" else "UTC"
        wait(f"no trial begins between {text}", f"{until:%H:%M} ({zone})")
        while (left_s := (until - now()).total_seconds()) > 0:
            time.sleep(min(left_s, _LOOK_S))
