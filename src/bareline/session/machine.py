"""The machine on which a session of a run measures, compared with the previous machine.

An interrupted run may be continued on a machine with another processor, kernel, MPI library, host
or version of bareline. Values under one name would then come from two machines. So each platform
that starts is compared with earlier sessions. A different machine is refused or, with ``--anyway``,
its launches become separate cases.
"""

from __future__ import annotations

import platform
import socket
from collections import defaultdict
from collections.abc import Callable, Collection, Iterator, Mapping
from contextlib import suppress
from dataclasses import replace
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

from bareline import __version__
from bareline.store.run import Run
from bareline.store.run_files import FIRST, Session, now
from bareline.vocabulary.errors import OtherMachine, StoreError
from bareline.vocabulary.facts import split_nodes
from bareline.vocabulary.model import Record, Scalar
from bareline.vocabulary.nodeset import fold


def versions() -> dict[str, str]:
    """Return the present versions of bareline, Python and libraries, by name."""
    in_use = {"bareline": __version__, "python": platform.python_version()}
    for library in ("polars", "numpy", "pydantic"):
        with suppress(PackageNotFoundError):
            in_use[library] = version(library)
    return in_use


#: The properties that must be the same, by their names for people, and the facts that have them.
_PROPERTIES: Mapping[str, tuple[str, ...]] = {
    "processor": ("cpu.model",),
    "kernel": ("kernel.release",),
    "MPI": ("mpi.flavour", "mpi.version"),
    "host": ("node.name",),
}

#: The values of all nodes by owner (a platform, "" for bareline itself) and name of the property.
_Description = dict[tuple[str, str], tuple[str, ...]]


class Machine:
    """The machine on which a session of a run measures.

    - `anyway`: whether to continue on another machine; its launches are kept separate.
    - `tell`: called with a platform and the change of machine that its facts show.
    """

    def __init__(self, run: Run, tell: Callable[[str, str], None], *, anyway: bool = False) -> None:
        self._run = run
        self._tell = tell
        self._anyway = anyway
        self._session: Session | None = None
        self._is_written = False
        self._now: _Description = {}
        self._before: dict[int, _Description] = {}
        self._last = FIRST
        self._newest = 0
        self._highest = 0

    @property
    def session(self) -> int:
        """The number of the session; 1 before it has begun."""
        return FIRST if self._session is None else self._session.number

    @property
    def number(self) -> int:
        """The number of the machine among the machines of the run."""
        return self._last

    def remember(self, records: Collection[Record]) -> None:
        """Read which sessions measured before, and on which machines."""
        sessions = self._run.sessions()
        used = sorted({record.session for record in records})
        for number in used:
            session = sessions.get(number) or Session(
                number=number, started="", versions=self._run.header.versions, host={}
            )
            self._last = session.machine
            description = self._before.setdefault(session.machine, {})
            description |= {**_bareline(session.versions), **_host(session.host)}
            with suppress(StoreError):  # its reader reports a damaged file
                for name, facts in self._run.facts_of(number).items():
                    description |= _platform(name, facts)
        self._newest = max(used, default=0)
        machines = {session.machine for session in sessions.values()}
        self._highest = max(machines.union(self._before), default=0)

    def begin(self) -> None:
        """Begin the session at its first trial.

        Raises OtherMachine: another version of bareline measured the earlier trials.
        """
        if self._session is None:
            self._open({})
            self._decide("")

    def check_unchanged(
        self, name: str, facts: Mapping[str, Scalar], *, here: bool, named: bool
    ) -> None:
        """Compare the facts of a started platform with its earlier facts in this run.

        - `here`: the platform is on bareline's own machine.
        - `named`: the platform always has the same nodes, so that their names are compared.

        Raises OtherMachine: the platform is on another machine.
        """
        assert self._session is not None, "meet before begin()"
        description = _platform(name, facts, named=named)
        if here:
            description |= _host(self._session.host)
        if any(_differences(self._now, description)):
            # It came up again in this session as another machine, when the user cannot be asked.
            self._anyway = True
            self._before[self._last] = self._now
            self._open(description)
        self._now |= description
        self._decide(name)
        self.keep()

    def keep(self) -> None:
        """Write the session to the run, before the first record that refers to it."""
        if self._session is not None and not self._is_written:
            self._run.write_session(self._session)
            self._is_written = True

    def _open(self, description: _Description) -> None:
        """Begin a session on a machine with this description."""
        self._newest += 1
        today = versions()
        self._session = Session(
            number=self._newest,
            machine=self._last,
            started=now(),
            versions=today,
            host=host_of_today(),
        )
        self._is_written = False
        self._now = {**_bareline(today), **description}

    def _decide(self, name: str) -> None:
        """Find this machine among the machines of the run, or add it if `anyway` allows that.

        - `name`: the platform that has started.
        """
        if not self._before:
            return
        for number in sorted(self._before, key=lambda number: number != self._last):
            if not any(_differences(self._before[number], self._now)):
                if number != self._last:
                    self._move(number, name, ())
                return
        differs = tuple(_differences(self._before[self._last], self._now))
        if not self._anyway:
            raise OtherMachine(
                f"this machine is not the one that the run was measured on: {'; '.join(differs)}",
                where=str(self._run.path),
                hint="continue the run on that machine, or add --anyway: the launches of the "
                "two machines are kept apart, and "
                "every figure says so",
            )
        self._highest = max(self._highest, self._last) + 1
        self._before[self._highest] = self._now  # it grows with each platform that comes up
        self._move(self._highest, name, differs)

    def _move(self, machine: int, name: str, differs: tuple[str, ...]) -> None:
        assert self._session is not None
        self._session = replace(self._session, machine=machine, differs=differs)
        self._last = machine
        self._is_written = False
        self.keep()
        reason = "; ".join(differs) or "on which it was measured before"
        self._tell(name or self._run.header.baseline, f"goes on on machine {machine}: {reason}")


def _bareline(versions: Mapping[str, str]) -> _Description:
    number = versions.get("bareline")
    if not number:
        return {}
    return {("", "bareline"): (number,)}


def _host(host: Mapping[str, str]) -> _Description:
    description: _Description = {}
    for name, value in host.items():
        if name == "boot":
            continue
        title = "host" if name == "name" else f"{name} of the host"
        description["", title] = (value,)
    return description


def _platform(name: str, facts: Mapping[str, Scalar], *, named: bool = True) -> _Description:
    """Return a description of a platform, made from the facts of all its nodes.

    A property with a missing fact is left out.
    """
    description: _Description = {}
    values_of_nodes: dict[str, set[str]] = defaultdict(set)
    for key, value in facts.items():
        _, fact = split_nodes(key)
        values_of_nodes[fact].add(str(value))
    for title, keys in _PROPERTIES.items():
        if title == "host" and not named:
            continue
        join = fold if title == "host" else " and ".join
        values = tuple(join(sorted(values_of_nodes[key])) for key in keys)
        if all(values):
            description[name, title] = values
    return description


def _differences(before: _Description, today: _Description) -> Iterator[str]:
    """Yield a sentence for each property that differs; properties not in `before` are ignored."""
    reported = set()
    for (name, title), value in today.items():
        earlier = before.get((name, title), value)
        # A platform that runs here repeats the difference of bareline's own host.
        if earlier != value and (earlier, value) not in reported:
            reported.add((earlier, value))
            full_title = f"{title} of {name}" if name else title
            yield f"{full_title} was {' '.join(earlier)}, is {' '.join(value)}"


def host_of_today() -> dict[str, str]:
    """Return the name, processor, kernel and boot of the machine that bareline runs on."""
    host = {
        "name": socket.gethostname(),
        "processor": _line("/proc/cpuinfo", "model name"),
        "kernel": platform.release(),
        "boot": _line("/proc/sys/kernel/random/boot_id"),
    }
    return {name: value for name, value in host.items() if value}


def _line(file: str, key: str = "") -> str:
    """Return the first line of a file, or the value in the first line that begins with `key`."""
    try:
        with Path(file).open(encoding="utf-8", errors="replace") as lines:
            line = next((line for line in lines if line.startswith(key)), "")
    except OSError:
        return ""
    if not key:
        return line.strip()
    _, _, value = line.partition(":")
    return value.strip()
