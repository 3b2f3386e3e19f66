"""The platforms: one module each, found by name; see `bareline.platforms.base`.

Types of platforms are in `localhost`, `reached`, `made` and `sim`; `hosts` operates nodes for them.

Failures on a platform are raised as a `PlatformError` or a kind of it, so that docstrings here
only name other errors.
"""

from bareline.platforms.base import Allocation, Platform
from bareline.vocabulary.platform import PlatformSpec

__all__ = ["Allocation", "Platform", "PlatformSpec"]
