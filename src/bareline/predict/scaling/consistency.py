"""A check that a predicted period can run: its messages, requests and collectives must match.

A law that fits all profiles may differ from the program on more ranks. The calls of a wrong law
rarely match each other, so calls are checked before a replay.
"""

from __future__ import annotations

from collections import defaultdict, deque
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from itertools import chain
from typing import NamedTuple

from bareline.profile.period import calls_of
from bareline.profile.records import NOBODY, POINT_TO_POINT, Shape
from bareline.profile.trace import CallStream, Trace

_COLLECTIVE = ("collective", "communicator")
_SAME_SIZE_NAMES = (
    "bcast", "reduce", "allreduce", "scan", "exscan", "gather", "scatter", "allgather", "alltoall",
)  # fmt: skip
#: Collectives to which all members bring the same number of bytes.
_SAME_SIZE = frozenset(
    [f"MPI_{name.capitalize()}" for name in _SAME_SIZE_NAMES]
    + [f"MPI_I{name}" for name in _SAME_SIZE_NAMES]
)
_ANY_TAG = -1


@dataclass(frozen=True, slots=True)
class Fault:
    """The first call of a period that does not match the calls of other ranks.

    - `rank`: the rank that makes the call.
    - `number`: the number of the call in the rank's period, from 1.
    - `why`: the mismatch, with the values of both calls.
    """

    rank: int
    number: int
    call: str
    why: str

    def __str__(self) -> str:
        return f"call {self.number} of rank {self.rank}, {self.call}, {self.why}"


class _Spot(NamedTuple):
    """A rank, and the number of one of its calls, from 0."""

    rank: int
    number: int


@dataclass(frozen=True, slots=True)
class _Call:
    """A call of a rank; `number` is its number in the rank's period, from 0."""

    rank: int
    number: int
    shape: Shape

    @property
    def spot(self) -> _Spot:
        return _Spot(self.rank, self.number)

    @property
    def is_collective(self) -> bool:
        """Whether several ranks must make the call together."""
        return self.shape.kind in _COLLECTIVE and self.shape.comm_size > 1

    def fault(self, why: str) -> Fault:
        return Fault(self.rank, self.number + 1, self.shape.call, why)


#: The calls of one rank, and the calls of every rank.
_RankCalls = Sequence[_Call]
_AllCalls = Sequence[_RankCalls]


def first_fault(trace: Trace, *, exact: bool = True) -> Fault | None:
    """Return the first call that does not match; None if the period can run to its end.

    - `exact`: whether sizes follow laws exactly; otherwise the sizes of a send and its receive may
      differ.
    """
    calls = list(map(_calls_of_rank, trace.streams))
    messages = _Messages(exact=exact)
    fault = _first([messages.fault(calls), _collective_fault(calls)])
    if fault is not None:
        return fault
    return _Run(calls, messages.sent_for).fault()


def _calls_of_rank(stream: CallStream) -> list[_Call]:
    shapes = enumerate(calls_of(stream))
    return [_Call(stream.rank, number, shape) for number, shape in shapes]


def _first(faults: Iterable[Fault | None]) -> Fault | None:
    """Return the first of some faults; None if there is none."""
    actual = (fault for fault in faults if fault is not None)
    return min(actual, key=lambda fault: (fault.number, fault.rank), default=None)


# Messages -----------------------------------------------------------------------------------------


class _Channel(NamedTuple):
    """A channel of messages: from one rank to another rank over one communicator."""

    sender: int
    receiver: int
    comm: int


@dataclass
class _Messages:
    """The pairs of sends and receives, in MPI's order.

    `sent_for` has the send of each receive.
    """

    exact: bool
    sent_for: dict[_Spot, _Spot] = field(default_factory=dict)

    def fault(self, calls: _AllCalls) -> Fault | None:
        """Return the first fault: a call without a partner, or a receive that is too small."""
        sends: dict[_Channel, list[_Call]] = defaultdict(list)
        receives: dict[_Channel, list[_Call]] = defaultdict(list)
        for call in chain.from_iterable(calls):
            shape = call.shape
            if shape.kind not in POINT_TO_POINT:
                continue
            if shape.to != NOBODY:
                sends[_Channel(call.rank, shape.to, shape.comm)].append(call)
            if shape.from_ != NOBODY:
                receives[_Channel(shape.from_, call.rank, shape.comm)].append(call)
        channels = sends.keys() | receives.keys()
        return _first(
            self._channel_fault(sends[channel], receives[channel]) for channel in channels
        )

    def _channel_fault(self, sends: _RankCalls, receives: _RankCalls) -> Fault | None:
        """Pair the messages of a channel, and return the first fault or None."""
        waiting: dict[int, deque[_Call]] = defaultdict(deque)
        for send in sends:
            waiting[send.shape.send_tag].append(send)
        for receive in receives:
            sent = _next_send(waiting, receive.shape.receive_tag)
            if sent is None:
                return _unsent(receive)
            self.sent_for[receive.spot] = sent.spot
            room = receive.shape.size
            size = sent.shape.sent
            if self.exact and receive.shape.kind == "receive" and room < size:
                return receive.fault(f"has room for {room} B, and rank {sent.rank} sends {size} B")
        return _unreceived(list(chain.from_iterable(waiting.values())))


def _unsent(receive: _Call) -> Fault:
    """Return the fault of a receive that has no send."""
    shape = receive.shape
    tag = "any tag" if shape.receive_tag == _ANY_TAG else f"tag {shape.receive_tag}"
    return receive.fault(f"receives from rank {shape.from_}, which sends no {tag}")


def _unreceived(sends: _RankCalls) -> Fault | None:
    """Return the fault of the first send that has no receive."""
    if not sends:
        return None
    first = min(sends, key=lambda send: send.number)
    shape = first.shape
    return first.fault(f"sends tag {shape.send_tag} to rank {shape.to}, which receives none")


def _next_send(waiting: dict[int, deque[_Call]], tag: int) -> _Call | None:
    queues = list(waiting.values()) if tag == _ANY_TAG else [waiting[tag]]
    filled = [queue for queue in queues if queue]
    if not filled:
        return None
    return min(filled, key=lambda queue: queue[0].number).popleft()


# Collectives --------------------------------------------------------------------------------------


def _collective_fault(calls: _AllCalls) -> Fault | None:
    """Return the first collective that the members of a communicator call differently."""
    for by_rank in _collectives(calls).values():
        model = by_rank[min(by_rank)]
        size = model[0].shape.comm_size
        if len(by_rank) != size:
            return model[0].fault(f"is of {size} ranks, and {len(by_rank)} call it")
        for member_calls in by_rank.values():
            fault = _unlike(model, member_calls)
            if fault is not None:
                return fault
    return None


def _collectives(calls: _AllCalls) -> dict[int, dict[int, list[_Call]]]:
    """Return the collectives of each communicator, by rank."""
    collectives: dict[int, dict[int, list[_Call]]] = {}
    for call in chain.from_iterable(calls):
        if call.is_collective:
            by_rank = collectives.setdefault(call.shape.comm, {})
            by_rank.setdefault(call.rank, []).append(call)
    return collectives


def _unlike(model: _RankCalls, calls: _RankCalls) -> Fault | None:
    """Return the first collective in which two members of a communicator differ."""
    for expected, call in zip(model, calls, strict=False):
        why = _difference(expected.shape, call.shape, f"where rank {expected.rank} calls")
        if why:
            return call.fault(why)
    if len(model) == len(calls):
        return None
    shorter, longer = sorted((model, calls), key=len)
    extra = longer[len(shorter)]
    return extra.fault(f"is one collective more than rank {shorter[0].rank} calls")


def _difference(expected: Shape, shape: Shape, where: str) -> str:
    """Describe how the calls of two ranks to a collective differ; "" if they do not."""
    if expected.call != shape.call:
        return f"stands {where} {expected.call}"
    if expected.root != shape.root:
        return f"has root {shape.root} {where} it with root {expected.root}"
    if shape.call in _SAME_SIZE and expected.size != shape.size:
        return f"moves {shape.size} B {where} it with {expected.size} B"
    return ""


# To its end ---------------------------------------------------------------------------------------


class _Run:
    """A run through the calls of all ranks: sends end at once, other calls wait for partners."""

    def __init__(self, calls: _AllCalls, sent_for: dict[_Spot, _Spot]) -> None:
        self._calls = calls
        self._sent_for = sent_for
        self._next = [0 for _ in calls]
        self._posts: list[list[_Spot]] = [[] for _ in calls]
        self._arrived: dict[tuple[int, int], set[int]] = defaultdict(set)
        self._passed: dict[tuple[int, int], int] = defaultdict(int)

    def fault(self) -> Fault | None:
        """Return the earliest call that never ends; None if all calls end."""
        going = True
        while going:
            going = False
            for rank in range(len(self._calls)):
                going = self._advance(rank) or going
        pairs = zip(self._calls, self._next, strict=True)
        stopped = [calls[number] for calls, number in pairs if number < len(calls)]
        if not stopped:
            return None
        first = min(stopped, key=lambda call: (call.number, call.rank))
        return first.fault("waits for ranks that wait for it")

    def _advance(self, rank: int) -> bool:
        """Let a rank make as many calls as it can; return whether it has made any."""
        calls = self._calls[rank]
        begin = self._next[rank]
        while self._next[rank] < len(calls) and self._may_pass(calls[self._next[rank]]):
            self._next[rank] += 1
        return self._next[rank] > begin

    def _may_pass(self, call: _Call) -> bool:
        shape = call.shape
        if shape.kind == "done":
            posts = self._posts[call.rank]
            return shape.to < len(posts) and self._is_sent(posts[-1 - shape.to])
        if shape.posts:
            self._posts[call.rank].append(call.spot)
            return True
        if shape.kind == "send-receive":
            return self._swap_may_pass(call)
        if shape.kind in POINT_TO_POINT:
            return self._is_sent(call.spot)
        if call.is_collective:
            return self._have_all_come(call)
        return True

    def _have_all_come(self, call: _Call) -> bool:
        """Record that a rank has come to its collective; return whether all members have come."""
        shape = call.shape
        member = (call.rank, shape.comm)
        arrived = self._arrived[shape.comm, self._passed[member]]
        arrived.add(call.rank)
        if len(arrived) < shape.comm_size:
            return False
        self._passed[member] += 1
        return True

    def _swap_may_pass(self, call: _Call) -> bool:
        send = self._sent_for.get(call.spot)
        # The call sends while it waits to receive, so its partner only has to come to its call.
        return send is None or self._next[send.rank] >= send.number

    def _is_sent(self, receive: _Spot) -> bool:
        """Whether the message of a receive has been sent, or the call receives nothing."""
        send = self._sent_for.get(receive)
        if send is None or self._next[send.rank] > send.number:
            return True
        return self._stands_at_swap(send)

    def _stands_at_swap(self, send: _Spot) -> bool:
        """Whether a rank has come to this call, and the call is a combined send and receive."""
        if self._next[send.rank] != send.number:
            return False
        return self._calls[send.rank][send.number].shape.kind == "send-receive"
