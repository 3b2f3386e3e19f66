"""The platforms: one module each, found by name; see `bareline.platforms.base`."""

from bareline.platforms.base import Allocation, Platform, PlatformSpec

__all__ = ["Allocation", "Platform", "PlatformSpec"]
