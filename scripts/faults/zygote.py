"""Commands of bareline without the second that importing it takes each time."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

#: Exit codes that docs/reference/command-line.md lists.
OURS = {0, 1, 2, 3, 130}


#: A command that has not ended by then hangs.
_LONGEST_S = 180.0


@dataclass(frozen=True)
class Ended:
    """How a command ended; `code` is negative for death by a signal, `late` one that we sent."""

    code: int
    said: str
    memory_kib: int = 0
    late: bool = False

    @property
    def broke(self) -> bool:
        """Whether bareline itself broke, not what it was asked for."""
        return "Traceback (most recent call last)" in self.said or self.code not in OURS


def _lives(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return True


class Zygote:
    """A server that forks one child per command; a context that ends it."""

    def __init__(self, scratch: Path, env: Mapping[str, str] | None = None) -> None:
        self._out = scratch / "said"
        self._process = subprocess.Popen(
            [sys.executable, Path(__file__).with_name("server.py")],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
            env={**os.environ, **(env or {})},
        )

    def __enter__(self) -> Zygote:
        return self

    def __exit__(self, *_: object) -> None:
        assert self._process.stdin is not None
        self._process.stdin.close()
        self._process.wait()
        if self._process.stdout is not None:
            self._process.stdout.close()

    @contextmanager
    def started(
        self,
        argv: Sequence[object],
        cwd: Path,
        *,
        env: Mapping[str, str] | None = None,
        limits: Mapping[str, int] | None = None,
        patches: Sequence[str] = (),
    ) -> Iterator[int]:
        """Start a command and give its number; `ended` must be asked for afterwards."""
        assert self._process.stdin is not None and self._process.stdout is not None
        job = {
            "argv": [str(part) for part in argv],
            "cwd": str(cwd),
            "out": str(self._out),
            "env": dict(env or {}),
            "limits": dict(limits or {}),
            "patches": list(patches),
        }
        self._process.stdin.write(json.dumps(job) + "\n")
        self._process.stdin.flush()
        self._child = int(self._process.stdout.readline())
        yield self._child

    def ended(self) -> Ended:
        """Wait until the command has ended."""
        assert self._process.stdout is not None
        late = threading.Event()

        def end() -> None:
            late.set()
            with contextlib.suppress(ProcessLookupError):
                os.kill(self._child, signal.SIGKILL)

        clock = threading.Timer(_LONGEST_S, end)
        clock.start()
        status, memory = map(int, self._process.stdout.readline().split())
        clock.cancel()
        code = os.waitstatus_to_exitcode(status)
        return Ended(code, self._out.read_text(errors="replace"), memory, late.is_set())

    def run(self, argv: Sequence[object], cwd: Path, **more) -> Ended:
        """Run a command to its end."""
        with self.started(argv, cwd, **more):
            pass
        return self.ended()

    def killed(
        self,
        argv: Sequence[object],
        cwd: Path,
        after_s: float,
        *,
        when: Callable[[], bool] | None = None,
        **more,
    ) -> Ended:
        """Run a command and kill it after some time, if it runs so long.

        Parameters
        ----------
        when
            The time counts from when this holds, or from when too long was waited for it.
        """
        with self.started(argv, cwd, **more) as child:
            deadline = time.monotonic() + _LONGEST_S / 2
            while when is not None and not when() and _lives(child):
                if time.monotonic() > deadline:
                    break
                time.sleep(0.01)
            time.sleep(after_s)
            try:
                os.kill(child, signal.SIGKILL)
            except ProcessLookupError:
                pass
        return self.ended()
