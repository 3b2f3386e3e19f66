"""Options of instances of an OpenStack cloud."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field

from bareline.platforms.cloud.options import CloudOptions

_Name = Annotated[str, Field(min_length=1, max_length=255)]


class Port(BaseModel):
    """A port of each instance.

    Attributes
    ----------
    network
        Name or id.
    vnic_type
        What stands behind it: ``normal`` a virtual adapter, ``direct`` a function of an SR-IOV
        adapter, the others as Neutron has them.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    network: _Name
    vnic_type: Literal[
        "normal", "direct", "direct-physical", "macvtap", "virtio-forwarder", "vdpa"
    ] = "normal"


def _as_port(value: Any) -> Any:
    """Take a network's name for a port of the kind "normal"."""
    return {"network": value} if isinstance(value, str) else value


class OpenStackOptions(CloudOptions):
    """Options of a platform of instances of an OpenStack cloud; more in `CloudOptions`.

    Attributes
    ----------
    cloud
        Name in the user's ``clouds.yaml``, where the credentials are.
    region
        One of its regions.
    image, flavor
        Names or ids.
    ports
        Networks on which each instance has a port, as names or with ``vnic_type``; ssh goes to
        the first. The project's only network without it.
    security_groups
        Names or ids, for every port; the project's default group without it.
    placement
        Policy of a server group that is made for the instances.
    zone
        Availability zone.
    config_drive
        Give instances what they read at their start on a disk, not over the network.
    """

    cloud: _Name
    region: _Name | None = None
    image: _Name
    flavor: _Name
    ports: tuple[Annotated[Port, BeforeValidator(_as_port)], ...] = ()
    security_groups: tuple[_Name, ...] = ()
    placement: (
        Literal["affinity", "anti-affinity", "soft-affinity", "soft-anti-affinity"] | None
    ) = None
    zone: _Name | None = None
    config_drive: bool = False
