"""The types of platforms, found by name; see `bareline.platforms.base`.

The types are modules of `localhost`, `reached`, `made` and `sim`; `hosts` operates nodes for these
modules.

A failure on a platform is raised as a `PlatformError` or as a subclass of it. The docstrings of
this package therefore only name other errors.
"""

from bareline.platforms.base import Allocation, Platform
from bareline.vocabulary.platform import PlatformSpec

__all__ = ["Allocation", "Platform", "PlatformSpec"]
