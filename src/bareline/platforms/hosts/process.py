"""The execution of programs with a time limit, and command lines for remote shells."""

from __future__ import annotations

import contextlib
import ctypes
import os
import re
import selectors
import shlex
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path
from typing import IO, Any

from bareline.host.owner import has_ended
from bareline.platforms.hosts.output_limit import HeadAndTail
from bareline.vocabulary.errors import PlatformError
from bareline.vocabulary.model import TRIAL_VARIABLE, Output
from bareline.vocabulary.source_place import place_of

_GRACE_S = 2.0
#: Interval of the checks for lost processes.
_LOOK_S = 0.5
_PR_SET_PDEATHSIG = 1
#: The last line of many programs that failed: "Run 'docker run --help' for more information".
_ADVICE = re.compile(r"^(run|see|try)\b.*(help|more)", re.IGNORECASE)
#: A trial's mark in an environment.
_MARK = re.compile(rf"(?:^|\0){TRIAL_VARIABLE}=([^\0]*)".encode())


@dataclass(frozen=True, slots=True)
class Finished:
    """The result of a process.

    - `exit_code`: negative if a signal ended the process.
    - `cut`: descriptions of output that was not kept.
    """

    stdout: str
    stderr: str
    exit_code: int
    duration_s: float
    timed_out: bool
    cut: tuple[str, ...] = ()

    def output(self, argv: Sequence[str], **more: Any) -> Output:
        """Return the result as the output of a trial.

        - `more`: fields of `Output` that the process does not determine, or that replace its
          values.
        """
        return Output(**{**asdict(self), "argv": tuple(argv), **more})

    @property
    def why(self) -> str:
        """The reason of the failure: the last error line, or how the process ended."""
        if self.timed_out:
            return f"no answer within {self.duration_s:.0f} s"
        output_lines = (self.stderr.strip() or self.stdout.strip()).splitlines()
        lines = [
            line.strip()
            for line in output_lines
            if line.strip() and not _ADVICE.match(line.strip())
        ]
        return lines[-1] if lines else f"exit code {self.exit_code}"

    def require_success(
        self, failed: str, *, where: str | None = None, hint: str | None = None
    ) -> Finished:
        """Return the result, or raise an error if the process failed or took too long.

        - `failed`: the beginning of the error's text; the last error line follows.
        """
        if self.exit_code or self.timed_out:
            error = PlatformError(f"{failed}: {self.why}", where=where, hint=hint)
            # The caller wrote the text, so the message's code is that of the caller.
            error.made_at = place_of(sys._getframe(1))
            raise error
        return self


#: Looked up before any fork: between fork and exec, only calls without a lock are safe.
_prctl = ctypes.CDLL(None).prctl


def local_environment(extra: Mapping[str, str] | None = None) -> dict[str, str]:
    """Return the environment for a process on this machine: bareline's environment in the C locale.

    - `extra`: additional variables.
    """
    return {**os.environ, "LC_ALL": "C", **(extra or {})}


#: A started program.
Process = subprocess.Popen[bytes]


def run_process(
    argv: Sequence[str],
    *,
    timeout_s: float,
    env: Mapping[str, str] | None = None,
    cwd: str | Path | None = None,
    stdin: str | bytes | None = None,
    lost: Callable[[], bool] | None = None,
    output: HeadAndTail | None = None,
) -> Finished:
    """Run a program until it ends or reaches its time limit; then end its whole process group.

    - `env`: the complete environment; by default `local_environment`.
    - `lost`: returns whether waiting has become useless; called twice a second.
    - `output`: collects the output, if the output is not text or may be longer than usual.

    Raises PlatformError: the program cannot be started at all.
    """
    started = time.monotonic()
    stdout = output or HeadAndTail()
    stderr = HeadAndTail()
    with spawn(argv, env=env, cwd=cwd, stdin=stdin is not None) as process:
        timed_out = _feed_and_collect(process, (stdout, stderr), stdin, started + timeout_s, lost)
        end_group(process)
    return Finished(
        "" if output else stdout.text,
        stderr.text,
        process.returncode,
        time.monotonic() - started,
        timed_out,
        (*stdout.cut("standard output"), *stderr.cut("standard error")),
    )


@contextmanager
def spawn(
    argv: Sequence[str],
    *,
    env: Mapping[str, str] | None = None,
    cwd: str | Path | None = None,
    stdin: bool = False,
    output: IO[bytes] | None = None,
    errors: IO[bytes] | None = None,
) -> Iterator[Process]:
    """Start a program in its own process group, and end the group on every exit.

    - `stdin`: whether standard input is a pipe; if not, standard input is empty.
    - `output`: file for standard output and standard error; by default, they are pipes, which the
      caller has to read.

    Raises PlatformError: the program cannot be started.
    """
    try:
        process = subprocess.Popen(
            argv,
            env=local_environment() if env is None else dict(env),
            cwd=cwd,
            stdin=subprocess.PIPE if stdin else subprocess.DEVNULL,
            stdout=output or subprocess.PIPE,
            stderr=errors or output or subprocess.PIPE,
            start_new_session=True,
            # The kernel kills it when bareline dies, SIGKILL included: one system call, no lock.
            preexec_fn=partial(_prctl, _PR_SET_PDEATHSIG, signal.SIGKILL),  # noqa: PLW1509
        )
    except OSError as error:
        raise PlatformError(f"cannot start '{argv[0]}': {error.strerror}") from error
    try:
        yield process
    finally:
        end_group(process)
        for pipe in filter(None, (process.stdin, process.stdout, process.stderr)):
            with contextlib.suppress(OSError):
                pipe.close()


@contextmanager
def holding(
    argv: Sequence[str],
    *,
    env: Mapping[str, str] | None = None,
    output: IO[bytes] | None = None,
    errors: IO[bytes] | None = None,
) -> Iterator[Process]:
    """Start a program that ends when its standard input ends, and so never survives bareline."""
    with spawn(argv, env=env, stdin=True, output=output, errors=errors) as process:
        try:
            yield process
        finally:
            assert process.stdin is not None
            with contextlib.suppress(OSError):
                process.stdin.close()
            with contextlib.suppress(subprocess.TimeoutExpired):  # `spawn` kills it then.
                process.wait(5.0)


def end_group(process: Process) -> None:
    """Terminate a process group, then kill it; idempotent."""
    if process.poll() is None:
        _signal_group(process.pid, signal.SIGTERM)
        with contextlib.suppress(subprocess.TimeoutExpired):
            process.wait(_GRACE_S)
    _signal_group(process.pid, signal.SIGKILL)
    process.wait()


def _signal_group(group: int, number: signal.Signals) -> None:
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(group, number)


def _feed_and_collect(
    process: Process,
    outputs: Sequence[HeadAndTail],
    stdin: str | bytes | None,
    deadline: float,
    lost: Callable[[], bool] | None,
) -> bool:
    """Collect output until the process ends or is lost; return whether the time limit was reached.

    The function waits for the end of the process, not of its pipes: a server that the process left
    behind would keep the pipes open forever.
    """
    assert process.stdout is not None and process.stderr is not None
    pipes = dict(zip((process.stdout.fileno(), process.stderr.fileno()), outputs, strict=True))
    unsent = memoryview(stdin.encode() if isinstance(stdin, str) else stdin or b"")
    ended = os.pidfd_open(process.pid)
    try:
        with selectors.DefaultSelector() as selector:
            for descriptor in (ended, *pipes):
                selector.register(descriptor, selectors.EVENT_READ)
            if process.stdin is not None:
                selector.register(process.stdin, selectors.EVENT_WRITE)
            for pipe in (*pipes, *([process.stdin.fileno()] if process.stdin else [])):
                os.set_blocking(pipe, False)
            while (remaining_s := deadline - time.monotonic()) > 0:
                if lost is not None and lost():
                    return False
                wait_s = remaining_s if lost is None else min(remaining_s, _LOOK_S)
                for key, _ in selector.select(wait_s):
                    if key.fd == ended:
                        for descriptor, output in pipes.items():
                            _drain(descriptor, output)
                        return False
                    if key.fd in pipes:
                        if not _drain(key.fd, pipes[key.fd]):
                            selector.unregister(key.fd)
                        continue
                    unsent = unsent[_feed(key.fd, unsent) :]
                    if process.stdin is not None and not unsent:
                        selector.unregister(process.stdin)
                        process.stdin.close()
            return True
    finally:
        os.close(ended)


def _feed(descriptor: int, unsent: memoryview) -> int:
    """Write as many bytes as fit, and return their number.

    If the pipe has no reader, return the number of all bytes.
    """
    try:
        return os.write(descriptor, unsent)
    except BlockingIOError:
        return 0
    except BrokenPipeError:
        return len(unsent)


def _drain(descriptor: int, output: HeadAndTail) -> bool:
    while True:
        try:
            chunk = os.read(descriptor, 1 << 16)
        except BlockingIOError:
            return True
        if not chunk:
            return False
        output.extend(chunk)


def kill_marked(token: str) -> int:
    """Kill this machine's processes with a trial's mark, await their end, return their number."""
    return _kill(lambda mark: mark == token)


def kill_abandoned() -> int:
    """Kill trial processes of ended bareline processes on this machine; return their number."""
    return _kill(has_ended)


def marked_processes(token: str) -> list[int]:
    """Return the numbers of the processes on this machine that have the mark of a trial."""
    return processes_with(lambda mark: mark == token)


def _kill(chosen: Callable[[str], bool]) -> int:
    killed: set[int] = set()
    deadline = time.monotonic() + _GRACE_S
    while (marked := processes_with(chosen)) and time.monotonic() < deadline:
        for pid in marked:
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.kill(pid, signal.SIGKILL)
                killed.add(pid)
        time.sleep(0.002)
    return len(killed)


def processes_with(chosen: Callable[[str], bool]) -> list[int]:
    """Return the numbers of the processes on this machine for whose trial mark `chosen` is true."""
    pids = []
    for entry in os.scandir("/proc"):
        if entry.name.isdigit() and int(entry.name) != os.getpid():
            with contextlib.suppress(OSError):
                marks = _MARK.findall(Path(entry.path, "environ").read_bytes())
                if any(chosen(mark.decode(errors="replace")) for mark in marks):
                    pids.append(int(entry.name))
    return pids


def remote_line(
    argv: Sequence[str], env: Mapping[str, str] | None = None, cwd: str | None = None
) -> str:
    """Return a command as one line for a shell on another machine.

    This is the only function that quotes for a shell on another machine.
    """
    inner = list(argv)
    if env:
        inner = ["env", *(f"{key}={value}" for key, value in env.items()), *inner]
    line = shlex.join(inner)
    if cwd:
        line = f"cd {shlex.quote(cwd)} && {line}"
    # A shell that stays reports death by a signal as a code; ssh alone exits with 255 for all.
    return f"{line}; exit $?"


def signal_as_negative(code: int) -> int:
    """Return a shell's exit code above 128 as the negative exit code that ``subprocess`` uses."""
    return 128 - code if 128 < code < 128 + signal.NSIG else code
