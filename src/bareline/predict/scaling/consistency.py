"""Check whether a made period is a program: its messages, requests and collectives match.

A law that fits every profiled count may differ from the program's on more ranks. The calls that it
then gives rarely fit together, so they are checked before an engine replays them.
"""

from __future__ import annotations

from collections import defaultdict, deque
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from bareline.profile.period import calls_of
from bareline.profile.records import NOBODY, POINT_TO_POINT, Shape
from bareline.profile.trace import Trace

_COLLECTIVE = ("collective", "communicator")
#: Collectives to which all members bring the same number of bytes.
_SAME_SIZE = frozenset(
    f"MPI_{way}"
    for name in (
        "bcast", "reduce", "allreduce", "scan", "exscan", "gather", "scatter", "allgather",
        "alltoall",
    )
    for way in (name.capitalize(), f"I{name}")
)  # fmt: skip
_ANY_TAG = -1


@dataclass(frozen=True, slots=True)
class Fault:
    """The first call of a period that does not fit the calls of other ranks.

    - `rank`, `number`: the rank of the call, and its number in the rank's period, from 1.
    - `why`: the mismatch, with both sides' values.
    """

    rank: int
    number: int
    call: str
    why: str

    def __str__(self) -> str:
        return f"call {self.number} of rank {self.rank}, {self.call}, {self.why}"


@dataclass(frozen=True, slots=True)
class _Call:
    """A call of a rank; `at` is its number in the rank's period, from 0."""

    rank: int
    at: int
    shape: Shape

    def fault(self, why: str) -> Fault:
        return Fault(self.rank, self.at + 1, self.shape.call, why)


def first_fault(trace: Trace, *, exact: bool = True) -> Fault | None:
    """Return the first call that does not fit; None where the period can run to its end.

    - `exact`: sizes follow laws exactly; else the sizes at a message's two ends may differ.
    """
    calls = [
        [_Call(stream.rank, number, shape) for number, shape in enumerate(calls_of(stream))]
        for stream in trace.streams
    ]
    messages = _Messages(exact=exact)
    faults = [messages.fault(calls), _collective_fault(calls)]
    actual = [fault for fault in faults if fault is not None]
    if actual:
        return min(actual, key=lambda fault: (fault.number, fault.rank))
    return _Run(calls, messages.sent_for).fault()


# Messages -----------------------------------------------------------------------------------------


@dataclass
class _Messages:
    """The pairs of sends and receives, in MPI's order; `sent_for` has the send of each receive."""

    exact: bool
    sent_for: dict[tuple[int, int], tuple[int, int]] = field(default_factory=dict)

    def fault(self, calls: Sequence[Sequence[_Call]]) -> Fault | None:
        """Return the first send or receive without its partner, or receive with too little room."""
        sends: dict[tuple[int, int, int], list[_Call]] = defaultdict(list)
        receives: dict[tuple[int, int, int], list[_Call]] = defaultdict(list)
        for call in (each for rank_calls in calls for each in rank_calls):
            shape = call.shape
            if shape.kind not in POINT_TO_POINT:
                continue
            if shape.to != NOBODY:
                sends[call.rank, shape.to, shape.comm].append(call)
            if shape.from_ != NOBODY:
                receives[shape.from_, call.rank, shape.comm].append(call)
        faults = []
        for channel in sends.keys() | receives.keys():
            fault = self._channel_fault(sends[channel], receives[channel])
            if fault is not None:
                faults.append(fault)
        return min(faults, key=lambda fault: (fault.number, fault.rank), default=None)

    def _channel_fault(self, sends: Sequence[_Call], receives: Sequence[_Call]) -> Fault | None:
        """Pair the messages from one rank to another over one communicator; return a fault."""
        waiting: dict[int, deque[_Call]] = defaultdict(deque)
        for send in sends:
            waiting[send.shape.send_tag].append(send)
        for receive in receives:
            sent = _next_send(waiting, receive.shape.receive_tag)
            if sent is None:
                shape = receive.shape
                tag = "any tag" if shape.receive_tag == _ANY_TAG else f"tag {shape.receive_tag}"
                return receive.fault(f"receives from rank {shape.from_}, which sends no {tag}")
            self.sent_for[receive.rank, receive.at] = (sent.rank, sent.at)
            room = receive.shape.size
            if self.exact and receive.shape.kind == "receive" and room < sent.shape.sent:
                return receive.fault(
                    f"has room for {room} B, and rank {sent.rank} sends {sent.shape.sent} B"
                )
        left = [send for queue in waiting.values() for send in queue]
        if not left:
            return None
        first = min(left, key=lambda send: send.at)
        shape = first.shape
        return first.fault(f"sends tag {shape.send_tag} to rank {shape.to}, which receives none")


def _next_send(waiting: dict[int, deque[_Call]], tag: int) -> _Call | None:
    queues: Iterable[deque[_Call]] = waiting.values() if tag == _ANY_TAG else [waiting[tag]]
    heads = [queue for queue in queues if queue]
    if not heads:
        return None
    return min(heads, key=lambda queue: queue[0].at).popleft()


# Collectives --------------------------------------------------------------------------------------


def _collective_fault(calls: Sequence[Sequence[_Call]]) -> Fault | None:
    """Return the first collective that members of a communicator call differently."""
    ordered: dict[int, dict[int, list[_Call]]] = defaultdict(lambda: defaultdict(list))
    for call in (each for rank_calls in calls for each in rank_calls):
        if call.shape.kind in _COLLECTIVE and call.shape.comm_size > 1:
            ordered[call.shape.comm][call.rank].append(call)
    for members in ordered.values():
        first = members[min(members)]
        size = first[0].shape.comm_size
        if len(members) != size:
            return first[0].fault(f"is of {size} ranks, and {len(members)} call it")
        for member_calls in members.values():
            fault = _unlike(first, member_calls)
            if fault is not None:
                return fault
    return None


def _unlike(model: Sequence[_Call], calls: Sequence[_Call]) -> Fault | None:
    """Return the first collective in which two members of a communicator differ."""
    for expected, other in zip(model, calls, strict=False):
        a = expected.shape
        b = other.shape
        where = f"where rank {expected.rank} calls"
        if a.call != b.call:
            return other.fault(f"stands {where} {a.call}")
        if a.root != b.root:
            return other.fault(f"has root {b.root} {where} it with root {a.root}")
        if a.call in _SAME_SIZE and a.size != b.size:
            return other.fault(f"moves {b.size} B {where} it with {a.size} B")
    if len(model) == len(calls):
        return None
    longer = max(model, calls, key=len)
    other_rank = min(model, calls, key=len)[0].rank
    extra = longer[min(len(model), len(calls))]
    return extra.fault(f"is one collective more than rank {other_rank} calls")


# To its end ---------------------------------------------------------------------------------------


class _Run:
    """A run through the calls of all ranks: sends pass at once, other calls wait for partners."""

    def __init__(
        self, calls: Sequence[Sequence[_Call]], sent_for: dict[tuple[int, int], tuple[int, int]]
    ) -> None:
        self._calls = calls
        self._sent_for = sent_for
        self._next = [0 for _ in calls]
        self._posts: list[list[int]] = [[] for _ in calls]
        self._arrived: dict[tuple[int, int], set[int]] = defaultdict(set)
        self._passed: dict[tuple[int, int], int] = defaultdict(int)

    def fault(self) -> Fault | None:
        """Return the earliest call that never ends, None where all do."""
        going = True
        while going:
            going = False
            for rank in range(len(self._calls)):
                going = self._advance(rank) or going
        pairs = zip(self._calls, self._next, strict=True)
        stopped = [calls[number] for calls, number in pairs if number < len(calls)]
        if not stopped:
            return None
        first = min(stopped, key=lambda call: (call.at, call.rank))
        return first.fault("waits for ranks that wait for it")

    def _advance(self, rank: int) -> bool:
        calls = self._calls[rank]
        moved = False
        while self._next[rank] < len(calls) and self._may_pass(calls[self._next[rank]]):
            self._next[rank] += 1
            moved = True
        return moved

    def _may_pass(self, call: _Call) -> bool:
        shape = call.shape
        if shape.kind == "done":
            posts = self._posts[call.rank]
            return shape.to < len(posts) and self._is_sent(call.rank, posts[-1 - shape.to])
        if shape.posts:
            self._posts[call.rank].append(call.at)
            return True
        if shape.kind in POINT_TO_POINT:
            if shape.kind == "send-receive":
                return self._swap_may_pass(call)
            return self._is_sent(call.rank, call.at)
        if shape.kind in _COLLECTIVE and shape.comm_size > 1:
            turn = (shape.comm, self._passed[call.rank, shape.comm])
            self._arrived[turn].add(call.rank)
            if len(self._arrived[turn]) < shape.comm_size:
                return False
            self._passed[call.rank, shape.comm] += 1
        return True

    def _swap_may_pass(self, call: _Call) -> bool:
        send = self._sent_for.get((call.rank, call.at))
        # Its own half is sent while it waits: the other rank need only have come to its call.
        return send is None or self._next[send[0]] >= send[1]

    def _is_sent(self, rank: int, number: int) -> bool:
        send = self._sent_for.get((rank, number))
        return send is None or self._next[send[0]] > send[1] or self._stands_at_swap(*send)

    def _stands_at_swap(self, rank: int, number: int) -> bool:
        """Whether a rank has come to this call, and the call sends as it receives."""
        return self._next[rank] == number and self._calls[rank][number].shape.kind == "send-receive"
