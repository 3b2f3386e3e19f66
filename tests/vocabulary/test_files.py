"""Files are replaced whole or not at all, and nothing is written where a link or a pipe leads."""

import errno
import fcntl
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from bareline.testing.messages import raises
from bareline.vocabulary import files
from bareline.vocabulary.files import NotRegular, replace_file, replacing

PACKAGE = Path(files.__file__).resolve().parents[1]


def names(folder):
    return sorted(path.name for path in folder.iterdir())


def test_a_file_is_new_or_old_and_no_part_stays(tmp_path):
    path = tmp_path / "x"
    replace_file(path, "first")
    with pytest.raises(ZeroDivisionError):
        _fail_to_replace(path)
    assert path.read_text() == "first"
    replace_file(path, "half \ud800 a character")
    assert path.read_text() == "half ? a character"
    assert names(tmp_path) == ["x"]


def test_nobody_can_foresee_where_a_file_is_written(tmp_path):
    """The fault: a run brought the link `.report.html.part`, and its target was overwritten."""
    victim, path = tmp_path / "victim", tmp_path / "x"
    victim.write_text("mine")
    for part in (".x.part", "x.part"):
        (tmp_path / part).symlink_to(victim)
    used = set()
    for _ in range(3):
        with replacing(path):
            used |= set(names(tmp_path))
    assert victim.read_text() == "mine"
    assert len(used - {"victim", "x", ".x.part", "x.part"}) == 3


def _link(path):
    path.symlink_to(path.with_name("victim"))


@pytest.mark.parametrize(
    ("make", "code"),
    [
        (_link, "BL-VOCABULARY-924"),
        (lambda path: path.symlink_to("/dev/stdout"), "BL-VOCABULARY-924"),
        (lambda path: path.symlink_to(path.name), "BL-VOCABULARY-924"),
        (os.mkfifo, "BL-VOCABULARY-670"),
        (Path.mkdir, None),
    ],
)
@pytest.mark.timeout(10)
def test_what_is_no_regular_file_is_refused_and_stays(tmp_path, make, code):
    victim, path = tmp_path / "victim", tmp_path / "x"
    victim.write_text("mine")
    make(path)
    before = path.lstat()
    with raises(OSError, code) as caught:
        replace_file(path, "other")
    assert caught.value.filename == str(path)
    assert path.lstat().st_ino == before.st_ino
    assert victim.read_text() == "mine"
    assert names(tmp_path) == ["victim", "x"]


def test_a_device_is_refused():
    with raises(NotRegular, "BL-VOCABULARY-670"):
        replace_file(Path("/dev/null"), "x")


def _fail_to_replace(path):
    with replacing(path) as file:
        file.write(b"second")
        assert path.read_text() == "first"
        raise ZeroDivisionError


@pytest.mark.parametrize("path", ["/", ".", ".."])
def test_a_name_of_a_folder_is_refused(path):
    with pytest.raises(IsADirectoryError):
        replace_file(Path(path), "x")


def test_a_folder_that_becomes_a_link_meanwhile_leads_nowhere(tmp_path):
    folder, moved, other = tmp_path / "folder", tmp_path / "moved", tmp_path / "other"
    folder.mkdir()
    other.mkdir()
    with replacing(folder / "x") as file:
        file.write(b"text")
        folder.rename(moved)
        folder.symlink_to(other)
    assert (moved / "x").read_text() == "text"
    assert names(other) == []


def test_no_link_is_followed_within_a_run(tmp_path):
    run, other = tmp_path / "run", tmp_path / "other"
    run.mkdir()
    other.mkdir()
    (run / "facts").symlink_to(other)
    with raises(NotRegular, "BL-VOCABULARY-599", "facts"):
        replace_file(run / "facts" / "a.json", "x", within=run)
    with raises(NotRegular, "BL-VOCABULARY-339"):
        replace_file(run / ".." / "other" / "a.json", "x", within=run)
    assert names(other) == []


def test_an_error_names_the_file_that_was_to_be_written(tmp_path):
    with pytest.raises(OSError, match="File name too long") as caught:
        replace_file(tmp_path / ("x" * 300), "")
    assert caught.value.filename == str(tmp_path / ("x" * 300))
    with Path("/dev/full").open("wb") as full:
        error = None
        try:
            with replacing(tmp_path / "y") as file:
                os.dup2(full.fileno(), file.fileno())
                file.write(b"x")
        except OSError as caught_error:
            error = caught_error
    assert error is not None
    assert (error.errno, error.filename) == (errno.ENOSPC, str(tmp_path / "y"))
    assert names(tmp_path) == []


def test_permissions_follow_the_umask_or_are_private(tmp_path):
    before = os.umask(0o027)
    try:
        replace_file(tmp_path / "x", "")
        replace_file(tmp_path / "key", "", mode=0o600)
    finally:
        os.umask(before)
    assert (tmp_path / "x").stat().st_mode & 0o777 == 0o640
    assert (tmp_path / "key").stat().st_mode & 0o777 == 0o600


_KILLED = """
import os, signal, sys
from pathlib import Path
from bareline.vocabulary.files import replacing
with replacing(Path(sys.argv[1])) as file:
    file.write(b"half")
    file.flush()
    os.kill(os.getpid(), signal.SIGKILL)
"""


def test_the_next_write_removes_what_a_kill_left_and_nothing_else(tmp_path):
    path = tmp_path / "x"
    done = subprocess.run([sys.executable, "-c", _KILLED, path], check=False)
    assert done.returncode == -signal.SIGKILL
    assert len(names(tmp_path)) == 1
    (tmp_path / ".other.0123456789abcdef.part").touch()
    with replacing(path) as written, replacing(path) as beside:  # neither removes the other's
        assert len(names(tmp_path)) == 3
        beside.write(b"beside")
        written.write(b"whole")
    assert path.read_text() == "whole"
    assert names(tmp_path) == [".other.0123456789abcdef.part", "x"]
    files.remove_parts(tmp_path)
    assert names(tmp_path) == ["x"]


def test_a_part_that_is_a_link_or_a_pipe_stays(tmp_path):
    os.mkfifo(tmp_path / ".x.0123456789abcdef.part")
    (tmp_path / ".x.0123456789abcde0.part").symlink_to("/dev/zero")
    replace_file(tmp_path / "x", "")
    assert len(names(tmp_path)) == 3


def test_a_file_is_written_without_locks(tmp_path, monkeypatch):
    def none(*_):
        raise OSError(errno.ENOLCK, "No locks available")

    monkeypatch.setattr(fcntl, "flock", none)
    replace_file(tmp_path / "x", "text")
    assert (tmp_path / "x").read_text() == "text"
