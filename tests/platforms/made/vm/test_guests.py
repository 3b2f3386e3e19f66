"""Real guests: what is asked of them inside, what goes between them, and what becomes of them."""

from __future__ import annotations

import contextlib
import os
import re
import shutil
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

from bareline.host.cache import cache_folder
from bareline.platforms.hosts.layers.neighbours import Neighbours, busy_neighbours
from bareline.platforms.made.vm import allocation as tenant_module
from bareline.platforms.made.vm import fleet as fleet_module
from bareline.platforms.made.vm.image import built_image
from bareline.platforms.made.vm.platform import VmPlatform
from bareline.testing.messages import raises
from bareline.vocabulary.errors import PlatformError, ToolMissing
from bareline.vocabulary.model import TRIAL_VARIABLE, Layout, Server

pytestmark = [pytest.mark.vm, pytest.mark.slow, pytest.mark.timeout(600)]

TWO = Layout(2, 1, 1)


@pytest.fixture(scope="module")
def jumbo(open_guests):
    """Two guests with a virtio NIC, jumbo frames, an old processor model and TCP tuning."""
    with open_guests(
        acceleration="tcg",
        nic={"model": "virtio", "mtu": 9000, "soft_roce": True},
        cpu={"count": 1, "model": "Nehalem"},
        memory={"size_bytes": "768MiB"},
        guest_tuning={"profile": "10g", "congestion": "reno"},
        host_tuning={"sysctl": {"net.ipv4.tcp_no_metrics_save": "1"}},
        mpi="openmpi",
    ) as bench:
        yield bench


def nuttcp_megabits_per_s(bench) -> float:
    ports = ("-P", "{server_port}", "-p", "{server_data_port}")
    server = Server(argv=("nuttcp", "-S", "--nofork", *ports))
    output = bench.run("nuttcp", "-T2", *ports, "{server_host}", server=server, layout=TWO)
    assert output.exit_code == 0, output.stderr
    rate = re.search(r"([\d.]+) Mbps", output.stdout)
    assert rate is not None, output.stdout
    return float(rate[1])


def test_guests_come_up_fast_and_say_how_fast(jumbo):
    facts = jumbo.allocation.facts()
    assert 1 < facts["vm.boot_s"] < 60
    assert facts["vm.boot_s"] == max(facts["vm.boot_s.g1"], facts["vm.boot_s.g2"])
    assert facts["vm.accelerator"] == "tcg"
    assert facts["node.count"] == 2
    assert facts["net.mtu"] == 9000
    assert facts["net.driver"] == "virtio_net"
    assert facts["mpi.flavour"] == "openmpi"


def test_guests_see_the_processor_model_that_was_asked_for(jumbo):
    assert "Nehalem" in jumbo.said("grep -m1 'model name' /proc/cpuinfo")
    assert " avx " not in jumbo.said("grep -m1 flags /proc/cpuinfo") + " "
    assert jumbo.said("nproc") == "1"


def test_every_figure_carries_that_the_processor_is_emulated(jumbo):
    assert {"emulated-cpu", "shared-host"} <= set(jumbo.allocation.caveats(TWO))


def test_arguments_and_variables_arrive_as_they_are(jumbo):
    odd = "two words; $HOME `id` 'single' \"double\" \\ * = ,\n#"
    assert jumbo.run("printf", "%s", odd).stdout == odd
    assert jumbo.run("printenv", "SAID", env=(("SAID", odd),)).stdout == odd + "\n"


def test_output_exit_code_and_signal_come_back(jumbo):
    output = jumbo.shell("echo out; echo err >&2; exit 3")
    assert (output.stdout, output.stderr, output.exit_code) == ("out\n", "err\n", 3)
    assert jumbo.shell("kill -SEGV $$").exit_code == -11
    assert jumbo.run("/no/such/program").exit_code == 127


def test_files_go_to_the_node_and_back(jumbo):
    text = "".join(f"line {number}\n" for number in range(20_000))
    output = jumbo.shell(
        "cd {workdir} && wc -l <input >output",
        node=1,
        inputs=(("input", text),),
        outputs=("output",),
    )
    assert output.files == {"output": "20000\n"}


def test_a_missing_program_is_named_before_it_is_started(jumbo):
    with raises(ToolMissing, "BL-HOST-246", "no-such-program"):
        jumbo.run("true", requires=("no-such-program",))


def test_jumbo_frames_cross_the_network_whole(jumbo):
    received = "cat /sys/class/net/net0/statistics/rx_packets"
    before = int(jumbo.said(received, node=1))
    jumbo.said("busybox ping -q -c 30 -i 0.05 -s 8900 g2 >/dev/null", layout=TWO)
    packets = int(jumbo.said(received, node=1)) - before
    # At 1500 bytes each of the 30 would come in 6 or 7 pieces; ssh and ARP add some of their own.
    assert 30 <= packets < 120


def test_nuttcp_measures_between_two_guests(jumbo):
    assert nuttcp_megabits_per_s(jumbo) > 20


def test_an_rdma_program_measures_over_soft_roce(jumbo):
    argv = ("ib_write_bw", "-F", "-s", "4096", "-n", "20", "-p", "{server_port}")
    output = jumbo.run(*argv, "{server_host}", server=Server(argv=argv), layout=TWO)
    assert output.exit_code == 0, output.stderr
    assert re.search(r"^ 4096 +20 +[\d.]+ +[\d.]+ ", output.stdout, re.MULTILINE), output.stdout


def test_mpi_runs_over_two_guests_with_bareline_s_own_programs(jumbo):
    names = jumbo.run("hostname", mpi=True, layout=TWO)
    assert sorted(names.stdout.split()) == ["g1", "g2"]
    argv = ("{native}/mpibench", "pingpong", "-m", "8:64", "-i", "50", "-t", "10")
    output = jumbo.run(*argv, mpi=True, layout=TWO, timeout_s=200)
    assert output.exit_code == 0, output.stderr
    assert '"end":true' in output.stdout


def test_tcp_settings_are_told_before_and_after(jumbo):
    facts = jumbo.allocation.facts()
    assert jumbo.said("cat /proc/sys/net/core/rmem_max") == str(64 << 20)
    assert jumbo.said("cat /proc/sys/net/ipv4/tcp_congestion_control") == "reno"
    assert facts["tuning.guest.net.core.rmem_max"].endswith(f"-> {64 << 20}")
    assert facts["tuning.guest.net.ipv4.tcp_congestion_control"] == "cubic -> reno"
    assert facts["tuning.host.net.ipv4.tcp_no_metrics_save"].endswith("-> 1")


def test_a_time_limit_leaves_nothing_running(jumbo):
    output = jumbo.shell("echo begun; sleep 300 & setsid sleep 300 & wait", timeout_s=2)
    assert output.timed_out
    assert "begun" in output.stdout
    for node in range(2):
        assert jumbo.said("pgrep -c sleep || :", node=node, layout=TWO) == "1"  # init's own


def test_a_paused_guest_stands_still_and_goes_on(jumbo):
    pid = jumbo.allocation.fleet.pid(jumbo.allocation.guests[0])
    before = float(jumbo.said("cut -d' ' -f1 /proc/uptime"))
    jumbo.allocation.suspend()
    jumbo.allocation.suspend()
    used = cpu_ticks(pid)
    time.sleep(3)
    assert cpu_ticks(pid) - used <= 10  # at most 0.1 s of 3: QEMU's own housekeeping
    started = time.monotonic()
    jumbo.allocation.resume()
    jumbo.allocation.resume()
    after = float(jumbo.said("cut -d' ' -f1 /proc/uptime"))
    assert after - before < time.monotonic() - started + 2.5
    assert sorted(jumbo.run("hostname", mpi=True, layout=TWO).stdout.split()) == ["g1", "g2"]


def cpu_ticks(pid: int) -> int:
    with open(f"/proc/{pid}/stat", encoding="utf-8") as file:  # noqa: PTH123
        words = file.read().rpartition(")")[2].split()
    return int(words[11]) + int(words[12])


def test_a_guest_that_is_killed_mid_trial_is_told_and_rebuilt(jumbo):
    allocation = jumbo.allocation
    allocation.events()
    threading.Timer(
        2.0,
        lambda: os.kill(allocation.fleet.pid(allocation.guests[1]), signal.SIGKILL),
    ).start()
    started = time.monotonic()
    with raises(PlatformError, "BL-PLATFORMS-756", "g2") as caught:
        jumbo.run("sleep", "100", mpi=True, layout=TWO)
    assert time.monotonic() - started < 30
    assert caught.value.hint == allocation.lost_hint
    assert sorted(jumbo.run("hostname", mpi=True, layout=TWO).stdout.split()) == ["g1", "g2"]
    assert any("g2" in text for text in allocation.events())
    assert allocation.events() == ()


def test_a_killed_libvirtd_is_replaced_with_its_guests_and_that_is_said(jumbo):
    """Before, each later trial of the platform failed within a second."""
    allocation = jumbo.allocation
    allocation.events()
    hypervisor = allocation.fleet._hypervisor
    (daemon,) = _children(hypervisor.pid, "libvirtd")
    os.kill(daemon, signal.SIGKILL)
    assert sorted(jumbo.run("hostname", mpi=True, layout=TWO).stdout.split()) == ["g1", "g2"]
    said = allocation.events()
    assert said[0] == "libvirtd ended and all guests with it: both are started again"
    assert any("g1 is rebuilt" in text for text in said)
    assert allocation.events() == ()


def _children(parent, name):
    """Find the children of a process by their name; others come and go meanwhile."""
    found = []
    for entry in Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError):
            status = (entry / "status").read_text()
            if status.startswith(f"Name:\t{name}\n") and f"\nPPid:\t{parent}\n" in status:
                found.append(int(entry.name))
    return found


def test_paused_guests_end_for_memory_and_start_anew_when_used(jumbo):
    allocation = jumbo.allocation
    fleet = allocation.fleet
    allocation.events()
    assert not fleet.may_end()
    allocation.suspend()
    pids = [fleet.pid(guest) for guest in fleet.guests]
    assert fleet.may_end()
    fleet.end_paused()
    assert not any(Path(f"/proc/{pid}").exists() for pid in pids)
    allocation.resume()
    assert sorted(jumbo.run("hostname", mpi=True, layout=TWO).stdout.split()) == ["g1", "g2"]
    assert allocation.events()[0] == "its paused guests are ended to make room in memory"


def test_a_guest_that_hangs_mid_trial_is_told_and_rebuilt(jumbo, monkeypatch):
    for module in (fleet_module, tenant_module):
        monkeypatch.setattr(module, "ANSWER_S", 4.0)
    allocation = jumbo.allocation
    pid = allocation.fleet.pid(allocation.guests[0])
    threading.Timer(3.0, lambda: os.kill(pid, signal.SIGSTOP)).start()
    try:
        with raises(PlatformError, "BL-PLATFORMS-756", "g1"):
            jumbo.run("sleep", "100", timeout_s=5)
    finally:
        os.kill(pid, signal.SIGCONT)
    monkeypatch.undo()
    assert jumbo.said("hostname") == "g1"
    assert any("g1 is rebuilt: it does not answer" in text for text in allocation.events())


def test_an_emulated_nic_joins_guests_and_a_stillborn_one_is_replaced(open_guests):
    """Two guests with e1000 and MPICH; the first one's first machine is killed while it boots.

    Its size of memory is like no other guest's, so that it is found among others on this machine.
    """
    killed = threading.Event()

    def kill_first() -> None:
        deadline = time.monotonic() + 60
        while time.monotonic() < deadline and not killed.is_set():
            for pid in processes_with("guest=bareline-g1,", str(777 << 20)):
                time.sleep(0.5)
                os.kill(pid, signal.SIGKILL)
                killed.set()
                return
            time.sleep(0.05)

    killer = threading.Thread(target=kill_first)
    killer.start()
    with open_guests(
        acceleration="tcg",
        nic={"model": "e1000", "mitigation": False},
        memory={"size_bytes": "777MiB"},
        mpi="mpich",
    ) as bench:
        killer.join()
        assert killed.is_set()
        events = bench.allocation.events()
        assert any("g1 did not come up, attempt 1 of 3: " in text for text in events)
        assert any("g1 came up at attempt 2" in text for text in events)
        assert bench.said("basename $(readlink /sys/class/net/net0/device/driver)") == "e1000"
        fleet = bench.allocation.fleet
        line = Path(f"/proc/{fleet.pid(fleet.guests[0])}/cmdline").read_text()
        assert '"mitigation":false' in line
        assert nuttcp_megabits_per_s(bench) > 10
        names = bench.run("hostname", mpi=True, layout=TWO)
        assert sorted(names.stdout.split()) == ["g1", "g2"], names.stderr
        mark = bench.said(f"echo ${TRIAL_VARIABLE}")
        assert mark == bench.token


def test_a_guest_that_never_boots_is_given_up_with_every_reason(open_guests, tmp_path):
    image = tmp_path / "empty.raw"
    image.write_bytes(b"")
    os.truncate(image, 16 << 20)
    with (
        pytest.raises(PlatformError) as caught,
        open_guests(
            nodes=1,
            acceleration="tcg",
            image={"path": str(image)},
            attempts=2,
            boot_timeout_s=2,
            memory={"size_bytes": "256MiB"},
        ),
    ):
        pass
    assert caught.value.where == "vm-test, g1"
    assert caught.value.what.count("2 s") == 2
    assert "1. " in caught.value.what and "; 2. " in caught.value.what


USER = """
import sys, time
from pathlib import Path
from bareline.vocabulary.model import Layout
from bareline.platforms.base import Context
from bareline.platforms.config import make_spec
from bareline.platforms.made.vm.platform import VmPlatform
table = {"type": "vm", "guests": 1, "acceleration": "tcg", "memory": {"size_bytes": "256MiB"}}
spec = make_spec("vm-test", table, where="test")
with VmPlatform(spec, Context(Path(sys.argv[1]), Path(sys.argv[2]))).acquire(Layout()) as guests:
    print(guests.fleet.guests[0].uuid, flush=True)
    time.sleep(600)
"""


def test_nothing_outlives_a_bareline_that_is_killed(
    tmp_path, open_guests, cache_without_states, monkeypatch
):
    """Guests end at once with their bareline, and the next start removes the rest."""
    # The next start of others would do so as well: the claims lie in a cache of this test's own.
    monkeypatch.setenv("BARELINE_CACHE", str(cache_without_states))
    user = subprocess.Popen(
        [sys.executable, "-c", USER, str(tmp_path), str(cache_without_states)],
        stdout=subprocess.PIPE,
        text=True,
    )
    try:
        guest = user.stdout.readline().strip()
        assert guest, "the guest did not come up"
        assert processes_with(guest)
    finally:
        user.kill()
        user.wait()
        user.stdout.close()
    deadline = time.monotonic() + 5
    while processes_with(guest) and time.monotonic() < deadline:
        time.sleep(0.1)
    assert processes_with(guest) == []
    assert (tmp_path / "guests").exists()
    said = VmPlatform.clean()
    assert any(f"process {user.pid}" in line for line in said)
    assert not (tmp_path / "guests").exists()
    assert VmPlatform.clean() == []


def test_guests_start_again_from_a_saved_state(open_guests, cache_without_states):
    """The second start takes the state of the first, with its files but a disk of its own."""
    options = {
        "nodes": 2,
        "acceleration": "tcg",
        "saved_state": True,
        "memory": {"size_bytes": "320MiB"},
        "mpi": "openmpi",
        "cache": cache_without_states,
    }
    with open_guests(**options) as bench:
        assert not bench.allocation.facts()["vm.from_saved_state"]
        bench.said("echo first > /root/mark")
    with open_guests(**options) as bench:
        assert bench.allocation.facts()["vm.from_saved_state"]
        assert bench.shell("test -e /root/mark").exit_code == 1
        assert abs(float(bench.said("date +%s.%N")) - time.time()) < 5
        names = bench.run("hostname", mpi=True, layout=TWO)
        assert sorted(names.stdout.split()) == ["g1", "g2"], names.stderr


def processes_with(*words: str) -> list[int]:
    found = []
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit() and int(entry.name) != os.getpid():
            line = b""
            with contextlib.suppress(OSError):
                line = (entry / "cmdline").read_bytes()
            if all(word.encode() in line for word in words):
                found.append(int(entry.name))
    return found


@pytest.mark.skipif(shutil.which("ganesha.nfsd") is None, reason="nfs-ganesha is not installed")
def test_a_guest_of_its_own_serves_files_behind_the_network(open_guests):
    """What is written lies on the server's disk."""
    with open_guests(
        nodes=1,
        acceleration="tcg",
        filesystem={"type": "nfs", "server": "own"},
        memory={"size_bytes": "384MiB"},
        cpu={"count": 1},
        mpi="openmpi",
    ) as bench:
        assert len(bench.allocation.nodes) == 1
        measured = bench.run("tee", "{workdir}/told", storage_bytes=1 << 20)
        assert measured.exit_code == 0, measured.stderr
        assert "server-cache" in measured.caveats
        folder = bench.allocation.work_folder()
        bench.said(f"echo once > {folder}/told; sync")
        tenant = bench.allocation
        server = tenant.fleet.guests[-1]
        held = tenant.access.run(server.name, ["cat", "/var/tmp/bareline/files/told"])
        assert held.stdout == "once\n"
        facts = bench.allocation.facts()
        assert (facts["fs.type"], facts["fs.server"]) == ("nfs4", "own")
        assert "addr=" not in str(facts["fs.options"])


def test_neighbours_run_the_same_while_one_tenant_is_measured(open_guests, tmp_path):
    """Two tenants of one guest, with shares, and disk, NIC and kernel that no other test has."""
    (tmp_path / "input").write_text("from the host\n")
    kinds = ["9p", *(["nfs"] if shutil.which("ganesha.nfsd") else [])]
    image = built_image(cache_folder())
    with open_guests(
        kernel=str(image.kernel),  # by its path, as a user's own
        modules=str(image.modules),
        shares=[{"source": str(tmp_path), "target": f"/{kind}", "kind": kind} for kind in kinds],
        nodes=1,
        acceleration="tcg",
        neighbours={"count": 1, "load": "same"},
        nic={"model": "rtl8139"},
        disk={"bus": "scsi", "iothread": True, "cache": "none", "io": "native"},
        filesystem={"type": "loop-xfs", "size_bytes": 320 << 20},
        memory={"size_bytes": "384MiB"},
        cpu={"count": 1},
        mpi="openmpi",
    ) as bench:
        assert bench.said("basename $(readlink /sys/class/net/net0/device/driver)") == "8139cp"
        assert bench.said("readlink /sys/block/sda | grep -o virtio | head -n1") == "virtio"
        for kind in kinds:
            assert bench.said(f"cat /{kind}/input") == "from the host"
            # The guest may keep what it writes; before, the host now and then read an empty file.
            bench.said(f"echo {kind} > /{kind}/output; sync /{kind}/output")
            assert (tmp_path / "output").read_text() == f"{kind}\n"
        assert bench.said("df --output=fstype {workdir} | tail -n 1") == "xfs"
        bench.said("echo once >> /var/tmp/ran; sleep 2")
        first, second = bench.allocation.fleet.guests
        count = ["sh", "-c", "wc -l < /var/tmp/ran"]
        access = bench.allocation.access
        assert access.run(first.name, count).stdout.strip() == "1"
        assert int(access.run(second.name, count).stdout) >= 1
        marked = access.run(second.name, ["pgrep", "-c", "sleep"]).stdout.strip()
        assert marked == "1"  # init's own: the neighbour's was ended
        streams = ["pgrep", "-c", "iperf3"]
        with busy_neighbours(
            bench.allocation.neighbours, Neighbours(count=1, load="network", workers=1), "a-trial"
        ):
            assert access.run(second.name, streams).stdout.strip() == "2"
            assert access.run(first.name, streams).stdout.strip() == "0"
        assert access.run(second.name, streams).stdout.strip() == "0"
