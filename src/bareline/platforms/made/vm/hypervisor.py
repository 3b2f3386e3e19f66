"""A separate libvirt daemon in new namespaces; all its processes end with bareline.

The namespaces together are called the enclosure. The process namespace ends all guests when it
ends. The mount namespace gives the daemon folders of its own. If no guest uses an adapter of the
host, there is also a network namespace.
"""

from __future__ import annotations

import contextlib
import shutil
import subprocess
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from importlib import resources
from pathlib import Path
from typing import IO, Any

from bareline.host.tools import install_hint
from bareline.platforms.hosts.process import local_environment, run_process
from bareline.vocabulary.errors import PlatformError, ToolMissing
from bareline.vocabulary.files import replace_file

_START_S = 20.0
#: Files of an enclosure in its folder, in addition to the sockets of libvirt.
_OF_ENCLOSURE = ("etc", "lib", "log", "cache", "nfs", "enclosure", "enclosure.log")
TOOLS = (
    *("libvirtd", "qemu-system-x86_64", "qemu-img"),
    *("ip", "unshare", "nsenter", "ssh-keygen", "ssh"),
)

_DAEMON = """\
unix_sock_dir = "{folder}"
unix_sock_rw_perms = "0700"
auth_unix_ro = "none"
auth_unix_rw = "none"
log_outputs = "3:file:{folder}/log/libvirtd.log"
"""
_QEMU = """\
user = "root"
group = "root"
dynamic_ownership = 0
remember_owner = 0
cgroup_controllers = []
namespaces = []
security_driver = "none"
stdio_handler = "file"
"""


def import_libvirt() -> Any:
    """Return the module ``libvirt``, which then raises errors without also printing them."""
    try:
        import libvirt
    except ImportError as error:
        raise ToolMissing(
            "the Python package libvirt-python is not installed",
            hint="install it with `pip install 'bareline[vm]'` (it compiles against libvirt-dev)",
        ) from error
    libvirt.registerErrorHandler(lambda _context, _error: None, None)
    return libvirt


@dataclass(kw_only=True)
class Hypervisor:
    """The libvirt daemon in its enclosure of namespaces; a context manager.

    - `folder`: private to this daemon; short, because a socket's path has at most 107 characters.
    - `cache_folder`: folder of libvirt's cache. It contains QEMU's capabilities, because their
      detection takes a second.
    - `own_network`: whether bridge and guests are in a separate network namespace.
    """

    folder: Path
    cache_folder: Path
    bridge: str
    address: str
    mtu: int
    own_network: bool = True
    _popen: subprocess.Popen[bytes] | None = field(default=None, init=False)
    _log: IO[bytes] | None = field(default=None, init=False)
    _connection: Any = field(default=None, init=False)

    def __enter__(self) -> Hypervisor:
        try:
            self._start()
        except BaseException:
            self.stop()
            raise
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()

    @property
    def libvirt(self) -> Any:
        """The module ``libvirt``."""
        return import_libvirt()

    @property
    def connection(self) -> Any:
        """The open connection (``libvirt.virConnect``)."""
        assert self._connection is not None
        return self._connection

    @property
    def pid(self) -> int:
        """Process number, on the host, of the enclosure's first process."""
        assert self._popen is not None
        number = self._popen.pid
        children = Path(f"/proc/{number}/task/{number}/children").read_text(encoding="ascii")
        if not children.strip():
            raise PlatformError(
                "the process with the namespaces that contain the guests has ended",
                hint=self.last_words(),
            )
        return int(children.split()[0])

    def inside(self, argv: Sequence[str]) -> list[str]:
        """Return the command line that runs a program in the guests' network.

        The program ends with the enclosure.
        """
        line = ["nsenter", f"--pid=/proc/{self.pid}/ns/pid"]
        if self.own_network:
            line.append(f"--net=/proc/{self.pid}/ns/net")
        return [*line, "--", *argv]

    def last_words(self) -> str:
        """Return a hint with the last output of the processes that run the guests."""
        with contextlib.suppress(OSError):
            log = (self.folder / "enclosure.log").read_text(errors="replace").strip()
            if log:
                return f"it said: {log.splitlines()[-1]}"
        return "see that libvirtd and QEMU are whole"

    def _start(self) -> None:
        for path in ("/etc/libvirt", *(f"/var/{name}/libvirt" for name in ("lib", "cache", "log"))):
            if not Path(path).is_dir():
                raise ToolMissing(
                    f"the installation of libvirt is incomplete: {path} is missing",
                    hint=install_hint("libvirtd"),
                )
        for name in ("etc", "lib", "log"):
            (self.folder / name).mkdir()
        capabilities = self.cache_folder / "vm" / "libvirt"
        capabilities.mkdir(parents=True, exist_ok=True)
        (self.folder / "cache").symlink_to(capabilities)
        replace_file(
            self.folder / "etc" / "libvirtd.conf", _DAEMON.format(folder=self.folder), durable=False
        )
        replace_file(self.folder / "etc" / "qemu.conf", _QEMU, durable=False)
        script = resources.files("bareline.platforms.made.vm") / "scripts" / "enclosure"
        enclosure = self.folder / "enclosure"
        replace_file(enclosure, script.read_bytes(), durable=False)
        argv = ["unshare", "--mount", "--pid", "--fork", "--kill-child", "--mount-proc"]
        argv += ["--net"] if self.own_network else []
        argv += ["sh", str(enclosure), str(self.folder), "yes" if self.own_network else "no"]
        argv += [self.bridge, self.address, str(self.mtu)]
        self._log = (self.folder / "enclosure.log").open("wb")
        self._popen = subprocess.Popen(
            argv,
            stdin=subprocess.PIPE,
            stdout=self._log,
            stderr=self._log,
            env=local_environment(),
            start_new_session=True,  # Ctrl-C is bareline's to handle
        )
        self._connect()

    def _connect(self) -> None:
        assert self._popen is not None
        libvirt = import_libvirt()
        socket = self.folder / "libvirt-sock"
        deadline = time.monotonic() + _START_S
        problem = "no socket"
        while self._popen.poll() is None:
            if socket.exists():
                try:
                    self._connection = libvirt.open(f"qemu+unix:///system?socket={socket}")
                    return
                except libvirt.libvirtError as error:
                    problem = str(error)
            if time.monotonic() > deadline:
                raise PlatformError(
                    f"libvirtd did not answer within {_START_S:.0f} s: {problem}",
                    hint=self.last_words(),
                )
            time.sleep(0.02)
        raise PlatformError("libvirtd ended while it was starting", hint=self.last_words())

    def alive(self) -> bool:
        """Return whether the daemon still answers; the enclosure ends shortly after the daemon."""
        if self._popen is None or self._popen.poll() is not None or self._connection is None:
            return False
        with contextlib.suppress(self.libvirt.libvirtError):
            self._connection.getLibVersion()
            return True
        return False

    def restart(self) -> None:
        """Make a new enclosure after the old enclosure has ended; its guests are gone."""
        self.stop()
        for path in self.folder.iterdir():
            if path.name in _OF_ENCLOSURE or path.name.startswith("libvirt-"):
                if path.is_dir() and not path.is_symlink():
                    shutil.rmtree(path)
                else:
                    path.unlink()
        if not self.own_network:
            run_process(["ip", "link", "delete", self.bridge], timeout_s=20.0)
        self._start()

    def stop(self) -> None:
        """End the daemon, and thus every guest; idempotent."""
        if self._connection is not None:
            with contextlib.suppress(Exception):
                self._connection.close()
            self._connection = None
        popen = self._popen
        self._popen = None
        if popen is not None:
            assert popen.stdin is not None
            popen.stdin.close()
            try:
                popen.wait(5.0)
            except subprocess.TimeoutExpired:
                popen.kill()
                popen.wait()
        if self._log is not None:
            self._log.close()
