"""What guests start from is damaged, or there is no memory for them."""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path

from bench import GUESTS, NETWORK, NULLS, Bench, Witness, count_left, judge, lines_of
from table import Count, NotHere

from bareline.host.cache import cache_folder
from bareline.platforms.made.vm.image import built_image, image_folder
from bareline.vocabulary.errors import BarelineError

SAVED = GUESTS + "saved_state = true\n"
#: Guests of two platforms beside one that needs no memory.
CROWD = GUESTS + '[platform.w]\ntype = "vm"\nnic.model = "e1000"\n' + NULLS


def image_damaged(bench: Bench, tries: int) -> Count:
    """Cut or change a part of the guest image: it is built again once, and every trial runs."""
    return _damaged(bench, tries, GUESTS, "images")


def state_damaged(bench: Bench, tries: int) -> Count:
    """The same with a guest's saved state: guests start afresh."""
    return _damaged(bench, tries, SAVED, "states")


def _damaged(bench: Bench, tries: int, platforms: str, kept: str) -> Count:
    """Run with a cache of its own, of which a part is damaged before each run."""
    count = Count()
    cache = bench.room("cache")
    cache.chmod(0o700)
    (cache / "vm").mkdir(mode=0o700)
    try:
        image = built_image(cache_folder()).disk.parent
    except BarelineError as error:
        raise NotHere(str(error)) from error
    image_folder(cache).mkdir(mode=0o700)
    # Not by Python: most of a disk of several GB is holes, which cp keeps.
    copy = ["cp", "-a", "--sparse=always", image, image_folder(cache) / image.name]
    subprocess.run(copy, check=True)
    env = {"BARELINE_CACHE": str(cache)}
    place = bench.room("damaged")
    # The first one finds out what is kept beside the image, and saves what is to be damaged.
    first = bench.zygote.run(
        ["continue", bench.make_run(place, 2, platforms, NETWORK)], place, env=env
    )
    if first.code != 0:
        raise NotHere(f"guests do not run here: {first.said[-300:]}")
    for _ in range(tries):
        run = bench.make_run(place, 2, platforms, NETWORK)
        witness = Witness(run, count)
        harmed = _harm(bench, cache / "vm" / kept)
        ended = bench.zygote.run(["continue", run], place, env=env)
        judge(count, ended, f"{harmed} damaged")
        outcomes = [json.loads(line)["status"] for line in lines_of(run)]
        if witness.look() != 2 or outcomes != ["measured"] * 2:
            count.lost += 1
            count.notes.append(f"{harmed} damaged: {outcomes}; {ended.said[-800:]}")
        count.tries += 1
    count_left(count)
    return count


def _harm(bench: Bench, folder: Path) -> str:
    """Cut a file of an image or of a state, or change bytes of it, or remove it.

    Every part is as likely as any other: nearly all files are modules of the kernel.
    """
    (made,) = (path for path in folder.iterdir() if path.is_dir())
    path = made
    while path.is_dir():
        path = bench.random.choice(sorted(inside for inside in path.iterdir() if _holds(inside)))
    how = bench.random.choice(("cut", "changed", "removed"))
    size = path.stat().st_size
    at = bench.random.randrange(size)
    if how == "removed":
        path.unlink()
    elif how == "cut":
        os.truncate(path, at)
    else:
        with path.open("r+b") as file:
            file.seek(at)
            found = file.read(64)
            file.seek(at)
            file.write(bytes(byte ^ 0x5A for byte in found))
    return f"{path.relative_to(folder)} {how} at {at} of {size}"


def _holds(path: Path) -> bool:
    """Return whether there is something to damage."""
    if path.is_dir():
        return any(_holds(inside) for inside in path.iterdir())
    return path.is_file() and not path.is_symlink() and path.stat().st_size > 0


_SHORT_OF_MEMORY = """
import bareline.platforms.made.vm.fleet as _room
_room.available_bytes = lambda: {available}
"""


def too_little_memory(bench: Bench, tries: int) -> Count:
    """Let there be less memory than the guests need: their trials fail, all others run."""
    count = Count()
    for _ in range(tries):
        place = bench.room("crowd")
        run = bench.make_run(place, 2, CROWD, _BOTH)
        witness = Witness(run, count)
        patch = _SHORT_OF_MEMORY.format(available=bench.random.randrange(0, 1 << 30))
        ended = bench.zygote.run(["continue", run], place, patches=[patch])
        judge(count, ended, "no memory for guests")
        witness.look()
        records = [json.loads(line) for line in lines_of(run)]
        null = [r["status"] for r in records if r["probe"] == "null"]
        if set(null) != {"measured"} or ended.code != 3:
            count.lost += 1
            count.notes.append(f"no memory for guests: {ended.code} {null} {ended.said[-800:]}")
        count.tries += 1
    count_left(count)
    return count


_BOTH = (
    NETWORK.replace("timeout_s", 'platforms = ["v", "w"]\ntimeout_s')
    + '[[measure]]\nprobe = "null"\nplatforms = ["a", "b"]\n'
)
