"""Hosts that are reached by ssh: a cluster in the basement, without a batch system.

`inventory` says which hosts there are, `connection` keeps one connection to each of them open,
`allocation` runs trials on them, `platform` brings them up.
"""

from bareline.platforms.ssh.platform import SshPlatform

PLATFORM = SshPlatform
