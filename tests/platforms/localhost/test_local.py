"""The local platform beyond the contract: cores, folders, what is available, what is left."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

from bareline.host.owner import owner_mark
from bareline.platforms.hosts.process import marked_processes
from bareline.platforms.localhost.local import LocalOptions, LocalPlatform
from bareline.testing.bench import Bench
from bareline.testing.messages import raises
from bareline.vocabulary.errors import PlatformError, ToolMissing
from bareline.vocabulary.model import Layout
from bareline.vocabulary.platform import PlatformSpec


def _available(**options):
    return LocalPlatform.available(PlatformSpec("bare", "local", LocalOptions(**options)))


def test_uses_the_cores_that_this_process_may_use(open_bench):
    assert open_bench("local").allocation.nodes[0].cores == len(os.sched_getaffinity(0))


def test_keeps_programs_on_the_chosen_cores(open_bench):
    core = max(os.sched_getaffinity(0))
    bench = open_bench("local", cores=(core,))
    allowed = bench.shell("grep Cpus_allowed_list /proc/self/status").stdout.split()[1]
    assert allowed == str(core)
    assert bench.allocation.nodes[0].cores == 1
    assert bench.allocation.caveats(Layout(1, 2, 1)) == ("oversubscribed",)


@pytest.mark.mpi
@pytest.mark.parametrize("flavour", ["openmpi", "mpich"])
def test_keeps_ranks_on_the_chosen_cores(open_bench, flavour):
    core = max(os.sched_getaffinity(0))
    bench = open_bench("local", mpi=flavour, cores=(core,))
    output = bench.ranks(layout=Layout(1, 1, 1))
    assert '"cores": 1' in output.stdout


@pytest.mark.mpi
@pytest.mark.skipif(len(os.sched_getaffinity(0)) < 2, reason="needs two cores")
@pytest.mark.parametrize("flavour", ["openmpi", "mpich"])
@pytest.mark.parametrize(("binding", "cores"), [("core", 1), ("none", None)])
def test_binding(open_bench, flavour, binding, cores):
    expected = cores or len(os.sched_getaffinity(0))
    bench = open_bench("local", mpi=flavour, binding=binding)
    lines = bench.ranks().stdout.splitlines()
    assert len(lines) == 2
    assert all(f'"cores": {expected}' in line for line in lines)


def test_works_in_the_folder_that_is_to_be_measured(open_bench, tmp_path):
    bench = open_bench("local", io_folder=tmp_path)
    folder = bench.shell("cd {workdir}; pwd").stdout.strip()
    assert folder.startswith(f"{tmp_path}/")
    assert list(tmp_path.iterdir()) == [p for p in tmp_path.iterdir() if p.name[:7] == "scratch"]


@pytest.mark.parametrize(
    ("options", "reason"),
    [
        ({"cores": (99_999,)}, "99999"),
        ({"io_folder": "/no/such/folder"}, "'/no/such/folder'"),
        ({"mpi": "/bin/ls"}, "'/bin/ls'"),
    ],
)
def test_says_what_is_not_available(options, reason):
    available = _available(**options)
    assert not available.ok
    assert reason in available.reason
    assert available.hint


def test_cores_that_are_not_there_are_refused(acquire):
    with (
        raises(PlatformError, "BL-PLATFORMS-369", "99999"),
        acquire("local", cores=(99_999,)),
    ):
        pass


def test_has_one_node(acquire):
    with (
        raises(PlatformError, "BL-PLATFORMS-689", "2", "1"),
        acquire("local", layout=Layout(2)),
    ):
        pass


def test_without_any_mpi_library_the_rest_still_works(open_bench, monkeypatch, tmp_path):
    for name in ("env", "sh", "cat", "head"):
        (tmp_path / name).symlink_to(f"/bin/{name}")
    monkeypatch.setenv("PATH", str(tmp_path))
    available = _available()
    assert available.ok
    assert "MPI" in available.reason
    bench = open_bench("local")
    assert bench.shell("echo ok").stdout == "ok\n"
    with raises(ToolMissing, "BL-PLATFORMS-946", "openmpi-bin"):
        bench.run("program", mpi=True, layout=Layout(1, 2, 1))


_HOLD = """
import sys, time
from pathlib import Path
from bareline.vocabulary.model import TRIAL_VARIABLE, Command, Layout
from bareline.platforms.base import Context, PlatformSpec
from bareline.platforms.localhost.local import LocalOptions, LocalPlatform
here = Path(sys.argv[1])
platform = LocalPlatform(PlatformSpec("bare", "local", LocalOptions()), Context(here, here))
with platform.acquire(Layout()) as allocation:
    print(allocation._session, flush=True)
    time.sleep(600)
"""


@pytest.mark.skipif(not os.access("/dev/shm", os.W_OK), reason="no /dev/shm")
def test_clean_removes_what_a_killed_bareline_left_in_memory(tmp_path, open_bench):
    ours = open_bench("local").allocation._session
    with subprocess.Popen(
        [sys.executable, "-c", _HOLD, str(tmp_path)], stdout=subprocess.PIPE, text=True
    ) as process:
        folder = Path(process.stdout.readline().strip())
        assert folder.is_dir()
        process.kill()
    # Another bareline that starts at this moment cleans as well.
    LocalPlatform.clean()
    assert not folder.exists()
    assert ours.is_dir(), "what is in use must stay"


@pytest.mark.skipif(not os.access("/dev/shm", os.W_OK), reason="no /dev/shm")
def test_the_next_use_cleans_too(open_bench):
    with subprocess.Popen(["true"]) as process:
        pass
    mark = owner_mark().replace(str(os.getpid()), str(process.pid), 1)
    left = Path("/dev/shm", f"bareline-session-{mark}-left")
    left.mkdir()
    open_bench("local")
    assert not left.exists()


@pytest.mark.mpi
@pytest.mark.parametrize("flavour", ["openmpi", "mpich"])
def test_a_job_that_is_killed_leaves_nothing_in_memory(acquire, rank_program, flavour):
    """Others use this machine's memory at the same time: the files count that its ranks map."""
    program = rank_program(flavour)
    ranks, mapped, over = set(), set(), threading.Event()

    def look(bench):
        while not over.wait(0.1):
            for pid in _ranks(bench):
                with contextlib.suppress(OSError):  # it ends at this moment
                    mapped.update(_mapped(pid))
                    ranks.add(pid)

    with acquire("local", mpi=flavour, transport="shm") as allocation:
        session = allocation._session
        bench = Bench(allocation, LocalOptions(mpi=flavour), program)
        watcher = threading.Thread(target=look, args=[bench])
        watcher.start()
        try:
            # Its ranks must have started when it is killed, on a busy machine too.
            for timeout_s in (2, 6, 20):
                ranks.clear()
                output = bench.ranks("sleep", layout=Layout(1, 2, 1), timeout_s=timeout_s)
                if len(output.stdout.splitlines()) == 2:
                    break
        finally:
            over.set()
            watcher.join()
    assert output.timed_out
    assert len(ranks) == 2
    assert not session.exists()
    assert mapped
    assert [path for path in mapped if path.exists()] == []


def _mapped(pid):
    """Give the files in memory that a process maps or has open."""
    names = set()
    for line in Path(f"/proc/{pid}/maps").read_text().splitlines():
        names.add(line.partition("/")[1] + line.partition("/")[2])
    for descriptor in Path(f"/proc/{pid}/fd").iterdir():
        with contextlib.suppress(OSError):
            names.add(str(descriptor.readlink()))
    return {Path(name) for name in names if name.startswith("/dev/shm/")}


@pytest.mark.mpi
def test_ranks_listen_on_no_address_of_the_machine(open_bench):
    """Before, every rank of Open MPI listened on all addresses, although none talked over TCP."""
    bench = open_bench("local", mpi="openmpi")
    found = []

    def look():
        deadline = time.monotonic() + 50
        while time.monotonic() < deadline and len(ranks := _ranks(bench)) < 2:
            time.sleep(0.05)
        time.sleep(0.5)  # past MPI_Init
        found.append((ranks, [address for pid in ranks for address in _listening(pid)]))
        for pid in ranks:
            os.kill(pid, signal.SIGKILL)

    watcher = threading.Thread(target=look)
    watcher.start()
    bench.ranks("sleep", timeout_s=60)
    watcher.join()
    ((ranks, addresses),) = found
    assert len(ranks) == 2
    assert all(address in ("0100007F", "0" * 24 + "01000000") for address in addresses)


def _ranks(bench):
    pids = marked_processes(bench.token)
    return [pid for pid in pids if _program(pid) == bench.rank_program]


def _program(pid):
    try:
        return str(Path(f"/proc/{pid}/exe").readlink())
    except OSError:
        return ""


def _listening(pid):
    """Give the addresses on which a process listens, in the kernel's notation."""
    sockets = set()
    for descriptor in Path(f"/proc/{pid}/fd").iterdir():
        try:
            sockets.add(str(descriptor.readlink()))
        except OSError:
            continue
    rows = [
        line.split()
        for table in ("tcp", "tcp6")
        for line in Path(f"/proc/{pid}/net/{table}").read_text().splitlines()[1:]
    ]
    return [
        row[1].partition(":")[0]
        for row in rows
        if row[3] == "0A" and f"socket:[{row[9]}]" in sockets
    ]
