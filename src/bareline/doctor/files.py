"""Look which file systems can be mounted for trials."""

from __future__ import annotations

import os
from collections.abc import Iterable

from bareline.doctor.check import Area, Check, Status
from bareline.platforms.layers.filesystem.options import (
    FileSystem,
    Gluster,
    Loop,
    Nfs,
    Tmpfs,
    check_here,
)
from bareline.vocabulary.errors import BarelineError

_KINDS: tuple[FileSystem, ...] = (
    Tmpfs(type="tmpfs"),
    Loop(type="loop-ext4"),
    Loop(type="loop-xfs"),
    Loop(type="loop-btrfs"),
    Gluster(type="gluster"),
    Nfs(type="nfs"),
)


def file_systems() -> Iterable[Check]:
    """Ask of each kind what mounting it between hosts as namespaces would need."""
    for chosen in _KINDS:
        try:
            check_here(chosen, root=os.geteuid() == 0, user_namespace=True, network=True)
        except BarelineError as error:
            hint = error.hint or ""
            yield Check(chosen.type, Area.FILES, Status.MISSING, str(error.what), hint)
        else:
            yield Check(chosen.type, Area.FILES, Status.OK, "can be mounted")
