"""Nova's driver of this cloud: an instance is a network namespace with an sshd, up in no time.

Everything else is as for any instance: Nova schedules it, Neutron gives it its address, the key
pair and the user data say who may log in. Without root instances are as those of Nova's fake
driver: active, and never reached.
"""

from __future__ import annotations

import base64
import os
import re
import shutil
import subprocess
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import yaml
from eventlet import sleep
from nova import exception
from nova.conf import CONF
from nova.virt import fake
from switch import check, inside, start, switch, wait_for

import faults

_UNSHARE = ("unshare", "--net", "--uts", "--ipc", "--mount", "--pid", "--fork", "--kill-child")
#: What begins the names of all that one bareline makes.
_MADE_BY = re.compile(r"bareline-\d+-\d+-[0-9a-f]{8}(?=-)")
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
        self._hosts: dict[str, Machine] = {}

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
        planned = faults.take(own_folder(), instance.display_name)
        _fail(planned, instance)
        known = (context, instance, image_meta, injected_files, admin_password, allocations)
        super().spawn(*known, network_info, **more)
        if planned.get("fault") != "unreachable" and os.geteuid() == 0:
            self._hosts[instance.uuid] = self._machine(instance, network_info)

    def _machine(self, instance: Any, network_info: Any) -> Machine:
        return Host(own_folder(), instance, network_info)

    def destroy(self, context: Any, instance: Any, *given: Any, **more: Any) -> None:
        """Take an instance down."""
        super().destroy(context, instance, *given, **more)
        host = self._hosts.pop(instance.uuid, None)
        if host:
            host.close()
            # Instances share this machine's /tmp: what their disks would take along goes with the
            # last one of a bareline, keys among it.
            owner = host.owner
            if owner and all(other.owner != owner for other in self._hosts.values()):
                for left in Path("/tmp").glob(f"{owner}*"):
                    shutil.rmtree(left, ignore_errors=True)


def own_folder() -> Path:
    """Folder of the cloud."""
    return Path(CONF.state_path).parent


def _fail(planned: dict[str, Any], instance: Any) -> None:
    kind, text = planned.get("fault"), planned.get("text", "planned")
    if kind == "abort":
        raise exception.BuildAbortException(instance_uuid=instance.uuid, reason=text)
    if kind == "reschedule":
        raise exception.ComputeResourcesUnavailable(reason=text)
    if kind == "slow":
        sleep(planned["seconds"])


class Machine:
    """What stands on this machine for an instance: a process, and what it was started with."""

    def __init__(self, folder: Path, instance: Any) -> None:
        self.folder = folder / "hosts" / instance.uuid
        made_by = _MADE_BY.match(instance.display_name)
        self.owner = made_by[0] if made_by else ""
        self.folder.mkdir(parents=True)
        self._first: subprocess.Popen[bytes] | None = None

    def _begin(self, argv: Sequence[str]) -> subprocess.Popen[bytes]:
        self._first = start(argv, self.folder / "log")
        # Where a test finds what it has to kill.
        (self.folder / "pid").write_text(str(self._first.pid))
        return self._first

    def close(self) -> None:
        """End all its processes; its links go with them."""
        if self._first:
            self._first.kill()
            self._first.wait()
        shutil.rmtree(self.folder, ignore_errors=True)


class Host(Machine):
    """A namespace with an sshd, on the switch of this cloud."""

    def __init__(self, folder: Path, instance: Any, network_info: Any) -> None:
        super().__init__(folder, instance)
        data = _user_data(instance)
        self._write_keys(instance, data)
        name = data.get("hostname") or instance.hostname
        sshd = shutil.which("sshd", path="/usr/sbin:/usr/local/sbin:/sbin")
        words = ["sh", "-c", _HOST, "sh", name, str(self.folder), str(sshd)]
        first = self._begin([*_UNSHARE, *words])
        try:
            wait_for(self.folder / "up", first)
            for number, vif in enumerate(network_info):
                self._plug(folder, first.pid, number, vif)
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
            check("ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", str(key))

    def _plug(self, folder: Path, pid: int, number: int, vif: Any) -> None:
        inner, outer = f"eth{number}", f"{vif['id'][:11]}"
        there = switch(folder)
        own = inside(pid)
        check(
            *("ip", "link", "add", outer, "netns", str(there), "type", "veth"),
            *("peer", "name", inner, "netns", str(pid)),
        )
        check(*inside(there), "ip", "link", "set", outer, "master", "switch", "up")
        check(*own, "ip", "link", "set", inner, "address", vif["address"], "up")
        for subnet in vif["network"]["subnets"]:
            length = subnet["cidr"].rpartition("/")[2]
            for address in subnet["ips"]:
                check(*own, "ip", "address", "add", f"{address['address']}/{length}", "dev", inner)


def _user_data(instance: Any) -> dict[str, Any]:
    """Read what cloud-init would: who may log in, and the host's key."""
    text = base64.b64decode(instance.user_data or "").decode()
    if not text.startswith("#cloud-config"):
        return {}
    found = yaml.safe_load(text)
    return found if isinstance(found, dict) else {}
