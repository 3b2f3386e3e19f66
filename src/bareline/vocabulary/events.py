"""Words in the events of platforms, by which a report counts starts and replacements."""

from __future__ import annotations

#: Begins the event of a platform that is usable; the event's seconds are the time of its start.
CAME_UP = "came up in"
#: Endings of events about replaced nodes: of a broken platform, and of nodes from a queue.
MADE_AGAIN = "it is made anew"
ASKED_AGAIN = "a new one is asked for"


def is_replacement(event: str) -> bool:
    """Whether the text of an event reports that nodes of a platform are replaced."""
    return event.endswith((MADE_AGAIN, ASKED_AGAIN))
