"""Owners: a process is gone only where that is certain."""

import os
import socket
import subprocess
import sys

import pytest

from bareline.host.owner import has_ended, owner_mark, owner_pid

_MARK = "from bareline.host.owner import owner_mark; print(owner_mark())"


def test_a_living_process_has_not_ended():
    assert owner_pid(owner_mark()) == os.getpid()
    assert not has_ended(owner_mark())
    assert not has_ended(f"{owner_mark()}-run-7")


def test_a_process_that_ended_is_known_by_its_mark():
    done = subprocess.run([sys.executable, "-c", _MARK], capture_output=True, text=True, check=True)
    assert has_ended(done.stdout)
    assert has_ended(f"{done.stdout.strip()}-run-7")


def test_a_number_that_another_process_got_meanwhile_has_ended():
    pid, _, host = owner_mark().split("-")
    assert has_ended(f"{pid}-1-{host}")


def test_of_other_hosts_and_other_texts_nothing_is_known(monkeypatch):
    elsewhere = owner_mark().replace(str(os.getpid()), "999999999", 1)
    assert has_ended(elsewhere)
    monkeypatch.setattr(socket, "gethostname", lambda: "elsewhere")
    assert not has_ended(elsewhere)
    for text in ("", "mine", "12-run", "12-34-run-7"):
        assert not has_ended(text)


def test_a_container_s_processes_are_not_ours_to_judge():
    """It numbers its own: what is number 15 there is another process here, or none."""
    inside = ["unshare", "--map-root-user", "--pid", "--fork", "--mount-proc"]
    done = subprocess.run(
        [*inside, sys.executable, "-c", _MARK], capture_output=True, text=True, check=False
    )
    if done.returncode:
        pytest.skip(f"no process namespaces: {done.stderr.strip()}")
    assert owner_pid(done.stdout) < 100
    assert not has_ended(done.stdout)
