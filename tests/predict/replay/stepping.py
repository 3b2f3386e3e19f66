"""The steps of a replay in Python: the oracle of the compiled ones (native/replay).

The rank that is earliest runs its next call; `replay.py` says what calls do.

Who a message is for: a receive may ask for any sender or any tag, and of several that fit the
oldest is taken. What waits lies under every name by which it can be asked for, so that a search
takes as long with a million that wait as with one.
"""

from __future__ import annotations

import heapq
import math
from collections import deque
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Generic, TypeVar

import numpy as np

from bareline.predict.curves.costs import Costs
from bareline.predict.curves.requirements import IO_KINDS
from bareline.predict.replay.engine import (
    LOCAL_S,
    Replayed,
    collective_cost,
    is_local,
    is_rendezvous,
    nodes_of_communicators,
)
from bareline.profile.records import ANYBODY, NOBODY, POINT_TO_POINT, Shape
from bareline.profile.trace import CallStream, Trace

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
    """Return the names under which a message from a source with a tag can be asked for."""
    return ((source, tag), (source, ANY_TAG), (ANYBODY, tag), (ANYBODY, ANY_TAG))


@dataclass(slots=True)
class _Gathering:
    """One collective while its ranks come."""

    size: int
    came: int = 0
    last: float = 0.0
    cost: float = 0.0
    root_at: float | None = None
    waiting: list[Request] = field(default_factory=list)


def step_through(trace: Trace, costs: Costs) -> Replayed | None:
    """Run a trace on the curves of a platform; None where ranks wait for what no rank does."""
    return _Replay(trace.streams, costs).run()


class _Replay:
    def __init__(self, streams: Sequence[CallStream], costs: Costs) -> None:
        self.costs = costs
        self.ranks = len(streams)
        self.shapes = [stream.shapes for stream in streams]
        self.numbers = [stream.shape.tolist() for stream in streams]
        self.compute = [
            (
                (stream.compute_s + costs.beside * np.minimum(stream.compute_s, costs.beside_s))
                * costs.compute
            ).tolist()
            for stream in streams
        ]
        self.spent = [stream.spent_s.tolist() for stream in streams]
        self.at = [0] * self.ranks
        self.now = [0.0] * self.ranks
        self.began = [0.0] * self.ranks
        self.taken = [np.zeros(len(stream.shapes)) for stream in streams]
        self.computed = [0.0] * self.ranks
        #: Until when a rank stands in a call that waits; the end of a call may be known before.
        self.inside_until = [-math.inf] * self.ranks
        self.waits: list[list[Request] | None] = [None] * self.ranks
        #: How many of them, from the first on, are known to be done.
        self.seen: list[int] = [0] * self.ranks
        self.done_refs: list[list[int]] = [[] for _ in range(self.ranks)]
        self.posts = [0] * self.ranks
        self.open: list[dict[int, Request]] = [{} for _ in range(self.ranks)]
        self.sent: dict[tuple[int, int], Pending[Message]] = {}
        self.asked: dict[tuple[int, int], Pending[Request]] = {}
        #: Messages that both sides know and that could not start, in the order of their matching.
        self.held: list[dict[Message, None]] = [{} for _ in range(self.ranks)]
        self.links: dict[tuple[int, int], float] = {}
        #: The last short message on each link.
        self.under_way: dict[tuple[int, int], Message | None] = {}
        self.core_free: dict[tuple[int, int], float] = {}
        self.gathered: dict[tuple[int, int], _Gathering] = {}
        self.turn: list[dict[int, int]] = [{} for _ in range(self.ranks)]
        self.queue: list[tuple[float, int, bool]] = []
        self.nodes_of = nodes_of_communicators(streams, costs)
        hosts = [costs.ladder.host(rank) for rank in range(self.ranks)]
        # Nodes between two ranks: 1 where they share one, else 2.
        self.places = [[1 if one == other else 2 for other in hosts] for one in hosts]

    def run(self) -> Replayed | None:
        for rank in range(self.ranks):
            self._advance(rank, 0.0)
        while self.queue:
            now, rank, calls = heapq.heappop(self.queue)
            if calls:
                self._call(rank)
            else:
                self._compute(rank, now)
        if any(self.at[rank] < len(self.numbers[rank]) for rank in range(self.ranks)):
            return None
        return Replayed(tuple(self.now), tuple(self.computed), tuple(self.taken))

    # Time on a core --------------------------------------------------------------------------

    def _advance(self, rank: int, now: float) -> None:
        """Compute up to the next call, and stand in line for it."""
        numbers, shapes = self.numbers[rank], self.shapes[rank]
        at = self.at[rank]
        refs = self.done_refs[rank]
        while at < len(numbers) and shapes[numbers[at]].kind == "done":
            refs.append(self.posts[rank] - shapes[numbers[at]].to)
            at += 1
        self.at[rank] = at
        if at == len(numbers):
            self.now[rank] = now
            return
        if self.costs.core(rank) is None:
            self._compute(rank, now)
        else:
            # Whoever comes first to a shared core must be known before it is given away.
            heapq.heappush(self.queue, (now, rank, False))

    def _compute(self, rank: int, now: float) -> None:
        wanted = self.compute[rank][self.at[rank]]
        self.computed[rank] += wanted
        core = self.costs.core(rank)
        if core is not None and wanted > 0:
            now = max(now, self.core_free.get(core, 0.0))
            self.core_free[core] = now + wanted
        self.now[rank] = self.began[rank] = now + wanted
        heapq.heappush(self.queue, (self.now[rank], rank, True))

    def _finish(self, rank: int, now: float) -> None:
        """The call of a rank is over."""
        self.inside_until[rank] = min(self.inside_until[rank], now)
        self.taken[rank][self.numbers[rank][self.at[rank]]] += now - self.began[rank]
        self.at[rank] += 1
        self._advance(rank, now)

    # Calls -----------------------------------------------------------------------------------

    def _call(self, rank: int) -> None:
        shape = self.shapes[rank][self.numbers[rank][self.at[rank]]]
        now = self.now[rank]
        if not shape.posts:
            self._progress(rank, now)
        kind = shape.kind
        if kind in POINT_TO_POINT:
            self._messages(rank, shape, now)
        elif kind == "wait":
            self._wait(rank, now)
        elif kind in ("collective", "communicator"):
            self._collective(rank, shape, now)
        elif kind in IO_KINDS:
            self._finish(rank, now + self.costs.io * self.spent[rank][self.at[rank]])
        elif kind == "compute":
            self._finish(rank, now)
        else:
            self._finish(rank, now + self.spent[rank][self.at[rank]])

    def _messages(self, rank: int, shape: Shape, now: float) -> None:
        requests: list[Request] = []
        busy = now
        if shape.from_ != NOBODY:
            requests.append(self._receive(rank, shape, now))
        if shape.to not in (NOBODY, ANYBODY):
            request, busy = self._send(rank, shape, now)
            requests.append(request)
        if shape.posts:
            self.posts[rank] += 1
            if requests:
                self.open[rank][self.posts[rank]] = requests[-1]
            self._finish(rank, max(busy, now + LOCAL_S))
            return
        self._block(rank, busy, requests)

    def _send(self, rank: int, shape: Shape, now: float) -> tuple[Request, float]:
        """Send; gives the request and when the sender's own share of it is over."""
        place = self.places[rank][shape.to]
        size = shape.size
        eager = self.costs.eager(place, size) and not is_rendezvous(shape)
        message = Message(rank, shape.to, shape.send_tag, size, eager)
        request = message.sender = Request(rank)
        request.message = message
        busy = now + LOCAL_S
        if eager:
            busy = now + self.costs.send_overhead(place, size)
            self._transfer(message, now)
            request.done = busy
        message.ready = now
        key = (shape.to, shape.comm)
        names = every_name(rank, shape.send_tag)
        waiting = self.asked[key].take(names) if key in self.asked else None
        if waiting is not None:
            self._match(message, waiting, now)
        else:
            self.sent.setdefault(key, Pending()).add(message, names)
        return request, busy

    def _receive(self, rank: int, shape: Shape, now: float) -> Request:
        request = Request(rank, shape.from_, shape.receive_tag)
        key = (rank, shape.comm)
        name = ((shape.from_, shape.receive_tag),)
        message = self.sent[key].take(name) if key in self.sent else None
        if message is not None:
            self._match(message, request, now)
        else:
            self.asked.setdefault(key, Pending()).add(request, name)
        return request

    def _match(self, message: Message, request: Request, now: float) -> None:
        request.message = message
        message.receiver = request
        place = self.places[message.src][message.dst]
        request.overhead = self.costs.receive_overhead(place, message.size)
        if message.eager:
            request.done = message.arrival
            self._wake(request.owner)
            return
        self.held[message.src][message] = None
        self.held[message.dst][message] = None
        self._try(message, now)

    def _try(self, message: Message, now: float) -> None:
        """Start a rendezvous if both sides stand in calls that wait."""
        if message.arrival is not None:
            return
        fetched = self.costs.fetches(self.places[message.src][message.dst])
        there = self.inside_until[message.dst] > now
        here = self.inside_until[message.src] > now or fetched
        if there and here:
            self._transfer(message, max(now, message.ready))
            for end in (message.sender, message.receiver):
                if end is not None:
                    end.done = message.arrival
                    end.overhead = 0.0
            for rank in (message.src, message.dst):
                self.held[rank].pop(message, None)
                self._wake(rank)

    def _transfer(self, message: Message, now: float) -> None:
        place = self.places[message.src][message.dst]
        # What carries it: a pair of nodes, or of ranks.
        link = tuple(self.costs.ladder.host(rank) for rank in (message.src, message.dst))
        if link[0] == link[1]:
            link = (-1 - message.src, -1 - message.dst)
        back = (link[1], link[0])
        begin = max(now, self.links.get(link, 0.0))
        alone = self.costs.transfer(place, message.size)
        occupies = self.costs.occupies(place, message.size)
        together = min(self.links.get(back, 0.0) - begin, occupies)
        longer = 0.0
        if together > 0.0:
            longer = together / occupies * (self.costs.crossing(place, message.size) - alone)
        if longer > 0.0:
            self._delay(back, longer)
        self.links[link] = begin + occupies + longer
        message.arrival = begin + alone + longer
        self.under_way[link] = message if message.eager else None

    def _delay(self, link: tuple[int, int], longer: float) -> None:
        """What is under way arrives later; what a rank has waited for already does not."""
        self.links[link] += longer
        message = self.under_way[link]
        if message is not None:
            message.arrival += longer
            if message.receiver is not None:
                message.receiver.done = message.arrival

    def _progress(self, rank: int, now: float) -> None:
        """A rank stands in a call that may wait: what waited for that can start."""
        self.inside_until[rank] = math.inf
        for message in tuple(self.held[rank]):
            self._try(message, now)

    def _wait(self, rank: int, now: float) -> None:
        refs = self.done_refs[rank]
        found = [self.open[rank].pop(ref) for ref in refs if ref in self.open[rank]]
        refs.clear()
        self._block(rank, now, found)

    def _block(self, rank: int, now: float, requests: list[Request]) -> None:
        """Stay until all requests are done."""
        self.now[rank] = now
        self.waits[rank] = requests
        self._wake(rank)

    def _wake(self, rank: int) -> None:
        """End the call that a rank stands in, if all that it waits for is known.

        Messages are taken in the order of their arrival: one that lies there already costs the
        receiver its own share, one that is waited for has that in its transfer.
        """
        requests = self.waits[rank]
        if requests is None:
            return
        # What is done stays so: of many requests each is looked at once.
        while self.seen[rank] < len(requests):
            if requests[self.seen[rank]].done is None:
                return
            self.seen[rank] += 1
        self.seen[rank] = 0
        end = self.now[rank] + (0.0 if requests else LOCAL_S)
        for request in sorted(requests, key=lambda one: one.done or 0.0):
            done = request.done or 0.0
            end = done if done > end else end + request.overhead
        self.waits[rank] = None
        self._finish(rank, end)

    # Collectives -----------------------------------------------------------------------------

    def _collective(self, rank: int, shape: Shape, now: float) -> None:
        request = Request(rank)
        if is_local(shape):
            self._finish(rank, now + LOCAL_S)
            return
        self._join(rank, shape, now, request)
        if shape.posts:
            self.posts[rank] += 1
            self.open[rank][self.posts[rank]] = request
            self._finish(rank, now + LOCAL_S)
            return
        self._block(rank, now, [request])

    def _join(self, rank: int, shape: Shape, now: float, request: Request) -> None:
        turn = self.turn[rank].get(shape.comm, 0)
        self.turn[rank][shape.comm] = turn + 1
        key = (shape.comm, turn)
        group = self.gathered.setdefault(key, _Gathering(shape.comm_size))
        group.came += 1
        group.last = max(group.last, now)
        cost, overhead, role = collective_cost(self.costs, shape, self.nodes_of.get(shape.comm, 1))
        group.cost = max(group.cost, cost)
        if group.came == group.size:
            del self.gathered[key]
        if role == "from-root" and shape.root >= 0:
            self._from_root(rank, shape, now, request, group, overhead)
        elif role == "to-root" and shape.root >= 0 and rank != shape.root:
            request.done = now + overhead
            self._complete_root(group)
        else:
            group.waiting.append(request)
            self._complete_root(group)

    def _complete_root(self, group: _Gathering) -> None:
        """The last rank came: those who waited for it go on."""
        if group.came < group.size:
            return
        for request in group.waiting:
            request.done = group.last + group.cost
            self._wake(request.owner)

    def _from_root(
        self,
        rank: int,
        shape: Shape,
        now: float,
        request: Request,
        group: _Gathering,
        overhead: float,
    ) -> None:
        if rank == shape.root:
            group.root_at = now
            request.done = now + overhead
            for other in group.waiting:
                other.done = now + group.cost
                self._wake(other.owner)
            group.waiting = []
        elif group.root_at is not None:
            request.done = max(now + overhead, group.root_at + group.cost)
        else:
            group.waiting.append(request)
