"""Hosts that are reached by ssh: a cluster in the basement, without a batch system.

`options` says which hosts there are, `connection` keeps one open to each, `platform` uses them.
"""

from bareline.platforms.ssh.platform import SshPlatform

PLATFORM = SshPlatform
