"""The platform type of hosts that are reached by ssh, such as a cluster without batch system."""

from bareline.platforms.reached.ssh.platform import SshPlatform

PLATFORM = SshPlatform
