"""The types of platforms, found by name; see `bareline.platforms.base`.

The types are in the packages `localhost`, `reached`, `made` and `sim`. The package `hosts` operates
the nodes of all these types.

A failure on a platform is raised as a `PlatformError` or as a subclass of it. The docstrings of
this package therefore list only the errors of other classes under "Raises".
"""

from bareline.platforms.base import Allocation, Platform
from bareline.vocabulary.platform import PlatformSpec

__all__ = ["Allocation", "Platform", "PlatformSpec"]
