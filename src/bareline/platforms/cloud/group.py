"""A group of instances: brought up side by side, replaced where they fail, given back whole."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field

from bareline.platforms.cloud.access import Access
from bareline.platforms.cloud.budget import Budget, CloudOptions
from bareline.platforms.cloud.journal import Journal
from bareline.platforms.cloud.provider import (
    INSTANCE,
    BackOff,
    Insistence,
    Instance,
    InstanceState,
    LaunchSpec,
    NoRoom,
    Provider,
    Thing,
)
from bareline.platforms.cloud.remains import remove
from bareline.platforms.repair import bring_up
from bareline.vocabulary.errors import NotNow, PlatformError

_LOOK_S = 1.0
#: Between giving an instance up and making another in its place.
_AGAIN = BackOff(first_s=2.0, longest_s=30.0)


@dataclass(slots=True, eq=False)
class Member:
    """A place in the group, whatever instance fills it.

    - `active_s`, `reach_s`: what the cloud took until it ran, and it until it answered over ssh.
    """

    name: str
    things: list[Thing] = field(default_factory=list)
    instance: Instance | None = None
    asked_at: float = 0.0
    active_s: float = 0.0
    reach_s: float = 0.0

    @property
    def thing(self) -> Thing:
        """The instance itself."""
        return self.things[-1]

    @property
    def label(self) -> str:
        """Its name, with the instance's id where there is one."""
        return f"{self.name} ({self.thing.id})" if self.things else self.name


class InstanceGroup:
    """The instances of a platform in use.

    - `tell`: takes a sentence about each attempt that failed and each request that was made again.
    """

    def __init__(
        self,
        provider: Provider,
        options: CloudOptions,
        journal: Journal,
        access: Access,
        budget: Budget,
        tell: Callable[[str], None],
    ) -> None:
        self._provider = provider
        self._options = options
        self._journal = journal
        self._access = access
        self._budget = budget
        self._tell = tell
        self.insist = Insistence(tell)
        self._shared: list[Thing] = []
        self._attempts = 0
        self.members: list[Member] = []

    # Coming ------------------------------------------------------------------------------------

    def start(self, count: int) -> None:
        """Bring instances up."""
        self.insist.ask("asking for quota, image and size", lambda: self._provider.check(count))
        for thing in self._provider.shared(self._journal.prefix):
            self._shared.append(self._make(thing, "", self._shared))
        self.members = [Member(f"n{number}") for number in range(1, count + 1)]
        self._fill(self.members)

    def replace(self, lost: Iterable[tuple[Member, str]]) -> None:
        """Give instances back that were lost, each with why, and bring others up instead."""
        members = []
        for member, why in lost:
            self._tell(f"{member.label} is given up: {why}")
            self._end(member)
            members.append(member)
        self._fill(members)

    def _fill(self, wanted: Sequence[Member]) -> None:
        bring_up(
            wanted,
            self._attempt,
            self._end,
            label=lambda member: member.label,
            attempts=self._options.attempts,
            tell=self._tell,
            hint="raise `attempts`, or try again when the cloud has room",
            pause=lambda failures: time.sleep(_AGAIN.own_s(failures)),
        )

    def _attempt(self, members: Sequence[Member]) -> list[tuple[Member, str]]:
        """Make an instance for each member; give those that do not come up, with why."""
        failed = self._ask_for_all(members)
        failed += self._wait_active([one for one in members if one not in dict(failed)])
        failed += self._wait_reached([one for one in members if one not in dict(failed)])
        return failed

    def _make(self, thing: Thing, user_data: str, made: Sequence[Thing]) -> Thing:
        """Make a thing: noted before it is asked for, and again when it is there."""
        launch = LaunchSpec(
            owner=self._journal.story.owner,
            public_key=self._access.keys.client_public.strip(),
            user_data=user_data,
            made=tuple(made),
        )
        self._journal.asked(thing)

        def done() -> str | None:
            return next(iter(self._provider.find(thing)), None)

        try:
            id_ = self.insist.ask(
                f"making the {thing.kind} {thing.name}",
                lambda: self._provider.create(thing, launch),
                done,
            )
        except PlatformError as error:
            # Whoever refuses has made nothing; of one that does not answer nobody knows.
            if isinstance(error, NoRoom) or not isinstance(error, NotNow):
                self._gone(thing)
            raise
        return self._journal.made(thing, id_)

    def _ask_for_all(self, members: Sequence[Member]) -> list[tuple[Member, str]]:
        """Ask for an instance for each; give those for which there is no room, with why."""
        failed = []
        for member in members:
            try:
                self._ask_for(member)
            except NoRoom as error:
                failed.append((member, error.what))
        return failed

    def _ask_for(self, member: Member) -> None:
        self._attempts += 1
        # Each attempt has names of its own: what failed may still be going.
        prefix = f"{self._journal.prefix}-{member.name}-{self._attempts}"
        member.asked_at = time.monotonic()
        for thing in self._provider.parts(prefix):
            if thing.kind == INSTANCE:
                self._budget.begin(thing.name)
            made = (*self._shared, *member.things)
            member.things.append(self._make(thing, self._access.user_data(member.name), made))

    def _wait_active(self, members: Sequence[Member]) -> list[tuple[Member, str]]:
        """Wait until each runs; give those that do not, with why."""
        failed, left = [], list(members)
        while left:
            for member in list(left):
                found = self.look(member)
                took_s = time.monotonic() - member.asked_at
                if found.state is InstanceState.COMING and took_s <= self._options.active_s:
                    continue
                left.remove(member)
                if found.state is InstanceState.UP and found.address:
                    member.active_s = took_s
                else:
                    failed.append((member, self._why_not(found, took_s)))
            if left:
                time.sleep(_LOOK_S)
        return failed

    def _why_not(self, found: Instance, took_s: float) -> str:
        if found.state is InstanceState.FAILED:
            return f"{found.said}: {found.fault or 'the cloud does not say why'}"
        if found.state is InstanceState.GONE:
            return found.fault or "it was removed by somebody else"
        if found.state is InstanceState.UP:
            return f"{found.said}, but it has no address"
        return f"still {found.said} after {took_s:.0f} s"

    def _wait_reached(self, members: Sequence[Member]) -> list[tuple[Member, str]]:
        """Wait until those that run answer over ssh; give those that do not, with why."""
        if not members:
            return []
        self._access.lead(
            {
                member.name: member.instance.address
                for member in self.members
                # One that failed has no address, and ssh refuses a configuration that says so.
                if member.instance is not None and member.instance.address
            }
        )
        names = [member.name for member in members]
        failed = []
        for name, (took_s, reason) in self._access.reach(names, self._options.reach_s).items():
            member = next(one for one in members if one.name == name)
            if took_s is None:
                said = member.instance.said if member.instance else ""
                text = f"{said}, but no ssh within {self._options.reach_s:g} s: {reason}"
                failed.append((member, text))
            else:
                member.reach_s = took_s
        return failed

    def look(self, member: Member) -> Instance:
        """Ask the cloud how a member stands."""
        member.instance = self.insist.ask(
            f"asking for {member.thing.name}", lambda: self._provider.look(member.thing)
        )
        return member.instance

    # Going -------------------------------------------------------------------------------------

    def _end(self, member: Member) -> None:
        """Remove an instance that is of no use."""
        self._remove(member.things)
        member.things, member.instance = [], None

    def lost(self) -> list[tuple[Member, str]]:
        """Give the members that are gone, failed or silent, with why."""
        found = []
        for member in self.members:
            instance = self.look(member)
            if instance.state is not InstanceState.UP:
                found.append((member, f"lost: {self._why_not(instance, 0.0)}"))
            elif reason := self._access.try_once(member.name):
                found.append((member, f"lost: {instance.said}, but no ssh: {reason}"))
        return found

    def _remove(self, things: Sequence[Thing]) -> None:
        remove(self._provider, things, self.insist, self._gone)

    def _gone(self, thing: Thing) -> None:
        self._journal.gone(thing)
        self._budget.end(thing.name)

    def release(self) -> None:
        """Remove all that the journal names; idempotent."""
        try:
            # What was asked for and not answered before an interruption is looked for by name.
            self._remove(list(self._journal.story.things.values()))
        except PlatformError as error:
            error.hint = error.hint or "`bareline platforms clean` tries again later"
            raise
        finally:
            self._journal.close()

    # What they are -----------------------------------------------------------------------------

    @property
    def retries(self) -> int:
        """Instances that were made beyond the first of each member."""
        return self._attempts - len(self.members)
