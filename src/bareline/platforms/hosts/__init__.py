"""Operation of nodes of any platform: processes, launchers, scripts, layers and images."""

from typing import Any


def __getattr__(name: str) -> Any:
    """Return `HostsAllocation`, which platform types of other packages import from here."""
    if name == "HostsAllocation":
        from bareline.platforms.hosts.allocation import HostsAllocation

        return HostsAllocation
    raise AttributeError(f"module '{__name__}' has no attribute '{name}'")
