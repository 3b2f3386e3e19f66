"""Options of instances of EC2, or of a cloud with its interface."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from bareline.platforms.cloud.options import CloudOptions

_Word = Annotated[str, Field(pattern=r"^[A-Za-z0-9][A-Za-z0-9._-]{0,127}$")]


class Ec2Options(CloudOptions):
    """Options of a platform of instances of EC2; more in `CloudOptions`.

    Attributes
    ----------
    region, profile
        Of the user's AWS configuration, where the credentials are.
    endpoint
        Address of another cloud with this interface.
    image, size
        Ids as ``ami-0123`` and ``c7i.8xlarge``.
    subnet
        Id of the subnet; the default one without it.
    security_groups
        Ids.
    placement_group
        Name of one that exists: of the kind "cluster" for MPI.
    zone
        Availability zone.
    address
        Which of its addresses an instance is reached at.
    efa
        Give each instance an adapter that bypasses the hypervisor.
    """

    region: _Word
    profile: _Word | None = None
    endpoint: Annotated[str, Field(pattern=r"^https?://[^\s/]+(/\S*)?$")] | None = None
    image: _Word
    size: _Word
    subnet: _Word | None = None
    security_groups: tuple[_Word, ...] = ()
    placement_group: _Word | None = None
    zone: _Word | None = None
    address: Literal["private", "public"] = "private"
    efa: bool = False
