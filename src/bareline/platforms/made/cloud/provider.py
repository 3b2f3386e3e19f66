"""The interface of a cloud, the errors that a cloud may raise, and the pauses between retries."""

from __future__ import annotations

import random
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import ClassVar, Protocol, TypeVar

from bareline.vocabulary.errors import NotNow, PlatformError
from bareline.vocabulary.model import Scalar

#: The kind of resource that runs, in every cloud; other resources are made for instances.
INSTANCE = "instance"


class Busy(NotNow):
    """Raised if a cloud does not answer, or asks to wait: the same request may succeed later.

    - `is_silent`: whether there was no answer at all; the cloud may still have executed the
      request.
    """

    def __init__(
        self, what: str, *, retry_after_s: float | None = None, is_silent: bool = False
    ) -> None:
        super().__init__(what)
        self.retry_after_s = retry_after_s
        self.is_silent = is_silent


class NoRoom(NotNow):
    """Raised if the cloud has no machine for an instance now; a later attempt may succeed."""


class QuotaReached(PlatformError):
    """Raised if a quota of the project is used up, e.g. of cores: waiting does not help."""


@dataclass(frozen=True, slots=True)
class CloudResource:
    """A resource in a cloud that bareline has created or will create.

    - `kind`: `INSTANCE`, or the provider's word for another kind of resource.
    - `name`: contains the mark of the process that made the resource.
    """

    kind: str
    name: str
    id: str = ""


class InstanceState(StrEnum):
    """The states of an instance."""

    COMING = "coming"
    UP = "up"
    FAILED = "failed"
    GONE = "gone"


@dataclass(frozen=True, slots=True)
class Instance:
    """The cloud's description of an instance.

    Instances with the same `host` share a machine.
    """

    state: InstanceState
    said: str = ""
    fault: str = ""
    address: str = ""
    host: str = ""
    zone: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class LaunchSpec:
    """The parameters of new instances."""

    owner: str
    public_key: str
    user_data: str
    made: Sequence[CloudResource] = ()

    def ids(self, kind: str) -> list[str]:
        """Return the ids of all created resources of a kind, in order."""
        return [thing.id for thing in self.made if thing.kind == kind]


class AccountCleaner(Protocol):
    """The interface that finds and removes bareline's resources in an account of a cloud."""

    kinds: ClassVar[tuple[str, ...]]

    def find(self, thing: CloudResource) -> list[str]:
        """Return the ids of all resources with exactly the kind and name of `thing`."""

    def named(self, prefix: str) -> Iterable[CloudResource]:
        """Return all resources whose names begin with a prefix."""

    def delete(self, thing: CloudResource) -> None:
        """Remove a resource, if it still exists."""

    def is_gone(self, thing: CloudResource) -> bool:
        """Return whether a removed resource does not exist any more."""


class Provider(AccountCleaner, Protocol):
    """The interface that creates the instances of a platform.

    Every method may raise `QuotaReached`. It may also raise `Busy`; the call is then repeated. The
    creation of an instance may raise `NoRoom`. Any other `PlatformError` is final.
    """

    def check(self, instances: int) -> None:
        """Check, without creating anything, that image, size, network and quota suffice."""

    def shared(self, prefix: str) -> Sequence[CloudResource]:
        """Return the resources that all instances need, in the order of creation."""

    def parts(self, prefix: str) -> Sequence[CloudResource]:
        """Return the resources of one instance, the instance itself last."""

    def create(self, thing: CloudResource, launch: LaunchSpec) -> str:
        """Create a resource and return its id; an instance need not yet be running."""

    def look(self, thing: CloudResource) -> Instance:
        """Return the state of an instance."""

    def facts(self) -> Mapping[str, Scalar]:
        """Return the facts of the instances: image, size, price."""


T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class BackOff:
    """The pauses between retries: each pause is twice the last one, up to a maximum.

    - `most_s`: limit for the sum of all pauses, which include the pauses that the cloud requests.
    - `waits_for_silent`: whether a request that got no answer at all is repeated. A missing
      answer mostly means that no server exists.
    """

    first_s: float = 1.0
    longest_s: float = 30.0
    most_s: float = 180.0
    waits_for_silent: bool = True

    def own_s(self, failures: int) -> float:
        """Return the pause after a number of failures if the cloud requests no other pause."""
        return min(self.first_s * 2.0 ** (failures - 1), self.longest_s)

    def pause_s(self, failures: int, waited_s: float, asked_s: float | None) -> float | None:
        """Return the pause after a number of failures; None if the pauses would exceed `most_s`.

        - `asked_s`: the pause that the cloud requests.
        """
        pause_s = self.own_s(failures) if asked_s is None else max(asked_s, self.first_s)
        return pause_s if waited_s + pause_s <= self.most_s else None


class Retries:
    """A repeater of requests for which a cloud was too busy."""

    def __init__(
        self,
        tell: Callable[[str], None],
        back_off: BackOff = BackOff(),
        sleep: Callable[[float], None] = time.sleep,
    ) -> None:
        self._tell = tell
        self._back_off = back_off
        self._sleep = sleep
        # Several processes that were refused together should not all repeat at the same time.
        self._random = random.Random()

    def ask(self, what: str, act: Callable[[], T], done: Callable[[], T | None] | None = None) -> T:
        """Return the result of a request, as soon as it succeeds.

        - `done`: returns the result of an earlier try that seemed to fail, so that no resource is
          created twice.
        """
        waited_s = 0.0
        failures = 0
        while True:
            try:
                if failures and done is not None and (result := done()) is not None:
                    return result
                return act()
            except Busy as error:
                failures += 1
                pause_s = self._back_off.pause_s(failures, waited_s, error.retry_after_s)
                is_final = error.is_silent and not self._back_off.waits_for_silent
                if pause_s is None or is_final:
                    times = f" {failures} times in {waited_s:.0f} s" if failures > 1 else ""
                    raise NotNow(
                        f"{what} failed{times}: {error.what}",
                        hint="try again when the cloud answers",
                    ) from error
                if error.retry_after_s is None:
                    pause_s *= self._random.uniform(0.75, 1.0)
                self._tell(f"{what}: {error.what}; asked again in {pause_s:.1f} s")
                self._sleep(pause_s)
                waited_s += pause_s
