"""A control plane of OpenStack in one folder: its processes, from the first to the last."""

from __future__ import annotations

import contextlib
import ctypes
import os
import signal
import socket
import sys
import traceback
from collections.abc import Callable, Sequence
from pathlib import Path

import eventlet

eventlet.monkey_patch()

import services  # noqa: E402 - what it imports must be patched
import settings  # noqa: E402
from eventlet import patcher, wsgi  # noqa: E402
from settings import Place  # noqa: E402

_PR_SET_PDEATHSIG = 1
#: The first process has no green threads: it waits as any other program does.
_clock = patcher.original("time")
#: Which interfaces a process has.
_PROCESSES = {
    services.keystone: ("identity",),
    services.glance: ("image",),
    services.neutron: ("network",),
    services.nova: ("placement", "compute"),
}
#: Everyone needs these; imported once, before the processes part.
_SHARED = (
    *("sqlalchemy.orm", "oslo_db.sqlalchemy.enginefacade", "oslo_messaging", "oslo_policy.policy"),
    *("oslo_log.log", "oslo_service.service", "keystonemiddleware.auth_token", "webob"),
    *("oslo_middleware", "keystoneauth1.session", "stevedore", "paste.deploy", "jsonschema"),
)


def die_with_parent(parent: int, signal_number: int = signal.SIGKILL) -> None:
    """Let this process get a signal when the one that started it ends, however that ends."""
    ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal_number)
    if os.getppid() != parent:  # it ended before it was asked for
        os.kill(os.getpid(), signal_number)


def start(
    folder: Path, *, subnet: str, computes: int, quota: int, guests: Path | None
) -> tuple[Place, list[int]]:
    """Start every process; give where they are, and their numbers."""
    sockets = {kind: _listen() for kind in settings.PATHS}
    ports = {kind: one.getsockname()[1] for kind, one in sockets.items()}
    names = tuple(f"compute{number + 1}" for number in range(computes))
    place = Place(folder, ports, subnet, names, quota, guests)
    settings.write(place)
    sys.path.insert(0, str(_entry_points(folder)))
    for name in _SHARED:
        __import__(name)
    children, own = [], os.getpid()
    for service, kinds in _PROCESSES.items():
        child = os.fork()
        if child == 0:
            die_with_parent(own)
            eventlet.hubs.use_hub()  # else processes would be woken by each other's sockets
            _run(service, place, {kind: sockets[kind] for kind in kinds})
        children.append(child)
    for one in sockets.values():
        one.close()
    return place, children


def wait_ready(place: Place, children: Sequence[int], limit_s: float) -> None:
    """Wait until every interface answers, or leave with what a service said last."""
    deadline = _clock.monotonic() + limit_s
    while not all(place.file(f"{kind}.ready").exists() for kind in settings.PATHS):
        ended = _one_that_ended(children)
        if ended or _clock.monotonic() > deadline:
            raise SystemExit(_last_words(place, ended))
        _clock.sleep(0.05)


def wait_until_told(children: Sequence[int]) -> int:
    """Wait for a signal to end, which is no failure, or for a service that ends, which is one."""
    told = []
    for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
        signal.signal(number, lambda *_: told.append(True))
    while not told:
        if _one_that_ended(children):
            return 1
        _clock.sleep(0.2)
    return 0


def end(children: Sequence[int]) -> None:
    """Kill every process of this control plane: nothing of it is to be kept."""
    for child in children:
        with contextlib.suppress(ProcessLookupError):
            os.kill(child, signal.SIGKILL)
    for child in children:
        with contextlib.suppress(ChildProcessError):
            os.waitpid(child, 0)


def _one_that_ended(children: Sequence[int]) -> int:
    for child in children:
        with contextlib.suppress(ChildProcessError):
            if os.waitpid(child, os.WNOHANG)[0]:
                return child
    return 0


def _last_words(place: Place, child: int) -> str:
    said = [f"cloud: process {child} ended" if child else "cloud: not every service answers"]
    for file in sorted(place.file("log").glob("*.out")):
        said += [f"{file}:", *file.read_text().splitlines()[-5:]]
    return "\n".join(said)


def _run(service: Callable, place: Place, sockets: dict[str, socket.socket]) -> None:
    name = service.__name__
    sys.argv = [name]  # the services read options there
    try:
        log = os.open(place.file(f"log/{name}.out"), os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
        for stream in (1, 2):
            os.dup2(log, stream)
        servers = []
        for kind, application in service(place):
            listener = eventlet.greenio.GreenSocket(sockets[kind])
            servers.append(eventlet.spawn(wsgi.server, listener, application, log_output=False))
            place.file(f"{kind}.ready").touch()
        for server in servers:
            server.wait()
    except BaseException:
        traceback.print_exc()
    os._exit(1)


def _listen() -> socket.socket:
    return socket.create_server(("127.0.0.1", 0), backlog=128)


def _entry_points(folder: Path) -> Path:
    """Describe to stevedore where the driver of networks is, as an installed package would."""
    packages = folder / "packages"
    described = packages / "bareline_cloud-1.dist-info"
    described.mkdir(parents=True)
    (described / "METADATA").write_text("Metadata-Version: 2.1\nName: bareline-cloud\nVersion: 1\n")
    (described / "entry_points.txt").write_text(
        "[neutron.ml2.mechanism_drivers]\nhere = binding:HereDriver\n"
    )
    return packages
