"""The channel between bareline and a script on some nodes, for one task such as a trial.

A local process (peer) represents one or more nodes: it reads bareline's orders from its standard
input, and prints the nodes' answers. An answer is a line ``bareline NODE WORD...``; long answers
come in pieces (see the script ``answers``). bareline does not trust the nodes: the length of their
output is limited, and a node cannot answer in the name of a node that another process represents.
"""

from __future__ import annotations

import os
import resource
import select
import selectors
import subprocess
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, ExitStack, closing, contextmanager, suppress
from functools import cache
from itertools import chain, count
from pathlib import Path
from typing import IO

from bareline.platforms.hosts.process import Process, local_environment, spawn
from bareline.vocabulary.errors import NotNow, PlatformError
from bareline.vocabulary.nodeset import nodes_text

_SIGN = b"bareline "
#: Longest line: long answers come in pieces.
MOST_LINE_BYTES = 1 << 16
#: Largest output of one process between two turns, which may be some files.
MOST_SAID_BYTES = 256 << 20
#: Number of bytes that are kept from the end of a process's error output.
_COMPLAINT_BYTES = 1 << 16
_END_S = 3.0
#: How long an order waits for a node that does not read.
_TELL_S = 20.0
#: Open files for all other purposes, and for each process: three pipes, and one file during its
#: start.
_FILES = 256
_FILES_EACH = 4


class Peer:
    """A local process through which bareline exchanges orders and answers with some nodes."""

    def __init__(self, names: Sequence[str], process: Process) -> None:
        self.names = frozenset(names)
        assert process.stdin is not None
        assert process.stdout is not None and process.stderr is not None
        self._process = process
        self._input = process.stdin
        self._errors = process.stderr
        #: The output of the nodes, for a selector.
        self.output = process.stdout
        self._is_silent = False
        self._begun = bytearray()
        self._pieces: dict[tuple[str, str], list[str]] = {}
        self._left = MOST_SAID_BYTES
        self._complaint = bytearray()
        #: The error in the output for which the process was ended.
        self.excess = ""
        self._is_deaf = False
        for pipe in (self._input, self.output, self._errors):
            os.set_blocking(pipe.fileno(), False)

    @property
    def has_ended(self) -> bool:
        """Whether the process has ended; its last output may still be in the pipe."""
        return self._is_silent or self._process.poll() is not None

    @property
    def _where(self) -> str:
        return nodes_text(sorted(self.names))

    def take_turn(self) -> None:
        """Count the output from 0 again: its length between two of these calls is limited."""
        self._left = MOST_SAID_BYTES
        self._pieces.clear()

    def tell(self, order: str, content: bytes = b"") -> None:
        """Send an order, and the data after it, to the nodes of the process."""
        unsent = memoryview(order.encode() + b"\n" + content)
        ready = select.poll()
        try:
            pipe = self._input.fileno()
            ready.register(pipe, select.POLLOUT)
            while unsent:
                if self._is_deaf or not ready.poll(_TELL_S * 1000.0):
                    self._is_deaf = True
                    raise PlatformError(
                        "bareline's script on the node does not accept its input", where=self._where
                    )
                written_bytes = os.write(pipe, unsent)
                unsent = unsent[written_bytes:]
        except (OSError, ValueError) as error:
            raise self.lost() from error

    def hear(self) -> Iterator[tuple[str, str, str]]:
        """Yield the new lines of the nodes, each as the node, a word, and the rest of the line."""
        self._complain()
        for raw in self._lines():
            if not raw.startswith(_SIGN):
                continue
            text = raw.decode(errors="replace").removeprefix(_SIGN.decode())
            node, _, rest = text.partition(" ")
            word, _, more = rest.partition(" ")
            if node not in self.names:
                continue
            if word.endswith("+"):
                self._pieces.setdefault((node, word[:-1]), []).append(more)
                continue
            pieces = self._pieces.pop((node, word), ())
            yield node, word, "".join((*pieces, more))

    def _lines(self) -> Iterator[bytes]:
        output, self._is_silent = _read(self.output)
        self._left -= len(output)
        self._begun += output
        lines: list[bytearray] = []
        if b"\n" in output:
            *lines, self._begun = self._begun.split(b"\n")
        longest_bytes = max(len(line) for line in (*lines, self._begun))
        if self._left < 0 or longest_bytes > MOST_LINE_BYTES:
            self.excess = "its output is longer than that of any proper node"
            self._process.kill()
            return
        yield from map(bytes, lines)

    def _complain(self) -> None:
        self._complaint += _read(self._errors)[0]
        del self._complaint[:-_COMPLAINT_BYTES]

    def reason(self) -> str:
        """Return the process's last error line, or how the process ended."""
        if self.excess:
            return self.excess
        self._complain()
        complaint = self._complaint.decode(errors="replace").strip()
        if complaint:
            return complaint.splitlines()[-1][:300]
        code = self._process.poll()
        return "it does not answer" if code is None else f"exit code {code}"

    def lost(self) -> PlatformError:
        """Return the error of a connection that has ended, with the reason.

        The error is a `NotNow`, because a new process may succeed. If the output was too long, the
        error is a plain `PlatformError`.
        """
        self.wait_end(_END_S)
        kind = PlatformError if self.excess else NotNow
        return kind(f"the connection to the node ended: {self.reason()}", where=self._where)

    def leave(self) -> None:
        """Close the input of the process, which ends its scripts."""
        with suppress(OSError):
            self._input.close()

    def wait_end(self, timeout_s: float) -> None:
        """Wait until the process has ended, at most `timeout_s` seconds."""
        with suppress(subprocess.TimeoutExpired):
            self._process.wait(timeout_s)


def _read(pipe: IO[bytes]) -> tuple[bytes, bool]:
    """Return the available output of a pipe, and whether the pipe has ended."""
    output = bytearray()
    try:
        while len(output) < 1 << 20:  # other processes are also waiting to be read
            raw = os.read(pipe.fileno(), 1 << 16)
            if not raw:
                return bytes(output), True
            output += raw
    except BlockingIOError:
        pass
    except (OSError, ValueError):  # ended, with its pipes closed
        return bytes(output), True
    return bytes(output), False


def make_room(count: int) -> None:
    """Raise this process's limit for open files, so that it can start `count` more processes.

    The limit is often 1,024.
    """
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    opened = sum(1 for _ in Path("/proc/self/fd").iterdir())
    needed = opened + _FILES_EACH * count
    wanted = needed + _FILES
    if soft == resource.RLIM_INFINITY or soft >= wanted:
        return
    if hard != resource.RLIM_INFINITY:
        if hard < needed:
            raise PlatformError(
                f"{count} connections want {needed} open files, but only {hard} are allowed",
                hint="raise the hard limit (`ulimit -Hn`), or use fewer hosts at a time",
            )
        wanted = min(wanted, hard)
    resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, hard))


@contextmanager
def peer(names: Sequence[str], line: Sequence[str], env: Mapping[str, str]) -> Iterator[Peer]:
    """Start the local process that connects to some nodes; it ends with the context."""
    with spawn(line, env=env, stdin=True) as process:
        yield Peer(names, process)


@contextmanager
def peers(
    lines: Mapping[tuple[str, ...], Sequence[str]], env: Mapping[str, str]
) -> Iterator[tuple[Peer, ...]]:
    """Start scripts on nodes; at the end of the context, let the scripts clean up and end."""
    make_room(len(lines))
    with ExitStack() as stack:
        started = [stack.enter_context(peer(names, line, env)) for names, line in lines.items()]
        stack.callback(leave_all, started)
        yield tuple(started)


def leave_all(peers: Iterable[Peer]) -> None:
    """Let all scripts clean up at the same time, and end them."""
    leaving = tuple(peers)
    for peer in leaving:
        peer.leave()
    deadline = time.monotonic() + _END_S
    for peer in leaving:
        left_s = deadline - time.monotonic()
        peer.wait_end(max(0.0, left_s))


#: Interval of the checks for processes that ended in silence.
_LOOK_S = 0.05
_TURNS = count(1)


@cache
def script(name: str) -> str:
    """Return the text of a script in this folder."""
    return Path(__file__).with_name(name).read_text(encoding="utf-8")


class NodeChannel:
    """A channel to a running script on some nodes."""

    def __init__(self, peers: Sequence[Peer]) -> None:
        self.peers = tuple(peers)
        names = chain.from_iterable(peer.names for peer in peers)
        self.nodes = tuple(sorted(names))
        #: The lines of each node, by their first word.
        self.said: dict[str, dict[str, list[str]]] = {name: {} for name in self.nodes}
        self._turn = ""
        self._before: set[str] = set()
        self._selector = selectors.DefaultSelector()
        for peer in peers:
            peer.take_turn()
            self._selector.register(peer.output, selectors.EVENT_READ, peer)

    def close(self) -> None:
        """Stop reading from the processes, which continue to run; idempotent."""
        self._selector.close()

    def take_turn(self, order: str) -> None:
        """Send every node an order, and ignore late answers to the previous order."""
        self._turn = str(next(_TURNS))
        self._before = set(self.nodes)
        self.tell(f"turn {self._turn}")
        self.tell(order)

    def tell(self, order: str, content: bytes = b"") -> None:
        """Send an order, and the data after it, to every node."""
        for peer in self.peers:
            peer.tell(order, content)

    def tell_living(self, order: str) -> tuple[str, ...]:
        """Send an order to the nodes whose processes still run; return the names of these nodes."""
        living = [peer for peer in self.peers if not peer.has_ended]
        for peer in living:
            with suppress(PlatformError):
                peer.tell(order)
        return tuple(chain.from_iterable(peer.names for peer in living))

    def tell_one(self, node: str, order: str) -> None:
        """Send an order to one node; other nodes of the same process also get the order."""
        for peer in self.peers:
            if node in peer.names:
                peer.tell(order)

    def wait(self, word: str, timeout_s: float, nodes: Sequence[str] | None = None) -> None:
        """Wait until each node has printed a line that begins with a word."""
        talking = self.nodes if nodes is None else nodes
        waiting = {name for name in talking if word not in self.said[name]}
        deadline = time.monotonic() + timeout_s
        next_look = 0.0
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
            if time.monotonic() >= next_look:
                next_look = time.monotonic() + _LOOK_S
                self._look(word, waiting)

    def _look(self, word: str, waiting: set[str]) -> None:
        """Raise PlatformError if a process ended before its nodes printed a word.

        - `waiting`: the nodes that have not yet printed the word.
        """
        for peer in self.peers:
            if peer.names.isdisjoint(waiting) or not peer.has_ended:
                continue
            while heard := self._hear(peer):
                waiting -= {name for name in heard if word in self.said[name]}
            if not peer.names.isdisjoint(waiting):
                raise peer.lost()

    def _hear(self, peer: Peer) -> set[str]:
        """Record the output of a process; return the nodes of the process that printed a line."""
        heard = set()
        for node, word, rest in peer.hear():
            heard.add(node)
            if node not in self._before:
                self.said[node].setdefault(word, []).append(rest)
            elif (word, rest) == ("turn", self._turn):
                self._before.discard(node)
        is_listened_to = peer.output in self._selector.get_map()
        if peer.has_ended and is_listened_to and not heard:
            self._selector.unregister(peer.output)  # it would always be ready to say nothing
        return heard

    def answer(self, node: str, word: str) -> str:
        """Return a node's first line that begins with a word, without this word."""
        answers = self.said[node].get(word)
        if not answers:
            raise PlatformError(
                f"the node did not report its '{word}'",
                where=node,
                hint=f"log in to {node} and check that its shell and standard commands work",
            )
        return answers[0]

    def lost(self) -> Peer | None:
        """Return the first process that has ended; None if all processes run."""
        return next((peer for peer in self.peers if peer.has_ended), None)

    def drop(self, word: str) -> None:
        """Forget the lines that begin with a word, so that a new line can be waited for."""
        for lines in self.said.values():
            lines.pop(word, None)


def listening(peers: Sequence[Peer]) -> AbstractContextManager[NodeChannel]:
    """Open a channel over existing processes, which continue after the context."""
    return closing(NodeChannel(peers))


@contextmanager
def conversation(
    lines: Mapping[tuple[str, ...], Sequence[str]], env: Mapping[str, str] | None = None
) -> Iterator[NodeChannel]:
    """Run a script on nodes, and yield the channel to it; the script ends with the context.

    - `lines`: the local command lines, by the names of the nodes that each line serves.
    """
    peers_env = local_environment() if env is None else env
    with peers(lines, peers_env) as started, listening(started) as talk:
        yield talk
