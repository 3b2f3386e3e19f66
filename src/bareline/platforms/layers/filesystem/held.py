"""Mounts that only the trials of a local platform see, and that end with bareline."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass

from bareline.platforms.held import SETUP_S, WAIT, system_environment, tool, wait_ready
from bareline.platforms.process import Finished, holding, run_process


@dataclass(frozen=True, slots=True)
class Mounts:
    """A mount namespace of this machine, and a process namespace for what serves it.

    `pid`: process that holds them.
    """

    pid: int

    def enter(self, argv: Sequence[str]) -> list[str]:
        """Give the command line of a program that sees the mounts, and is otherwise as usual."""
        return [tool("nsenter"), f"--target={self.pid}", "--mount", "--", *argv]

    def run(self, argv: Sequence[str], stdin: str) -> Finished:
        """Run what mounts or serves; whatever it leaves running ends with the namespaces."""
        line = [tool("nsenter"), f"--target={self.pid}", "--mount", "--pid", "--", *argv]
        return run_process(line, env=system_environment(), timeout_s=SETUP_S, stdin=stdin)


@contextmanager
def private_mounts() -> Iterator[Mounts]:
    """Hold a mount namespace, which ends with this context or with bareline."""
    kinds = ["--mount", "--pid", "--fork", "--kill-child"]
    argv = [tool("unshare"), *kinds, "--", "sh", "-c", WAIT]
    with holding(argv, env=system_environment()) as process:
        yield Mounts(wait_ready(process, "the file system"))
