"""Advice that is true: what helps depends on what went wrong, and a run stays its owner's."""

from __future__ import annotations

import errno
import os
import shutil

import pytest

from bareline.session import runner
from bareline.store.files import next_step
from bareline.testing.runs import Silent
from bareline.vocabulary.errors import StoreError


class Removing(Silent):
    """Removes the run's folder when some trials are done."""

    def __init__(self, run):
        self._run, self._left = run, 3

    def finished(self, record):
        self._left -= 1
        if not self._left:
            shutil.rmtree(self._run.path)


def test_a_folder_that_is_removed_under_way_is_said_to_be_removed(make_run):
    run = make_run(launches=10)
    with pytest.raises(StoreError, match="removed or moved") as caught:
        runner.execute(run, Removing(run))
    assert "make room" not in str(caught.value)
    assert not run.path.exists()


@pytest.mark.parametrize(
    ("number", "said"),
    [
        (errno.ENOSPC, "make room"),
        (errno.EDQUOT, "make room"),
        (errno.EACCES, "make it yours"),
        (errno.EPERM, "make it yours"),
        (errno.EROFS, "where you may write"),
        (errno.ENOENT, "removed or moved"),
        (errno.ELOOP, "writes nowhere else"),
        (errno.EIO, "file system"),
    ],
)
def test_the_next_step_fits_what_went_wrong(tmp_path, number, said):
    step = next_step(OSError(number, os.strerror(number)), tmp_path / "a run")
    assert said in step
    assert "continue" not in step or f"'{tmp_path / 'a run'}'" in step


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can work for another user")
def test_root_leaves_a_run_to_its_owner(make_run, execute):
    run = make_run(launches=3)
    for path in (run.path, *run.path.rglob("*")):
        os.chown(path, 12345, 12345)
    execute(run)
    run.append_event("a", "x")
    owners = {path.stat().st_uid for path in (run.path, *run.path.rglob("*"))}
    assert len(list(run.path.rglob("*"))) > 8
    assert owners == {12345}
