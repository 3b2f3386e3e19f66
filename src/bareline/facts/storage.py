"""Facts of the file system in which trials work, and of the disk that stores it."""

from __future__ import annotations

import re
from dataclasses import dataclass

from bareline.facts.sections import Facts, Sections, chosen, files_of, integer, known, times

#: Mount options that only contain addresses of machines.
_ADDRESSES = ("addr=", "clientaddr=", "mountaddr=")
#: Names and first words of values that tools of parallel file systems print.
_ATTRIBUTE = re.compile(
    r"(lcm_entry_count|stripe_count|stripe_size|Chunksize|data replication|storage pool name):"
    r"\s*(\S+)"
)


def parse_storage(sections: Sections) -> Facts:
    """Return the facts from the sections about storage in the script's output."""
    rows = sections.get("df", "").strip().splitlines()
    columns = rows[-1].split() if len(rows) > 1 else []
    if len(columns) < 7:
        columns = [""] * 7
    mount = _mount_of(sections)
    facts = known(
        {
            "fs.device": columns[0],
            "fs.type": columns[1],
            "fs.total_bytes": times(integer(columns[2]), 1024),
            "fs.free_bytes": times(integer(columns[4]), 1024),
            "fs.block_bytes": integer(sections.get("statfs", "").strip()),
            "fs.striping": _striping(sections.get("striping", "")),
        }
    )
    if mount:
        facts |= known({"fs.mount": mount.point, "fs.options": mount.options})
        facts.setdefault("fs.type", mount.kind)
        facts.setdefault("fs.device", mount.source)
        facts |= _disk(sections, mount.device_number)
    return facts


def _striping(text: str) -> str | None:
    """Return the striping of a folder's files over servers; None if the file system has none.

    - `text`: the report of Lustre, BeeGFS or GPFS.

    References
    ----------
    Lustre Operations Manual, ``lfs getstripe``; BeeGFS documentation, "Striping"; IBM Storage
    Scale, ``mmlsattr``. The parser was written from the examples in these documents, without access
    to a system.
    """
    attributes = dict(_ATTRIBUTE.findall(text))
    if "lcm_entry_count" in attributes:
        return f"a layout of {attributes['lcm_entry_count']} components"
    if "stripe_count" in attributes:
        count = attributes["stripe_count"]
        targets = "all" if count == "-1" else count
        size = attributes.get("stripe_size", "?")
        return f"over {targets} targets, {size} B each"
    if "Chunksize" in attributes:
        desired = re.search(r"storage targets: desired: (\d+)", text)
        over = f"over {desired[1]} targets, " if desired else ""
        return f"{over}chunks of {attributes['Chunksize']}"
    if "data replication" in attributes:
        pool = attributes.get("storage pool name", "?")
        return f"pool {pool}, data replication {attributes['data replication']}"
    return None


@dataclass(frozen=True, slots=True)
class _Mount:
    """A mounted file system, described by a line of mountinfo."""

    device_number: str
    point: str
    options: str
    kind: str
    source: str

    @classmethod
    def read(cls, line: str) -> _Mount | None:
        """Parse a line of mountinfo; None if the line has another form."""
        before, dash, after = line.partition(" - ")
        mount = before.split()
        file_system = after.split()
        if not dash or len(mount) < 6 or len(file_system) < 3:
            return None
        options = dict.fromkeys([*mount[5].split(","), *file_system[2].split(",")])
        without_addresses = [name for name in options if not name.startswith(_ADDRESSES)]
        return cls(
            device_number=mount[2],
            point=mount[4].replace("\\040", " "),
            options=",".join(without_addresses),
            kind=file_system[0],
            source=file_system[1],
        )

    def contains(self, folder: str) -> bool:
        """Whether the path of a folder is below this mount point; a deeper mount may cover it."""
        return self.point in ("/", folder) or folder.startswith(self.point + "/")


def _mount_of(sections: Sections) -> _Mount | None:
    """Return the mount of the working folder: the mount with the longest path that contains it."""
    folder = sections.get("folder", "").strip()
    if not folder:
        return None
    longest: _Mount | None = None
    for line in sections.get("mountinfo", "").splitlines():
        mount = _Mount.read(line)
        if mount is None or not mount.contains(folder):
            continue
        # A later mount on the same point hides the earlier one.
        if longest is None or len(mount.point) >= len(longest.point):
            longest = mount
    return longest


def _disk(sections: Sections, device_number: str) -> Facts:
    """Return the facts of the disk with a device number; empty if no disk has this number."""
    pattern = rf" {re.escape(device_number)} -> \S*/block/([^/\s]+)"
    link = re.search(pattern, sections.get("blocks", ""))
    if link is None:
        return {}
    files = files_of(sections, "disks")
    base = f"/sys/block/{link[1]}/"
    rotational = files.get(base + "queue/rotational")
    return known(
        {
            "fs.disk.name": link[1],
            "fs.disk.model": files.get(base + "device/model"),
            "fs.disk.rotational": None if not rotational else rotational == "1",
            "fs.disk.scheduler": chosen(files.get(base + "queue/scheduler")),
        }
    )
