"""One tenant's guests in use: commands and MPI jobs inside them; a dead guest is noticed."""

from __future__ import annotations

import io
import signal
import tarfile
import threading
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path

from bareline.platforms.hosts import HostsAllocation, Node
from bareline.platforms.launchers import Job, MpiInstallation, Network
from bareline.platforms.vm.access import Access
from bareline.platforms.vm.fleet import ANSWER_S, Fleet
from bareline.platforms.vm.guest import DEVICE, Guest
from bareline.platforms.vm.options import VmOptions
from bareline.platforms.workdir import runs_virtually
from bareline.vocabulary.errors import PlatformError
from bareline.vocabulary.model import TRIAL_VARIABLE, Command, Layout, Output, Scalar

_NATIVE = "/opt/bareline/native"
_WATCH_S = 0.5

#: Ends the processes of a trial in a guest: those whose environment holds its mark.
_END_MARKED = (
    'for p in $(grep -lazsF "$1" /proc/[0-9]*/environ); do p=${p%/environ}; '
    '[ "${p#/proc/}" = $$ ] || kill -9 "${p#/proc/}" 2>/dev/null; done; :'
)


class TenantAllocation(HostsAllocation):
    """One tenant's guests.

    Parameters
    ----------
    native
        Gives the host's folder of native programs, built against the same MPI library.
    mpi
        The library inside the guests.
    caveats
        What makes every number of these guests doubtful.
    """

    def __init__(
        self,
        options: VmOptions,
        guests: Sequence[Guest],
        fleet: Fleet,
        access: Access,
        *,
        mpi: MpiInstallation,
        native: Callable[[], Path],
        caveats: Sequence[str],
    ) -> None:
        self.guests = tuple(guests)
        super().__init__([Node(guest.name, guest.address, fleet.vcpus) for guest in guests])
        self.options = options
        self.fleet = fleet
        self.access = access
        self.mpi = mpi
        self._build_native = native
        self._caveats = tuple(caveats)
        self._has_native: set[str] = set()
        self._joined: set[str] = set()
        self._broken: dict[str, str] = {}

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
        )
        # The launcher carries the mark too: it must not outlive its trial.
        mark = {key: value for key, value in env.items() if key == TRIAL_VARIABLE}
        return self.access.argv(self.guests[0].name, self.mpi.argv(job), mark)

    def _join(self, nodes: int) -> None:
        """Open the connections from the first guest to the others, once for all jobs."""
        others = [guest for guest in self.guests[1:nodes] if guest.name not in self._joined]

        def open_one(guest: Guest) -> None:
            done = self.access.run(self.guests[0].name, ["ssh", "-fNM", guest.address])
            if done.exit_code:
                raise PlatformError(
                    f"no ssh from {self.guests[0].name}: {done.stderr.strip()}", where=guest.name
                )
            self._joined.add(guest.name)

        if others:
            with ThreadPoolExecutor(max_workers=len(others)) as pool:
                list(pool.map(open_one, others))

    def native_folder(self) -> str:
        """Copy the host's native programs into the guests that do not have them yet."""
        waiting = [guest for guest in self.guests if guest.name not in self._has_native]
        if waiting:
            # Programs find others beside their own folder, so the whole installation goes along.
            packed = _pack(self._build_native().parent)
            with ThreadPoolExecutor(max_workers=len(waiting)) as pool:
                list(pool.map(lambda g: self.access.send(g.name, packed, _NATIVE), waiting))
            self._has_native |= {guest.name for guest in waiting}
        return f"{_NATIVE}/bin"

    def work_folder(self) -> str:
        """Give the folder whose file system I/O probes measure."""
        return self.options.io_folder

    def look_at_storage(self, node: int, folder: str, needed_bytes: int) -> tuple[str, ...]:
        """Check the free space; QEMU may go around the host's page cache, a share never does."""
        found = super().look_at_storage(node, folder, needed_bytes)
        shared = any(
            folder == share.target or folder.startswith(f"{share.target}/")
            for share in self.options.shares
        )
        around = self.options.disk.cache in ("none", "directsync") and not shared
        if around and not runs_virtually():
            return tuple(code for code in found if code != "host-cache")
        return found

    def end_marked(self, token: str) -> None:
        """Kill what carries a trial's mark, in all guests at once."""
        mark = f"{TRIAL_VARIABLE}={token}"

        def end(guest: Guest) -> None:
            if guest.name not in self._broken:
                self.access.run(
                    guest.name, ["sh", "-c", _END_MARKED, "sh", mark], timeout_s=ANSWER_S
                )

        with ThreadPoolExecutor(max_workers=len(self.guests)) as pool:
            list(pool.map(end, self.guests))

    # Trials --------------------------------------------------------------------------------------

    def run(self, command: Command, layout: Layout, *, timeout_s: float) -> Output:
        """Execute a command; a guest that dies or hangs meanwhile is told apart from a failure.

        Raises
        ------
        PlatformError
            A guest broke. It is rebuilt before the next command.
        """
        self.repair()
        with _Watch(self.fleet, self.guests, self.access):
            try:
                output = super().run(command, layout, timeout_s=timeout_s)
            except PlatformError as error:
                self._note_broken(error)
                raise
        if output.exit_code == 0 and not output.timed_out:
            return output
        self._note_broken(None)
        if command.mpi:
            return output
        return replace(output, exit_code=_signal_as_negative(output.exit_code))

    def _note_broken(self, cause: PlatformError | None) -> None:
        """Find out whether guests broke; raise when they did.

        Raises
        ------
        PlatformError
            With the guest and what happened to it.
        """
        self._broken |= self.fleet.broken(self.guests)
        if self._broken:
            name, reason = next(iter(self._broken.items()))
            raise PlatformError(
                f"the guest broke during the trial: {reason}",
                where=name,
                hint="it is rebuilt before the next trial",
            ) from cause

    def repair(self) -> None:
        """Rebuild the guests that were found broken, and those that died between trials."""
        self.fleet.renew_enclosure()
        for guest in self.guests:
            if guest.name not in self._broken and not self.fleet.runs(guest):
                self._broken[guest.name] = "its virtual machine ended"
        if not self._broken:
            return
        broken = dict(self._broken)
        self.fleet.rebuild(broken)
        self._broken.clear()
        self._has_native -= set(broken)
        self._joined -= set(broken)
        if self.guests[0].name in broken:
            self._joined.clear()

    def facts(self) -> Mapping[str, Scalar]:
        """Describe the guests and how they were made."""
        from bareline.facts import gather

        return dict(gather(self))

    def caveats(self, layout: Layout) -> tuple[str, ...]:
        """Name what makes numbers measured in these guests doubtful."""
        return (*super().caveats(layout), *self._caveats)


class _Watch:
    """Cuts the connection to a guest whose machine ends, which nobody else would notice."""

    def __init__(self, fleet: Fleet, guests: Sequence[Guest], access: Access) -> None:
        self.fleet = fleet
        self._guests = guests
        self.access = access
        self._done = threading.Event()
        self._thread = threading.Thread(target=self._watch, daemon=True)

    def __enter__(self) -> None:
        self._thread.start()

    def __exit__(self, *_: object) -> None:
        self._done.set()
        self._thread.join()

    def _watch(self) -> None:
        while not self._done.wait(_WATCH_S):
            dead = [guest for guest in self._guests if not self.fleet.runs(guest)]
            if dead:
                # The others wait for the dead one's answers: their trial is over, too.
                for guest in self._guests:
                    self.access.disconnect(guest.name)
                for guest in self._guests:
                    if guest not in dead:
                        self.access.connect(guest.name)
                return


def _signal_as_negative(code: int) -> int:
    """Turn a shell's way of telling death by a signal, 128 and more, into ``subprocess``'s."""
    return 128 - code if 128 < code < 128 + signal.NSIG else code


def _pack(folder: Path) -> bytes:
    packed = io.BytesIO()
    with tarfile.open(fileobj=packed, mode="w") as archive:
        archive.add(folder, arcname=".")
    return packed.getvalue()
