"""The guests of a platform in use: the measured tenant's, the neighbours', and what is known."""

from __future__ import annotations

import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path

from bareline.host.load import processor_s
from bareline.platforms.base import Allocation
from bareline.platforms.vm.tenant import TenantAllocation
from bareline.platforms.vm.tuning import read_changes
from bareline.vocabulary.errors import PlatformError
from bareline.vocabulary.model import TRIAL_VARIABLE, Command, Layout, Output, Scalar


class VmAllocation(Allocation):
    """The first tenant's guests are measured while the neighbours run the same, or nothing.

    Parameters
    ----------
    measured
        The first tenant.
    neighbours
        The other tenants.
    busy
        Whether the neighbours run the same command meanwhile.
    told
        Sentences about what happened to guests, added to by the fleet.
    about
        Facts that are known from the making.
    """

    def __init__(
        self,
        measured: TenantAllocation,
        neighbours: Sequence[TenantAllocation] = (),
        *,
        busy: bool,
        told: list[str],
        about: Mapping[str, Scalar],
    ) -> None:
        self.measured = measured
        self._neighbours = tuple(neighbours)
        self._busy = tuple(neighbours) if busy else ()
        self._told = told
        self._about = dict(about)
        self._pids: dict[str, int] = {}

    @property
    def cores(self) -> int:
        """Processors of every tenant's guests."""
        return sum(tenant.cores for tenant in (self.measured, *self._neighbours))

    def run(self, command: Command, layout: Layout, *, timeout_s: float) -> Output:
        """Execute a command while the neighbours do what the options say."""
        with self._busy_neighbours(command, layout, timeout_s):
            return self.measured.run(command, layout, timeout_s=timeout_s)

    @contextmanager
    def _busy_neighbours(
        self, command: Command, layout: Layout, timeout_s: float
    ) -> Iterator[None]:
        """Let every neighbour run a command over and over."""
        over = threading.Event()
        threads = [
            threading.Thread(
                target=_keep_running, args=(tenant, command, layout, timeout_s, over), daemon=True
            )
            for tenant in self._busy
        ]
        for tenant in self._busy:
            tenant.repair()
        for thread in threads:
            thread.start()
        try:
            yield
        finally:
            over.set()
            token = dict(command.env).get(TRIAL_VARIABLE, "")
            while any(thread.is_alive() for thread in threads):
                for tenant in self._busy:
                    if token:
                        tenant.end_marked(token)
                for thread in threads:
                    thread.join(0.5)

    def caveats(self, layout: Layout) -> tuple[str, ...]:
        """Name what makes numbers measured in these guests doubtful."""
        return self.measured.caveats(layout)

    def facts(self) -> Mapping[str, Scalar]:
        """Describe the guests and how they were made."""
        boot_s = self.measured.fleet.boot_s
        return {
            **self.measured.facts(),
            **self._about,
            **self._tuning(),
            "vm.boot_s": max(boot_s.values()),
            **{f"vm.boot_s.{name}": value for name, value in sorted(boot_s.items())},
        }

    def _tuning(self) -> dict[str, Scalar]:
        """Tell what the guests' settings were and are."""
        if not self.measured.options.guest_tuning.settings():
            return {}
        said = self.measured.on_node(0, ["cat", "/run/bareline/tuned"]).stdout
        return {
            f"tuning.guest.{name}": f"{before} -> {after}"
            for name, (before, after) in read_changes(said).items()
        }

    def prepare(self, command: Command) -> None:
        """Build bareline's own programs where a command needs them."""
        self.measured.prepare(command)

    def helpers_s(self) -> float | None:
        """Give the processor time of every guest's process, the neighbours' included."""
        fleet = self.measured.fleet
        for guest in fleet.guests:
            pid = self._pids.get(guest.name)
            if pid is None or not Path(f"/proc/{pid}").exists():
                found = fleet.pid(guest)
                if found is not None:
                    self._pids[guest.name] = found
        return processor_s(tuple(self._pids.values()))

    def suspend(self) -> None:
        """Pause every guest."""
        self.measured.fleet.pause()

    def resume(self) -> None:
        """Let every guest go on, or start it anew where it was ended meanwhile."""
        self.measured.fleet.resume()
        for tenant in (self.measured, *self._neighbours):
            tenant.repair()

    def events(self) -> tuple[str, ...]:
        """Tell what happened to guests since the last call."""
        told, self._told[:] = tuple(self._told), []
        tenants = (self.measured, *self._neighbours)
        return (*told, *(text for tenant in tenants for text in tenant.events()))


def _keep_running(
    tenant: TenantAllocation,
    command: Command,
    layout: Layout,
    timeout_s: float,
    over: threading.Event,
) -> None:
    """Run a command over and over until the measured tenant is done."""
    while not over.is_set():
        try:
            tenant.run(command, layout, timeout_s=timeout_s)
        except PlatformError:
            # A neighbour's failure only thins the load; its guests are repaired later.
            if over.wait(0.5):
                return
