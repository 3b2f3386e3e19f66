"""Guests in use: the measured tenant's and the neighbours', commands and MPI jobs inside them."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path

from bareline.host.load import processor_s
from bareline.platforms.base import Allocation
from bareline.platforms.launchers.installation import MpiInstallation
from bareline.platforms.launchers.job import Job, Network, Node
from bareline.platforms.layers.neighbours import busy_neighbours, facts_of, run_against_copies
from bareline.platforms.remote.allocation import RemoteAllocation
from bareline.platforms.vm.filesystem import mount_in_guests
from bareline.platforms.vm.fleet import ANSWER_S, GuestFleet
from bareline.platforms.vm.guest import DEVICE, Guest, GuestAccess
from bareline.platforms.vm.options import VmOptions
from bareline.platforms.vm.remains import read_changes
from bareline.platforms.workdir import END_MARKED, runs_virtually
from bareline.vocabulary.errors import PlatformError
from bareline.vocabulary.model import TRIAL_VARIABLE, Command, Layout, Output, Scalar

_NATIVE = "/opt/bareline/native"
_WATCH_S = 0.5


class TenantAllocation(RemoteAllocation):
    """One tenant's guests.

    They differ from other nodes that are reached through a connection: bareline has made them, so
    that nobody else uses them and nothing about them has to be found out; their connections know
    nothing of a death and outlast a pause, so that libvirt is asked; and a broken one is rebuilt.

    - `native`: gives the host's folder of native programs, built against the same MPI library.
    - `server`: the guest that serves them files, where it is one of its own.
    """

    others_use = False
    lost_hint = "it is rebuilt before the next trial"

    def __init__(
        self,
        options: VmOptions,
        guests: Sequence[Guest],
        fleet: GuestFleet,
        access: GuestAccess,
        *,
        mpi: MpiInstallation,
        cache: Path,
        native: Callable[[], Path],
        caveats: Sequence[str],
        server: Guest | None = None,
    ) -> None:
        self.guests = tuple(guests)
        self._server = server
        super().__init__(
            [Node(guest.name, guest.address, fleet.vcpus) for guest in guests],
            cache=cache,
            way="copy",
            native_target=_NATIVE,
            native_here=native,
        )
        self.options = options
        self.fleet = fleet
        self.access = access
        self._mpi = mpi
        self._caveats = tuple(caveats)
        self._joined: set[str] = set()
        self._broken: dict[str, str] = {}

    @property
    def _needed(self) -> tuple[Guest, ...]:
        """The guests without any of which no trial can work."""
        return (*self.guests, self._server) if self._server else self.guests

    @property
    def mpi(self) -> MpiInstallation:
        """The library inside the guests."""
        return self._mpi

    # How programs are started --------------------------------------------------------------------

    def node_argv(
        self, node: int, argv: Sequence[str], env: Mapping[str, str], cwd: str | None = None
    ) -> list[str]:
        """Give the command line that runs through the guest's open connection."""
        return self.access.argv(self.guests[self._index(node)].name, argv, env, cwd)

    def mpi_argv(
        self, argv: Sequence[str], layout: Layout, env: Mapping[str, str], cwd: str | None = None
    ) -> list[str]:
        """Give the command line of the launcher inside the first guest."""
        self._join(layout.nodes)
        job = Job(
            argv=argv,
            layout=layout,
            nodes=self.nodes,
            env=env,
            network=Network(
                device=DEVICE,
                subnet=f"{self.options.nic.subnet}.0/24",
                launch_address=self.nodes[0].address,
            ),
            agent="ssh" if layout.nodes > 1 else None,
            cwd=cwd,
            as_root=True,
            starts_on_first=True,
        )
        # The launcher carries the mark too: it must not outlive its trial.
        mark = {key: value for key, value in env.items() if key == TRIAL_VARIABLE}
        return self.access.argv(self.guests[0].name, self.mpi.argv(job), mark)

    def _join(self, nodes: int) -> None:
        """Open the connections from the first guest to the others, once for all jobs."""
        others = [guest for guest in self.guests[1:nodes] if guest.name not in self._joined]

        def open_one(guest: Guest) -> None:
            first = self.guests[0].name
            done = self.access.run(first, ["ssh", "-fNM", guest.address])
            done.must(f"no ssh from {first}", where=guest.name)
            self._joined.add(guest.name)

        if others:
            with ThreadPoolExecutor(max_workers=len(others)) as pool:
                list(pool.map(open_one, others))

    def work_folder(self) -> str:
        """Give the folder whose file system I/O probes measure."""
        return self.mounted.folder if self.mounted else self.options.io_folder

    def judge_storage(self, storage: str, folder: str, needed_bytes: int) -> tuple[str, ...]:
        """Check the free space; QEMU may go around the host's page cache, a share never does."""
        found = super().judge_storage(storage, folder, needed_bytes)
        shared = any(
            folder == share.target or folder.startswith(f"{share.target}/")
            for share in self.options.shares
        )
        direct = self.options.disk.cache in ("none", "directsync") and not shared
        if direct and not runs_virtually():
            return tuple(code for code in found if code != "host-cache")
        return found

    def end_marked(self, token: str) -> None:
        """Kill what carries a trial's mark, in all guests at once."""
        script = END_MARKED + 'end_marked "$1"'
        argv = ["sh", "-c", script, "sh", f"{TRIAL_VARIABLE}={token}"]

        def end(guest: Guest) -> None:
            if guest.name not in self._broken:
                self.access.run(guest.name, argv, timeout_s=ANSWER_S)

        with ThreadPoolExecutor(max_workers=len(self.guests)) as pool:
            list(pool.map(end, self.guests))

    # Trials --------------------------------------------------------------------------------------

    @contextmanager
    def watching(self) -> Iterator[None]:
        """Tell a guest that dies or hangs during a trial apart from a failure."""
        self._watch = _Watch(self.fleet, self._needed, self.access)
        try:
            with self._watch:
                yield
        except PlatformError as error:
            if not self._broken:
                self._find_broken(error)
            raise

    def explain_failure(self, stderr: str) -> None:
        """Look whether a launch failed because guests broke."""
        # A guest whose connection is just being renewed would seem to hang.
        self._watch.stop()
        self._find_broken(None)

    def _find_broken(self, cause: PlatformError | None) -> None:
        """Find out whether guests broke; raise when they did."""
        self._broken |= self.fleet.broken(self._needed)
        for name in self._broken:
            self.access.disconnect(name)  # nobody is to wait for its answers
        if self._broken:
            name, reason = next(iter(self._broken.items()))
            raise PlatformError(
                f"the guest broke during the trial: {reason}", where=name, hint=self.lost_hint
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
        """Mount the file system that the options ask for in all guests, where it is not yet."""
        self.mounted = mount_in_guests(self.options, self.guests, self._server, self.access)

    def caveats(self, layout: Layout) -> tuple[str, ...]:
        """Name what makes numbers measured in these guests doubtful."""
        return (*super().caveats(layout), *self._caveats)


class _Watch:
    """Cuts the connection to a guest whose machine ends, which nobody else would notice."""

    def __init__(self, fleet: GuestFleet, guests: Sequence[Guest], access: GuestAccess) -> None:
        self._fleet = fleet
        self._guests = guests
        self._access = access
        self._done = threading.Event()
        self._thread = threading.Thread(target=self._watch, daemon=True)

    def __enter__(self) -> None:
        self._thread.start()

    def __exit__(self, *_: object) -> None:
        self.stop()

    def stop(self) -> None:
        """Look no more; connections that were cut are there again. Idempotent."""
        self._done.set()
        self._thread.join()

    def _watch(self) -> None:
        while not self._done.wait(_WATCH_S):
            dead = [guest for guest in self._guests if not self._fleet.runs(guest)]
            if dead:
                # The others wait for the dead one's answers: their trial is over, too.
                for guest in self._guests:
                    self._access.disconnect(guest.name)
                for guest in self._guests:
                    if guest not in dead:
                        self._access.connect(guest.name)
                return


class VmAllocation(Allocation):
    """The first tenant's guests are measured while the neighbours work as the options say.

    - `events`: sentences about what happened to guests, added to by the fleet.
    """

    def __init__(
        self,
        measured: TenantAllocation,
        neighbours: Sequence[TenantAllocation] = (),
        *,
        events: list[str],
        about: Mapping[str, Scalar],
    ) -> None:
        self.measured = measured
        self.neighbours = tuple(neighbours)
        self._load = measured.options.neighbours
        self._events = events
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
        return run_against_copies(self.measured.run, self.neighbours, command, layout, timeout_s)

    def caveats(self, layout: Layout) -> tuple[str, ...]:
        """Name what makes numbers measured in these guests doubtful."""
        return self.measured.caveats(layout)

    def _neighbour_facts(self) -> dict[str, Scalar]:
        if self._load is None:
            return {}
        vcpus = self.measured.fleet.vcpus
        facts = facts_of(self.neighbours, self._load, vcpus)
        facts["neighbours.processors_per_core"] = self._about["vm.vcpus_per_core"]
        return facts

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
        events, self._events[:] = tuple(self._events), []
        tenants = (self.measured, *self.neighbours)
        return (*events, *(text for tenant in tenants for text in tenant.events()))
