"""The machine that a session of a run measures on: whether it is the one of before.

A run that was killed may be continued where something else answers to its platforms' names: another
processor, kernel or MPI library, another host, another bareline. What came of that would be one
figure of two machines. So a session is held against the sessions before it, at each platform that
comes up; what differs is refused, or, where it was asked for, kept apart.
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
from bareline.store.beside import FIRST, Session, now
from bareline.store.run import Run
from bareline.vocabulary.errors import OtherMachine, StoreError
from bareline.vocabulary.facts import split_nodes
from bareline.vocabulary.model import Record, Scalar
from bareline.vocabulary.nodeset import fold


def versions() -> dict[str, str]:
    """Return the versions that measure today, by name."""
    found = {"bareline": __version__, "python": platform.python_version()}
    for library in ("polars", "numpy", "pydantic"):
        with suppress(PackageNotFoundError):
            found[library] = version(library)
    return found


#: What must be the same, by its name for people, and the facts that tell it.
_ASKED: Mapping[str, tuple[str, ...]] = {
    "processor": ("cpu.model",),
    "kernel": ("kernel.release",),
    "MPI": ("mpi.flavour", "mpi.version"),
    "host": ("node.name",),
}

#: By what it is of (a platform, "" for bareline itself) and its name, all that the nodes say.
_Description = dict[tuple[str, str], tuple[str, ...]]


class Machine:
    """Where a session of a run measures.

    - `anyway`: go on on another machine, too: its launches are kept apart.
    - `tell`: called with what happened, and the platform that it is about.
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
        """Number of the session; 1 before it has begun."""
        return FIRST if self._session is None else self._session.number

    @property
    def number(self) -> int:
        """Number of the machine."""
        return self._last

    def remember(self, records: Collection[Record]) -> None:
        """Learn which sessions measured before, and on what."""
        known = self._run.sessions()
        used = sorted({record.session for record in records})
        for number in used:
            session = known.get(number) or Session(
                number=number, started="", versions=self._run.header.versions, host={}
            )
            self._last = session.machine
            described = self._before.setdefault(session.machine, {})
            described |= {**_bareline(session.versions), **_host(session.host)}
            with suppress(StoreError):  # a damaged file says nothing; whoever reads it is told
                for name, facts in self._run.facts_of(number).items():
                    described |= _platform(name, facts)
        self._newest = max(used, default=0)
        self._highest = max([*self._before, *(one.machine for one in known.values()), 0])

    def begin(self) -> None:
        """Begin the session at its first trial; raises OtherMachine: another bareline measured."""
        if self._session is None:
            self._open({})
            self._decide("")

    def meet(self, name: str, facts: Mapping[str, Scalar], *, here: bool, named: bool) -> None:
        """Hold a platform that came up against what it was.

        - `here`: on bareline's own machine; `named`: always on the same nodes, by their names.

        Raises OtherMachine: it is another one.
        """
        assert self._session is not None, "meet before begin()"
        found = _platform(name, facts, named=named)
        if here:
            found |= _host(self._session.host)
        if any(_differences(self._now, found)):
            # It came up anew within this session and is another one: nobody can be asked.
            self._anyway = True
            self._before[self._last] = self._now
            self._open(found)
        self._now |= found
        self._decide(name)
        self.keep()

    def keep(self) -> None:
        """Write the session down, before the first record that names it."""
        if self._session is not None and not self._is_written:
            self._run.write_session(self._session)
            self._is_written = True

    def _open(self, found: _Description) -> None:
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
        self._now = {**_bareline(today), **found}

    def _decide(self, name: str) -> None:
        """Find the machine that this is; the one of before goes before all others."""
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
                f"this is not what it was measured on: {'; '.join(differs)}",
                where=str(self._run.path),
                hint="continue it there; with --anyway the launches of both are kept apart, and "
                "every figure says so",
            )
        self._highest = max(self._highest, self._last) + 1
        self._before[self._highest] = self._now  # it grows with what comes up
        self._move(self._highest, name, differs)

    def _move(self, machine: int, name: str, differs: tuple[str, ...]) -> None:
        assert self._session is not None
        self._session = replace(self._session, machine=machine, differs=differs)
        self._last = machine
        self._is_written = False
        self.keep()
        what = "; ".join(differs) or "on which it was measured before"
        self._tell(name or self._run.header.baseline, f"goes on on machine {machine}: {what}")


def _bareline(of: Mapping[str, str]) -> _Description:
    known = of.get("bareline")
    return {("", "bareline"): (known,)} if known else {}


def _host(host: Mapping[str, str]) -> _Description:
    return {
        ("", "host" if name == "name" else f"{name} of the host"): (value,)
        for name, value in host.items()
        if name != "boot"
    }


def _platform(name: str, facts: Mapping[str, Scalar], *, named: bool = True) -> _Description:
    """Describe what a platform is by the facts of all its nodes.

    A fact that is missing says nothing.
    """
    found: _Description = {}
    said: dict[str, set[str]] = defaultdict(set)  # by all nodes
    for key, value in facts.items():
        said[split_nodes(key)[1]].add(str(value))
    for what, keys in _ASKED.items():
        join = fold if what == "host" else " and ".join
        values = tuple(join(sorted(said[key])) for key in keys)
        if all(values) and (named or what != "host"):
            found[name, what] = values
    return found


def _differences(before: _Description, today: _Description) -> Iterator[str]:
    """Say, each in words, what is other than it was; what one of them does not know is not."""
    said = set()
    for (name, what), value in today.items():
        known = before.get((name, what), value)
        # A platform that runs here says of its host what bareline says.
        if known != value and (known, value) not in said:
            said.add((known, value))
            whose = f" of {name}" if name else ""
            yield f"{what}{whose} was {' '.join(known)}, is {' '.join(value)}"


def host_of_today() -> dict[str, str]:
    """Return what a session says of the machine that bareline runs on: name, processor, kernel."""
    found = {
        "name": socket.gethostname(),
        "processor": _line("/proc/cpuinfo", "model name"),
        "kernel": platform.release(),
        "boot": _line("/proc/sys/kernel/random/boot_id"),
    }
    return {name: value for name, value in found.items() if value}


def _line(file: str, key: str = "") -> str:
    """Return the first line of a file, or what follows a key in the first that begins with it."""
    try:
        with Path(file).open(encoding="utf-8", errors="replace") as lines:
            line = next((line for line in lines if line.startswith(key)), "")
    except OSError:
        return ""
    return line.partition(":")[2].strip() if key else line.strip()
