"""Neighbours that all measure: each runs the measured command over and over."""

from __future__ import annotations

import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Protocol

from bareline.vocabulary.errors import PlatformError
from bareline.vocabulary.model import TRIAL_VARIABLE, Command, Layout, Output


class Run(Protocol):
    """Executes a command; see `Allocation.run`."""

    def __call__(self, command: Command, layout: Layout, *, timeout_s: float) -> Output:
        """Execute it."""


class Tenant(Protocol):
    """What runs commands of its own."""

    @property
    def run(self) -> Run:
        """Execute a command."""

    def end_marked(self, token: str) -> None:
        """Kill what carries a trial's mark."""


def run_beside_the_same(
    run: Run, tenants: Sequence[Tenant], command: Command, layout: Layout, timeout_s: float
) -> Output:
    """Measure a command while every neighbour runs it over and over."""
    with _running(tenants, command, layout, timeout_s) as failed:
        output = run(command, layout, timeout_s=timeout_s)
    if failed and output.exit_code == 0:
        raise PlatformError(f"{failed[0]}; the trial was not measured beside it")
    return output


@contextmanager
def _running(
    tenants: Sequence[Tenant], command: Command, layout: Layout, timeout_s: float
) -> Iterator[Sequence[str]]:
    """Let every neighbour run a command over and over; give what went wrong by the end."""
    over, failed = threading.Event(), list[str]()

    def keep_running(number: int, tenant: Tenant) -> None:
        while not over.is_set():
            try:
                output = tenant.run(command, layout, timeout_s=timeout_s)
                reason = f"exit code {output.exit_code}" if output.exit_code else ""
            except PlatformError as error:
                reason = str(error)
            if reason and not over.is_set():
                failed.append(f"neighbour {number} failed during the trial: {reason}")
                return

    threads = [
        threading.Thread(target=keep_running, args=numbered, daemon=True)
        for numbered in enumerate(tenants, 1)
    ]
    for thread in threads:
        thread.start()
    try:
        yield failed
    finally:
        over.set()
        token = dict(command.env).get(TRIAL_VARIABLE, "")
        while any(thread.is_alive() for thread in threads):
            for tenant in tenants:
                if token:
                    tenant.end_marked(token)
            for thread in threads:
                thread.join(0.5)
