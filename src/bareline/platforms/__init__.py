"""The platforms: one module each, found by name; see `bareline.platforms.base`."""

from bareline.platforms.base import Allocation, Platform
from bareline.vocabulary.platform import PlatformSpec

__all__ = ["Allocation", "Platform", "PlatformSpec"]
