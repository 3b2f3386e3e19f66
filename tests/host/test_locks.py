"""No two processes own one thing, whoever is killed; a lease that none can judge is named."""

import errno
import fcntl
import os
import re
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

from bareline.host import locks, owner
from bareline.host.locks import file_lock, holder_of, lease_of, try_lock
from bareline.host.owner import has_ended, owner_mark
from bareline.testing.messages import raises
from bareline.vocabulary.errors import StoreError

ROOT = Path(__file__).resolve().parents[2]
DEAD = re.sub(r"^\d+-\d+", "999999999-1", owner_mark())


@pytest.fixture
def leases(monkeypatch):
    """Let there be no locks, so that leases stand in their place."""

    def refuse(*_):
        raise OSError(errno.ENOLCK, os.strerror(errno.ENOLCK))

    monkeypatch.setattr(fcntl, "flock", refuse)
    monkeypatch.setenv("BARELINE_LEASES", "1")


@pytest.fixture
def path(tmp_path):
    (tmp_path / "x").touch()
    return tmp_path / "x"


def names(folder):
    return sorted(entry.name for entry in folder.iterdir())


def test_a_lease_is_held_by_one_and_leaves_nothing(path, leases):
    with try_lock(0, path) as first:
        assert first
        assert f"process {os.getpid()} on " in holder_of(path)
        with try_lock(0, path) as second:
            assert not second
        assert lease_of(path).exists(), "who does not have it does not remove it"
    assert names(path.parent) == ["x"]


def test_the_lease_of_an_ended_process_is_taken_over(path, leases):
    lease_of(path).write_text(f"{DEAD} process 999999999 on here\n")
    with try_lock(0, path) as taken:
        assert taken
    assert names(path.parent) == ["x"]


def test_who_was_killed_while_taking_over_stops_nobody(path, leases):
    dead = f"{DEAD} process 999999999 on here\n"
    lease_of(path).write_text(dead)
    real = locks._remove_exactly
    calls = []

    def killed(lease, text):  # the right to remove the dead lease stays, as after a kill
        calls.append(lease)
        raise KeyboardInterrupt

    locks._remove_exactly = killed
    try:
        with pytest.raises(KeyboardInterrupt):
            locks._remove_dead(lease_of(path), dead)
    finally:
        locks._remove_exactly = real
    (right,) = [name for name in names(path.parent) if name.startswith(".x.lease-")]
    mine = (path.parent / right).read_text()
    with try_lock(0, path) as taken:
        assert not taken, "a living process has the right to remove it"
    (path.parent / right).write_text(mine.replace(owner_mark(), DEAD))
    assert _taken_soon(path)
    assert names(path.parent) == ["x"]


def _taken_soon(path):
    """A process may be told to come again: it removes one dead owner at a time."""
    for _ in range(3):
        with try_lock(0, path) as taken:
            if taken:
                return True
    return False


def test_a_slow_taker_never_removes_the_next_owners_lease(path, leases):
    """The fault: read, unlink, create; the second of two takers removed the lease of the first."""
    dead = f"{DEAD} process 999999999 on here\n"
    lease_of(path).write_text(dead)
    with try_lock(0, path) as taken:
        assert taken
        locks._remove_dead(lease_of(path), dead)  # what a process does that read it before
        assert owner_mark() in lease_of(path).read_text()


def test_release_removes_ones_own_lease_alone(path, leases):
    """The fault: `finally: unlink` removed whatever had the name by then."""
    with try_lock(0, path):
        lease_of(path).write_text("1-1-00000000 process 1 on there\n")
    assert lease_of(path).read_text() == "1-1-00000000 process 1 on there\n"


@pytest.mark.parametrize("wait", [False, True])
def test_a_lease_without_an_owner_is_named_with_what_removes_it(path, leases, wait, monkeypatch):
    """The fault: a lease whose process was killed before it wrote its text blocked for ever."""
    monkeypatch.setattr(locks, "_SILENT_S", 0.1)
    lease_of(path).touch()
    with (
        raises(StoreError, "BL-HOST-279", "x.lease"),
        try_lock(0, path, wait=wait),
    ):
        pass
    assert lease_of(path).exists()


@pytest.mark.timeout(20)
@pytest.mark.parametrize("make", [os.mkfifo, Path.mkdir, lambda p: p.symlink_to("/dev/zero")])
def test_what_is_no_lease_neither_hangs_nor_goes(path, leases, make):
    make(lease_of(path))
    with raises(StoreError, "BL-HOST-279"), try_lock(0, path):
        pass
    assert os.path.lexists(lease_of(path))


def test_another_hosts_lease_is_left_and_its_owner_named(path, leases, monkeypatch, caplog):
    monkeypatch.setattr(locks, "_SILENT_S", 0.05)
    lease_of(path).write_text("7-7-00000000 process 7 on elsewhere, 2026\n")
    with try_lock(0, path) as taken:
        assert not taken
    threading.Timer(0.4, lease_of(path).unlink).start()
    with try_lock(0, path, wait=True) as taken:
        assert taken
    assert "process 7 on elsewhere" in caplog.text


@pytest.mark.parametrize("make", [os.mkfifo, Path.mkdir, lambda p: p.symlink_to("/dev/full")])
@pytest.mark.timeout(20)
def test_a_lock_that_is_no_file_is_refused(tmp_path, make):
    make(tmp_path / "lock")
    with raises(StoreError, "BL-HOST-435"), file_lock(tmp_path / "lock"):
        pass


def test_a_lock_file_that_was_removed_is_made_again(tmp_path):
    path = tmp_path / "lock"
    with file_lock(path):
        waiting = threading.Thread(target=lambda: file_lock(path).__enter__())
        waiting.start()
        time.sleep(0.2)
        path.unlink()
    waiting.join(5)
    assert path.exists(), "the second holds a file that others find"


def test_no_process_is_taken_for_ended_where_nobody_can_tell(monkeypatch):
    """With too many open files /proc cannot be read: a living owner would lose its lease."""
    mark = owner_mark()

    def refuse(_):
        raise OSError(errno.EMFILE, "Too many open files")

    monkeypatch.setattr(owner, "_start_ticks", refuse)
    assert not has_ended(mark)
    assert has_ended(DEAD)
    assert has_ended("0" + mark[mark.index("-") :])
    assert has_ended("9999999999" + mark[mark.index("-") :])
    assert not has_ended("9" * 5000 + mark[mark.index("-") :])


def test_two_processes_never_own_one_lease(tmp_path):
    done = subprocess.run(
        [sys.executable, ROOT / "scripts/faults/leases.py", "--rounds", "60", "--json", tmp_path],
        capture_output=True, text=True, check=False, timeout=120,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr
    assert '"double": 0' in done.stdout and '"rounds": 60' in done.stdout


def test_the_rounds_notice_two_owners(tmp_path):
    """A proof that sees nothing would be no proof: with the code of before, two own one lease.

    How many rounds that takes depends on how the two processes happen to run.
    """
    line = [sys.executable, ROOT / "scripts/faults/leases.py", "--rounds", "400", "--naive"]
    codes = []
    while 1 not in codes and len(codes) < 12:
        done = subprocess.run([*line, tmp_path], capture_output=True, check=False, timeout=300)
        codes.append(done.returncode)
    assert codes[-1] == 1


def test_a_process_that_is_killed_at_any_moment_stops_nobody(tmp_path):
    """A lease is there with its owner or not at all."""
    (tmp_path / "x").touch()
    code = (
        "import fcntl, os, sys; from pathlib import Path; from bareline.host import locks\n"
        "lease = locks.lease_of(Path(sys.argv[1]))\n"
        "print('ready', flush=True)\n"
        "while True:\n"
        "    one = locks._Lease(lease)\n"
        "    if one.take(): one.release()\n"
    )
    for delay in range(12):
        with subprocess.Popen(
            [sys.executable, "-c", code, tmp_path / "x"], stdout=subprocess.PIPE
        ) as process:
            process.stdout.readline()
            time.sleep(delay * 0.003)
            process.send_signal(signal.SIGKILL)
        taken = locks._Lease(lease_of(tmp_path / "x"))
        assert taken.take(), names(tmp_path)
        taken.release()
    assert names(tmp_path) == ["x"]
