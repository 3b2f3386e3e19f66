"""Advice that is true: what helps depends on what went wrong, and a run stays its owner's."""

from __future__ import annotations

import errno
import os
import shutil
import sys
from contextlib import contextmanager, suppress

import pytest

from bareline.cli.main import main
from bareline.formats.files import read_files
from bareline.platforms.config import load_platforms
from bareline.profile.files import read_profile
from bareline.profile.trace import read_trace
from bareline.session import runner
from bareline.store.files import next_step
from bareline.store.run import Run
from bareline.study.reading import load_study
from bareline.testing.messages import raises
from bareline.testing.runs import SilentObserver
from bareline.vocabulary.errors import BarelineError, StoreError, StudyError
from bareline.vocabulary.files import step_to_read


class Removing(SilentObserver):
    """Removes the run's folder when some trials are done."""

    def __init__(self, run):
        self._run, self._left = run, 3

    def finished(self, record):
        self._left -= 1
        if not self._left:
            shutil.rmtree(self._run.path)


def test_a_folder_that_is_removed_under_way_is_said_to_be_removed(make_run):
    run = make_run(launches=10)
    with raises(StoreError, "BL-STORE-101", str(run.path)) as caught:
        runner.execute(run, Removing(run))
    assert caught.value.hint and "`bareline continue" not in caught.value.hint
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
    error = OSError(number, os.strerror(number))
    step = next_step(error, tmp_path / "a run", imported=False)
    assert said in step
    assert "continue" not in step or f"'{tmp_path / 'a run'}'" in step
    assert "import" not in step
    imported = next_step(error, tmp_path / "a run", imported=True)
    assert said in imported and "continue" not in imported
    assert ("`bareline import`" in imported) == ("`bareline continue" in step)


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


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can become another user")
@pytest.mark.parametrize(
    ("read", "code"),
    [
        (Run.open, "BL-STORE-971"),
        (load_study, "BL-STUDY-648"),
        (load_platforms, "BL-PLATFORMS-824"),
        (read_profile, "BL-PROFILE-518"),
        (read_trace, "BL-PROFILE-542"),
        (lambda path: read_files([path], skip_unknown=False), "BL-FORMATS-429"),
        (lambda path: load_study(path.parents[1] / "open.toml"), "BL-STUDY-602"),
    ],
    ids=("run", "study", "platforms", "profile", "trace", "output", "input"),
)
def test_what_may_not_be_read_is_no_reason_to_make_another_one(foreign_place, read, code):
    path = foreign_place / "private" / "file"
    with suppress(BarelineError):
        read(path)  # it imports what it needs, as long as the clone can be read
    denied = PermissionError(errno.EACCES, os.strerror(errno.EACCES))
    # The code is looked up in the source, which the other user perhaps may not read.
    with raises(BarelineError, code, denied.strerror) as caught, another_user():
        read(path)
    assert caught.value.hint == step_to_read(denied)


@contextmanager
def another_user():
    """Be a user without rights until the context ends."""
    os.seteuid(12345)
    try:
        yield
    finally:
        os.seteuid(0)


@pytest.fixture
def foreign_place(tmp_path):
    """Yield a place that another user can reach, with a folder that is closed to that user."""
    (tmp_path / "private").mkdir(mode=0o700)
    (tmp_path / "private" / "file").write_text("x")
    (tmp_path / "open.toml").write_text(STUDY)
    above = {folder: folder.stat().st_mode for folder in list(tmp_path.parents)[:-2]}
    for folder in above:
        folder.chmod(0o711)
    tmp_path.chmod(0o711)
    yield tmp_path
    for folder, mode in above.items():
        folder.chmod(mode)


STUDY = """
[study]
name = "s"
launches = 1
[app.a]
command = ["true"]
inputs = { "x" = { file = "private/file" } }
metrics.time = { unit = "s", better = "lower", regex = "([0-9.]+)" }
[[measure]]
probe = "app.a"
"""


@pytest.mark.parametrize("name", ["/dev/zero", "fifo", "\\u0000", "y" * 20_000, "gone"])
def test_a_programs_input_is_a_file(tmp_path, bounded, name):
    os.mkfifo(tmp_path / "fifo")
    (tmp_path / "s.toml").write_text(STUDY.replace("private/file", name))
    with raises(StudyError, "BL-STUDY-602"):
        load_study(tmp_path / "s.toml")


@pytest.mark.parametrize("verb", ["show", "status", "report", "run", "continue"])
def test_a_path_that_can_be_none_is_one_line(monkeypatch, capsys, verb):
    monkeypatch.setattr(sys, "argv", ["bareline", verb, "y" * 5000])
    with pytest.raises(SystemExit) as end:
        main()
    said = capsys.readouterr().err
    assert end.value.code == 2
    assert "File name too long" in said or "no study is named" in said
    assert len(said) < 400 and len(said.splitlines()) == 1
