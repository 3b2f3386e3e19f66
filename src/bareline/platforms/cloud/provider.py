"""What a cloud must be able to do for bareline, and how its refusals are told apart."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import ClassVar, Protocol

from bareline.vocabulary.errors import NotNow, PlatformError
from bareline.vocabulary.model import Scalar

#: The kind of thing that runs, in every cloud; all others are made for its sake.
INSTANCE = "instance"


class Busy(NotNow):
    """The cloud did not answer, or asks for patience: the same request may succeed later.

    - `retry_after_s`: how long it asks to wait, where it says so.
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
class Thing:
    """Something that exists in a cloud for bareline, or is about to.

    - `kind`: `INSTANCE`, or what the provider calls it in words.
    - `name`: unique: it carries the mark of the process that it is for.
    - `id`: how the cloud knows it; "" before it was made.
    """

    kind: str
    name: str
    id: str = ""


class State(StrEnum):
    """How an instance stands."""

    COMING = "coming"
    UP = "up"
    FAILED = "failed"
    GONE = "gone"


@dataclass(frozen=True, slots=True)
class Instance:
    """What a cloud says of an instance.

    - `said`: its state in the cloud's own word.
    - `fault`: why it failed, in the cloud's words.
    - `address`: at which it is reached by ssh.
    - `host`: the machine that it runs on, as far as the cloud tells: equal for instances that share
      one.
    - `zone`: availability zone.
    """

    state: State
    said: str = ""
    fault: str = ""
    address: str = ""
    host: str = ""
    zone: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Launch:
    """What things are made with.

    - `owner`: mark of the process that they are for.
    - `public_key`: the key that may log in.
    - `user_data`: what an instance is given to read at its start, for cloud-init.
    - `made`: the things that this one may need, made before it.
    """

    owner: str
    public_key: str
    user_data: str
    made: Sequence[Thing] = ()

    def ids(self, kind: str) -> list[str]:
        """Give the ids of all that was made of a kind, in order."""
        return [thing.id for thing in self.made if thing.kind == kind]


class Steward(Protocol):
    """Finds and removes what bareline made in an account of a cloud.

    - `kinds`: every kind of thing that bareline makes there, in the order of making.
    """

    kinds: ClassVar[tuple[str, ...]]

    def find(self, thing: Thing) -> list[str]:
        """Give the ids of all that have the kind and exactly the name of a thing."""

    def named(self, prefix: str) -> Iterable[Thing]:
        """Give all things whose names begin so."""

    def delete(self, thing: Thing) -> None:
        """Have a thing removed; one that is gone is no error."""

    def is_gone(self, thing: Thing) -> bool:
        """Tell whether a thing that was deleted does not exist any more."""


class Provider(Steward, Protocol):
    """Makes what a platform's options ask for.

    Every method may raise `Busy`, after which it is called again, and `QuotaReached`; to make an
    instance may raise `NoRoom`. Another `PlatformError` is final.
    """

    def check(self, instances: int) -> None:
        """See that image, size and network exist and the quota leaves room; makes nothing."""

    def shared(self, prefix: str) -> Sequence[Thing]:
        """Name the things that all instances need, in the order of making."""

    def parts(self, prefix: str) -> Sequence[Thing]:
        """Name the things of one instance, itself last."""

    def create(self, thing: Thing, launch: Launch) -> str:
        """Make a thing and give its id; an instance need not be up yet."""

    def look(self, thing: Thing) -> Instance:
        """Ask how an instance stands."""

    def facts(self) -> Mapping[str, Scalar]:
        """Tell what the instances are made of: image, size, what that costs."""
