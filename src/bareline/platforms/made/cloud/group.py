"""A group of instances that start at the same time and are replaced if they fail."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path

from bareline.platforms.base import Context
from bareline.platforms.hosts.nodes import bring_up
from bareline.platforms.hosts.process import run_process
from bareline.platforms.made.cloud.budget import Budget, CloudOptions
from bareline.platforms.made.cloud.journal import Journal, remove
from bareline.platforms.made.cloud.provider import (
    INSTANCE,
    BackOff,
    CloudResource,
    Instance,
    InstanceState,
    LaunchSpec,
    NoRoom,
    Provider,
    Retries,
)
from bareline.platforms.reached.remote.keys import Keys, client_config, known_hosts, make_keys
from bareline.vocabulary.errors import NotNow, PlatformError
from bareline.vocabulary.files import replace_file
from bareline.vocabulary.model import Scalar
from bareline.vocabulary.platform import PlatformSpec

#: Limit for one try of ssh: a try before the host exists must not delay the next try.
_TRY_S = 10.0
_PAUSE_S = 1.0
#: Interval of the checks of starting instances.
_LOOK_S = 1.0
#: Pauses before a failed instance is replaced.
_AGAIN = BackOff(first_s=2.0, longest_s=30.0)


class Access:
    """The ssh keys of a group of instances, and the ssh configuration for logins."""

    def __init__(self, folder: Path, options: CloudOptions) -> None:
        self._options = options
        self._folder = folder
        self.keys: Keys = make_keys(folder)
        # One key for all, made for them alone: their addresses need not be known before.
        self._known_hosts = known_hosts(self.keys, ["*"])
        replace_file(folder / "known_hosts", self._known_hosts, durable=False)
        self.config = folder / "config"
        self.addresses: dict[str, str] = {}

    def lead(self, addresses: Mapping[str, str]) -> None:
        """Write the ssh configuration that maps the instances' names to their addresses."""
        self.addresses = dict(addresses)
        text = self._config(str(self._folder))
        if self._options.jump:
            text += f"  ProxyJump {self._options.jump}\nInclude ~/.ssh/config\n"
        replace_file(self.config, text, durable=False)

    def _config(self, folder: str) -> str:
        return client_config(
            self.addresses,
            f"User {self._options.user}",
            key=f"{folder}/client",
            known=f"{folder}/known_hosts",
            pattern=" ".join(self.addresses),
        )

    def user_data(self, name: str) -> str:
        """Return the user data for cloud-init: the instance's name, host key and users."""
        keys = self.keys
        user = self._options.user
        public = keys.client_public.strip()
        account: dict[str, object] = {"name": user, "ssh_authorized_keys": [public]}
        if user != "root":
            account |= {"shell": "/bin/bash", "lock_passwd": True}
        content = {
            "hostname": name,
            "preserve_hostname": False,
            "disable_root": user != "root",
            "ssh_pwauth": False,
            "ssh_deletekeys": True,
            "ssh_keys": {"ed25519_private": keys.host, "ed25519_public": keys.host_public.strip()},
            "users": ["default", account],
        }
        return "#cloud-config\n" + json.dumps(content)

    def inner_files(self, folder: str) -> dict[str, str]:
        """Return the files with which an instance logs in to the other instances, by file name."""
        return {
            "client": self.keys.client,
            "known_hosts": self._known_hosts,
            "config": self._config(folder),
        }

    def try_once(self, name: str) -> str:
        """Try to log in once; return the reason of a failure, or ""."""
        connect_s = max(1, round(min(_TRY_S, self._options.reach_s)))
        line = ["ssh", "-F", str(self.config)]
        for option in ("BatchMode=yes", f"ConnectTimeout={connect_s}", "ControlPath=none"):
            line += ["-o", option]
        ended = run_process([*line, name, "true"], timeout_s=2 * _TRY_S)
        if ended.exit_code == 0:
            return ""
        return ended.why


@dataclass(slots=True, eq=False)
class Member:
    """A node of the platform, and the cloud instance that is this node at present.

    - `active_s`: time in s from the request to the moment when the instance ran.
    - `reach_s`: time in s from that moment to the instance's first answer over ssh.
    """

    name: str
    things: list[CloudResource] = field(default_factory=list)
    instance: Instance | None = None
    asked_at: float = 0.0
    active_s: float = 0.0
    reach_s: float = 0.0

    @property
    def thing(self) -> CloudResource:
        """The instance as a resource of the cloud."""
        return self.things[-1]

    @property
    def label(self) -> str:
        """Name of the node, with the id of its instance if there is one."""
        if not self.things:
            return self.name
        return f"{self.name} ({self.thing.id})"


class InstanceGroup:
    """The instances of a platform in use.

    - `tell`: gets a sentence about each failed attempt.
    """

    def __init__(
        self,
        provider: Provider,
        spec: PlatformSpec[CloudOptions],
        context: Context,
        account: Mapping[str, str],
        tell: Callable[[str], None],
    ) -> None:
        self._provider = provider
        self.options = spec.options
        self._tell = tell
        self.access = Access(context.scratch / "access", spec.options)
        self.budget = Budget(spec.name, spec.options)
        self._journal = Journal(context.cache, spec.type, spec.name, account)
        self.insist = Retries(tell)
        self._shared: list[CloudResource] = []
        self._attempts = 0
        self.members: list[Member] = []

    def start(self, count: int) -> None:
        """Start instances."""
        self.insist.ask("asking for quota, image and size", lambda: self._provider.check(count))
        for thing in self._provider.shared(self._journal.prefix):
            self._shared.append(self._make(thing, "", self._shared))
        self.members = [Member(f"n{number}") for number in range(1, count + 1)]
        self._fill(self.members)

    def replace(self, lost: Sequence[tuple[Member, str]]) -> None:
        """Remove lost instances, each with a reason, and start new instances in their place."""
        for member, why in lost:
            self._tell(f"{member.label} is given up: {why}")
            self._end(member)
        self._fill([member for member, _ in lost])

    def _fill(self, wanted: Sequence[Member]) -> None:
        bring_up(
            wanted,
            self._attempt,
            self._end,
            label=lambda member: member.label,
            attempts=self.options.attempts,
            tell=self._tell,
            hint="raise `attempts`, or try again when the cloud has room",
            pause=lambda failures: time.sleep(_AGAIN.own_s(failures)),
        )

    def _attempt(self, members: Sequence[Member]) -> list[tuple[Member, str]]:
        """Create an instance for each of the nodes; return the failed nodes with the reasons."""
        failed: dict[Member, str] = {}
        for step in (self._ask_for_all, self._wait_active, self._wait_reached):
            failed |= step([member for member in members if member not in failed])
        return list(failed.items())

    def _make(
        self, thing: CloudResource, user_data: str, made: Sequence[CloudResource]
    ) -> CloudResource:
        """Create a resource of the cloud.

        The journal records the resource before it is requested, and again when it exists.
        """
        launch = LaunchSpec(
            owner=self._journal.story.owner,
            public_key=self.access.keys.client_public.strip(),
            user_data=user_data,
            made=tuple(made),
        )
        self._journal.asked(thing)
        try:
            id_ = self.insist.ask(
                f"making the {thing.kind} {thing.name}",
                lambda: self._provider.create(thing, launch),
                lambda: next(iter(self._provider.find(thing)), None),
            )
        except PlatformError as error:
            # A cloud that refuses has made nothing. Without an answer, this is unknown.
            if isinstance(error, NoRoom) or not isinstance(error, NotNow):
                self._gone(thing)
            raise
        return self._journal.made(thing, id_)

    def _ask_for_all(self, members: Sequence[Member]) -> dict[Member, str]:
        failed = {}
        for member in members:
            self._attempts += 1
            # Each attempt has names of its own: a failed instance may still exist.
            prefix = f"{self._journal.prefix}-{member.name}-{self._attempts}"
            member.asked_at = time.monotonic()
            try:
                for thing in self._provider.parts(prefix):
                    if thing.kind == INSTANCE:
                        self.budget.begin(thing.name)
                    made = (*self._shared, *member.things)
                    user_data = self.access.user_data(member.name)
                    member.things.append(self._make(thing, user_data, made))
            except NoRoom as error:
                failed[member] = error.what
        return failed

    def _wait_active(self, members: Sequence[Member]) -> dict[Member, str]:
        failed = {}
        left = list(members)
        while left:
            for member in list(left):
                instance = self.look(member)
                took_s = time.monotonic() - member.asked_at
                if instance.state is InstanceState.COMING and took_s <= self.options.active_s:
                    continue
                left.remove(member)
                if instance.state is InstanceState.UP and instance.address:
                    member.active_s = took_s
                else:
                    failed[member] = _why_not(instance, took_s)
            if left:
                time.sleep(_LOOK_S)
        return failed

    def _wait_reached(self, members: Sequence[Member]) -> dict[Member, str]:
        if not members:
            return {}
        # A failed member has no address, and ssh refuses an empty one.
        addresses = {}
        for member in self.members:
            if member.instance and member.instance.address:
                addresses[member.name] = member.instance.address
        self.access.lead(addresses)
        with ThreadPoolExecutor(max_workers=16) as pool:
            reasons = list(pool.map(self._reach, members))
        return {member: why for member, why in zip(members, reasons, strict=True) if why}

    def _reach(self, member: Member) -> str:
        """Wait until a node answers over ssh; return the reason if it does not answer, or ""."""
        began = time.monotonic()
        within_s = self.options.reach_s
        while reason := self.access.try_once(member.name):
            # A wrong host key or a refused login may only mean that cloud-init has not run yet, so
            # the loop continues until the time limit.
            if time.monotonic() - began > within_s:
                state = member.instance.said if member.instance else ""
                return f"{state}, but no ssh within {within_s:g} s: {reason}"
            time.sleep(_PAUSE_S)
        member.reach_s = time.monotonic() - began
        return ""

    def look(self, member: Member) -> Instance:
        """Return the state of a member's instance, as the cloud reports it."""
        member.instance = self.insist.ask(
            f"asking for {member.thing.name}", lambda: self._provider.look(member.thing)
        )
        return member.instance

    def _end(self, member: Member) -> None:
        remove(self._provider, member.things, self.insist, self._gone)
        member.things = []
        member.instance = None

    def lost(self) -> list[tuple[Member, str]]:
        """Return the nodes whose instances are gone, failed or silent, with the reasons."""
        lost = []
        for member in self.members:
            instance = self.look(member)
            if instance.state is not InstanceState.UP:
                lost.append((member, f"lost: {_why_not(instance, 0.0)}"))
            elif reason := self.access.try_once(member.name):
                lost.append((member, f"lost: {instance.said}, but no ssh: {reason}"))
        return lost

    def _gone(self, thing: CloudResource) -> None:
        self._journal.gone(thing)
        self.budget.end(thing.name)

    def release(self) -> None:
        """Remove all resources that the journal names; idempotent."""
        try:
            # A request without an answer before an interruption is looked for by name.
            things = list(self._journal.story.things.values())
            remove(self._provider, things, self.insist, self._gone)
        except PlatformError as error:
            error.hint = error.hint or "`bareline platforms clean` tries again later"
            raise
        finally:
            self._journal.close()

    def facts(self) -> dict[str, Scalar]:
        """Return the location of the instances, and facts about their start."""
        present = [member for member in self.members if member.instance is not None]
        facts: dict[str, Scalar] = {
            "cloud.instances": len(present),
            "cloud.active_s": round(max(member.active_s for member in present), 3),
            "cloud.ssh_s": round(max(member.reach_s for member in present), 3),
            # Instances that were made beyond the first of each member.
            "cloud.retries": self._attempts - len(self.members),
        }
        hosts = {}
        zones = set()
        for member in present:
            assert member.instance is not None
            if member.instance.host:
                hosts[member.name] = member.instance.host
            if member.instance.zone:
                zones.add(member.instance.zone)
        if hosts:
            facts["cloud.host_ids"] = "; ".join(f"{name}: {host}" for name, host in hosts.items())
            facts["cloud.hosts"] = len(set(hosts.values()))
        if zones:
            facts["cloud.zone"] = ", ".join(sorted(zones))
        return facts


def _why_not(instance: Instance, took_s: float) -> str:
    """Return the reason why an instance cannot be used."""
    if instance.state is InstanceState.FAILED:
        return f"{instance.said}: {instance.fault or 'the cloud does not say why'}"
    if instance.state is InstanceState.GONE:
        return instance.fault or "it was removed from outside"
    if instance.state is InstanceState.UP:
        return f"{instance.said}, but it has no address"
    return f"still {instance.said} after {took_s:.0f} s"
