"""Nova's driver of this cloud: an instance is a network namespace with an sshd, up in no time.

Everything else is as for any instance: Nova schedules it, Neutron gives it its address, the key
pair and the user data say who may log in. Without root instances are as those of Nova's fake
driver: active, and never reached.
"""

from __future__ import annotations

import base64
import os
import shutil
import subprocess
import threading
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import yaml
from eventlet import sleep
from nova import exception
from nova.conf import CONF
from nova.virt import fake

import faults

#: What is started ends with this process, however that ends.
_ENDS_WITH_US = ("setpriv", "--pdeathsig", "KILL")
_UNSHARE = ("unshare", "--net", "--uts", "--ipc", "--mount", "--pid", "--fork", "--kill-child")
#: The first process of a host; $1 its name, $2 its folder.
_HOST = """\
mount -t proc proc /proc && mount -t tmpfs shm /dev/shm && mount -t tmpfs run /run &&
mkdir /run/sshd && hostname "$1" && ip link set lo up && touch "$2/up" &&
exec "$3" -D -e -f "$2/sshd_config"
"""
#: SHLVL keeps bash from reading start-up files at each command.
_SSHD = """\
HostKey {folder}/host_key
AuthorizedKeysFile {folder}/authorized_keys
StrictModes no
UsePAM no
UseDNS no
PasswordAuthentication no
PermitRootLogin prohibit-password
PidFile none
SetEnv SHLVL=2
MaxSessions 64
MaxStartups 100:30:200
"""


class HostDriver(fake.FakeDriver):  # type: ignore[misc]
    """Instances as namespaces, some of which fail as `faults` plans it."""

    def __init__(self, *given: Any, **more: Any) -> None:
        super().__init__(*given, **more)
        self._hosts: dict[str, Host] = {}

    def init_host(self, host: str) -> None:
        """Have one node, named as the host."""
        super().init_host(host)
        self._set_nodes([host])

    def spawn(
        self,
        context: Any,
        instance: Any,
        image_meta: Any,
        injected_files: Any,
        admin_password: Any,
        allocations: Any,
        network_info: Any = None,
        **more: Any,
    ) -> None:
        """Bring an instance up, or let it fail as planned."""
        planned = faults.take(_folder(), instance.display_name)
        _fail(planned, instance)
        known = (context, instance, image_meta, injected_files, admin_password, allocations)
        super().spawn(*known, network_info, **more)
        if planned.get("fault") != "unreachable" and os.geteuid() == 0:
            self._hosts[instance.uuid] = Host(_folder(), instance, network_info)

    def destroy(self, context: Any, instance: Any, *given: Any, **more: Any) -> None:
        """Take an instance down."""
        super().destroy(context, instance, *given, **more)
        host = self._hosts.pop(instance.uuid, None)
        if host:
            host.close()


def _folder() -> Path:
    return Path(CONF.state_path).parent


def _fail(planned: dict[str, Any], instance: Any) -> None:
    kind, text = planned.get("fault"), planned.get("text", "planned")
    if kind == "abort":
        raise exception.BuildAbortException(instance_uuid=instance.uuid, reason=text)
    if kind == "reschedule":
        raise exception.ComputeResourcesUnavailable(reason=text)
    if kind == "slow":
        sleep(planned["seconds"])


class Host:
    """A namespace with an sshd, on the switch of this cloud."""

    def __init__(self, folder: Path, instance: Any, network_info: Any) -> None:
        self.folder = folder / "hosts" / instance.uuid
        self.folder.mkdir(parents=True)
        data = _user_data(instance)
        self._write_keys(instance, data)
        name = data.get("hostname") or instance.hostname
        sshd = shutil.which("sshd", path="/usr/sbin:/usr/local/sbin:/sbin")
        words = ["sh", "-c", _HOST, "sh", name, str(self.folder), str(sshd)]
        self._first = _start([*_UNSHARE, *words], self.folder / "log")
        try:
            # Where a test finds what it has to kill.
            (self.folder / "pid").write_text(str(self._first.pid))
            _wait_for(self.folder / "up", self._first)
            for number, vif in enumerate(network_info):
                self._plug(folder, number, vif)
        except BaseException:
            self.close()
            raise

    def _write_keys(self, instance: Any, data: dict[str, Any]) -> None:
        users = [user for user in data.get("users", ()) if isinstance(user, dict)]
        allowed = [key for user in users for key in user.get("ssh_authorized_keys", ())]
        allowed += [instance.key_data] if instance.key_data else []
        (self.folder / "authorized_keys").write_text("\n".join(allowed) + "\n")
        (self.folder / "sshd_config").write_text(_SSHD.format(folder=self.folder))
        key = self.folder / "host_key"
        private = data.get("ssh_keys", {}).get("ed25519_private")
        if private:
            key.touch(mode=0o600)
            key.write_text(private)
        else:
            _must("ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", str(key))

    def _plug(self, folder: Path, number: int, vif: Any) -> None:
        inner, outer = f"eth{number}", f"{vif['id'][:11]}"
        switch = _switch(folder)
        own = _inside(self._first.pid)
        _must(
            *("ip", "link", "add", outer, "netns", str(switch), "type", "veth"),
            *("peer", "name", inner, "netns", str(self._first.pid)),
        )
        _must(*_inside(switch), "ip", "link", "set", outer, "master", "switch", "up")
        _must(*own, "ip", "link", "set", inner, "address", vif["address"], "up")
        for subnet in vif["network"]["subnets"]:
            length = subnet["cidr"].rpartition("/")[2]
            for address in subnet["ips"]:
                _must(*own, "ip", "address", "add", f"{address['address']}/{length}", "dev", inner)

    def close(self) -> None:
        """End all its processes; its links go with its network."""
        self._first.kill()
        self._first.wait()
        shutil.rmtree(self.folder, ignore_errors=True)


_SWITCH: list[subprocess.Popen[bytes]] = []
_MAKING = threading.Lock()


def _switch(folder: Path) -> int:
    """Give the process in whose network the switch is, made for the first instance.

    In a network of its own, so that it goes with that process; what connects it to ours goes with
    it, too.
    """
    with _MAKING:
        if not _SWITCH:
            _SWITCH.append(_make_switch(folder))
    return _SWITCH[0].pid


def _make_switch(folder: Path) -> subprocess.Popen[bytes]:
    words = ["unshare", "--net", "sh", "-c", 'touch "$1" && exec sleep infinity', "sh"]
    up = folder / "switch.up"
    made = _start([*words, str(up)], folder / "log/switch.log")
    _wait_for(up, made)
    network = CONF.bareline_subnet
    inside = _inside(made.pid)
    ours = f"bl{os.getpid()}"
    _must(*inside, "ip", "link", "add", "switch", "type", "bridge")
    _must(*inside, "ip", "link", "set", "switch", "up")
    _must(
        *("ip", "link", "add", ours, "type", "veth"),
        *("peer", "name", "outside", "netns", str(made.pid)),
    )
    _must(*inside, "ip", "link", "set", "outside", "master", "switch", "up")
    _must("ip", "address", "add", network, "dev", ours)
    _must("ip", "link", "set", ours, "up")
    return made


def _user_data(instance: Any) -> dict[str, Any]:
    """Read what cloud-init would: who may log in, and the host's key."""
    text = base64.b64decode(instance.user_data or "").decode()
    if not text.startswith("#cloud-config"):
        return {}
    found = yaml.safe_load(text)
    return found if isinstance(found, dict) else {}


def _inside(pid: int) -> tuple[str, ...]:
    return ("nsenter", "--target", str(pid), "--net")


def _start(argv: Sequence[str], log: Path) -> subprocess.Popen[bytes]:
    with log.open("ab") as output:
        return subprocess.Popen(
            [*_ENDS_WITH_US, *argv], stdin=subprocess.DEVNULL, stdout=output, stderr=output
        )


def _wait_for(file: Path, process: subprocess.Popen[bytes]) -> None:
    while not file.exists():
        if process.poll() is not None:
            raise exception.InternalError(err=f"a host ended with {process.returncode}")
        sleep(0.01)


def _must(*argv: str) -> None:
    done = subprocess.run(argv, capture_output=True, text=True, check=False)
    if done.returncode:
        raise exception.InternalError(err=f"{' '.join(argv)}: {done.stderr.strip()}")
