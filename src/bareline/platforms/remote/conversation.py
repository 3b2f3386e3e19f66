"""What bareline and a script on some nodes say to each other, for one purpose or one trial."""

from __future__ import annotations

import selectors
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from functools import cache
from itertools import count
from pathlib import Path

from bareline.platforms.process import local_environment
from bareline.platforms.remote.peer import Peer, peers
from bareline.vocabulary.errors import PlatformError
from bareline.vocabulary.nodeset import nodes_text

#: How often it is looked whether somebody has ended in silence.
_LOOK_S = 0.05
_TURNS = count(1)


@cache
def script(name: str) -> str:
    """Give a script of this folder."""
    return Path(__file__).with_name(name).read_text(encoding="utf-8")


class Conversation:
    """A script in progress on some nodes.

    - `those`: the processes that stand for the nodes; they may have been there before.
    """

    def __init__(self, those: Sequence[Peer]) -> None:
        self.peers = tuple(those)
        self.nodes = tuple(sorted(name for one in those for name in one.names))
        #: What each node has said, by its first word.
        self.said: dict[str, dict[str, list[str]]] = {name: {} for name in self.nodes}
        self._turn = ""
        self._before: set[str] = set()
        self._selector = selectors.DefaultSelector()
        for one in those:
            one.take_turn()
            self._selector.register(one.output, selectors.EVENT_READ, one)

    def close(self) -> None:
        """Listen no more; idempotent. Who talks stays."""
        self._selector.close()

    def take_turn(self, order: str) -> None:
        """Give every node an order, and listen to what is said from then on.

        A node that was slow in the turn before may still answer what was asked then.
        """
        self._turn = str(next(_TURNS))
        self._before = set(self.nodes)
        self.tell(f"turn {self._turn}")
        self.tell(order)

    def tell(self, order: str, content: bytes = b"") -> None:
        """Give every node an order, and what follows it."""
        for one in self.peers:
            one.tell(order, content)

    def tell_living(self, order: str) -> tuple[str, ...]:
        """Give an order to the nodes that are still there; name them."""
        living = [one for one in self.peers if not one.has_ended]
        for one in living:
            with suppress(PlatformError):
                one.tell(order)
        return tuple(name for one in living for name in one.names)

    def tell_one(self, node: str, order: str) -> None:
        """Give one node an order; others that hang on the same process hear it too."""
        for one in self.peers:
            if node in one.names:
                one.tell(order)

    def wait(self, word: str, timeout_s: float, nodes: Sequence[str] | None = None) -> None:
        """Wait until the nodes have said a word."""
        waiting = {
            name for name in (self.nodes if nodes is None else nodes) if word not in self.said[name]
        }
        deadline = time.monotonic() + timeout_s
        look_at = 0.0
        while waiting:
            left_s = deadline - time.monotonic()
            if left_s <= 0:
                raise PlatformError(
                    f"no answer within {timeout_s:.0f} s", where=nodes_text(sorted(waiting))
                )
            for key, _ in self._selector.select(min(left_s, _LOOK_S)):
                heard = self._hear(key.data)
                waiting -= {name for name in heard if word in self.said[name]}
            # A look at every process for every line would be a million looks for a thousand nodes.
            if time.monotonic() >= look_at:
                look_at = time.monotonic() + _LOOK_S
                self._look(word, waiting)

    def _look(self, word: str, waiting: set[str]) -> None:
        """Look whether somebody who is waited for has ended without a word."""
        for one in self.peers:
            if one.names.isdisjoint(waiting) or not one.has_ended:
                continue
            while heard := self._hear(one):
                waiting -= {name for name in heard if word in self.said[name]}
            if not one.names.isdisjoint(waiting):
                raise one.lost()

    def _hear(self, one: Peer) -> set[str]:
        """Take what a process says; give the nodes that said something."""
        heard = set()
        for node, word, rest in one.hear():
            heard.add(node)
            if node not in self._before:
                self.said[node].setdefault(word, []).append(rest)
            elif (word, rest) == ("turn", self._turn):
                self._before.discard(node)
        if one.has_ended and one.output in self._selector.get_map() and not heard:
            self._selector.unregister(one.output)  # it would always be ready to say nothing
        return heard

    def answer(self, node: str, word: str) -> str:
        """Give what a node said first after a word."""
        said = self.said[node].get(word)
        if not said:
            raise PlatformError(
                f"the node did not tell its '{word}'", where=node, hint=f"see what runs on {node}"
            )
        return said[0]

    def lost(self) -> Peer | None:
        """Give the first process that has ended, None while all go on."""
        return next((one for one in self.peers if one.has_ended), None)

    def drop(self, word: str) -> None:
        """Forget that a word was said, so that it can be waited for again."""
        for said in self.said.values():
            said.pop(word, None)


@contextmanager
def listening(those: Sequence[Peer]) -> Iterator[Conversation]:
    """Talk with nodes through processes that are there before and after."""
    talk = Conversation(those)
    try:
        yield talk
    finally:
        talk.close()


@contextmanager
def conversation(
    lines: Mapping[tuple[str, ...], Sequence[str]], env: Mapping[str, str] | None = None
) -> Iterator[Conversation]:
    """Start a script on nodes; it ends with the context.

    - `lines`: the local command line by the names of the nodes that it stands for.
    - `env`: the environment of the local processes; ours without it.
    """
    with (
        peers(lines, local_environment() if env is None else env) as those,
        listening(those) as talk,
    ):
        yield talk
