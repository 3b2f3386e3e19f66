"""Instances of EC2, or of a cloud like it: `asking` reaches it, `provider` makes them."""

from bareline.platforms.ec2.platform import Ec2Platform

PLATFORM = Ec2Platform
