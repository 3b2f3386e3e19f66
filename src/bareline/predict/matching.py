"""Who a message is for: sends and receives of a rank that wait for each other.

A receive may ask for any sender or any tag, and of several that fit the oldest is taken. A list
would be searched from its beginning for each: what waits lies under every name by which it can be
asked for instead, so that a search takes as long with a million that wait as with one.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from typing import Generic, TypeVar

from bareline.profile.records import ANYBODY

#: Any tag.
ANY_TAG = -1

T = TypeVar("T")
_Name = tuple[int, int]


class Message:
    """One message from its send to its arrival."""

    __slots__ = ("arrival", "dst", "eager", "ready", "receiver", "sender", "size", "src", "tag")

    def __init__(self, src: int, dst: int, tag: int, size: int, eager: bool) -> None:
        self.src, self.dst, self.tag, self.size, self.eager = src, dst, tag, size, eager
        self.arrival: float | None = None
        self.ready = 0.0
        self.sender: Request | None = None
        self.receiver: Request | None = None


class Request:
    """A send, receive or collective that a rank has posted; `done` when it is known."""

    __slots__ = ("done", "message", "overhead", "owner", "source", "tag")

    def __init__(self, owner: int, source: int = ANYBODY, tag: int = -1) -> None:
        self.owner, self.source, self.tag = owner, source, tag
        self.done: float | None = None
        self.overhead = 0.0
        self.message: Message | None = None


class _Waiting(Generic[T]):
    __slots__ = ("gone", "item", "number")

    def __init__(self, item: T, number: int) -> None:
        self.item, self.number, self.gone = item, number, False


class Pending(Generic[T]):
    """What waits, oldest first under each name of a source and a tag."""

    def __init__(self) -> None:
        self._queues: dict[_Name, deque[_Waiting[T]]] = {}
        self._count = 0

    def add(self, item: T, names: Iterator[_Name] | tuple[_Name, ...]) -> None:
        """Let something wait under all these names."""
        waiting = _Waiting(item, self._count)
        self._count += 1
        for name in names:
            self._queues.setdefault(name, deque()).append(waiting)

    def take(self, names: Iterator[_Name] | tuple[_Name, ...]) -> T | None:
        """Take the oldest that waits under one of these names; None if nothing does."""
        oldest: _Waiting[T] | None = None
        for name in names:
            queue = self._queues.get(name)
            if queue is None:
                continue
            # What was taken under another name goes when it comes to the front.
            while queue and queue[0].gone:
                queue.popleft()
            if not queue:
                del self._queues[name]
            elif oldest is None or queue[0].number < oldest.number:
                oldest = queue[0]
        if oldest is None:
            return None
        oldest.gone = True
        return oldest.item


def every_name(source: int, tag: int) -> tuple[_Name, ...]:
    """Give the names under which a message from a source with a tag can be asked for."""
    return ((source, tag), (source, ANY_TAG), (ANYBODY, tag), (ANYBODY, ANY_TAG))
