"""A real OpenStack cloud whose instances are namespaces, in a network of its own."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import yaml

from bareline.platforms.made.cloud.openstack import connect

sys.path.insert(0, str(Path(__file__).parents[2] / "reached"))
sys.path.insert(0, str(Path(__file__).parent))

from machines import inside_network
from proxy import Proxy, Refusal, proxy

CLOUD = ("/usr/bin/python3", str(Path(__file__).parents[4] / "scripts/cloud"))
_ENDS_WITH_US = ("setpriv", "--pdeathsig", "KILL")
#: Services that are reached through a proxy, and the path of their interface.
_PROXIED = {"compute": "/v2.1", "network": "/v2.0"}


def reason_not_here() -> str:
    """Describe why no cloud can be brought up here, or nothing."""
    if os.geteuid() != 0:
        return "needs root"
    if not Path(CLOUD[0]).exists():
        return f"no {CLOUD[0]}"
    asked = subprocess.run([*CLOUD, "--check"], capture_output=True, text=True, check=False)
    return asked.stderr.strip() if asked.returncode else ""


@dataclass
class Plane:
    """A cloud that is up.

    Attributes
    ----------
    network
        Process in whose network it is.
    proxies
        In front of Nova ("compute") and Neutron ("network").
    """

    folder: Path
    network: int
    proxies: dict[str, Proxy]

    @property
    def clouds(self) -> Path:
        """The `clouds.yaml` of its user, `bareline`, and of `admin`; the user meets the proxies."""
        return self.folder / "clouds.yaml"

    @cached_property
    def admin(self) -> Any:
        """The cloud as its operator sees it, past the proxies."""
        return connect("admin", None)

    @contextmanager
    def inside(self) -> Iterator[None]:
        """Let this thread, and what it starts, reach the cloud and its instances."""
        before = os.environ.get("OS_CLIENT_CONFIG_FILE")
        os.environ["OS_CLIENT_CONFIG_FILE"] = str(self.clouds)
        try:
            with inside_network(self.network):
                yield
        finally:
            os.environ.pop("OS_CLIENT_CONFIG_FILE", None)
            if before is not None:
                os.environ["OS_CLIENT_CONFIG_FILE"] = before

    def plan(self, *faults: dict[str, object]) -> None:
        """Plan how the next instances fail; scripts/cloud/faults.py says what there is."""
        new = self.folder / "plane/faults.json.test"
        new.write_text(json.dumps(faults))
        new.replace(self.folder / "plane/faults.json")

    def refuse(self, service: str, method: str, path: str, **more: Any) -> None:
        """Plan what happens to requests; see `Refusal`."""
        self.proxies[service].refusals.append(Refusal(method, path, **more))

    def asked(self, service: str, pattern: str) -> int:
        """Count the requests so far that match, as "POST /v2.1/servers"."""
        return sum(bool(re.search(pattern, one)) for one in self.proxies[service].seen)

    def servers(self) -> list[Any]:
        """List the instances of all projects."""
        return list(self.admin.compute.servers(all_projects=True))

    def left(self) -> list[str]:
        """List everything that can be left behind in the cloud, and on this machine for it."""
        user = self.user
        found = [f"server {one.name}" for one in self.servers()]
        found += [f"port {one.name or one.id}" for one in self.admin.network.ports()]
        found += [f"key pair {one.name}" for one in user.compute.keypairs()]
        found += [f"server group {one.name}" for one in user.compute.server_groups()]
        return found

    @cached_property
    def user(self) -> Any:
        """The cloud as its user sees it."""
        return connect("bareline", None)

    def kill(self, server: str) -> None:
        """Let the machine behind an instance die; the cloud does not notice."""
        pid = int((self.folder / "plane/hosts" / server / "pid").read_text())
        os.kill(pid, signal.SIGKILL)

    def machines(self) -> list[str]:
        """List what stands on this machine for instances."""
        folder = self.folder / "plane/hosts"
        return [one.name for one in folder.iterdir()] if folder.exists() else []

    def clear(self) -> None:
        """Forget every plan, and remove what is left."""
        self.plan()
        for one in self.proxies.values():
            one.refusals.clear()
            one.seen.clear()
        for server in self.servers():
            self.admin.compute.delete_server(server, force=True)
            self.admin.compute.wait_for_delete(server, interval=0.2)
        for port in self.admin.network.ports():
            self.admin.network.delete_port(port)
        for key in self.user.compute.keypairs():
            self.user.compute.delete_keypair(key)
        for group in self.user.compute.server_groups():
            self.user.compute.delete_server_group(group)


@contextmanager
def openstack_plane(*options: str) -> Iterator[Plane]:
    """Bring a cloud up; `options` as of scripts/cloud."""
    with ExitStack() as stack:
        name = stack.enter_context(tempfile.TemporaryDirectory(prefix="bl-test-", dir="/tmp"))
        folder = Path(name)
        network = stack.enter_context(_own_network())
        with inside_network(network):
            subprocess.run(["ip", "link", "set", "lo", "up"], check=True)
            stack.enter_context(_running([*CLOUD, str(folder / "plane"), *options]))
            proxies = _write_clouds(folder, stack)
        plane = Plane(folder, network, proxies)
        with plane.inside():
            yield plane


def _write_clouds(folder: Path, stack: ExitStack) -> dict[str, Proxy]:
    """Write a `clouds.yaml` that leads the user through proxies."""
    clouds = yaml.safe_load((folder / "plane/clouds.yaml").read_text())
    ports = json.loads((folder / "plane/ports.json").read_text())
    proxies = {kind: stack.enter_context(proxy(ports[kind])) for kind in _PROXIED}
    for kind, path in _PROXIED.items():
        port = proxies[kind].server_address[1]
        clouds["clouds"]["bareline"][f"{kind}_endpoint_override"] = f"http://127.0.0.1:{port}{path}"
    (folder / "clouds.yaml").write_text(yaml.safe_dump(clouds))
    return proxies


@contextmanager
def _own_network() -> Iterator[int]:
    argv = [*_ENDS_WITH_US, "unshare", "--net", "sh", "-c", "echo up; exec sleep infinity"]
    with _until_told(argv) as (process, _):
        yield process.pid


@contextmanager
def _running(argv: Sequence[str]) -> Iterator[None]:
    with _until_told(argv) as (_, said):
        assert said.endswith("clouds.yaml\n"), said
        yield


@contextmanager
def _until_told(argv: Sequence[str]) -> Iterator[tuple[subprocess.Popen[str], str]]:
    """Start a program, wait for its first line, and end it at the end."""
    process = subprocess.Popen(argv, stdout=subprocess.PIPE, stdin=subprocess.DEVNULL, text=True)
    try:
        assert process.stdout is not None
        with process.stdout:
            yield process, process.stdout.readline()
    finally:
        process.terminate()
        process.wait()
