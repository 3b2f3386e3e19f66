"""A local process that stands for nodes: orders go to its input, their answers are its output.

The nodes answer by lines of their own: ``bareline NODE WORD...``, and long ones in pieces; see the
script ``answers``. A node is not trusted to be right: what it says is bounded, and none speaks for
those of another process.
"""

from __future__ import annotations

import contextlib
import os
import resource
import select
import subprocess
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import IO

from bareline.platforms.process import spawn
from bareline.vocabulary.errors import NotNow, PlatformError
from bareline.vocabulary.nodeset import nodes_text

_SIGN = b"bareline "
#: Longest line: long answers come in pieces.
MOST_LINE_BYTES = 1 << 16
#: Most that one process says between two turns, which may be some files.
MOST_SAID_BYTES = 256 << 20
#: So much of the end of what it complains about is kept.
_COMPLAINT_BYTES = 1 << 16
#: Most that is taken at a time: others have something to say, too.
_HEAR_BYTES = 1 << 20
_END_S = 3.0
#: How long a node that does not listen holds up who tells it something.
_TELL_S = 20.0
#: Files that this process may come to open for other reasons, and for each other one: three pipes,
#: and one while it is being started.
_FILES = 256
_FILES_EACH = 4


class Peer:
    """A process that stands for some nodes.

    - `names`: of the nodes.
    """

    def __init__(self, names: Sequence[str], popen: subprocess.Popen[bytes]) -> None:
        self.names = frozenset(names)
        self._popen = popen
        self._is_silent = False
        self._begun = bytearray()
        self._pieces: dict[tuple[str, str], list[str]] = {}
        self._left = MOST_SAID_BYTES
        self._complaint = bytearray()
        #: What is wrong with what it says; it was ended for that.
        self.excess = ""
        self._is_deaf = False
        for pipe in (popen.stdin, popen.stdout, popen.stderr):
            assert pipe is not None
            os.set_blocking(pipe.fileno(), False)

    @property
    def output(self) -> IO[bytes]:
        """What its nodes say, to be waited for."""
        assert self._popen.stdout is not None
        return self._popen.stdout

    @property
    def has_ended(self) -> bool:
        """Whether it says nothing any more but what is still on its way."""
        return self._is_silent or self._popen.poll() is not None

    def take_turn(self) -> None:
        """Begin to count anew what it says."""
        self._left = MOST_SAID_BYTES
        self._pieces.clear()

    def tell(self, order: str, content: bytes = b"") -> None:
        """Give its nodes an order, and what follows it."""
        assert self._popen.stdin is not None
        unsent = memoryview(order.encode() + b"\n" + content)
        ready = select.poll()
        try:
            pipe = self._popen.stdin.fileno()
            ready.register(pipe, select.POLLOUT)
            while unsent:
                if self._is_deaf or not ready.poll(_TELL_S * 1000.0):
                    self._is_deaf = True
                    raise PlatformError(
                        "it does not take what it is told", where=nodes_text(sorted(self.names))
                    )
                unsent = unsent[os.write(pipe, unsent) :]
        except (OSError, ValueError) as error:
            raise self.lost() from error

    def hear(self) -> Iterator[tuple[str, str, str]]:
        """Give what its nodes have said meanwhile: the node, a word, and what follows it."""
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
            yield node, word, "".join((*self._pieces.pop((node, word), ()), more))

    def _lines(self) -> Iterator[bytes]:
        said, self._is_silent = _read(self.output)
        self._left -= len(said)
        self._begun += said
        *lines, rest = self._begun.split(b"\n") if b"\n" in said else (self._begun,)
        self._begun = bytearray(rest)
        if self._left < 0 or max(map(len, (*lines, rest))) > MOST_LINE_BYTES:
            self.excess = "it says more than any node has to say"
            self._popen.kill()
            return
        yield from map(bytes, lines)

    def _complain(self) -> None:
        assert self._popen.stderr is not None
        self._complaint += _read(self._popen.stderr)[0]
        del self._complaint[:-_COMPLAINT_BYTES]

    def reason(self) -> str:
        """Give what it complained about last, or how it ended."""
        if self.excess:
            return self.excess
        self._complain()
        lines = bytes(self._complaint).decode(errors="replace").strip().splitlines()
        said = [line for line in lines if line.strip()]
        code = self._popen.poll()
        ended = "it does not answer" if code is None else f"exit code {code}"
        return said[-1][:300] if said else ended

    def lost(self) -> PlatformError:
        """Say that it has ended, which it does right now, and why; another one may do better."""
        with contextlib.suppress(subprocess.TimeoutExpired):
            self._popen.wait(_END_S)
        kind = PlatformError if self.excess else NotNow
        return kind(f"the connection ended: {self.reason()}", where=nodes_text(sorted(self.names)))

    def leave(self) -> None:
        """End its scripts by the end of their input."""
        assert self._popen.stdin is not None
        with contextlib.suppress(OSError):
            self._popen.stdin.close()

    def wait_end(self, timeout_s: float) -> None:
        """Wait until it has ended, for so long at most."""
        with contextlib.suppress(subprocess.TimeoutExpired):
            self._popen.wait(timeout_s)


def _read(pipe: IO[bytes]) -> tuple[bytes, bool]:
    """Read what is there now, and tell whether nothing can come any more."""
    found = bytearray()
    try:
        while len(found) < _HEAR_BYTES:
            raw = os.read(pipe.fileno(), 1 << 16)
            if not raw:
                return bytes(found), True
            found += raw
    except BlockingIOError:
        return bytes(found), False
    except (OSError, ValueError):  # whoever has ended it has closed its pipes
        return bytes(found), True
    return bytes(found), False


def make_room(count: int) -> None:
    """See that this process may open the files of so many others more: often it may have 1,024."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    needed = sum(1 for _ in Path("/proc/self/fd").iterdir()) + _FILES_EACH * count
    wanted = needed + _FILES
    if soft == resource.RLIM_INFINITY or soft >= wanted:
        return
    if hard != resource.RLIM_INFINITY:
        if hard < needed:
            raise PlatformError(
                f"{count} connections want {needed} open files, and {hard} are allowed",
                hint="raise the hard limit (`ulimit -Hn`), or use fewer hosts at a time",
            )
        wanted = min(wanted, hard)
    resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, hard))


@contextmanager
def peer(names: Sequence[str], line: Sequence[str], env: Mapping[str, str]) -> Iterator[Peer]:
    """Start the process that stands for some nodes; it is ended with the context."""
    with spawn(line, env=env, stdin=True) as process:
        yield Peer(names, process.popen)


@contextmanager
def peers(
    lines: Mapping[tuple[str, ...], Sequence[str]], env: Mapping[str, str]
) -> Iterator[tuple[Peer, ...]]:
    """Start scripts on nodes; they end with the context, and have a moment to clean up.

    - `lines`: the local command line by the names of the nodes that it stands for.
    """
    make_room(len(lines))
    with ExitStack() as stack:
        started = [stack.enter_context(peer(names, line, env)) for names, line in lines.items()]
        stack.callback(leave_all, started)
        yield tuple(started)


def leave_all(those: Iterable[Peer]) -> None:
    """End scripts, all at once, and give them a moment to clean up."""
    those = tuple(those)
    for one in those:
        one.leave()
    deadline = time.monotonic() + _END_S
    for one in those:
        one.wait_end(max(0.0, deadline - time.monotonic()))
