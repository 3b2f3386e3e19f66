"""Instances of an OpenStack cloud, as Nebula's were: `asking` reaches it, `provider` makes them."""

from bareline.platforms.openstack.platform import OpenStackPlatform

PLATFORM = OpenStackPlatform
