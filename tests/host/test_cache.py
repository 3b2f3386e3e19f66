"""The cache folder and scratch folders."""

import errno
import os
import resource
import stat
import subprocess
import sys
from pathlib import Path

import pytest

from bareline.host.cache import cache_folder, scratch_folder
from bareline.testing.messages import raises
from bareline.vocabulary.errors import StoreError


@pytest.fixture
def cache(tmp_path, monkeypatch):
    monkeypatch.setenv("BARELINE_CACHE", str(tmp_path / "cache"))
    return tmp_path / "cache"


def test_the_environment_names_the_cache(cache):
    assert cache_folder() == cache
    assert cache.is_dir()


def test_without_it_the_cache_is_the_users_own(tmp_path, monkeypatch):
    monkeypatch.delenv("BARELINE_CACHE", raising=False)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    assert cache_folder() == tmp_path / "bareline"
    monkeypatch.delenv("XDG_CACHE_HOME")
    monkeypatch.setenv("HOME", str(tmp_path))
    assert cache_folder() == tmp_path / ".cache" / "bareline"


def test_a_cache_that_cannot_be_made_names_the_variable(tmp_path, monkeypatch):
    (tmp_path / "file").touch()
    monkeypatch.setenv("BARELINE_CACHE", str(tmp_path / "file" / "cache"))
    with raises(StoreError, "BL-HOST-127"):
        cache_folder()


def test_a_scratch_folder_that_cannot_be_marked_is_named_and_gone(cache):
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (0, hard))  # every write fails, as of a bad disk
    try:
        with pytest.raises(OSError, match="one-") as caught, scratch_folder("one"):
            pass
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
    assert caught.value.errno == errno.EFBIG
    assert Path(caught.value.filename).parent.parent == cache / "scratch"
    assert not list((cache / "scratch").iterdir())


def test_a_scratch_folder_is_private_and_gone_afterwards(cache):
    with scratch_folder("one") as folder:
        (folder / "file").write_text("x")
        assert folder.is_relative_to(cache)
    assert not folder.exists()


def test_it_goes_when_its_user_fails(cache):
    with pytest.raises(ValueError, match="x"), scratch_folder("one") as folder:
        raise ValueError("x")
    assert not folder.exists()


LEAVE = """
import os, sys
from bareline.host.cache import scratch_folder
with scratch_folder(sys.argv[1]) as folder:
    (folder / "file").write_text("x")
    print(folder, flush=True)
    if sys.argv[2] == "die":
        os._exit(1)
    sys.stdin.read()
"""


def leave(name, how):
    process = subprocess.Popen(
        [sys.executable, "-c", LEAVE, name, how],
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
    )  # fmt: skip
    return process, process.stdout.readline().strip()


def test_the_next_one_removes_what_a_dead_one_left_and_nothing_else(cache):
    dead, left = leave("dead", "die")
    dead.communicate()
    live, kept = leave("live", "stay")
    try:
        with scratch_folder("new"):
            assert not Path(left).exists()
            assert Path(kept).is_dir()
    finally:
        live.communicate()


def test_two_barelines_may_use_one_name(cache):
    """Two copies of one run have the same identity, and both may be continued at once."""
    live, theirs = leave("same", "stay")
    try:
        with scratch_folder("same") as ours:
            assert str(ours) != theirs
            assert Path(theirs, "file").exists()
        assert Path(theirs, "file").exists()
    finally:
        live.communicate()


def test_a_new_cache_is_for_its_owner_only(cache):
    before = os.umask(0)
    try:
        with scratch_folder("one") as folder:
            modes = {stat.S_IMODE(path.stat().st_mode) for path in (cache, folder)}
    finally:
        os.umask(before)
    assert modes == {0o700}


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can give a folder away")
def test_a_cache_of_somebody_else_is_refused(cache):
    cache.mkdir()
    os.chown(cache, 12345, -1)
    with raises(StoreError, "BL-HOST-762", "12345"):
        cache_folder()


@pytest.mark.parametrize("mode", [0o777, 0o770, 0o722])
def test_a_cache_that_others_may_write_is_refused(cache, mode):
    cache.mkdir()
    cache.chmod(mode)
    with raises(StoreError, "BL-HOST-273"):
        cache_folder()
