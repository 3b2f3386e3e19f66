"""Instances in use: measured over ssh as any hosts, and replaced where they die."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager, ExitStack

from bareline.platforms.base import Allocation
from bareline.platforms.cloud.access import Access
from bareline.platforms.cloud.budget import Budget, CloudOptions
from bareline.platforms.cloud.group import Group
from bareline.platforms.ssh.allocation import SshAllocation
from bareline.vocabulary.errors import PlatformError, TimeUp, ToolMissing
from bareline.vocabulary.model import Command, Layout, Output, Scalar
from bareline.vocabulary.nodeset import nodes_text

_TRIES = 2
#: Writes a file of the folder $1, its name $2, from standard input.
_WRITE = 'umask 077 && mkdir -p -- "$1" && cat >"$1/$2"'


class CloudAllocation(Allocation):
    """Instances, and the hosts of an `SshAllocation` that they are.

    - `group`: the instances, up.
    - `hosts_of`: opens the connections to all of them.
    - `inner`: folder of the instances for the keys with which the first logs in to the others.
    - `told`: sentences about what happened to instances, added to by the group.
    - `about`: facts of what they are made of.
    """

    def __init__(
        self,
        group: Group,
        access: Access,
        budget: Budget,
        options: CloudOptions,
        *,
        hosts_of: Callable[[], AbstractContextManager[SshAllocation]],
        inner: str,
        told: list[str],
        about: Mapping[str, Scalar],
    ) -> None:
        self._group = group
        self._access = access
        self._budget = budget
        self._options = options
        self._hosts_of = hosts_of
        self._inner = inner
        self._told = told
        self._about = dict(about)
        self._stack = ExitStack()
        self.hosts = self._open()

    def _open(self) -> SshAllocation:
        """Connect to the instances, and let the first one log in to the others."""
        hosts = self._stack.enter_context(self._hosts_of())
        if len(hosts.nodes) > 1 and self._options.launcher == "first":
            for name, text in self._access.inner_files(self._inner).items():
                done = hosts.on_node(0, ["sh", "-c", _WRITE, "sh", self._inner, name], stdin=text)
                done.must(f"{name} cannot be written", where=hosts.nodes[0].name)
        return hosts

    def close(self) -> None:
        """End the connections; idempotent."""
        self._stack.close()

    @property
    def cores(self) -> int:
        """Cores of all instances."""
        return self.hosts.cores

    def run(self, command: Command, layout: Layout, *, timeout_s: float) -> Output:
        """Execute a command; where an instance dies meanwhile, again once it is replaced.

        Raises TimeUp: the instances have cost what they may.
        """
        for attempt in range(1, _TRIES + 1):
            self._budget.see()
            try:
                return self.hosts.run(command, layout, timeout_s=timeout_s)
            except (TimeUp, ToolMissing):
                raise
            except PlatformError as error:
                if attempt == _TRIES or not self._replace_lost():
                    raise
                self._told.append(f"the trial is repeated: {error}")
        raise AssertionError("unreachable")

    def _replace_lost(self) -> bool:
        """Bring others up in the place of instances that died; tell whether any did."""
        lost = self._group.lost()
        if not lost:
            return False
        self._stack.close()
        self._group.replace(lost)
        names = nodes_text([member.name for member, _ in lost])
        self._told.append(f"{names}: replaced by {'others' if len(lost) > 1 else 'another'}")
        self.hosts = self._open()
        return True

    def caveats(self, layout: Layout) -> tuple[str, ...]:
        """Name oversubscription, and instances that share one machine."""
        hosts = [member.instance.host for member in self._group.members if member.instance]
        used = [host for host in hosts[: layout.nodes] if host]
        shared = ("shared-host",) if len(set(used)) < len(used) else ()
        return (*self.hosts.caveats(layout), *shared)

    def prepare(self, command: Command) -> None:
        """Build bareline's own programs where a command needs them."""
        self.hosts.prepare(command)

    def sha256_of(self, path: str) -> str:
        """Give the checksum of a file on the first instance; "" where that is none."""
        return self.hosts.sha256_of(path)

    def helpers_s(self) -> float | None:
        """Tell that this machine's load says nothing about the instances'."""
        return self.hosts.helpers_s()

    def events(self) -> tuple[str, ...]:
        """Tell what happened to instances since the last call."""
        told, self._told[:] = tuple(self._told), []
        return (*told, *self.hosts.events())

    def facts(self) -> Mapping[str, Scalar]:
        """Describe the instances, where they are and how they came up."""
        return {**self.hosts.facts(), **self._about, **self._places()}

    def _places(self) -> dict[str, Scalar]:
        members = [one for one in self._group.members if one.instance is not None]
        on = {one.name: one.instance.host for one in members if one.instance and one.instance.host}
        zones = sorted({one.instance.zone for one in members if one.instance and one.instance.zone})
        facts: dict[str, Scalar] = {
            "cloud.instances": len(members),
            "cloud.active_s": round(max(one.active_s for one in members), 3),
            "cloud.ssh_s": round(max(one.reach_s for one in members), 3),
            "cloud.retries": self._group.retries,
        }
        if on:
            facts["cloud.host_ids"] = "; ".join(f"{name}: {host}" for name, host in on.items())
            facts["cloud.hosts"] = len(set(on.values()))
        if zones:
            facts["cloud.zone"] = ", ".join(zones)
        return facts
