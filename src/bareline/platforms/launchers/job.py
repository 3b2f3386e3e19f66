"""The former name of `bareline.platforms.hosts.launchers.job`.

Platform types of other packages import `Node` from this module.
"""

from bareline.platforms.hosts.launchers.job import Job, Network, Node, Transport

__all__ = ["Job", "Network", "Node", "Transport"]
