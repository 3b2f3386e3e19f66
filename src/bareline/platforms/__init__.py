"""The types of platforms, found by name; see `bareline.platforms.base`.

The types are modules of this package and of its packages `localhost`, `reached` and `made`. The
package `hosts` operates the nodes of the types.

A failure on a platform is raised as a `PlatformError` or as a subclass of it. Any method of a
platform may raise it, even if the method's docstring does not list it.
"""

from bareline.platforms.base import Allocation, Platform
from bareline.vocabulary.platform import PlatformSpec

__all__ = ["Allocation", "Platform", "PlatformSpec"]
