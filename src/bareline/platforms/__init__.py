"""The platforms: one module each, found by name; see `bareline.platforms.base`.

What cannot be done on one is raised as a `PlatformError` or a kind of it, so that docstrings here
name other errors only.
"""

from bareline.platforms.base import Allocation, Platform
from bareline.vocabulary.platform import PlatformSpec

__all__ = ["Allocation", "Platform", "PlatformSpec"]
