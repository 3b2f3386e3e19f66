"""Report when disturbances begin and end while a run is measured."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable

from bareline.vocabulary.caveats import DISTURBANCES
from bareline.vocabulary.model import Record
from bareline.vocabulary.units import count, listing

#: Number of latest trials that are judged together; the end is reported when none is disturbed.
_WINDOW = 5
#: The beginning is reported if at least this number of the latest trials is disturbed.
_BEGINS = 3


class DisturbanceWatch:
    """Watch trials one after the other, and report if several of the latest were disturbed.

    - `note`: called with the platform of the latest trial, and a text about the disturbance.
    """

    def __init__(self, note: Callable[[str, str], None]) -> None:
        self._note = note
        self._latest: deque[tuple[str, ...]] = deque(maxlen=_WINDOW)
        self._lasts = False
        self._trials = 0
        self._disturbed = 0

    def see(self, record: Record) -> None:
        """Add the next trial, and report if a disturbance begins or ends with it."""
        kinds = tuple(kind for code, kind in DISTURBANCES.items() if code in record.caveats)
        self._latest.append(kinds)
        disturbed = sum(map(bool, self._latest))
        if not self._lasts and disturbed >= _BEGINS:
            self._lasts = True
            self._trials = len(self._latest)
            self._disturbed = disturbed
            self._note(record.trial.platform, self._beginning(record))
        elif self._lasts:
            self._trials += 1
            self._disturbed += bool(kinds)
            if not disturbed:
                self._lasts = False
                trials = count(self._trials - _WINDOW, "trial")
                before = f"{self._disturbed} of {trials} were disturbed"
                text = f"undisturbed again since {_WINDOW} trials; before, {before}"
                self._note(record.trial.platform, text)

    def _beginning(self, record: Record) -> str:
        kinds = listing(sorted(set().union(*self._latest)))
        busy = record.foreign_cores
        cores = f", {busy:.1f} cores busy with other programs" if busy else ""
        disturbed = sum(map(bool, self._latest))
        return (
            f"trials are disturbed: {disturbed} of the last {len(self._latest)} by {kinds}{cores}"
        )
