"""NFS: a server of bareline's own wherever it is wanted, and mounts of its folder.

The kernel's server belongs to its machine's network; NFS-Ganesha is a program, which runs in any
network and ends with its namespaces. The same program serves everywhere, so that platforms whose
servers lie elsewhere differ in that alone.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from bareline.platforms.layers.filesystem.mounted import Mounted, Peer, Run, run_script
from bareline.platforms.layers.filesystem.options import Nfs
from bareline.vocabulary.model import Scalar

PROGRAM = "ganesha.nfsd"
#: Under which name a folder of bareline's own is offered.
_NAME = "files"
#: What is exported, as a fact.
EXPORTED = "read and write, no_root_squash, sec=sys"
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
    """A folder that a server offers.

    - `path`: checked to hold neither quotes nor spaces.
    - `name`: under which clients find it.
    """

    path: str
    name: str
    read_only: bool = False


def ganesha_config(exports: Sequence[Export], address: str, folder: str) -> str:
    """Give the server's configuration.

    - `address`: on which it listens.
    - `folder`: for what it keeps.
    """
    text = _COMMON.format(address=address, folder=folder)
    for number, export in enumerate(exports, 1):
        access = "RO" if export.read_only else "RW"
        text += _EXPORT.format(number=number, path=export.path, name=export.name, access=access)
    return text


def serve(run: Run, exports: Sequence[Export], address: str, folder: str) -> None:
    """Start a server and wait until it listens; nothing happens where one does."""
    run_script(run, "nfs", "serve", folder, ganesha_config(exports, address, folder))


def mount_served(
    chosen: Nfs, server: Peer, clients: Sequence[Run], folder: Path, below: Path
) -> Mounted:
    """Mount a folder of a node of the platform, or of a server that is there, on all clients.

    - `server`: the node that serves, where it is not somebody else's.
    - `below`: folder of that node, for what is served and for what the server keeps.
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
    """Tell what no client sees of its server."""
    if chosen.remote:
        return {"fs.layer": chosen.type, "fs.server": "remote"}
    return {
        "fs.layer": chosen.type,
        "fs.server": chosen.server,
        "fs.server_program": f"NFS-Ganesha ({PROGRAM})",
        "fs.export": EXPORTED,
    }


def mount_options(chosen: Nfs) -> str:
    """Give the options of a mount: a server that is late is waited for, never given up."""
    further = f",{chosen.options}" if chosen.options else ""
    return f"vers={chosen.version},hard{further}"
