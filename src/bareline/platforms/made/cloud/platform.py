"""Common parts of the cloud platform types: creation, use, replacement, removal of instances."""

from __future__ import annotations

import time
from abc import abstractmethod
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, ExitStack, contextmanager

from typing_extensions import TypeVar

from bareline.host.cache import cache_folder
from bareline.host.owner import owner_mark
from bareline.host.tools import require
from bareline.platforms.base import Allocation
from bareline.platforms.hosts.nodes import run_repaired
from bareline.platforms.made.cloud import journal
from bareline.platforms.made.cloud.budget import CloudOptions
from bareline.platforms.made.cloud.group import Access, InstanceGroup
from bareline.platforms.made.cloud.provider import AccountCleaner, Provider
from bareline.platforms.reached.remote.allocation import RemoteAllocation, RemotePlatform
from bareline.platforms.reached.ssh.options import ReachedOptions, SshOptions
from bareline.platforms.reached.ssh.platform import SshAllocation, SshPlatform
from bareline.vocabulary.errors import PlatformError
from bareline.vocabulary.model import Command, Layout, Output, Scalar
from bareline.vocabulary.nodeset import nodes_text
from bareline.vocabulary.platform import PlatformSpec

#: Writes a file of the folder $1, its name $2, from standard input.
_WRITE = 'umask 077 && mkdir -p -- "$1" && cat >"$1/$2"'


class CloudAllocation(Allocation):
    """Instances in use, operated as the hosts of an `SshAllocation`.

    - `inner`: folder of the instances for the keys with which the first instance logs in to the
      other instances.
    """

    def __init__(
        self,
        group: InstanceGroup,
        hosts_of: Callable[[], AbstractContextManager[SshAllocation]],
        inner: str,
        events: list[str],
        about: Mapping[str, Scalar],
    ) -> None:
        self._group = group
        self._hosts_of = hosts_of
        self._inner = inner
        self._events = events
        self._about = about
        self._stack = ExitStack()
        self.hosts = self._open()

    def _open(self) -> SshAllocation:
        """Connect to the instances, and enable logins from the first instance to the rest."""
        hosts = self._stack.enter_context(self._hosts_of())
        if len(hosts.nodes) > 1 and self._group.options.launcher == "first":
            for name, text in self._group.access.inner_files(self._inner).items():
                ended = hosts.on_node(0, ["sh", "-c", _WRITE, "sh", self._inner, name], stdin=text)
                ended.require_success(
                    f"the file {name} cannot be written on the node", where=hosts.nodes[0].name
                )
        return hosts

    def close(self) -> None:
        """Close the connections; idempotent."""
        self._stack.close()

    @property
    def cores(self) -> int:
        return self.hosts.cores

    def run(self, command: Command, layout: Layout, *, timeout_s: float) -> Output:
        """Execute a command, and repeat it if an instance was lost.

        Raises TimeUp: the budget is used up.
        """

        def once() -> Output:
            self._group.budget.see()
            return self.hosts.run(command, layout, timeout_s=timeout_s)

        return run_repaired(once, self._replace_lost)

    def _replace_lost(self, error: PlatformError) -> bool:
        lost = self._group.lost()
        if not lost:
            return False
        self.close()
        self._group.replace(lost)
        names = nodes_text([member.name for member, _ in lost])
        self._events.append(f"{names}: replaced by {'others' if len(lost) > 1 else 'another'}")
        self.hosts = self._open()
        self._events.append(f"the trial is repeated: {error}")
        return True

    def caveats(self, layout: Layout) -> tuple[str, ...]:
        hosts = [member.instance.host for member in self._group.members if member.instance]
        used = [host for host in hosts[: layout.nodes] if host]
        shared = ("shared-host",) if len(set(used)) < len(used) else ()
        return (*self.hosts.caveats(layout), *shared)

    def prepare(self, command: Command) -> None:
        self.hosts.prepare(command)

    def sha256_of(self, path: str) -> str:
        return self.hosts.sha256_of(path)

    def helpers_s(self) -> float | None:
        return self.hosts.helpers_s()

    def events(self) -> tuple[str, ...]:
        events = tuple(self._events)
        self._events[:] = []
        return (*events, *self.hosts.events())

    def facts(self) -> Mapping[str, Scalar]:
        return {**self.hosts.facts(), **self._about, **self._group.facts()}


C_co = TypeVar("C_co", bound=CloudOptions, default=CloudOptions, covariant=True)


class CloudPlatform(RemotePlatform[C_co]):
    """A platform of cloud instances; a subclass for a kind of cloud sets the provider."""

    boots = True
    borrows = True

    @classmethod
    @abstractmethod
    def account(cls, options: C_co) -> Mapping[str, str]:  # type: ignore[misc]
        """Return the data for a new connection to the cloud, without any secret."""

    @classmethod
    @abstractmethod
    def steward(cls, account: Mapping[str, str]) -> AccountCleaner:
        """Connect to a cloud, to find and remove resources."""

    @abstractmethod
    def provider(self) -> Provider:
        """Connect to the cloud, to create the instances of the options."""

    @classmethod
    def check(cls, spec: PlatformSpec[C_co]) -> None:
        require("ssh")

    def hosts_of(self, nodes: CloudAllocation) -> RemoteAllocation:
        return nodes.hosts

    @classmethod
    def clean(cls) -> list[str]:
        return journal.clean(cache_folder(), cls.type_name, cls.steward)

    @classmethod
    def running(cls, spec: PlatformSpec[C_co]) -> str:
        return journal.running(cache_folder(), spec.type, spec.name, time.time())

    @contextmanager
    def acquire(self, layout: Layout) -> Iterator[CloudAllocation]:
        cache = self.context.cache
        count = max(1, layout.nodes)
        account = self.account(self.spec.options)
        events: list[str] = []
        with ExitStack() as stack:
            with self.starting(layout):
                provider = self.provider()
                journal.remember(cache, self.type_name, account)
                events += journal.clean(cache, self.type_name, lambda _: provider, only=account)
                group = InstanceGroup(provider, self.spec, self.context, account, events.append)
                stack.callback(group.release)
                group.start(count)
                inner = f"{self.spec.options.folder}/bareline-{owner_mark()}-access"
                hosts_of = self._hosts_of(group.access, count, inner)
                allocation = CloudAllocation(group, hosts_of, inner, events, provider.facts())
                stack.callback(allocation.close)
            yield allocation

    def _hosts_of(
        self, access: Access, count: int, inner: str
    ) -> Callable[[], AbstractContextManager[SshAllocation]]:
        options = self.spec.options
        same = {name: getattr(options, name) for name in ReachedOptions.model_fields}
        hosts = tuple(f"n{number}" for number in range(1, count + 1))
        agent = f"ssh -F {inner}/config"
        ours = SshOptions(**same, hosts=hosts, config=access.config, agent=agent)
        spec = PlatformSpec(self.spec.name, SshPlatform.type_name, ours)
        return lambda: SshPlatform(spec, self.context).acquire(Layout(count))
