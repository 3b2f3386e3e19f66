"""A script that runs on nodes while bareline talks with it.

The nodes answer by lines of their own: ``bareline NODE WORD...``, and long ones in pieces, see the
script ``answers``. One local process may stand for
one node (ssh) or for many (a step of a batch system). A node is not trusted to be right: what it
says is bounded, and none speaks for another.
"""

from __future__ import annotations

import contextlib
import queue
import subprocess
import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from functools import cache
from io import BufferedReader
from pathlib import Path

from bareline.platforms.hosts import local_environment
from bareline.platforms.process import spawn
from bareline.vocabulary.errors import PlatformError
from bareline.vocabulary.nodeset import told_nodes

_SIGN = "bareline "
_END_S = 3.0


@cache
def script(name: str) -> str:
    """Give a script of this folder."""
    return Path(__file__).with_name(name).read_text(encoding="utf-8")


#: Longest line: a file of a trial in base64.
MOST_LINE_BYTES = 64 << 20
#: Most that one process says in a conversation, which may be some files.
MOST_SAID_BYTES = 256 << 20
#: So much of the end of what it complains about is kept.
_COMPLAINT_BYTES = 1 << 16
#: How often processes are looked at while their nodes are talking.
_LOOK_S = 0.05
#: How long the last lines of a process that has ended may be on their way to us.
_LAST_LINES_S = 1.0


@dataclass(slots=True)
class _Heard:
    """What a process said beside its answers."""

    complaint: bytearray = field(default_factory=bytearray)
    excess: str = ""
    listener: threading.Thread | None = None


class Conversation:
    """A script in progress on some nodes.

    Parameters
    ----------
    nodes
        Names of the nodes that take part.
    """

    def __init__(self, nodes: Sequence[str]) -> None:
        self.nodes = tuple(nodes)
        #: What each node has said, by its first word.
        self.said: dict[str, dict[str, list[str]]] = {name: {} for name in nodes}
        self._lines: queue.Queue[tuple[str, str, str] | None] = queue.Queue()
        self._processes: list[tuple[tuple[str, ...], subprocess.Popen[bytes], _Heard]] = []

    def tell(self, order: str, content: bytes = b"") -> None:
        """Give every node an order, and what follows it."""
        for names, popen, _ in self._processes:
            assert popen.stdin is not None
            try:
                popen.stdin.write(order.encode() + b"\n" + content)
                popen.stdin.flush()
            except OSError as error:
                raise self._lost(names) from error

    def tell_one(self, node: str, order: str) -> None:
        """Give one node an order; others that hang on the same process hear it too."""
        for names, popen, _ in self._processes:
            if node in names:
                assert popen.stdin is not None
                try:
                    popen.stdin.write(order.encode() + b"\n")
                    popen.stdin.flush()
                except OSError as error:
                    raise self._lost(names) from error

    def wait(self, word: str, timeout_s: float, nodes: Sequence[str] | None = None) -> None:
        """Wait until the nodes have said a word.

        Raises
        ------
        PlatformError
            One did not in time, or its connection ended before.
        """
        waiting = set(self.nodes if nodes is None else nodes)
        waiting -= {name for name in waiting if word in self.said[name]}
        deadline = time.monotonic() + timeout_s
        ended_at: float | None = None
        look_at = 0.0
        while waiting:
            left_s = deadline - time.monotonic()
            if left_s <= 0:
                raise PlatformError(
                    f"no answer within {timeout_s:.0f} s", where=told_nodes(sorted(waiting))
                )
            with contextlib.suppress(queue.Empty):
                line = self._lines.get(timeout=min(left_s, 0.5 if ended_at is None else 0.1))
                self._take(line)
                if line is not None and line[1] == word:
                    waiting.discard(line[0])
            # A look at every process for every line would be a million looks for a thousand nodes.
            if time.monotonic() < look_at:
                continue
            look_at = time.monotonic() + _LOOK_S
            lost = self.lost()
            if lost is None or not waiting & set(lost):
                continue
            # A process that has ended may have said the word: its last lines are still on the way.
            ended_at = ended_at or time.monotonic()
            if self._lines.empty() and time.monotonic() - ended_at > _LAST_LINES_S:
                raise self._lost(lost)

    def answer(self, node: str, word: str) -> str:
        """Give what a node said first after a word.

        Raises
        ------
        PlatformError
            It never said that.
        """
        said = self.said[node].get(word)
        if not said:
            raise PlatformError(
                f"the node did not tell its '{word}'", where=node, hint=f"see what runs on {node}"
            )
        return said[0]

    def lost(self) -> tuple[str, ...] | None:
        """Name the nodes of the first process that has ended, None while all go on."""
        for names, popen, _ in self._processes:
            if popen.poll() is not None:
                return names
        return None

    def reason(self, names: Sequence[str]) -> str:
        """Give what a process complained about last, or how it ended."""
        for those, popen, heard in self._processes:
            if those == tuple(names):
                if heard.excess:
                    return heard.excess
                if popen.poll() is not None and heard.listener is not None:
                    heard.listener.join(_LAST_LINES_S)
                lines = bytes(heard.complaint).decode(errors="replace").strip().splitlines()
                said = [line for line in lines if line.strip()]
                code = popen.poll()
                ended = "it does not answer" if code is None else f"exit code {code}"
                return said[-1][:300] if said else ended
        return "no such node"

    def excess(self, names: Sequence[str]) -> bool:
        """Tell whether a process was ended because it said too much."""
        return any(those == tuple(names) and heard.excess for those, _, heard in self._processes)

    def drop(self, word: str) -> None:
        """Forget that a word was said, so that it can be waited for again."""
        for said in self.said.values():
            said.pop(word, None)

    def _lost(self, names: Sequence[str]) -> PlatformError:
        with contextlib.suppress(queue.Empty, subprocess.TimeoutExpired):
            for those, popen, _ in self._processes:
                if those == tuple(names):
                    popen.wait(_END_S)
        return PlatformError(
            f"the connection ended: {self.reason(names)}", where=told_nodes(sorted(names))
        )

    def _take(self, line: tuple[str, str, str] | None) -> None:
        if line is not None and line[0] in self.said:
            self.said[line[0]].setdefault(line[1], []).append(line[2])

    def _read(self, names: tuple[str, ...], popen: subprocess.Popen[bytes], heard: _Heard) -> None:
        assert popen.stdout is not None
        left = MOST_SAID_BYTES
        pieces: dict[tuple[str, str], list[str]] = {}
        # Whoever ends the process closes the pipe, perhaps in the middle of a read.
        with contextlib.suppress(ValueError, OSError):
            while raw := popen.stdout.readline(MOST_LINE_BYTES + 1):
                left -= len(raw)
                if left < 0 or len(raw) > MOST_LINE_BYTES:
                    heard.excess = "it says more than any node has to say"
                    popen.kill()
                    return
                if not raw.startswith(_SIGN.encode()):
                    continue
                text = raw.decode(errors="replace").rstrip("\n")
                node, _, rest = text.removeprefix(_SIGN).partition(" ")
                word, _, more = rest.partition(" ")
                if node not in names:
                    continue
                if word.endswith("+"):
                    pieces.setdefault((node, word[:-1]), []).append(more)
                    continue
                more = "".join((*pieces.pop((node, word), ()), more))
                self._lines.put((node, word, more))

    @staticmethod
    def _listen(pipe: BufferedReader, heard: _Heard) -> None:
        with contextlib.suppress(ValueError, OSError):
            while raw := pipe.read1(1 << 16):
                heard.complaint += raw
                del heard.complaint[:-_COMPLAINT_BYTES]

    def start(self, names: Sequence[str], line: Sequence[str], stack: ExitStack) -> None:
        """Start the local process that stands for some nodes; it ends with the stack."""
        process = stack.enter_context(spawn(line, env=local_environment(), stdin=True))
        popen, heard, own = process.popen, _Heard(), tuple(names)
        self._processes.append((own, popen, heard))
        reader = threading.Thread(target=self._read, args=(own, popen, heard), daemon=True)
        about = (popen.stderr, heard)
        heard.listener = threading.Thread(target=self._listen, args=about, daemon=True)
        for thread in (reader, heard.listener):
            thread.start()

    def close(self) -> None:
        """End every script by the end of its input, and give it a moment to clean up."""
        for _, popen, _ in self._processes:
            if popen.stdin is not None:
                with contextlib.suppress(OSError):
                    popen.stdin.close()
        deadline = time.monotonic() + _END_S
        for _, popen, _ in self._processes:
            with contextlib.suppress(subprocess.TimeoutExpired):
                popen.wait(max(0.0, deadline - time.monotonic()))


@contextmanager
def conversation(lines: Mapping[tuple[str, ...], Sequence[str]]) -> Iterator[Conversation]:
    """Start a script on nodes; it ends with the context.

    Parameters
    ----------
    lines
        The local command line by the names of the nodes that it stands for.
    """
    talk = Conversation([name for names in lines for name in names])
    with ExitStack() as stack:
        for names, line in lines.items():
            talk.start(names, line, stack)
        stack.callback(talk.close)
        yield talk
