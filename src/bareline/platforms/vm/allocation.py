"""The guests of a platform in use: the measured tenant's, the neighbours', and what is known."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from bareline.host.load import processor_s
from bareline.platforms.base import Allocation
from bareline.platforms.layers.beside import busy_neighbours, facts_of
from bareline.platforms.layers.same import run_beside_the_same
from bareline.platforms.vm.tenant import TenantAllocation
from bareline.platforms.vm.tuning import read_changes
from bareline.vocabulary.model import TRIAL_VARIABLE, Command, Layout, Output, Scalar


class VmAllocation(Allocation):
    """The first tenant's guests are measured while the neighbours work as the options say.

    - `measured`: the first tenant.
    - `neighbours`: the other tenants.
    - `told`: sentences about what happened to guests, added to by the fleet.
    - `about`: facts that are known from the making.
    """

    def __init__(
        self,
        measured: TenantAllocation,
        neighbours: Sequence[TenantAllocation] = (),
        *,
        told: list[str],
        about: Mapping[str, Scalar],
    ) -> None:
        self.measured = measured
        self.neighbours = tuple(neighbours)
        self._load = measured.options.neighbours
        self._told = told
        self._about = dict(about)
        self._pids: dict[str, int] = {}

    @property
    def cores(self) -> int:
        """Processors of every tenant's guests."""
        return sum(tenant.cores for tenant in (self.measured, *self.neighbours))

    def run(self, command: Command, layout: Layout, *, timeout_s: float) -> Output:
        """Execute a command while the neighbours do what the options say."""
        if self._load is None or not self._load.busy:
            return self.measured.run(command, layout, timeout_s=timeout_s)
        for tenant in self.neighbours:
            tenant.repair()
        token = dict(command.env).get(TRIAL_VARIABLE, "")
        if self._load.load != "same":
            with busy_neighbours(self.neighbours, self._load, token):
                return self.measured.run(command, layout, timeout_s=timeout_s)
        return run_beside_the_same(self.measured.run, self.neighbours, command, layout, timeout_s)

    def caveats(self, layout: Layout) -> tuple[str, ...]:
        """Name what makes numbers measured in these guests doubtful."""
        return self.measured.caveats(layout)

    def _neighbour_facts(self) -> dict[str, Scalar]:
        if self._load is None:
            return {}
        vcpus = self.measured.fleet.vcpus
        told = facts_of(self.neighbours, self._load, vcpus)
        told["neighbours.processors_per_core"] = self._about["vm.vcpus_per_core"]
        return told

    def facts(self) -> Mapping[str, Scalar]:
        """Describe the guests and how they were made."""
        boot_s = self.measured.fleet.boot_s
        return {
            **self.measured.facts(),
            **(self.measured.mounted.facts if self.measured.mounted else {}),
            **self._about,
            **self._tuning(),
            **self._neighbour_facts(),
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

    def sha256_of(self, path: str) -> str:
        """Give the checksum of a file in the first guest; "" where that is none."""
        return self.measured.sha256_of(path)

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
        for tenant in (self.measured, *self.neighbours):
            tenant.repair()

    def events(self) -> tuple[str, ...]:
        """Tell what happened to guests since the last call."""
        told, self._told[:] = tuple(self._told), []
        tenants = (self.measured, *self.neighbours)
        return (*told, *(text for tenant in tenants for text in tenant.events()))
