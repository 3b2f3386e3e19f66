"""Folders of the host, exported over the guests' network by an NFS server of bareline's own.

The kernel's server belongs to the host's network; NFS-Ganesha is a program, and runs in the
guests' network and ends with their enclosure.
"""

from __future__ import annotations

import subprocess
import time
from collections.abc import Sequence
from pathlib import Path

from bareline.platforms.hosts import local_environment
from bareline.platforms.vm.devices import share_tag
from bareline.platforms.vm.hypervisor import Hypervisor
from bareline.platforms.vm.options.hardware import Share
from bareline.vocabulary.errors import PlatformError

PROGRAM = "ganesha.nfsd"
_START_S = 20.0
_LISTENING = "0801"  # port 2049 as in /proc/net/tcp

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
    Pseudo = /{tag};
    Access_Type = {access};
    Squash = No_Root_Squash;
    SecType = sys;
    FSAL {{ Name = VFS; }}
}}
"""


def ganesha_config(shares: Sequence[Share], address: str, folder: Path) -> str:
    """Give the server's configuration; paths were checked to hold neither quotes nor spaces."""
    text = _COMMON.format(address=address, folder=folder)
    for number, share in enumerate(shares):
        if share.kind == "nfs":
            text += _EXPORT.format(
                number=number + 1,
                path=share.source,
                tag=share_tag(number),
                access="RO" if share.read_only else "RW",
            )
    return text


def start_exports(shares: Sequence[Share], hypervisor: Hypervisor) -> None:
    """Start the server where a share needs it; it ends with the enclosure.

    Raises
    ------
    PlatformError
        It does not listen.
    """
    if not any(share.kind == "nfs" for share in shares):
        return
    folder = hypervisor.folder / "nfs"
    folder.mkdir(exist_ok=True)
    config, log = folder / "ganesha.conf", folder / "ganesha.log"
    config.write_text(ganesha_config(shares, hypervisor.address, folder), encoding="utf-8")
    argv = [PROGRAM, "-f", str(config), "-L", str(log), "-p", str(folder / "pid")]
    with log.open("ab") as output:
        # It goes into the background by itself.
        done = subprocess.run(
            hypervisor.inside(argv),
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=output,
            env=local_environment(),
            timeout=_START_S,
            check=False,
        )
    deadline = time.monotonic() + _START_S
    while done.returncode == 0 and time.monotonic() < deadline:
        table = hypervisor.run_inside(["cat", "/proc/net/tcp", "/proc/net/tcp6"]).stdout
        if any(f":{_LISTENING} " in line and " 0A " in line for line in table.splitlines()):
            return
        time.sleep(0.1)
    lines = log.read_text(errors="replace").splitlines()
    raise PlatformError(
        f"the NFS server did not start: {lines[-1] if lines else 'it said nothing'}",
        where="shares",
        hint='use kind = "9p" instead',
    )
