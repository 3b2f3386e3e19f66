"""Programs and files for nodes that do not see this machine's file systems."""

from __future__ import annotations

import contextlib
import io
import os
import signal
import tarfile
import threading
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import IO

from bareline.platforms.process import local_environment, run_process, spawn

_COPY_S = 300.0
#: So much is kept of the end of what a node complains about.
_COMPLAINT_BYTES = 1 << 16
#: How long its last words may be on their way when it has ended.
_LAST_WORDS_S = 1.0


def pack(folder: Path) -> bytes:
    """Pack a folder's content into a tar archive."""
    packed = io.BytesIO()
    with tarfile.open(fileobj=packed, mode="w") as archive:
        archive.add(folder, arcname=".")
    return packed.getvalue()


@dataclass(frozen=True, slots=True)
class Exchanged:
    """What a command line gave back; `said` is the end of what it complained about."""

    stdout: bytes
    said: str
    exit_code: int


def exchange(line: Sequence[str], content: bytes, timeout_s: float, most_bytes: int) -> Exchanged:
    """Give bytes to a command line, and take bytes back.

    Raises TimeoutError: it has not ended by then.
    Raises OverflowError: it gives more than `most_bytes`.
    """
    complaint, room = bytearray(), most_bytes

    def give(pipe: IO[bytes]) -> None:
        with contextlib.suppress(OSError, ValueError), pipe:
            pipe.write(content)

    def listen(pipe: IO[bytes]) -> None:
        with contextlib.suppress(OSError, ValueError):
            while raw := pipe.read(1 << 12):
                complaint.extend(raw)
                del complaint[:-_COMPLAINT_BYTES]

    out: list[bytes] = []
    late = threading.Event()
    with spawn(line, env=local_environment(), stdin=True) as process:
        popen = process.popen
        assert popen.stdin and popen.stdout and popen.stderr
        threads = [
            threading.Thread(target=give, args=(popen.stdin,), daemon=True),
            threading.Thread(target=listen, args=(popen.stderr,), daemon=True),
        ]
        for thread in threads:
            thread.start()

        def stop() -> None:
            late.set()
            with contextlib.suppress(ProcessLookupError):
                os.killpg(popen.pid, signal.SIGKILL)  # what it started holds its pipes, too

        clock = threading.Timer(timeout_s, stop)
        clock.start()
        try:
            while raw := popen.stdout.read1(1 << 20):  # type: ignore[attr-defined]
                room -= len(raw)
                if room < 0:
                    raise OverflowError
                out.append(raw)
            code = popen.wait()
        finally:
            clock.cancel()
        if late.is_set():
            raise TimeoutError
        threads[1].join(_LAST_WORDS_S)
    return Exchanged(b"".join(out), complaint.decode(errors="replace").strip(), code)


def send(line: Sequence[str], archive: bytes, where: str) -> str:
    """Give an archive to a command line that unpacks it on a node; give what that says."""
    done = run_process(line, env=local_environment(), timeout_s=_COPY_S, stdin=archive)
    return done.must("files could not be copied", where=where).stdout
