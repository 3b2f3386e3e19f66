"""What platform types of clouds have in common: how their instances come and go."""

from __future__ import annotations

import time
from abc import abstractmethod
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, ExitStack, contextmanager

from typing_extensions import TypeVar

from bareline.host.cache import cache_folder
from bareline.host.owner import owner_mark
from bareline.host.tools import require
from bareline.platforms.cloud import remains
from bareline.platforms.cloud.access import Access
from bareline.platforms.cloud.allocation import CloudAllocation
from bareline.platforms.cloud.budget import Budget, CloudOptions
from bareline.platforms.cloud.group import Group
from bareline.platforms.cloud.journal import Journal
from bareline.platforms.cloud.provider import Provider, Steward
from bareline.platforms.remote.allocation import RemoteAllocation, RemotePlatform
from bareline.platforms.ssh.allocation import SshAllocation
from bareline.platforms.ssh.options import ReachedOptions, SshOptions
from bareline.platforms.ssh.platform import SshPlatform
from bareline.vocabulary.model import Layout
from bareline.vocabulary.platform import PlatformSpec

C_co = TypeVar("C_co", bound=CloudOptions, default=CloudOptions, covariant=True)


class CloudPlatform(RemotePlatform[C_co]):
    """Instances of a cloud; a type of cloud says who makes them."""

    boots = True
    borrows = True

    # What a type of cloud must say -------------------------------------------------------------

    @classmethod
    @abstractmethod
    def account(cls, options: C_co) -> Mapping[str, str]:  # type: ignore[misc]
        """Say how the cloud is reached, without any secret."""

    @classmethod
    @abstractmethod
    def steward(cls, account: Mapping[str, str]) -> Steward:
        """Reach a cloud to find and remove things."""

    @abstractmethod
    def provider(self) -> Provider:
        """Reach the cloud to make what the options ask for."""

    # What is then the same for all -------------------------------------------------------------

    @classmethod
    def check(cls, spec: PlatformSpec[C_co]) -> None:
        """See that ssh is here; a cloud is only asked when it is used."""
        require("ssh")

    def hosts_of(self, nodes: CloudAllocation) -> RemoteAllocation:
        """Give the hosts that the instances are."""
        return nodes.hosts

    @classmethod
    def clean(cls) -> list[str]:
        """Remove what killed barelines left in the clouds that were used from here."""
        return remains.clean(cache_folder(), cls.type_name, cls.steward)

    @classmethod
    def running(cls, spec: PlatformSpec[C_co]) -> str:
        """Say what barelines of this machine have in the cloud for a platform, and since when."""
        now = time.time()
        stories = remains.running(cache_folder(), spec.name)
        return "; ".join(remains.told(story, now) for story in stories if story.kind == spec.type)

    @contextmanager
    def acquire(self, layout: Layout) -> Iterator[CloudAllocation]:
        """Make the instances that the layout needs, and remove them on every exit."""
        options, cache = self.spec.options, self.context.cache
        count = max(1, layout.nodes)
        account = self.account(options)
        told: list[str] = []
        with ExitStack() as stack:
            with self.starting(layout):
                provider = self.provider()
                remains.remember(cache, self.type_name, account)
                told += remains.clean(cache, self.type_name, lambda _: provider, only=account)
                budget = Budget(self.spec.name, options)
                access = Access(self.context.scratch / "access", options)
                journal = Journal(cache, self.type_name, self.spec.name, account)
                group = Group(provider, options, journal, access, budget, told.append)
                stack.callback(group.release)
                group.start(count)
                inner = f"{options.folder}/bareline-{owner_mark()}-access"
                allocation = CloudAllocation(
                    group,
                    access,
                    budget,
                    options,
                    hosts_of=self._hosts_of(access, count, inner),
                    inner=inner,
                    told=told,
                    about=provider.facts(),
                )
                stack.callback(allocation.close)
            yield allocation

    def _hosts_of(
        self, access: Access, count: int, inner: str
    ) -> Callable[[], AbstractContextManager[SshAllocation]]:
        """Give what opens connections to instances: a platform of type ``ssh`` of its own."""
        options = self.spec.options
        same = {name: getattr(options, name) for name in ReachedOptions.model_fields}
        spec = PlatformSpec(
            self.spec.name,
            SshPlatform.type_name,
            SshOptions(
                **same,
                hosts=tuple(f"n{number}" for number in range(1, count + 1)),
                config=access.config,
                agent=f"ssh -F {inner}/config",
            ),
        )
        return lambda: SshPlatform(spec, self.context).acquire(Layout(count))
