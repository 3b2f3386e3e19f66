"""What goes wrong with hosts reached by ssh becomes an error that names the host."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

from bareline.host.owner import owner_mark
from bareline.platforms.hosts.process import marked_processes, processes_with
from bareline.platforms.hosts.scripts import housekeeping as trial_module
from bareline.platforms.localhost.netns import links
from bareline.platforms.reached.ssh import connection as connection_module
from bareline.platforms.reached.ssh.platform import SshPlatform
from bareline.testing.bench import until
from bareline.testing.messages import raises
from bareline.vocabulary.errors import NotNow, PlatformError, ToolMissing
from bareline.vocabulary.message_codes import code_of
from bareline.vocabulary.model import Command, Layout

pytestmark = pytest.mark.netns


def left_behind():
    return [path.name for path in Path("/tmp").glob(f"bareline-{os.getpid()}-*")]


def test_nothing_is_left_on_the_hosts(ssh_options, open_bench, acquire):
    with acquire("ssh", **ssh_options) as allocation:
        argv = ("{native}/mpibench", "barrier", "-i", "10", "-t", "20")
        command = Command(argv=argv, mpi=True)
        assert allocation.run(command, Layout(2), timeout_s=100).exit_code == 0
        assert left_behind()
    until(lambda: left_behind() == [])


@pytest.mark.mpi
@pytest.mark.parametrize("launcher", ["first", "here"])
def test_a_job_that_is_killed_leaves_nothing_of_its_mpi_library(
    ssh_cluster, ssh_options, open_bench, launcher
):
    machines, _ = ssh_cluster
    before = machines.left_behind()
    bench = open_bench("ssh", mpi="openmpi", launcher=launcher, **ssh_options)
    during = []

    def kill():
        until(lambda: len(_running(bench.token, "rank_program")) == 2)
        during.extend(machines.left_behind() - before)
        for name in ("mpirun.openmpi", "mpirun", "orterun", "orted", "rank_program"):
            for pid in _running(bench.token, name):
                os.kill(pid, signal.SIGKILL)

    killer = threading.Thread(target=kill)
    killer.start()
    bench.ranks("sleep", timeout_s=120)
    killer.join()
    assert any("bareline-session" in text for text in during)
    now = machines.left_behind() - before
    assert {text for text in now if not text.endswith("bareline-0")} == set()


@pytest.mark.mpi
def test_hosts_that_share_no_folder_launch_a_job_together(ssh_options, open_bench):
    """The launcher's agent lies on the first one alone, and Open MPI's daemons look for it."""
    bench = open_bench("ssh", mpi="openmpi", folder="/dev/shm", **ssh_options)
    done = bench.run("hostname", mpi=True, layout=Layout(2), timeout_s=60)
    assert sorted(done.stdout.split()) == ["node1", "node2"]


def test_the_lock_goes_with_its_last_user(ssh_options, acquire, locks):
    with acquire("ssh", **ssh_options), acquire("ssh", **ssh_options):
        assert (locks / "lock").exists()
    until(lambda: not locks.exists())


def test_a_link_cut_in_mid_trial_ends_it_and_names_the_host(
    ssh_cluster, ssh_options, open_bench, monkeypatch
):
    monkeypatch.setattr(connection_module, "_ALIVE", ("ServerAliveInterval=1",))
    machines, _ = ssh_cluster
    bench = open_bench("ssh", mpi="openmpi", **{**ssh_options, "connect_s": 2})

    def cut():
        until(lambda: len(_running(bench.token, "rank_program")) == 2)
        machines.check(-1, "ip", "link", "set", links.port(1), "down")

    cutter = threading.Thread(target=cut)
    cutter.start()
    started = time.monotonic()
    try:
        with pytest.raises(PlatformError) as caught:
            bench.ranks("sleep", timeout_s=120)
        assert code_of(caught.value) in ("BL-PLATFORMS-809", "BL-PLATFORMS-711")
        assert "node2" in (caught.value.where or "")
        assert time.monotonic() - started < 45
        with raises(PlatformError, "BL-PLATFORMS-405") as again:
            bench.shell("true", node=1)
        assert again.value.where == "node2"
    finally:
        cutter.join()
        machines.check(-1, "ip", "link", "set", links.port(1), "up")
    # The link is there again: the lock of the lost connection is taken over.
    assert bench.run("hostname", node=1, layout=Layout(2)).stdout == "node2\n"
    assert any("node2" in text for text in bench.allocation.events())
    assert marked_processes(bench.token) == []


def test_a_host_that_does_not_end_its_part_is_connected_again(ssh_options, open_bench, monkeypatch):
    """Its connection serves all trials: one that hangs would hold up each of them."""
    monkeypatch.setattr(trial_module, "_ORDER_S", 1.0)
    monkeypatch.setattr(trial_module, "_AFTER_FAILURE_S", 0.5)
    bench = open_bench("ssh", **ssh_options)
    keeper = bench.allocation._connections[1]._earlier.split()[0]
    with raises(PlatformError, "BL-PLATFORMS-259", "1 s") as caught:
        bench.run("kill", "-STOP", keeper, node=1, layout=Layout(2))
    assert caught.value.where == "node2"
    monkeypatch.undo()
    assert bench.run("hostname", node=1, layout=Layout(2)).stdout == "node2\n"
    (event,) = bench.allocation.events()
    assert "node2" in event


def test_a_changed_host_key_is_refused_with_the_next_step(ssh_cluster, ssh_options, acquire):
    machines, _ = ssh_cluster
    known = machines.folder / "known_hosts"
    right = known.read_text()
    key = (machines.folder / "client_key.pub").read_text().split()[1]
    wrong = [" ".join((*line.split()[:2], key)) for line in right.splitlines()]
    try:
        known.write_text("\n".join([wrong[0], *right.splitlines()[1:], ""]))
        with (
            raises(PlatformError, "BL-PLATFORMS-153") as caught,
            acquire("ssh", **ssh_options),
        ):
            pass
    finally:
        known.write_text(right)
    assert caught.value.where == "node1"
    assert not isinstance(caught.value, NotNow)  # a new attempt would be refused again
    assert "`ssh node1`" in (caught.value.hint or "")


def test_a_missing_mpirun_is_named_and_the_rest_works(ssh_options, acquire):
    with acquire("ssh", mpi="/opt/none/bin/mpirun", **ssh_options) as allocation:
        assert allocation.facts()["node.count"] == 2
        command = Command(argv=("echo", "works"))
        assert allocation.run(command, Layout(), timeout_s=20).stdout == "works\n"
        with raises(ToolMissing, "BL-PLATFORMS-177", "/opt/none/bin/mpirun") as caught:
            allocation.run(Command(argv=("true",), mpi=True), Layout(2), timeout_s=20)
        assert caught.value.where == "node1"


def test_two_runs_do_not_share_a_host(ssh_options, acquire, open_bench, monkeypatch):
    first = open_bench("ssh", **ssh_options)
    # Another platform of the same run may use it, in turn.
    with acquire("ssh", **ssh_options) as second:
        assert second.nodes[1].name == "node2"
    assert first.shell("echo still here").stdout == "still here\n"
    monkeypatch.setattr(connection_module, "owner_mark", lambda: "7-7-deadbeef")
    with (
        raises(PlatformError, "BL-PLATFORMS-314") as caught,
        acquire("ssh", **ssh_options),
    ):
        pass
    assert caught.value.where == "node1"


@pytest.fixture
def locks(monkeypatch):
    """Yield a place for locks that we can see: each host has a /dev/shm of its own."""
    place = Path(f"/tmp/bl-locks-{os.getpid()}")
    monkeypatch.setattr(connection_module, "_LOCKS", str(place))
    own = place.with_name(f"{place.name}-{os.geteuid()}")
    yield own
    if own.is_symlink() or not own.is_dir():
        own.unlink(missing_ok=True)
    else:
        shutil.rmtree(own)


@pytest.mark.parametrize("how", ["a link", "another user's", "open to all", "a file"])
def test_a_place_for_locks_that_somebody_else_made_is_not_used(
    ssh_options, acquire, locks, tmp_path, how
):
    victim = tmp_path / "victim"
    victim.mkdir(mode=0o700)
    (victim / "lock").write_text("mine")
    if how == "a link":
        locks.symlink_to(victim)
    elif how == "a file":
        locks.write_text("mine")
    else:
        locks.mkdir(mode=0o777 if how == "open to all" else 0o700)
        locks.chmod(0o777 if how == "open to all" else 0o700)
        os.chown(locks, 0 if how == "open to all" else 12345, -1)
        (locks / "lock").symlink_to(victim / "lock")
    elsewhere = Path(f"/run/user/{os.geteuid()}")
    if elsewhere.is_dir():
        with acquire("ssh", **ssh_options):
            assert (elsewhere / "bareline" / "lock").exists()
    else:
        with (
            raises(PlatformError, "BL-PLATFORMS-320", str(locks)) as caught,
            acquire("ssh", **ssh_options),
        ):
            pass
        assert caught.value.where == "node1"
    assert (victim / "lock").read_text() == "mine"


def test_the_number_in_a_lock_is_killed_only_if_it_is_a_keeper_still(ssh_options, acquire, locks):
    """The process of a keeper has ended, and its number is another one's by now."""
    with acquire("ssh", **ssh_options):
        file = locks / "lock"
        mark, keeper, start = file.read_text().split()
        assert mark == owner_mark() and start.isdigit() and int(keeper) > 1
    ended = mark.replace(mark.partition("-")[0], "1", 1)
    until(lambda: not locks.exists())
    locks.mkdir(mode=0o700)
    with (
        subprocess.Popen(["sleep", "300"]) as innocent,
        subprocess.Popen(["flock", file, "sleep", "300"]) as holder,
    ):
        until(lambda: subprocess.run(["flock", "-n", file, "true"], check=False).returncode)
        for told in (f"{innocent.pid} 12345", f"{innocent.pid}", "-1 12345", f"{innocent.pid} "):
            file.write_text(f"{ended} {told}\n")
            with (
                raises(PlatformError, "BL-PLATFORMS-314"),
                acquire("ssh", **ssh_options),
            ):
                pass
            assert innocent.poll() is None
        innocent.kill()
        subprocess.run(["pkill", "-P", str(holder.pid)], check=True)


_HOLD = """
import sys
from pathlib import Path
from bareline.platforms.base import Context
from bareline.platforms.config import make_spec
from bareline.platforms.reached.ssh.platform import SshPlatform
from bareline.vocabulary.model import Command, Layout
table = {"type": "ssh", "hosts": ["node[1-2]"], "config": sys.argv[1], "mpi": "openmpi",
         "agent": f"ssh -F {sys.argv[1]}", "subnet": "10.94.0.0/24"}
spec = make_spec("pair", table, where="test")
with SshPlatform(spec, Context(Path(sys.argv[2]), Path(sys.argv[3]))).acquire(Layout(2)) as pair:
    print("up", flush=True)
    env = (("BARELINE_TRIAL", sys.argv[4]),)
    pair.run(Command(argv=("sleep", "300"), mpi=True, env=env), Layout(2), timeout_s=600)
"""


@pytest.mark.mpi
def test_nothing_is_left_after_bareline_is_killed(ssh_cluster, tmp_path):
    machines, config = ssh_cluster
    before = machines.left_behind()
    token = f"killed-{os.getpid()}-1"
    argv = [sys.executable, "-c", _HOLD, str(config), str(tmp_path), str(tmp_path), token]
    with subprocess.Popen(argv, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "up\n"
        until(lambda: len(_running(token, "sleep")) == 2)
        process.send_signal(signal.SIGKILL)
    until(lambda: not processes_with(lambda mark: mark == token))
    until(lambda: not list(Path("/tmp").glob(f"bareline-{process.pid}-*")))
    SshPlatform.clean()
    assert not list(Path("/tmp").glob(f"bl-ssh-{process.pid}-*"))
    until(lambda: machines.left_behind() <= before)


def _running(token, name):
    """List the processes of a trial that have a name."""
    found = []
    for pid in processes_with(lambda mark: mark == token):
        try:
            if Path(f"/proc/{pid}/comm").read_text() == f"{name}\n":
                found.append(pid)
        except OSError:
            continue
    return found
