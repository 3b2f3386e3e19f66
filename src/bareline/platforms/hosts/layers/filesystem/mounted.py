"""A file system that is mounted on nodes: local, from a server, or distributed over the nodes.

The kernel's NFS server only serves the machine's own network. NFS-Ganesha is an ordinary program,
which can run in any network namespace and ends with its namespaces. All platforms use NFS-Ganesha,
so that platforms with servers on different machines differ only in the server's machine.
"""

from __future__ import annotations

import subprocess
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from importlib import resources
from pathlib import Path
from types import MappingProxyType

from bareline.platforms.hosts.holder import SETUP_S, WAIT, system_environment, tool, wait_ready
from bareline.platforms.hosts.layers.filesystem.options import Gluster, Loop, Nfs, Tmpfs
from bareline.platforms.hosts.process import Finished, holding, run_process
from bareline.platforms.hosts.workdir import PREFIX, folder_name, is_abandoned
from bareline.vocabulary.model import Scalar

#: Runs a command as root on a node, with a text as its standard input.
Run = Callable[[Sequence[str], str], Finished]


@dataclass(frozen=True, slots=True)
class Mounted:
    """A mounted folder.

    - `facts`: facts of the file system that cannot be read on a node.
    - `caveats`: reasons to doubt storage results that are measured on the folder.
    """

    folder: str
    facts: Mapping[str, Scalar] = field(default_factory=lambda: MappingProxyType({}))
    caveats: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class MountingNode:
    """A node that the other nodes of a platform can reach, and that can serve files to them."""

    name: str
    address: str
    run: Run


@contextmanager
def folder_below(folder: Path) -> Iterator[Path]:
    """Make a folder for the files of a file system, yield it, and remove it.

    Folders of killed bareline processes are also removed.
    """
    for left in folder.glob(f"{PREFIX}*"):
        if is_abandoned(left.name):
            _remove(left)
    below = folder.absolute() / folder_name("below")
    below.mkdir(mode=0o700)
    try:
        yield below
    finally:
        _remove(below)


def _remove(folder: Path) -> None:
    # If something is still mounted below, its content must not be removed.
    subprocess.run(["rm", "-rf", "--one-file-system", "--", str(folder)], check=False)


def run_script(run: Run, name: str, *arguments: str) -> dict[str, str]:
    """Run a script of ``scripts`` on a node, and return its output lines "KEY VALUE"."""
    text = (resources.files(__package__) / "scripts" / name).read_text(encoding="utf-8")
    ended = run(["sh", "-s", "--", *arguments], text)
    hint = "`bareline doctor` lists the missing programs"
    ended.require_success("the file system cannot be mounted", where="filesystem", hint=hint)
    lines = (line.partition(" ")[::2] for line in ended.stdout.splitlines())
    return {key: value.strip() for key, value in lines}


@dataclass(frozen=True, slots=True)
class Mounts:
    """A mount namespace of this machine, with a process namespace for the file servers."""

    pid: int

    def enter(self, argv: Sequence[str]) -> list[str]:
        """Return the command line that runs a program in the mount namespace only."""
        return [tool("nsenter"), f"--target={self.pid}", "--mount", "--", *argv]

    def run(self, argv: Sequence[str], stdin: str) -> Finished:
        """Run a command that mounts or serves; its background processes end with the namespaces."""
        line = [tool("nsenter"), f"--target={self.pid}", "--mount", "--pid", "--", *argv]
        return run_process(line, env=system_environment(), timeout_s=SETUP_S, stdin=stdin)


@contextmanager
def private_mounts() -> Iterator[Mounts]:
    """Open a mount namespace that ends with the context or with bareline."""
    kinds = ("--mount", "--pid", "--fork", "--kill-child")
    argv = [tool("unshare"), *kinds, "--", "sh", "-c", WAIT]
    with holding(argv, env=system_environment()) as process:
        yield Mounts(wait_ready(process, "the file system"))


def mount_volume(run: Run, chosen: Tmpfs | Loop, folder: Path, below: Path) -> Mounted:
    """Mount a file system in memory or in a file, on one node."""
    place = str(folder)
    size = str(chosen.size_bytes)
    if isinstance(chosen, Tmpfs):
        run_script(run, "volume", "tmpfs", place, size, chosen.options)
        return Mounted(place, {"fs.layer": chosen.type})
    image = str(below / "image")
    direct = "yes" if chosen.direct else "no"
    answers = run_script(run, "volume", chosen.kind, place, size, chosen.options, image, direct)
    facts = {
        "fs.layer": chosen.type,
        "fs.below": answers["below"],
        "fs.below_cache": "none: direct" if chosen.direct else "page cache",
    }
    return Mounted(place, facts, () if chosen.direct else ("loop-file",))


PROGRAM = "ganesha.nfsd"
#: Under which name a folder of bareline's own is offered.
_NAME = "files"
_COMMON = """\
NFS_CORE_PARAM {{
    Protocols = 4;
    Bind_addr = {address};
    NFS_Port = 2049;
    Enable_NLM = false;
    Enable_RQUOTA = false;
}}
NFSv4 {{
    Graceless = true;
    Only_Numeric_Owners = true;
    RecoveryRoot = {folder};
}}
NFS_KRB5 {{ Active_krb5 = false; }}
"""
_EXPORT = """\
EXPORT {{
    Export_Id = {number};
    Path = {path};
    Pseudo = /{name};
    Access_Type = {access};
    Squash = No_Root_Squash;
    SecType = sys;
    FSAL {{ Name = VFS; }}
}}
"""


@dataclass(frozen=True, slots=True)
class Export:
    """A folder that a server exports; its `path` contains neither quotes nor spaces."""

    path: str
    name: str
    read_only: bool = False


def ganesha_config(exports: Sequence[Export], address: str, folder: str) -> str:
    """Return the text of the NFS server's configuration."""
    text = _COMMON.format(address=address, folder=folder)
    for number, export in enumerate(exports, 1):
        access = "RO" if export.read_only else "RW"
        text += _EXPORT.format(number=number, path=export.path, name=export.name, access=access)
    return text


def serve(run: Run, exports: Sequence[Export], address: str, folder: str) -> None:
    """Start an NFS server and wait until it listens; do nothing if it already runs."""
    run_script(run, "nfs", "serve", folder, ganesha_config(exports, address, folder))


def mount_served(
    chosen: Nfs, server: MountingNode, clients: Sequence[Run], folder: Path, below: Path
) -> Mounted:
    """Mount a served folder on all clients.

    - `chosen`: the options; the server is a node of the platform, or an existing server of the
      user.
    - `below`: folder of the serving node, for the served files and the server's own files.
    """
    source = chosen.remote
    if source is None:
        shared = below / _NAME
        server.run(["mkdir", "-p", str(shared)], "")
        serve(server.run, [Export(str(shared), _NAME)], server.address, str(below / "nfs"))
        source = f"{server.address}:/{_NAME}"
    for run in clients:
        run_script(run, "nfs", "mount", source, str(folder), mount_options(chosen))
    return Mounted(str(folder), facts_of(chosen))


def facts_of(chosen: Nfs) -> dict[str, Scalar]:
    """Return the facts of the server that cannot be read on a client."""
    if chosen.remote:
        return {"fs.layer": chosen.type, "fs.server": "remote"}
    return {
        "fs.layer": chosen.type,
        "fs.server": chosen.server,
        "fs.server_program": f"NFS-Ganesha ({PROGRAM})",
        "fs.export": "read and write, no_root_squash, sec=sys",
    }


def mount_options(chosen: Nfs) -> str:
    """Return the options of a mount.

    The option ``hard`` makes a client wait without limit for a server that does not answer.
    """
    return ",".join(filter(None, (f"vers={chosen.version},hard", chosen.options)))


def mount_gluster(
    peers: Sequence[MountingNode],
    chosen: Gluster,
    folder: Path,
    below: Path,
    *,
    clients: Sequence[Run] = (),
    private: bool = False,
) -> Mounted:
    """Mount a GlusterFS volume on every node.

    - `below`: folder of the nodes in which bricks are made; the caller removes it.
    - `private`: whether the nodes are namespaces of this machine, which share its folders but not
      its mounts.
    """
    users = [*(peer.run for peer in peers), *clients]
    for run in users if private else ():
        run_script(run, "gluster", "private")
    for peer in peers:
        run_script(peer.run, "gluster", "daemon")
    holders = [peers[number % len(peers)] for number in range(chosen.bricks)]
    bricks = [f"{peer.address}:{below}/brick{number + 1}" for number, peer in enumerate(holders)]
    used = " ".join(dict.fromkeys(peer.address for peer in (peers[0], *holders)))
    answers = run_script(peers[0].run, "gluster", "volume", peers[0].address, used, *bricks)
    for run in users:
        # A client asks any node that knows the volume where its bricks are.
        run_script(run, "gluster", "mount", peers[0].address, str(folder), chosen.options)
    facts: dict[str, Scalar] = {
        "fs.layer": chosen.type,
        "fs.bricks": chosen.bricks,
        "fs.brick_places": ", ".join(peer.name for peer in holders),
        "fs.server_program": answers["version"],
        "fs.export": answers["export"],
    }
    return Mounted(str(folder), facts, ("server-cache",))
