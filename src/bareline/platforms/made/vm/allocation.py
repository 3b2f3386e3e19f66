"""Guests in use, for the measured tenant or a neighbour, and commands and jobs in the guests."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path

from bareline.host.load import processor_s
from bareline.platforms.hosts.launchers.installation import MpiInstallation
from bareline.platforms.hosts.launchers.job import Job, Network, Node
from bareline.platforms.hosts.layers.neighbours import busy_neighbours, facts_of, run_against_copies
from bareline.platforms.hosts.scripts.node_channel import script
from bareline.platforms.hosts.workdir import runs_virtually
from bareline.platforms.made.vm.domain import Guest
from bareline.platforms.made.vm.filesystem import mount_in_guests
from bareline.platforms.made.vm.fleet import ANSWER_S, GuestFleet
from bareline.platforms.made.vm.guest import DEVICE
from bareline.platforms.made.vm.leftovers import read_changes
from bareline.platforms.reached.remote.allocation import RemoteAllocation
from bareline.vocabulary.errors import PlatformError
from bareline.vocabulary.model import TRIAL_VARIABLE, Command, Layout, Output, Scalar


class VmAllocation(RemoteAllocation):
    """The guests of one tenant: the measured tenant, or a neighbour.

    Guests differ from other nodes behind a connection in three ways. bareline has created the
    guests, so they are not shared and their properties are known. A connection survives a pause of
    its guest and does not notice the guest's death, so libvirt reports deaths. A broken guest is
    rebuilt.

    - `server`: the separate guest that serves files to the guests, if there is one.
    - `native`: returns the host's folder of native programs for the guests' MPI library.
    - `doubts`: caveats of all measurements in the guests.
    - `about`: facts of the guests' definition.
    - `events`: list of sentences about events of guests; `fleet` (all guests) appends to it.
    """

    others_use = False
    lost_hint = "it is rebuilt before the next trial"

    def __init__(
        self,
        fleet: GuestFleet,
        guests: Sequence[Guest],
        server: Guest | None,
        *,
        mpi: MpiInstallation,
        cache: Path,
        native: Callable[[], Path],
        doubts: Sequence[str],
        about: Mapping[str, Scalar],
        events: list[str],
    ) -> None:
        self.guests = tuple(guests)
        self._server = server
        super().__init__(
            [Node(guest.name, guest.address, fleet.vcpus) for guest in guests],
            cache=cache,
            way="copy",
            native_target="/opt/bareline/native",
            native_here=native,
            events=events,
        )
        self.options = fleet.options
        self.fleet = fleet
        self.access = fleet.access
        self.neighbours: tuple[VmAllocation, ...] = ()
        self._mpi = mpi
        self._doubts = tuple(doubts)
        self._about = about
        self._joined: set[str] = set()
        self._broken: dict[str, str] = {}
        self._pids: dict[str, int] = {}

    @property
    def _needed(self) -> tuple[Guest, ...]:
        if self._server is None:
            return self.guests
        return (*self.guests, self._server)

    @property
    def mpi(self) -> MpiInstallation:
        return self._mpi

    # How programs are started --------------------------------------------------------------------

    def node_argv(
        self, node: int, argv: Sequence[str], env: Mapping[str, str], cwd: str | None = None
    ) -> list[str]:
        return self.access.argv(self.guests[self._index(node)].name, argv, env, cwd)

    def mpi_argv(
        self, argv: Sequence[str], layout: Layout, env: Mapping[str, str], cwd: str | None = None
    ) -> list[str]:
        self._join(layout.nodes)
        network = Network(
            device=DEVICE,
            subnet=f"{self.options.nic.subnet}.0/24",
            launch_address=self.nodes[0].address,
        )
        job = Job(
            argv=argv,
            layout=layout,
            nodes=self.nodes,
            env=env,
            network=network,
            agent="ssh" if layout.nodes > 1 else None,
            cwd=cwd,
            as_root=True,
            starts_on_first=True,
        )
        # The launcher carries the mark too: it must not outlive its trial.
        mark = {key: value for key, value in env.items() if key == TRIAL_VARIABLE}
        return self.access.argv(self.guests[0].name, self.mpi.argv(job), mark)

    def _join(self, nodes: int) -> None:
        """Open the connections from the first guest to the other guests, once for all jobs."""
        others = [guest for guest in self.guests[1:nodes] if guest.name not in self._joined]
        first = self.guests[0].name

        def open_one(guest: Guest) -> None:
            ended = self.access.run(first, ["ssh", "-fNM", guest.address])
            ended.require_success(
                f"the guest {first} cannot connect to this guest by ssh", where=guest.name
            )
            self._joined.add(guest.name)

        _at_once(open_one, others)

    def work_folder(self) -> str:
        return self.mounted.folder if self.mounted else self.options.io_folder

    def judge_storage(self, storage: str, folder: str, needed_bytes: int) -> tuple[str, ...]:
        """Check the free space of a folder, and return the caveats of its storage.

        A guest's disk may bypass the host's page cache, and then the caveat ``host-cache`` is left
        out. A shared folder always uses this cache.
        """
        caveats = super().judge_storage(storage, folder, needed_bytes)
        if self._is_shared(folder) or self.options.disk.cache not in ("none", "directsync"):
            return caveats
        if runs_virtually():
            return caveats
        return tuple(code for code in caveats if code != "host-cache")

    def _is_shared(self, folder: str) -> bool:
        """Return whether a folder of the guests is on a shared folder of the host."""
        targets = [f"{share.target}/" for share in self.options.shares]
        return any(f"{folder}/".startswith(target) for target in targets)

    def end_marked(self, token: str) -> None:
        end_it = script("end_marked") + 'end_marked "$1"'
        argv = ["sh", "-c", end_it, "sh", f"{TRIAL_VARIABLE}={token}"]

        def end(guest: Guest) -> None:
            if guest.name not in self._broken:
                self.access.run(guest.name, argv, timeout_s=ANSWER_S)

        _at_once(end, self.guests)

    # Trials --------------------------------------------------------------------------------------

    def run(self, command: Command, layout: Layout, *, timeout_s: float) -> Output:
        load = self.options.neighbours
        if not self.neighbours or load is None or not load.busy:
            return super().run(command, layout, timeout_s=timeout_s)
        for tenant in self.neighbours:
            tenant.repair()
        if load.load == "same":
            return run_against_copies(super().run, self.neighbours, command, layout, timeout_s)
        token = dict(command.env).get(TRIAL_VARIABLE, "")
        with busy_neighbours(self.neighbours, load, token):
            return super().run(command, layout, timeout_s=timeout_s)

    @contextmanager
    def watching(self) -> Iterator[None]:
        """Return a context that detects the death or hang of a guest during a trial."""
        self._over = threading.Event()
        self._watcher = threading.Thread(target=self._watch, daemon=True)
        self._watcher.start()
        try:
            yield
        except PlatformError as error:
            self._stop_watching()
            if not self._broken:
                self._find_broken(error)
            raise
        finally:
            self._stop_watching()

    def _stop_watching(self) -> None:
        """Stop watching the guests, and restore connections that were cut; idempotent."""
        self._over.set()
        self._watcher.join()

    def _watch(self) -> None:
        """Cut the connection to a guest whose machine ends, because ssh does not notice the end."""
        while not self._over.wait(0.5):
            dead = [guest for guest in self._needed if not self.fleet.runs(guest)]
            if dead:
                self._reconnect_without(dead)
                return

    def _reconnect_without(self, dead: Sequence[Guest]) -> None:
        """Renew all connections after guests died; this ends the trial.

        Otherwise, the remaining guests would still wait for answers of the dead guests.
        """
        for guest in self._needed:
            self.access.disconnect(guest.name)
        for guest in self._needed:
            if guest not in dead:
                self.access.connect(guest.name)

    def explain_failure(self, stderr: str) -> None:
        # A guest whose connection is just being renewed would seem to hang.
        self._stop_watching()
        self._find_broken(None)

    def _find_broken(self, cause: PlatformError | None) -> None:
        self._broken |= self.fleet.broken(self._needed)
        for name in self._broken:
            self.access.disconnect(name)  # its answers must not be waited for
        if self._broken:
            name, reason = next(iter(self._broken.items()))
            raise PlatformError(
                f"the guest failed during the trial: {reason}", where=name, hint=self.lost_hint
            ) from cause

    def repair(self) -> None:
        """Rebuild the guests that were found broken, and those that died between trials."""
        self.fleet.renew_enclosure()
        for guest in self._needed:
            if guest.name not in self._broken and not self.fleet.runs(guest):
                self._broken[guest.name] = "its virtual machine ended"
        if not self._broken:
            return
        broken = dict(self._broken)
        self.fleet.rebuild(broken)
        self._broken.clear()
        self._native.forget(list(broken))
        self._joined -= set(broken)
        if self.guests[0].name in broken:
            self._joined.clear()
        self.mount()

    def mount(self) -> None:
        """Mount the file system of the options in each guest that has not mounted it."""
        self.mounted = mount_in_guests(self.options, self.guests, self._server, self.access)

    # All tenants ---------------------------------------------------------------------------------

    @property
    def cores(self) -> int:
        return super().cores + sum(tenant.cores for tenant in self.neighbours)

    def caveats(self, layout: Layout) -> tuple[str, ...]:
        return (*super().caveats(layout), *self._doubts)

    def facts(self) -> Mapping[str, Scalar]:
        facts = dict(super().facts())
        if self.mounted:
            facts |= self.mounted.facts
        facts |= self._about
        if self.options.guest_tuning.settings():
            changes = self.on_node(0, ["cat", "/run/bareline/tuned"]).stdout
            for name, (before, after) in read_changes(changes).items():
                facts[f"tuning.guest.{name}"] = f"{before} -> {after}"
        load = self.options.neighbours
        if load is not None:
            facts |= facts_of(self.neighbours, load, self.fleet.vcpus)
            facts["neighbours.processors_per_core"] = self._about["vm.vcpus_per_core"]
        boot_s = self.fleet.boot_s
        facts["vm.boot_s"] = max(boot_s.values())
        return facts | {f"vm.boot_s.{name}": value for name, value in sorted(boot_s.items())}

    def helpers_s(self) -> float | None:
        for guest in self.fleet.guests:
            self._find_process(guest)
        return processor_s(tuple(self._pids.values()))

    def _find_process(self, guest: Guest) -> None:
        """Find the process of a guest, if the known process has ended or no process is known."""
        pid = self._pids.get(guest.name)
        if pid is not None and Path(f"/proc/{pid}").exists():
            return
        pid = self.fleet.pid(guest)
        if pid is not None:
            self._pids[guest.name] = pid

    def suspend(self) -> None:
        self.fleet.pause()

    def resume(self) -> None:
        self.fleet.resume()
        for tenant in (self, *self.neighbours):
            tenant.repair()


def _at_once(do: Callable[[Guest], None], guests: Sequence[Guest]) -> None:
    with ThreadPoolExecutor(max_workers=max(1, len(guests))) as pool:
        list(pool.map(do, guests))
