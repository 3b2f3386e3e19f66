"""A busy machine is seen, and waited for."""

import subprocess
import sys
import time

import pytest

from bareline.host import load as quiet
from bareline.host.load import read_load


@pytest.fixture
def spinning():
    """Keep a core busy with a process of somebody else."""
    # The shell's child is none that this process waits for: it is not ours.
    shell = subprocess.Popen(
        ["sh", "-c", f"{sys.executable} -c 'while True: pass' & echo $!; wait"],
        stdout=subprocess.PIPE,
        text=True,
    )
    pid = shell.stdout.readline().strip()
    time.sleep(0.3)
    yield
    subprocess.run(["kill", pid], check=True)
    shell.wait()
    shell.stdout.close()


def test_another_program_is_seen(spinning):
    before = read_load()
    assert quiet.busy_cores(before) > 0.1
    assert quiet.busy_cores(None) > 0.1
    assert "cores busy" in quiet.busy_words(1.0)


def test_waiting_ends(spinning, monkeypatch):
    monkeypatch.setattr(quiet, "_QUIET_S", 0.3)
    told = []
    began = time.monotonic()
    assert quiet.wait_until_quiet(0.5, told.append) > 0.1
    assert time.monotonic() - began < 30
    assert told and min(told) > 0.1


def test_a_quiet_machine_is_not_waited_for(monkeypatch):
    """This one may be busy with other tests: nothing disturbs that takes all cores to disturb."""
    monkeypatch.setattr(quiet, "_QUIET_S", 0.1)
    monkeypatch.setattr(quiet, "BUSY_CORES", 1e6)
    assert quiet.wait_until_quiet(60, pytest.fail) == 0.0
    assert quiet.busy_cores(None) == 0.0
