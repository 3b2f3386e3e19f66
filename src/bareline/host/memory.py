"""How much memory this machine has."""

from __future__ import annotations

import os


def memory_bytes() -> int:
    """Give the memory that the kernel manages, used or not."""
    return os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
