"""The former name of `bareline.platforms.localhost.local`.

Platform types that ``bareline new platform`` wrote derive from the `LocalPlatform` of this module.
"""

from bareline.platforms.localhost.local import LocalAllocation, LocalOptions, LocalPlatform

__all__ = ["LocalAllocation", "LocalOptions", "LocalPlatform"]
