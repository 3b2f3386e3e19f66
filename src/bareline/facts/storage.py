"""Facts of the file system in which trials work, and of the disk under it."""

from __future__ import annotations

import re

from bareline.facts.sections import Facts, Sections, chosen, files_of, integer, known, times

#: Options of a mount that say which machines it joins, and nothing of how.
_ADDRESSES = ("addr=", "clientaddr=", "mountaddr=")
#: Names and first words of values that tools of parallel file systems print.
_ATTRIBUTE = re.compile(
    r"(lcm_entry_count|stripe_count|stripe_size|Chunksize|data replication|storage pool name):"
    r"\s*(\S+)"
)


def parse_storage(sections: Sections) -> Facts:
    """Read the sections about storage."""
    rows = sections.get("df", "").strip().splitlines()
    columns = rows[-1].split() if len(rows) > 1 else []
    if len(columns) < 7:
        columns = [""] * 7
    number, point, options, kind, source = _mount_of(sections) or [""] * 5
    facts = known(
        {
            "fs.device": columns[0],
            "fs.type": columns[1],
            "fs.total_bytes": times(integer(columns[2]), 1024),
            "fs.free_bytes": times(integer(columns[4]), 1024),
            "fs.block_bytes": integer(sections.get("statfs", "").strip()),
            "fs.striping": _striping(sections.get("striping", "")),
            "fs.mount": point,
            "fs.options": options,
        }
    )
    if point:
        facts.setdefault("fs.type", kind)
        facts.setdefault("fs.device", source)
        facts |= _disk(sections, number)
    return facts


def _striping(text: str) -> str | None:
    """Describe how the files of a folder are spread, as Lustre, BeeGFS or GPFS reports it.

    References
    ----------
    Lustre Operations Manual, ``lfs getstripe``; BeeGFS documentation, "Striping"; IBM Storage
    Scale, ``mmlsattr``. Read from their printed examples: none of the three was there to ask.
    """
    said = dict(_ATTRIBUTE.findall(text))
    if "lcm_entry_count" in said:
        return f"a layout of {said['lcm_entry_count']} components"
    if "stripe_count" in said:
        count, size = said["stripe_count"], said.get("stripe_size", "?")
        return f"over {'all' if count == '-1' else count} targets, {size} B each"
    if "Chunksize" in said:
        count = re.search(r"storage targets: desired: (\d+)", text)
        over = f"over {count[1]} targets, " if count else ""
        return f"{over}chunks of {said['Chunksize']}"
    if "data replication" in said:
        pool = said.get("storage pool name", "?")
        return f"pool {pool}, data replication {said['data replication']}"
    return None


def _mount_of(sections: Sections) -> tuple[str, str, str, str, str] | None:
    """Find the mount of the working folder: device number, point, options, type, source."""
    folder = sections.get("folder", "").strip()
    best: tuple[str, str, str, str, str] | None = None
    for line in sections.get("mountinfo", "").splitlines():
        left, dash, right = line.partition(" - ")
        mine, its = left.split(), right.split()
        if not dash or len(mine) < 6 or len(its) < 3:
            continue
        point = mine[4].replace("\\040", " ")
        inside = point in ("/", folder) or folder.startswith(point + "/")
        # A later mount on the same point hides the earlier one.
        if folder and inside and (best is None or len(point) >= len(best[1])):
            every = dict.fromkeys([*mine[5].split(","), *its[2].split(",")])
            options = [one for one in every if not one.startswith(_ADDRESSES)]
            best = (mine[2], point, ",".join(options), its[0], its[1])
    return best


def _disk(sections: Sections, device_number: str) -> Facts:
    link = re.search(
        rf" {re.escape(device_number)} -> \S*/block/([^/\s]+)", sections.get("blocks", "")
    )
    if link is None:
        return {}
    files, base = files_of(sections, "disks"), f"/sys/block/{link[1]}/"
    rotational = files.get(base + "queue/rotational")
    return known(
        {
            "fs.disk.name": link[1],
            "fs.disk.model": files.get(base + "device/model"),
            "fs.disk.rotational": rotational == "1" if rotational else None,
            "fs.disk.scheduler": chosen(files.get(base + "queue/scheduler")),
        }
    )
