"""What the cache of native builds forgets, and what it keeps."""

import os
import subprocess
import sys
import time
from pathlib import Path

from bareline.build import cache as build_cache

DAY_S = 24 * 3600.0
OLD, RECENT = 31, 29


def plant(folder, toolchain, age_days, build="0123456789ab"):
    """Leave what a toolchain leaves: a build, its log, a tree of object files, a lock."""
    name = f"{toolchain}-{build}" if build else toolchain
    (folder / name).mkdir()
    (folder / f"{toolchain}.tree" / "build").mkdir(parents=True)
    record = folder / name / build_cache.RECORD
    left = [record, folder / f"{name}.log", folder / f"{toolchain}.lock"]
    for path in left:
        path.touch()
    for path in (*left, folder / f"{toolchain}.tree"):
        os.utime(path, (time.time() - age_days * DAY_S,) * 2)
    return record


def names(folder):
    return {path.name for path in folder.iterdir()}


def test_what_nobody_used_for_a_month_goes_whole(tmp_path):
    plant(tmp_path, "00000000", RECENT)
    kept = names(tmp_path)
    plant(tmp_path, "11111111", OLD)
    plant(tmp_path, "04176dd7bfb0dfb30d44", OLD, build="")  # as builds were named at first
    (tmp_path / "notes.txt").touch()
    os.utime(tmp_path / "notes.txt", (0, 0))
    build_cache.prune_forgotten(tmp_path)
    assert names(tmp_path) == kept | {"notes.txt"}


def test_one_use_keeps_all_of_a_toolchain(tmp_path):
    record = plant(tmp_path, "11111111", OLD)
    kept = names(tmp_path)
    os.utime(record)
    build_cache.prune_forgotten(tmp_path)
    assert names(tmp_path) == kept


def test_building_counts_as_use_and_is_not_disturbed(tmp_path):
    plant(tmp_path, "11111111", OLD)
    kept = names(tmp_path)
    with build_cache.locked(tmp_path, "11111111"):
        os.utime(tmp_path / "11111111.lock", (0, 0))
        build_cache.prune_forgotten(tmp_path)
        assert names(tmp_path) == kept
    with build_cache.locked(tmp_path, "11111111"):
        pass
    build_cache.prune_forgotten(tmp_path)
    assert names(tmp_path) == kept


_WAIT = """
import sys
from pathlib import Path
from bareline.build import cache as build_cache
print(flush=True)
with build_cache.locked(Path(sys.argv[1]), "11111111"):
    print((Path(sys.argv[1]) / "11111111.lock").exists())
"""


def test_who_waits_for_a_lock_that_is_removed_takes_a_new_one(tmp_path):
    with build_cache.locked(tmp_path, "11111111"):
        waiting = subprocess.Popen(
            [sys.executable, "-c", _WAIT, str(tmp_path)], stdout=subprocess.PIPE, text=True
        )
        waiting.stdout.readline()
        # It has opened the file once its table of descriptors shows it.
        while not any(
            link.resolve().name == "11111111.lock"
            for link in Path(f"/proc/{waiting.pid}/fd").iterdir()
        ):
            time.sleep(0.01)
        (tmp_path / "11111111.lock").unlink()
    said, _ = waiting.communicate(timeout=20)
    assert said.strip() == "True"


def test_who_waits_for_another_builder_is_told_after_a_moment(tmp_path):
    with build_cache.locked(tmp_path, "11111111"):
        waiting = subprocess.Popen(
            [sys.executable, "-c", _WAIT, str(tmp_path)],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        assert waiting.stderr.readline().strip()
    assert waiting.communicate(timeout=20)[0].strip() == "True"
