"""The former name of `bareline.platforms.hosts.nodes`.

Platform types of other packages import the interface of nodes from this module.
"""

from bareline.platforms.hosts.nodes import Nodes

__all__ = ["Nodes"]
