"""What a `run` or `continue` may take of a cloud: how many instances, for how many hours."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, field

from bareline.platforms.cloud.options import CloudOptions
from bareline.vocabulary.errors import PlatformError, TimeUp
from bareline.vocabulary.units import HOUR_S


@dataclass(slots=True)
class _Taken:
    """What this process has taken so far for one platform."""

    instances: int = 0
    ended_s: float = 0.0
    since: dict[str, float] = field(default_factory=dict)


_TAKEN: dict[str, _Taken] = {}


class Budget:
    """Counts the instances of a platform and their hours, over all times that it comes up.

    - `platform`: its name.
    """

    def __init__(
        self,
        platform: str,
        options: CloudOptions,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._taken = _TAKEN.setdefault(platform, _Taken())
        self._options = options
        self._clock = clock

    @property
    def hours(self) -> float:
        """Hours of all instances together, up to now."""
        now = self._clock()
        return (
            self._taken.ended_s + sum(now - since for since in self._taken.since.values())
        ) / HOUR_S

    def begin(self, instance: str) -> None:
        """Count an instance from now on.

        Raises
        ------
        TimeUp
            The hours are used up.
        """
        most = self._options.max_instances
        if most is not None and self._taken.instances >= most:
            raise PlatformError(
                f"{most} instance{'s were' if most > 1 else ' was'} made, and no more are allowed",
                hint="raise `max_instances`, or `bareline continue --retry-failed` makes others",
            )
        self.see()
        self._taken.instances += 1
        self._taken.since[instance] = self._clock()

    def end(self, instance: str) -> None:
        """An instance is gone; idempotent."""
        since = self._taken.since.pop(instance, None)
        if since is not None:
            self._taken.ended_s += self._clock() - since

    def see(self) -> None:
        """See that hours are left.

        Raises
        ------
        TimeUp
            None are: the run ends, and gives its instances back.
        """
        most = self._options.max_hours
        if most is not None and self.hours >= most:
            raise TimeUp(
                f"its instances have existed for {self.hours:.3g} hours together, `max_hours` "
                f"allows {most:g}",
                hint="raise it, or `bareline continue` goes on with new ones",
            )
