"""The interface of a cloud, the kinds of its refusals, and the pauses between retries."""

from __future__ import annotations

import random
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import ClassVar, Protocol, TypeVar

from bareline.vocabulary.errors import NotNow, PlatformError
from bareline.vocabulary.model import Scalar

#: The kind of thing that runs, in every cloud; all other resources are made for its sake.
INSTANCE = "instance"


class Busy(NotNow):
    """The cloud did not answer, or asks for patience: the same request may succeed later.

    - `is_silent`: no answer came at all; the request may have been carried out nevertheless.
    """

    def __init__(
        self, what: str, *, retry_after_s: float | None = None, is_silent: bool = False
    ) -> None:
        super().__init__(what)
        self.retry_after_s = retry_after_s
        self.is_silent = is_silent


class NoRoom(NotNow):
    """There is no machine for an instance just now; another attempt may find one."""


class QuotaReached(PlatformError):
    """The project may have no more of something: waiting does not help."""


@dataclass(frozen=True, slots=True)
class CloudResource:
    """Something that exists in a cloud for bareline, or is about to.

    `kind` is `INSTANCE` or the provider's word, `name` carries the mark of its process.
    """

    kind: str
    name: str
    id: str = ""


class InstanceState(StrEnum):
    """The state of an instance."""

    COMING = "coming"
    UP = "up"
    FAILED = "failed"
    GONE = "gone"


@dataclass(frozen=True, slots=True)
class Instance:
    """A cloud's description of an instance; instances with the same `host` share a machine."""

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
        """Return the ids of all that was made of a kind, in order."""
        return [thing.id for thing in self.made if thing.kind == kind]


class AccountCleaner(Protocol):
    """Finds and removes bareline's resources in an account of a cloud."""

    kinds: ClassVar[tuple[str, ...]]

    def find(self, thing: CloudResource) -> list[str]:
        """Return the ids of all that have the kind and exactly the name of a thing."""

    def named(self, prefix: str) -> Iterable[CloudResource]:
        """Return all things whose names begin so."""

    def delete(self, thing: CloudResource) -> None:
        """Remove a thing, if it still exists."""

    def is_gone(self, thing: CloudResource) -> bool:
        """Return whether a thing that was deleted does not exist any more."""


class Provider(AccountCleaner, Protocol):
    """Makes the instances of a platform's options.

    Every method may raise `Busy`, after which it is called again, and `QuotaReached`; to make an
    instance may raise `NoRoom`. Another `PlatformError` is final.
    """

    def check(self, instances: int) -> None:
        """See that image, size and network exist and the quota leaves room; makes nothing."""

    def shared(self, prefix: str) -> Sequence[CloudResource]:
        """Name the things that all instances need, in the order of making."""

    def parts(self, prefix: str) -> Sequence[CloudResource]:
        """Name the things of one instance, itself last."""

    def create(self, thing: CloudResource, launch: LaunchSpec) -> str:
        """Make a thing and give its id; an instance need not be up yet."""

    def look(self, thing: CloudResource) -> Instance:
        """Return the state of an instance."""

    def facts(self) -> Mapping[str, Scalar]:
        """Return the facts of the instances: image, size, price."""


T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class BackOff:
    """Pauses that double, up to a longest one, until a time is over.

    - `most_s`: all pauses together; a pause that the cloud requests is kept if it fits in.
    - `waits_for_silent`: ask again where no answer came at all: most likely nothing is there.
    """

    first_s: float = 1.0
    longest_s: float = 30.0
    most_s: float = 180.0
    waits_for_silent: bool = True

    def own_s(self, failures: int) -> float:
        """Return the pause after a number of failures, whatever the cloud asks for."""
        return min(self.first_s * 2.0 ** (failures - 1), self.longest_s)

    def pause_s(self, failures: int, waited_s: float, asked_s: float | None) -> float | None:
        """Return the pause after failures; `asked_s` is the cloud's request. None: give up."""
        pause_s = self.own_s(failures) if asked_s is None else max(asked_s, self.first_s)
        return pause_s if waited_s + pause_s <= self.most_s else None


class Retries:
    """Repeats requests for which a cloud was too busy."""

    def __init__(
        self,
        tell: Callable[[str], None],
        back_off: BackOff = BackOff(),
        sleep: Callable[[float], None] = time.sleep,
    ) -> None:
        self._tell = tell
        self._back_off = back_off
        self._sleep = sleep
        # Of several that were refused at once, not all should come again at once.
        self._random = random.Random()

    def ask(self, what: str, act: Callable[[], T], done: Callable[[], T | None] | None = None) -> T:
        """Return the result of a request, as soon as it succeeds.

        - `done`: returns the result of an earlier try that seemed to fail: nothing is made twice.
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
