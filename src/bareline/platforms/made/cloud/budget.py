"""Common options of all clouds' instances, and the limits of a `run` or `continue` there."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Annotated

from pydantic import Field

from bareline.platforms.reached.ssh.options import ReachedOptions
from bareline.vocabulary.errors import PlatformError, TimeUp
from bareline.vocabulary.units import HOUR_S, count


class CloudOptions(ReachedOptions):
    """Options of a platform of instances of a cloud; more in `ReachedOptions`.

    - `instances`: number of instances, each a node.
    - `user`: who is logged in as; the instances' cloud-init lets the generated key in.
    - `jump`: a host through which ssh reaches the instances.
    - `attempts`: how often each instance is made at most before the platform fails.
    - `active_s`: how long the cloud may take until an instance runs.
    - `reach_s`: how long one that runs may take until it answers over ssh.
    - `max_instances`: most instances that one `run` or `continue` makes, replacements included;
      unlimited without it.
    - `max_hours`: most hours that its instances may exist, all together, in one `run` or
      `continue`.
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
    """Counts the instances of a platform and their hours, over all times that it comes up."""

    def __init__(
        self, platform: str, options: CloudOptions, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._made = _MADE.setdefault(platform, {})
        self._options = options
        self._clock = clock

    @property
    def hours(self) -> float:
        """Hours of all instances together, up to now."""
        now = self._clock()
        spans = ((now if until is None else until) - since for since, until in self._made.values())
        return sum(spans) / HOUR_S

    def begin(self, instance: str) -> None:
        """Count an instance from now on, or raise TimeUp: the hours are used up."""
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
        """An instance is gone; idempotent."""
        since, until = self._made.get(instance, (0.0, 0.0))
        if until is None:
            self._made[instance] = (since, self._clock())

    def see(self) -> None:
        """See that hours are left, or raise TimeUp: the run ends, and gives its instances back."""
        most = self._options.max_hours
        if most is not None and self.hours >= most:
            raise TimeUp(
                f"its instances have existed for {self.hours:.3g} hours together, `max_hours` "
                f"allows {most:g}",
                hint="raise max_hours, or continue with new instances: `bareline continue`",
            )
