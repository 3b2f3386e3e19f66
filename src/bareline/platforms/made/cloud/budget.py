"""Options of the instances of all clouds, and the limits of one `run` or `continue` there."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Annotated

from pydantic import Field

from bareline.platforms.reached.ssh.options import ReachedOptions
from bareline.vocabulary.errors import PlatformError, TimeUp
from bareline.vocabulary.units import HOUR_S, count


class CloudOptions(ReachedOptions):
    """Options of a platform of cloud instances, in addition to `ReachedOptions`.

    - `instances`: number of instances; each instance is a node.
    - `user`: name of the user for logins; the instances' cloud-init accepts the generated key.
    - `jump`: a host through which ssh reaches the instances.
    - `attempts`: how often bareline tries to create an instance before the platform fails.
    - `active_s`: time limit in s until an instance runs.
    - `reach_s`: time limit in s until a running instance answers over ssh.
    - `max_instances`: limit for the number of instances that one `run` or `continue` creates,
      including replacements for failed instances; unlimited by default.
    - `max_hours`: limit for the sum of the hours of all instances in one `run` or `continue`.
    """

    instances: Annotated[int, Field(ge=1, le=1000)] = 2
    user: Annotated[str, Field(pattern=r"^[a-z_][a-z0-9_-]{0,31}$")] = "root"
    jump: Annotated[str, Field(pattern=r"^[A-Za-z0-9_.@:\[\]-]+$")] | None = None
    attempts: Annotated[int, Field(ge=1, le=20)] = 3
    active_s: Annotated[float, Field(gt=0, le=86_400)] = 300.0
    reach_s: Annotated[float, Field(gt=0, le=86_400)] = 300.0
    max_instances: Annotated[int, Field(ge=1)] | None = None
    max_hours: Annotated[float, Field(gt=0, allow_inf_nan=False)] | None = None

    @property
    def node_count(self) -> int:
        return self.instances


#: By platform, the instances that this process has made for it: since when, and until when.
_MADE: dict[str, dict[str, tuple[float, float | None]]] = {}


class Budget:
    """The count of a platform's instances and of their hours, over all its acquisitions."""

    def __init__(
        self, platform: str, options: CloudOptions, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._made = _MADE.setdefault(platform, {})
        self._options = options
        self._clock = clock

    @property
    def hours(self) -> float:
        """Hours of all instances together, until now."""
        now = self._clock()
        spans = ((now if until is None else until) - since for since, until in self._made.values())
        return sum(spans) / HOUR_S

    def begin(self, instance: str) -> None:
        """Count the hours of an instance from now on.

        Raises TimeUp: the hours are used up.
        """
        most = self._options.max_instances
        if most is not None and len(self._made) >= most:
            were = "were" if most > 1 else "was"
            raise PlatformError(
                f"{count(most, 'instance')} {were} made, and no more are allowed",
                hint="raise `max_instances`, or try again with `bareline continue --retry-failed`",
            )
        self.see()
        self._made[instance] = (self._clock(), None)

    def end(self, instance: str) -> None:
        """Stop counting the hours of an instance that is gone; idempotent."""
        since, until = self._made.get(instance, (0.0, 0.0))
        if until is None:
            self._made[instance] = (since, self._clock())

    def see(self) -> None:
        """Check that the budget has hours left.

        Raises TimeUp: no hours are left; the run then ends and removes its instances.
        """
        most = self._options.max_hours
        if most is not None and self.hours >= most:
            raise TimeUp(
                f"the instances of the platform have existed for {self.hours:.3g} hours in"
                " total, but "
                f"`max_hours` allows {most:g}",
                hint="raise max_hours, or continue with new instances: `bareline continue`",
            )
