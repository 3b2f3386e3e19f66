"""What the options of all clouds' instances have in common."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from bareline.platforms.ssh.options import ReachedOptions


class CloudOptions(ReachedOptions):
    """Options of a platform of instances of a cloud; more in `ReachedOptions`.

    - `instances`: number of instances, each a node.
    - `user`: who is logged in as; the instances' cloud-init lets the generated key in.
    - `jump`: a host through which ssh reaches the instances.
    - `attempts`: how often each instance is made at most before the platform fails.
    - `active_s`: how long the cloud may take until an instance runs.
    - `reach_s`: how long one that runs may take until it answers over ssh.
    - `max_instances`: most instances that one `run` or `continue` makes, those that replace others
      included; any number without it.
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
        """Number of instances."""
        return self.instances
