"""The part of a program's output that is kept: of a long output, the beginning and the end.

A program may print its results last, so the end is as important as the beginning. Only whole lines
are left out, so that no reader gets a part of a number.
"""

from __future__ import annotations

#: More than this is cut: a benchmark prints kilobytes, a program gone wild prints for ever.
MOST_BYTES = 32 << 20


class HeadAndTail:
    """A collector that keeps the beginning and the end of an output, at most `most_bytes`."""

    def __init__(self, most_bytes: int = MOST_BYTES) -> None:
        self.total = 0
        self._end_bytes = most_bytes // 2
        self._head = bytearray()
        self._tail = bytearray()

    def extend(self, chunk: bytes) -> None:
        """Add a chunk of output."""
        self.total += len(chunk)
        room = self._end_bytes - len(self._head)
        if room > 0:
            self._head += chunk[:room]
            chunk = chunk[room:]
        self._tail += chunk
        if len(self._tail) > 2 * self._end_bytes:  # now and then, not at every piece
            del self._tail[: -self._end_bytes]

    @property
    def is_cut(self) -> bool:
        """Whether some of the output is left out."""
        return self.total > 2 * self._end_bytes

    @property
    def whole(self) -> bytes:
        """The complete output, if nothing is left out."""
        return bytes(self._head + self._tail)

    @property
    def text(self) -> str:
        """The kept text; a line between beginning and end states that a part is missing."""
        if not self.is_cut:
            return self.whole.decode(errors="replace")
        head = self._head[: self._head.rfind(b"\n") + 1 or None]
        tail = self._tail[-self._end_bytes :]
        tail = tail[tail.find(b"\n") + 1 :]
        left_out = self.total - len(head) - len(tail)
        marker = f"\n[{left_out} bytes left out]\n".encode()
        return (bytes(head).rstrip(b"\n") + marker + bytes(tail)).decode(errors="replace")

    def cut(self, name: str) -> tuple[str, ...]:
        """Return a description of the missing part; empty if nothing is missing."""
        return (_too_long(name, self.total),) if self.is_cut else ()


def _too_long(name: str, total: int) -> str:
    return f"{name} has {total:,} bytes, of which {MOST_BYTES >> 20} MiB are kept, half of each end"


def cut_of_file(name: str, kind: str) -> tuple[str, ...]:
    """Return a description of the missing part of a file; empty if nothing is missing."""
    if kind == "odd":
        return (f"{name} is not a regular file, and nothing of it is read",)
    return (_too_long(name, int(kind)),) if kind and int(kind) > MOST_BYTES else ()
