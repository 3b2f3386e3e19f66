"""All guests of a platform: their start, check, replacement, pause and rebuilding."""

from __future__ import annotations

import contextlib
import os
import re
import shutil
import threading
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from bareline.platforms.hosts.nodes import bring_up
from bareline.platforms.made.vm.boot_source import BootSource
from bareline.platforms.made.vm.domain import Accelerator, Guest, Places, domain_xml, moved
from bareline.platforms.made.vm.guest import (
    GuestAccess,
    last_words,
    read_failure,
    read_ready,
    wrong_size,
)
from bareline.platforms.made.vm.options import VmOptions
from bareline.platforms.made.vm.states import SavedGuest, SavedStates
from bareline.vocabulary.errors import PlatformError

#: How long a guest may take to answer before it counts as hanging.
ANSWER_S = 20.0
#: The tolerance is large, because the measured interval is short and uncertain by 0.2 s.
_CLOCK_TOLERANCE = 1.5


@dataclass(eq=False)
class GuestFleet:
    """All guests of a platform, including the neighbours' guests.

    - `equip`: prepares a new enclosure of namespaces for guests, e.g. the exports of shared
      folders.
    - `states`: saved states, from which guests start; a guest without a state is saved after its
      first start.
    """

    options: VmOptions
    guests: Sequence[Guest]
    access: GuestAccess
    medium: BootSource
    accelerator: Accelerator
    folder: Path
    tell: Callable[[str], None]
    equip: Callable[[], None]
    states: SavedStates | None = None
    #: Seconds from start to first answer, by guest name; the latest start counts.
    boot_s: dict[str, float] = field(default_factory=dict, init=False)
    #: Names of the guests whose latest start was from a state saved before.
    restored: set[str] = field(default_factory=set, init=False)
    #: The report of each guest when it came up.
    _reports: dict[str, dict[str, str]] = field(default_factory=dict, init=False)
    _ready_at: dict[str, float] = field(default_factory=dict, init=False)
    _domains: dict[str, Any] = field(default_factory=dict, init=False)
    _paused: bool = field(default=False, init=False)
    _giving_up: threading.Event = field(default_factory=threading.Event, init=False)

    def __post_init__(self) -> None:
        self.vcpus = self.options.cores_per_node
        self._hypervisor = self.access.hypervisor

    # Coming up ---------------------------------------------------------------------------------

    def start(self, guests: Iterable[Guest] | None = None) -> None:
        """Start guests at the same time.

        A guest that is not as defined is started again, up to a limit of attempts.
        """
        chosen = tuple(guests if guests is not None else self.guests)
        self._in_use()
        memory = self.options.memory
        if not memory.huge_pages:
            make_room(needed_bytes(memory.size_bytes, len(chosen), self.accelerator))
        bring_up(
            chosen,
            self._attempt_all,
            self.destroy,
            label=lambda guest: guest.name,
            attempts=self.options.attempts,
            tell=self.tell,
            hint="see `bareline doctor`, or give it more time with `boot_timeout_s`",
            kind=PlatformError,
        )

    def _attempt_all(self, guests: Sequence[Guest]) -> list[tuple[Guest, str]]:
        self._giving_up.clear()
        with ThreadPoolExecutor(max_workers=len(guests)) as pool:
            running = [(guest, pool.submit(self._attempt, guest)) for guest in guests]
            try:
                problems = [(guest, future.result()) for guest, future in running]
            except BaseException:
                self._giving_up.set()
                raise
        return [(guest, problem) for guest, problem in problems if problem]

    def _attempt(self, guest: Guest) -> str:
        """Start a guest and check it; return the difference from its definition, or ""."""
        started = time.monotonic()
        try:
            problem = self._restore_or_boot(guest)
        except self._hypervisor.libvirt.libvirtError as error:
            problem = f"not started: {' '.join(str(error).split())}"
        if problem and self.states is not None:
            # The next attempt boots: this state would end the same way.
            self.states.forget(guest.name)
        self.boot_s[guest.name] = round(time.monotonic() - started, 3)
        return problem

    def _restore_or_boot(self, guest: Guest) -> str:
        """Start a guest from its saved state, or boot it; return the failure, or ""."""
        saved = self.states.find(guest.name) if self.states else None
        if saved is None:
            self.restored.discard(guest.name)
            return self._boot(guest)
        self.restored.add(guest.name)
        return self._restore(guest, saved)

    def _boot(self, guest: Guest) -> str:
        console = self._console(guest)
        console.unlink(missing_ok=True)
        disk, boot, seed = self.medium(guest, self.folder)
        places = Places(
            guest=guest,
            vcpus=self.vcpus,
            accelerator=self.accelerator,
            disk=str(disk),
            console=str(console),
            bridge=self._hypervisor.bridge,
            boot=boot,
            seed=str(seed) if seed else None,
            host_cpus=tuple(sorted(os.sched_getaffinity(0))),
        )
        self._domains[guest.name] = self._hypervisor.connection.createXML(
            domain_xml(self.options, places), self._hypervisor.libvirt.VIR_DOMAIN_START_VALIDATE
        )
        problem = self._wait_ready(guest, console)
        if problem or self.states is None:
            return problem or self.access.connect(guest.name) or self._wrong_clock(guest)
        # Saved before any connection, because a restored guest cannot continue a connection.
        assert boot is not None and boot.initrd is not None
        saved = self.states.save(
            guest.name,
            self._domains.pop(guest.name),
            disk=disk,
            initrd=Path(boot.initrd),
            report=self._reports[guest.name],
        )
        return self._restore(guest, saved)

    def _restore(self, guest: Guest, saved: SavedGuest) -> str:
        """Start a guest from its saved state, with a copy of the saved disk."""
        disk = self.folder / f"{guest.name}.qcow2"
        shutil.copy(saved.disk, disk)
        libvirt = self._hypervisor.libvirt
        connection = self._hypervisor.connection
        definition = connection.saveImageGetXMLDesc(
            str(saved.memory), libvirt.VIR_DOMAIN_SAVE_IMAGE_XML_SECURE
        )
        connection.restoreFlags(
            str(saved.memory),
            moved(definition, disk=disk, initrd=saved.initrd, console=self._console(guest)),
            libvirt.VIR_DOMAIN_SAVE_RUNNING,
        )
        self._domains[guest.name] = connection.lookupByUUIDString(guest.uuid)
        self._reports[guest.name] = saved.report
        problem = self.access.connect(guest.name)
        if problem:
            return problem
        ended = self.access.run(guest.name, ["date", "-s", f"@{time.time():.3f}"])
        if ended.exit_code:
            return f"its clock cannot be set: {ended.stderr.strip()}"
        return ""

    def _wrong_clock(self, guest: Guest) -> str:
        """Return a description if a guest's clock does not run as fast as the host's, else "".

        A kernel that measures its time stamp counter while the host is busy may get a multiple of
        the true rate. Every time that a benchmark reports is then wrong. The first measurement
        needs no pause; if it shows a wrong rate, a longer measurement decides.
        """
        guest_s = float(self._reports[guest.name]["now_s"])
        host_s = self._ready_at[guest.name]
        for wait_s in (0.0, 0.0, 3.0):
            time.sleep(wait_s)
            uptime = self.access.run(guest.name, ["cat", "/proc/uptime"])
            if uptime.exit_code:
                return f"no command over ssh: {uptime.stderr.strip()}"
            later_guest_s = float(uptime.stdout.split()[0])
            later_host_s = time.monotonic() - uptime.duration_s / 2
            rate = (later_guest_s - guest_s) / (later_host_s - host_s)
            if 1 / _CLOCK_TOLERANCE < rate < _CLOCK_TOLERANCE:
                return ""
            guest_s = later_guest_s
            host_s = later_host_s
        return f"wrong clock: it runs {rate:.2f} times as fast as the host's"

    def _console(self, guest: Guest) -> Path:
        return self.folder / f"{guest.name}.console"

    def _wait_ready(self, guest: Guest, console: Path) -> str:
        """Wait for a guest's report on its console; return the problem, or ""."""
        deadline = time.monotonic() + self.options.boot_timeout_s
        printed = ""
        while time.monotonic() < deadline and not self._giving_up.is_set():
            with contextlib.suppress(OSError):
                printed = console.read_text(errors="replace")
            problem = read_failure(printed)
            if problem:
                return problem
            ready = read_ready(printed)
            if ready is not None:
                self._reports[guest.name] = ready
                self._ready_at[guest.name] = time.monotonic()
                return wrong_size(ready, self.options, self.vcpus)
            if not self.runs(guest):
                return f"it died while booting: {last_words(printed)}"
            time.sleep(0.03)
        return f"not booted after {self.options.boot_timeout_s:g} s: {last_words(printed)}"

    # Being up ----------------------------------------------------------------------------------

    def runs(self, guest: Guest) -> bool:
        """Return whether the guest's machine exists and has not crashed; the check takes 1 ms."""
        domain = self._domains.get(guest.name)
        if domain is None:
            return False
        libvirt = self._hypervisor.libvirt
        try:
            state, _ = domain.state()
            return state in (libvirt.VIR_DOMAIN_RUNNING, libvirt.VIR_DOMAIN_PAUSED)
        except libvirt.libvirtError:
            return False

    def broken(self, guests: Iterable[Guest]) -> dict[str, str]:
        """Return the guests that died or execute no commands, each with the reason."""
        reasons = {}
        for guest in guests:
            if not self.runs(guest):
                reasons[guest.name] = "its virtual machine ended"
            elif self.access.run(guest.name, ["true"], timeout_s=ANSWER_S).exit_code:
                reasons[guest.name] = f"it does not answer within {ANSWER_S:.0f} s"
        return reasons

    def renew_enclosure(self) -> None:
        """Replace an enclosure of namespaces that has ended, and rebuild its guests.

        The enclosure ends if libvirtd is killed.
        """
        if self._hypervisor.alive():
            return
        self.tell("libvirtd ended and all guests with it: both are started again")
        for guest in self.guests:
            self.access.forget(guest.name)
        self._domains.clear()
        self._paused = False
        self._hypervisor.restart()
        self.equip()

    def rebuild(self, reasons: Mapping[str, str]) -> None:
        """Replace broken guests by new guests.

        - `reasons`: why each guest is broken, by its name.
        """
        chosen = [guest for guest in self.guests if guest.name in reasons]
        for guest in chosen:
            self.tell(f"{guest.name} is rebuilt: {reasons[guest.name]}")
            self.destroy(guest)
        self.start(chosen)

    def may_end(self) -> bool:
        """Return whether the guests are paused, so that they can be ended to free memory."""
        return self._paused and bool(self._domains)

    def end_paused(self) -> None:
        """End the paused guests; they are rebuilt at their next use."""
        self.tell("its paused guests are ended to make room in memory")
        for guest in self.guests:
            self.destroy(guest)
        self.leave()

    def pause(self) -> None:
        """Pause the processors of every guest; idempotent."""
        if not self._paused:
            self._paused = True
            self._each("suspend")

    def resume(self) -> None:
        """Resume every guest; idempotent."""
        if self._paused:
            self._paused = False
            self._each("resume")
        self._in_use()

    def _in_use(self) -> None:
        self.leave()
        _FLEETS.append(self)

    def leave(self) -> None:
        """Record that the guests are not running any more; idempotent."""
        if self in _FLEETS:
            _FLEETS.remove(self)

    def _each(self, action: str) -> None:
        for guest in self.guests:
            if self.runs(guest):
                # One that ends at this very moment is found broken later.
                with contextlib.suppress(self._hypervisor.libvirt.libvirtError):
                    getattr(self._domains[guest.name], action)()

    def destroy(self, guest: Guest) -> None:
        """End a guest and remove its disk; idempotent."""
        self.access.disconnect(guest.name)
        domain = self._domains.pop(guest.name, None)
        if domain is not None:
            with contextlib.suppress(self._hypervisor.libvirt.libvirtError):
                domain.destroy()

    def pid(self, guest: Guest) -> int | None:
        """Return the guest's process number on the host, for inspections."""
        for entry in Path("/proc").glob("[0-9]*"):
            with contextlib.suppress(OSError):
                words = (entry / "cmdline").read_bytes().split(b"\0")
                if guest.uuid.encode() in words and b"qemu" in words[0]:
                    return int(entry.name)
        return None


# Memory of this machine -------------------------------------------------------------------------

#: QEMU's memory in addition to a guest's. Under emulation it keeps translated code: a guest of
#: 1 GiB was seen to take 1.5 to 1.7 GB.
_QEMU_BYTES = {"kvm": 160 << 20, "tcg": 640 << 20}
#: Memory that is left to all other programs of this machine.
_RESERVE_BYTES = 256 << 20


#: The platforms of this process whose guests are up, least recently used first.
_FLEETS: list[GuestFleet] = []


def needed_bytes(guest_bytes: int, guests: int, accelerator: str) -> int:
    """Return an estimate of the memory that guests need on this machine."""
    return guests * (guest_bytes + _QEMU_BYTES[accelerator])


def available_bytes() -> int:
    """Return the number of bytes that this machine can use without swapping."""
    text = Path("/proc/meminfo").read_text(encoding="ascii")
    match = re.search(r"^MemAvailable:\s+(\d+)", text, re.MULTILINE)
    if match is None:
        raise PlatformError("this kernel does not report the available memory (no MemAvailable)")
    return int(match[1]) << 10


def make_room(needed: int, fleets: Sequence[GuestFleet] | None = None) -> None:
    """End paused guests until enough memory is free: a run may keep guests of many platforms."""
    for fleet in tuple(_FLEETS if fleets is None else fleets):
        if available_bytes() - _RESERVE_BYTES >= needed:
            return
        if fleet.may_end():
            fleet.end_paused()
    available = available_bytes() - _RESERVE_BYTES
    if available < needed:
        raise PlatformError(
            f"the guests need {needed >> 20} MiB with QEMU's own memory, but "
            f"only {max(0, available) >> 20} MiB are available",
            where="memory.size_bytes",
            hint="use fewer or smaller guests, or end other programs that use memory here",
        )
