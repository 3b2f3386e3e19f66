"""Binds ports without an agent: every host has every network, and none has SR-IOV."""

from __future__ import annotations

from typing import Any

from neutron_lib.api.definitions import portbindings
from neutron_lib.plugins.ml2 import api


class HereDriver(api.MechanismDriver):  # type: ignore[misc]
    """A mechanism driver of ML2 for ports of the kind "normal"."""

    def initialize(self) -> None:
        """Do nothing: there is nothing to prepare."""

    def bind_port(self, context: Any) -> None:
        """Bind a port to the first segment of its network."""
        if context.current[portbindings.VNIC_TYPE] != portbindings.VNIC_NORMAL:
            return
        for segment in context.segments_to_bind:
            context.set_binding(segment[api.ID], portbindings.VIF_TYPE_BRIDGE, {}, status="ACTIVE")
            return
