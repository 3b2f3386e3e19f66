"""The storage that an image archive may fill, counted while the archive is unpacked."""

from __future__ import annotations

import shutil
from dataclasses import dataclass
from pathlib import Path

from bareline.vocabulary.units import count

#: No image has more files, folders and links.
MOST_ENTRIES = 1_000_000
#: Text and programs are packed to a fifth; only a malicious archive to less than this part.
MOST_RATIO = 200
#: A small archive of empty files may have any ratio.
RATIO_FROM_BYTES = 256 << 20
#: The archive without its compression, its layers and the root take the disk at the same time.
SHARE_OF_FREE = 4
_GIB = 1 << 30


class OverBudget(ValueError):
    """Raised if an archive unpacks to more than is allowed; `str` names the exceeded limit."""


def default_bytes(folder: Path) -> int:
    """Return how many bytes an archive may unpack to in a folder: a quarter of the free space."""
    return shutil.disk_usage(folder).free // SHARE_OF_FREE


@dataclass(slots=True)
class UnpackingBudget:
    """The number of entries and bytes that an archive has been unpacked to so far.

    - `most_bytes`: limit for the content of all files; a sparse file counts with its declared size.
    - `packed_bytes`: size of the archive itself.
    """

    most_bytes: int
    packed_bytes: int
    bytes: int = 0
    entries: int = 0

    def take_entry(self, size_bytes: int) -> None:
        """Count a file, folder or link before it is written.

        Raises OverBudget: the archive has too many entries, or too many bytes.
        """
        self.entries += 1
        if self.entries > MOST_ENTRIES:
            raise OverBudget(f"it has more than {count(MOST_ENTRIES, 'entry', 'entries')}")
        self.take_bytes(size_bytes)

    def take_bytes(self, size_bytes: int) -> None:
        """Count bytes before they are written.

        Raises OverBudget: the archive has too many bytes.
        """
        self.bytes += size_bytes
        if self.bytes > self.most_bytes:
            raise OverBudget(
                f"it unpacks to more than {self.most_bytes / _GIB:.3g} GiB, which `unpack_gib` "
                "of the container allows"
            )
        most_by_ratio = max(RATIO_FROM_BYTES, MOST_RATIO * self.packed_bytes)
        if self.bytes > most_by_ratio:
            raise OverBudget(
                f"it has {self.packed_bytes:,} bytes and unpacks to more than {MOST_RATIO}"
                " times as many"
            )
