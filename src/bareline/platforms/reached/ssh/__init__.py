"""Hosts that are reached by ssh: a cluster in the basement, without a batch system."""

from bareline.platforms.reached.ssh.platform import SshPlatform

PLATFORM = SshPlatform
