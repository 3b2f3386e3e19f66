"""Machines for tests of clusters: hosts as network namespaces, on which real daemons run.

Who uses them works from `inside` their network: the thread enters it and comes back. Several
clusters may be there at once.
"""

from __future__ import annotations

import contextlib
import ctypes
import os
import shutil
import signal
import subprocess
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path

from bareline.platforms.base import Context
from bareline.platforms.localhost.netns import links
from bareline.platforms.localhost.netns.platform import NetnsAllocation, NetnsOptions, NetnsPlatform
from bareline.vocabulary.model import Layout
from bareline.vocabulary.platform import PlatformSpec

_CLONE_NEWNET = 0x40000000
#: SHLVL keeps bash from reading the start-up files of whoever runs the tests at each command.
_SSHD = """\
HostKey {folder}/host_key
AuthorizedKeysFile {folder}/client_key.pub
StrictModes no
UsePAM no
UseDNS no
PasswordAuthentication no
PermitRootLogin prohibit-password
PidFile none
SetEnv SHLVL=2 XDG_CACHE_HOME={folder}/cache MODULEPATH={folder}/modules
MaxSessions 64
MaxStartups 100:30:200
"""
_CLIENT = """\
{hosts}Host *
  User root
  IdentityFile {folder}/client_key
  IdentitiesOnly yes
  UserKnownHostsFile {folder}/known_hosts
  GlobalKnownHostsFile none
  StrictHostKeyChecking yes
  LogLevel ERROR
"""


@dataclass
class Machines:
    """Hosts in their own network."""

    hosts: NetnsAllocation
    folder: Path

    def start(self, host: int, argv: Sequence[str], log: str) -> subprocess.Popen[bytes]:
        """Start a daemon on a host, or in the switch for -1."""
        place = self.hosts._switch if host < 0 else self.hosts._hosts[host]
        with (self.folder / log).open("ab") as output:
            return subprocess.Popen(
                place.enter(argv), stdin=subprocess.DEVNULL, stdout=output, stderr=output
            )

    @staticmethod
    def stop(daemon: subprocess.Popen[bytes]) -> None:
        """Kill a daemon; what was started is nsenter, which waits for it."""
        with contextlib.suppress(OSError):
            children = Path(f"/proc/{daemon.pid}/task/{daemon.pid}/children").read_text()
            for child in children.split():
                os.kill(int(child), signal.SIGKILL)
        daemon.kill()
        daemon.wait()

    def check(self, host: int, *argv: str) -> None:
        """Run a command on a host, or in the switch for -1."""
        place = self.hosts._switch if host < 0 else self.hosts._hosts[host]
        subprocess.run(place.enter(argv), check=True, capture_output=True)

    def left_behind(self) -> set[str]:
        """List what lies in the hosts' memory, and what Open MPI left for one of them in /tmp."""
        hosts = [(f"node{number}", host.pid) for number, host in enumerate(self.hosts._hosts, 1)]
        found = {
            f"{name}: {path.name}"
            for name, pid in hosts
            for path in Path(f"/proc/{pid}/root/dev/shm").iterdir()
        }
        found |= {str(path) for name, _ in hosts for path in Path("/tmp").glob(f"ompi.{name}.*/*")}
        return found

    @contextmanager
    def inside(self) -> Iterator[None]:
        """Let this thread, and what it starts, use the hosts' network."""
        with inside_network(self.hosts._switch.pid):
            yield


@contextmanager
def machines(count: int) -> Iterator[Machines]:
    """Bring hosts up."""
    with tempfile.TemporaryDirectory(prefix="bl-test-", dir="/tmp") as name:
        folder = Path(name)
        spec = PlatformSpec("machines", "netns", NetnsOptions(hosts=count))
        platform = NetnsPlatform(spec, Context(folder))
        with platform.acquire(Layout(count)) as hosts:
            assert isinstance(hosts, NetnsAllocation)
            yield Machines(hosts, folder)


@contextmanager
def inside_network(pid: int) -> Iterator[None]:
    """Let this thread, and what it starts, use the network of a process."""
    libc = ctypes.CDLL(None, use_errno=True)

    def enter(path: str) -> None:
        descriptor = os.open(path, os.O_RDONLY)
        try:
            if libc.setns(descriptor, _CLONE_NEWNET):
                raise OSError(ctypes.get_errno(), "setns")
        finally:
            os.close(descriptor)

    own = os.open("/proc/thread-self/ns/net", os.O_RDONLY)
    try:
        enter(f"/proc/{pid}/ns/net")
        yield
    finally:
        libc.setns(own, _CLONE_NEWNET)
        os.close(own)


@contextmanager
def ssh_hosts(count: int) -> Iterator[tuple[Machines, Path]]:
    """Yield hosts with an sshd each, and the configuration with which ssh reaches them."""
    sshd = shutil.which("sshd", path="/usr/sbin:/usr/local/sbin")
    assert sshd is not None
    with machines(count) as those, ExitStack() as stack:
        folder = those.folder
        for name in ("host_key", "client_key"):
            key = ["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", str(folder / name)]
            subprocess.run(key, check=True)
        (folder / "sshd_config").write_text(_SSHD.format(folder=folder))
        Path("/run/sshd").mkdir(exist_ok=True)
        listed, known = "", ""
        public = (folder / "host_key.pub").read_text().rsplit(" ", 1)[0]
        for index in range(count):
            address = links.host_address(index)
            listed += f"Host node{index + 1}\n  HostName {address}\n"
            known += f"{address} {public}\n"
            argv = [sshd, "-D", "-e", "-f", str(folder / "sshd_config")]
            daemon = those.start(index, argv, f"sshd{index}.log")
            stack.callback(those.stop, daemon)
        (folder / "known_hosts").write_text(known)
        config = folder / "ssh_config"
        config.write_text(_CLIENT.format(hosts=listed, folder=folder))
        with those.inside():
            for index in range(count):
                _wait_ssh(config, f"node{index + 1}")
        yield those, config


_SLURM = """\
ClusterName=test
SlurmctldHost=switch({controller})
AuthType=auth/munge
AuthInfo=socket={folder}/munge/socket,cred_expire=5
SlurmUser=root
StateSaveLocation={folder}/state
SlurmdSpoolDir={folder}/spool.%n
SlurmctldPidFile={folder}/slurmctld.pid
SlurmdPidFile={folder}/slurmd.%n.pid
SlurmctldLogFile={folder}/slurmctld.log
SlurmdLogFile={folder}/slurmd.%n.log
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
MpiDefault=none
SelectType=select/cons_tres
SelectTypeParameters=CR_Core
ReturnToService=2
SlurmdParameters=config_overrides
JobAcctGatherType=jobacct_gather/none
AccountingStorageType=accounting_storage/none
SwitchType=switch/none
TmpFS=/dev/shm
KillWait=2
SlurmdTimeout={timeout_s}
PreemptType=preempt/partition_prio
PreemptMode=REQUEUE
SchedulerParameters=sched_interval=1,batch_sched_delay=0,sched_min_interval=0
{nodes}
PartitionName=all Nodes=node[1-{count}] Default=YES MaxTime=INFINITE State=UP OverSubscribe=NO
PartitionName=urgent Nodes=node[1-{count}] MaxTime=INFINITE State=UP PriorityTier=10
"""


@dataclass
class SlurmCluster:
    """A cluster whose daemons run."""

    machines: Machines
    count: int
    daemons: list[subprocess.Popen[bytes]]

    @property
    def conf(self) -> Path:
        return self.machines.folder / "slurm.conf"

    @contextmanager
    def inside(self) -> Iterator[None]:
        """Let this thread, and what it starts, use the cluster: its network and its Slurm."""
        before = os.environ.get("SLURM_CONF")
        os.environ["SLURM_CONF"] = str(self.conf)
        try:
            with self.machines.inside():
                yield
        finally:
            os.environ.pop("SLURM_CONF", None)
            if before is not None:
                os.environ["SLURM_CONF"] = before

    def wait_idle(self) -> None:
        """Wait until every node is free."""
        deadline = time.monotonic() + 60
        said, log = "", self.machines.folder / "slurmctld.log"
        while said != f"{self.count} idle":
            assert time.monotonic() < deadline, (said, log.read_text()[-2000:])
            said = _slurm("sinfo", "--noheader", "--partition=all", "--format=%D %t")
            time.sleep(0.02)

    def start_node(self, host: int) -> subprocess.Popen[bytes]:
        """Start a node's slurmd."""
        name = f"node{host + 1}"
        argv = ["env", f"SLURM_CONF={self.conf}", _program("slurmd"), "-D", "-N", name]
        return self.machines.start(host, argv, f"slurmd{host}.out")

    @contextmanager
    def dead(self, host: int) -> Iterator[None]:
        """Let a node die with all that runs on it, and come back afterwards."""
        index = len(self.daemons) - self.count + host
        node = f"node{host + 1}"
        self.machines.stop(self.daemons[index])
        for step in self._steps(host):
            with contextlib.suppress(ProcessLookupError):
                os.kill(step, signal.SIGKILL)
        _slurm("scontrol", "update", f"nodename={node}", "state=down", "reason=test")
        try:
            yield
        finally:
            self.daemons[index] = self.start_node(host)
            deadline = time.monotonic() + 30
            while (
                _slurm("sinfo", "-hN", "--partition=all", f"--nodes={node}", "--format=%T")
                not in _ALIVE
            ):
                assert time.monotonic() < deadline, f"{node} does not come back"
                _slurm("scontrol", "update", f"nodename={node}", "state=resume")
                time.sleep(0.2)

    def _steps(self, host: int) -> list[int]:
        """List the processes of a host that its slurmd has started."""
        own = Path(f"/proc/{self.machines.hosts._hosts[host].pid}/ns/pid").readlink()
        found = []
        for entry in Path("/proc").glob("[0-9]*"):
            with contextlib.suppress(OSError):
                said = (entry / "environ").read_bytes() + (entry / "cmdline").read_bytes()
                if (entry / "ns/pid").readlink() == own and (
                    b"SLURM_JOB" in said or b"slurmstepd" in said
                ):
                    found.append(int(entry.name))
        return found


_ALIVE = ("idle", "allocated", "mixed", "completing")


def _slurm(*argv: str) -> str:
    return subprocess.run(argv, capture_output=True, text=True, check=False).stdout.strip()


def _program(name: str) -> str:
    found = shutil.which(name, path="/usr/sbin:/usr/bin")
    assert found is not None
    return found


@contextmanager
def slurm_cluster(count: int, *, timeout_s: int = 10) -> Iterator[SlurmCluster]:
    """Yield a cluster with controller, munge and `count` nodes, all of them idle."""
    with machines(count) as those, ExitStack() as stack:
        folder = those.folder
        folder.chmod(0o755)
        munge = folder / "munge"
        munge.mkdir(mode=0o755)
        (munge / "key").write_bytes(os.urandom(1024))
        (munge / "key").chmod(0o600)
        (folder / "state").mkdir()
        listed = "\n".join(
            f"NodeName=node{index + 1} NodeAddr={links.host_address(index)} CPUs=2 Boards=1 "
            "Sockets=1 CoresPerSocket=2 ThreadsPerCore=1 RealMemory=2000 State=UNKNOWN"
            for index in range(count)
        )
        conf = folder / "slurm.conf"
        conf.write_text(
            _SLURM.format(
                controller=links.SWITCH_ADDRESS,
                folder=folder,
                timeout_s=timeout_s,
                nodes=listed,
                count=count,
            )
        )
        # The hosts share /tmp, where the plugin would make the same folder on each.
        (folder / "mpi.conf").write_text("PMIxCliTmpDirBase=/dev/shm\n")
        (folder / "cgroup.conf").write_text(
            "CgroupPlugin=cgroup/v1\nCgroupAutomount=no\nConstrainCores=no\n"
        )
        files = [f"--{key}={munge}/{name}" for key, name in _MUNGE]
        argv = [_program("munged"), "--foreground", "--force", *files]
        cluster = SlurmCluster(those, count, [])
        controller = ["env", f"SLURM_CONF={conf}", _program("slurmctld"), "-D"]
        cluster.daemons.append(those.start(-1, argv, "munged.out"))
        deadline = time.monotonic() + 10
        while not (munge / "socket").exists():
            assert time.monotonic() < deadline, (folder / "munged.out").read_text()
            time.sleep(0.02)
        cluster.daemons.append(those.start(-1, controller, "slurmctld.out"))
        cluster.daemons += [cluster.start_node(index) for index in range(count)]
        stack.callback(lambda: [those.stop(daemon) for daemon in cluster.daemons])
        with cluster.inside():
            cluster.wait_idle()
        yield cluster


_MUNGE = (
    ("socket", "socket"),
    ("key-file", "key"),
    ("log-file", "log"),
    ("pid-file", "pid"),
    ("seed-file", "seed"),
)


def _wait_ssh(config: Path, name: str) -> None:
    deadline = time.monotonic() + 10
    line = ["ssh", "-F", str(config), "-o", "BatchMode=yes", name, "true"]
    while subprocess.run(line, capture_output=True, check=False).returncode:
        assert time.monotonic() < deadline, f"{name} does not answer"
        time.sleep(0.05)
