"""The platform type ``vm``: its requirements, and the start and end of its guests."""

from __future__ import annotations

import os
import platform as python_platform
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from functools import partial
from itertools import chain
from pathlib import Path
from uuid import NAMESPACE_OID, uuid5

from bareline.build.native import ensure_native
from bareline.build.record import NativeBuild
from bareline.host.cache import cache_folder
from bareline.host.tools import require
from bareline.platforms.base import Allocation, Availability, Platform
from bareline.platforms.hosts.launchers.installation import (
    LAUNCHERS,
    MpiInstallation,
    find_mpi,
    identify,
)
from bareline.platforms.hosts.process import Finished
from bareline.platforms.localhost.allocation import build_here, core_facts
from bareline.platforms.made.vm import leftovers
from bareline.platforms.made.vm.allocation import VmAllocation
from bareline.platforms.made.vm.boot_source import BootSource, built_medium, cloud_medium
from bareline.platforms.made.vm.domain import (
    Accelerator,
    Boot,
    Guest,
    Places,
    domain_xml,
    pool_xml,
    vcpu_pins,
)
from bareline.platforms.made.vm.filesystem import start_exports, with_share
from bareline.platforms.made.vm.fleet import GuestFleet
from bareline.platforms.made.vm.guest import SERVER, GuestAccess, host_address, make_guests
from bareline.platforms.made.vm.hardware import Image, parse_cpu_set
from bareline.platforms.made.vm.hypervisor import TOOLS, Hypervisor, import_libvirt
from bareline.platforms.made.vm.image import IMAGE_TOOLS, AutoImage, built_image, with_kernel
from bareline.platforms.made.vm.nic import Nic
from bareline.platforms.made.vm.options import VmOptions
from bareline.platforms.made.vm.preflight import (
    check_host,
    choose_accelerator,
    known_verdict,
    physical_function,
)
from bareline.platforms.made.vm.states import states_of
from bareline.platforms.reached.remote.keys import Keys, make_keys
from bareline.vocabulary.errors import PlatformError, ToolMissing
from bareline.vocabulary.model import Layout, Scalar
from bareline.vocabulary.platform import PlatformSpec

#: Name of the private bridge, in a network of its own.
BRIDGE = "bareline0"


class VmPlatform(Platform[VmOptions]):
    """The platform type of virtual machines on this host."""

    type_name = "vm"
    summary = "virtual machines on this host, made by bareline (libvirt, QEMU)"
    options = VmOptions
    boots = True
    here = True

    @classmethod
    def check(cls, spec: PlatformSpec[VmOptions]) -> None:
        _check_tools(spec.options)
        # The check needs a shared folder that exists; the real folder is made later.
        check_host(with_share(spec.options, Path("/tmp")), spec.options.cores_per_node)

    @classmethod
    def available(cls, spec: PlatformSpec[VmOptions]) -> Availability:
        availability = super().available(spec)
        why = cls.emulated(spec)
        if availability.ok and why and spec.options.acceleration == "auto":
            return Availability(True, f"processors are emulated: {why}")
        return availability

    @classmethod
    def emulated(cls, spec: PlatformSpec[VmOptions]) -> str:
        if spec.options.acceleration == "tcg":
            return 'its file has acceleration = "tcg"'
        if spec.options.acceleration != "auto":
            return ""
        verdict = known_verdict(cache_folder())
        if verdict is None or verdict.works:
            return ""
        return verdict.reason

    @classmethod
    def clean(cls) -> list[str]:
        return leftovers.clean(cache_folder())

    @classmethod
    def build(cls, spec: PlatformSpec[VmOptions], cache: Path) -> NativeBuild:
        return build_here(spec.options.mpi, cache)

    @classmethod
    def definition(cls, spec: PlatformSpec[VmOptions]) -> str:
        return domain_xml(*first_guest(spec.options, "console=ttyS0"))

    @contextmanager
    def acquire(self, layout: Layout) -> Iterator[Allocation]:
        with ExitStack() as stack:
            with self.starting(layout):
                leftovers.clean(self.context.cache)
                allocation = self._bring_up(max(1, layout.nodes), stack)
            yield allocation

    def _bring_up(self, nodes: int, stack: ExitStack) -> VmAllocation:
        cache = self.context.cache
        disks = self.context.scratch / "guests"
        shared = disks / "shared"
        shared.mkdir(parents=True, exist_ok=True)
        options = with_share(self.spec.options, shared.absolute())
        events: list[str] = []
        image = _built_image(options, cache, events)
        accelerator = _accelerator(options, image, cache)
        states = None
        if options.saved_state and image is not None:
            states = states_of(options, nodes, image, accelerator, cache, events.append)
        identity = states.identity if states else None
        guests = make_guests(options, nodes, identity)
        enclosure = Path(tempfile.mkdtemp(prefix="bl-vm-", dir="/tmp"))
        nic = options.nic
        claim, hypervisor = self._enclosed(nic, enclosure, disks, stack)
        tuned: dict[str, Scalar] = {}

        def equip() -> None:
            start_exports(options.shares, hypervisor)
            tuned.update(leftovers.tune_host(options.host_tuning, hypervisor, claim))
            if nic.attach == "vf" and nic.device:
                pool = pool_xml(physical_function(nic.device))
                hypervisor.connection.networkCreateXML(pool)

        equip()
        keys = states.keys() if states else make_keys(enclosure / "keys")
        fleet = GuestFleet(
            options,
            guests,
            GuestAccess(hypervisor, enclosure / "ssh", keys, guests),
            _medium(options, image, guests, keys, accelerator),
            accelerator=accelerator,
            folder=disks,
            tell=events.append,
            equip=equip,
            states=states,
        )
        stack.callback(fleet.leave)
        fleet.start()
        return self._allocation(fleet, image, events, tuned | _describe(fleet, image))

    def _enclosed(
        self, nic: Nic, enclosure: Path, disks: Path, stack: ExitStack
    ) -> tuple[leftovers.OwnershipFile, Hypervisor]:
        """Open the namespaces of the guests, and the hypervisor with its bridge inside."""
        cache = self.context.cache
        own_bridge = f"bl{enclosure.name[-8:]}" if nic.outside else None
        claimed = leftovers.claimed(cache, (enclosure, disks), bridge=own_bridge)
        mtu = 1500 if nic.outside else nic.mtu
        hypervisor = Hypervisor(
            folder=enclosure,
            cache_folder=cache,
            bridge=own_bridge or BRIDGE,
            address=host_address(nic),
            mtu=mtu,
            own_network=not nic.outside,
        )
        return stack.enter_context(claimed), stack.enter_context(hypervisor)

    def _allocation(
        self,
        fleet: GuestFleet,
        image: AutoImage | None,
        events: list[str],
        about: Mapping[str, Scalar],
    ) -> VmAllocation:
        try:
            host: MpiInstallation | None = find_mpi(fleet.options.mpi)
        except ToolMissing:
            host = None  # Probes without MPI can still be measured.
        inside = _guest_mpi(host, partial(fleet.access.run, fleet.guests[0].name), image)
        tenants: dict[int, list[Guest]] = {}
        for guest in fleet.guests:
            tenants.setdefault(guest.tenant, []).append(guest)
        (server,) = tenants.pop(SERVER, [None])
        measured, *neighbours = [
            VmAllocation(
                fleet,
                guests,
                server,
                mpi=inside,
                cache=self.context.cache,
                native=partial(ensure_native, host, self.context.cache),
                doubts=(*_caveats(fleet), *_mpi_caveats(host, inside)),
                about=about,
                events=events,
            )
            for guests in tenants.values()
        ]
        for tenant in (measured, *neighbours):
            tenant.mount()
        measured.neighbours = tuple(neighbours)
        return measured


def _accelerator(options: VmOptions, image: AutoImage | None, cache: Path) -> Accelerator:
    own_kernel = options.image != "auto" and options.image.kernel is not None
    accelerator = choose_accelerator(options.acceleration, cache, image, own_kernel=own_kernel)
    if accelerator == "tcg" and options.nic.needs_kvm:
        raise PlatformError(
            f"the guests' network adapter ({options.nic.title}) needs hardware virtualization, but "
            "no guest boots with hardware virtualization here",
            hint="see `bareline doctor`",
        )
    return accelerator


def _describe(fleet: GuestFleet, image: AutoImage | None) -> dict[str, Scalar]:
    options = fleet.options
    image_name = image.digest if image else str(getattr(options.image, "path", ""))
    facts: dict[str, Scalar] = {
        "vm.accelerator": fleet.accelerator,
        "vm.guests": len(fleet.guests),
        "vm.vcpus": fleet.vcpus,
        "vm.vcpus_per_core": _promised(fleet),
        **_core_facts(fleet),
        "vm.memory_bytes": options.memory.size_bytes,
        "vm.nic": options.nic.title,
        "vm.mtu_bytes": options.nic.mtu,
        "vm.image": image_name,
        "vm.from_saved_state": fleet.restored == {guest.name for guest in fleet.guests},
    }
    if image is not None:
        facts["vm.image_build_s"] = image.build_s
    return facts


def first_guest(options: VmOptions, arguments: str) -> tuple[VmOptions, Places]:
    """Return options and `Places` of the first guest, whose paths are placeholders.

    The guest's identity is the same at every call, so that two definitions can be compared.
    """
    options = with_share(options, Path("/GUEST/shared"))
    # The same at every call, so that two definitions can be compared.
    guest = make_guests(options, options.guests, lambda name: str(uuid5(NAMESPACE_OID, name)))[0]
    boot = None
    seed = None
    if options.image == "auto":
        boot = Boot(kernel="/IMAGE/vmlinux", initrd="/GUEST/initrd", command_line=arguments)
    else:
        seed = "/GUEST/seed.iso"
    places = Places(
        guest=guest,
        vcpus=options.cores_per_node,
        accelerator=_expected_accelerator(options),
        disk="/GUEST/disk.qcow2",
        console="/GUEST/console",
        bridge=BRIDGE,
        boot=boot,
        seed=seed,
        host_cpus=tuple(sorted(os.sched_getaffinity(0))),
    )
    return options, places


def _expected_accelerator(options: VmOptions) -> Accelerator:
    """Return the accelerator that guests would have; emulation if no test guest has shown KVM."""
    if options.acceleration == "kvm" or options.nic.needs_kvm:
        return "kvm"
    verdict = known_verdict(cache_folder())
    is_proven = verdict is not None and verdict.works
    if options.acceleration == "auto" and is_proven:
        return "kvm"
    return "tcg"


def _built_image(options: VmOptions, cache: Path, events: list[str]) -> AutoImage | None:
    """Return bareline's image, and build it if necessary; None if the user gives an image."""
    if options.image != "auto":
        return None
    image = built_image(cache, events.append, options.image_packages, options.release)
    if not options.kernel:
        return image
    return with_kernel(image, options.kernel, options.modules, cache)


def _medium(
    options: VmOptions,
    image: AutoImage | None,
    guests: Sequence[Guest],
    keys: Keys,
    accelerator: Accelerator,
) -> BootSource:
    """Return the boot source of the guests."""
    if isinstance(options.image, Image):
        return cloud_medium(options.image, options, guests, keys)
    assert image is not None
    return built_medium(image, options, guests, keys, emulated=accelerator == "tcg")


def _core_facts(fleet: GuestFleet) -> dict[str, Scalar]:
    cores = {}
    host_cpus = sorted(os.sched_getaffinity(0))
    for guest in fleet.guests:
        pins = vcpu_pins(fleet.options.cpu, guest.index, fleet.vcpus, host_cpus)
        if not pins:
            return {"cpu.pinned_to": "not pinned: the host's scheduler moves the guests"}
        cores[guest.name] = list(chain.from_iterable(map(parse_cpu_set, pins)))
    return core_facts(cores)


def _caveats(fleet: GuestFleet) -> Iterator[str]:
    if fleet.accelerator == "tcg":
        yield "emulated-cpu"
    if len(fleet.guests) > 1:
        yield "shared-host"
    if _promised(fleet) > 1:
        yield "oversubscribed"


def _promised(fleet: GuestFleet) -> float:
    """Return the number of virtual processors per core of the host."""
    return round(fleet.vcpus * len(fleet.guests) / len(os.sched_getaffinity(0)), 3)


def _check_tools(options: VmOptions) -> None:
    if python_platform.machine() != "x86_64":
        raise PlatformError("virtual machines are made on x86_64 hosts only")
    if os.geteuid() != 0:
        raise PlatformError(
            "virtual machines need root, because bareline makes bridges and namespaces for them",
            hint="run bareline with sudo",
        )
    require(*TOOLS)
    if options.image == "auto":
        require(*IMAGE_TOOLS)
    import_libvirt()


#: Debian package of each library's launcher, and the launcher's name in a guest.
_PACKAGES = {"openmpi": "openmpi-bin", "mpich": "mpich"}
#: Paths of launchers on Fedora, SUSE and similar systems, where modules add them to PATH.
_ELSEWHERE = {
    "openmpi": ("/usr/lib64/openmpi/bin/mpirun", "/usr/lib64/mpi/gcc/openmpi4/bin/mpirun"),
    "mpich": ("/usr/lib64/mpich/bin/mpirun", "/usr/lib64/mpi/gcc/mpich/bin/mpirun"),
}


def _guest_mpi(
    host: MpiInstallation | None, run: Callable[[list[str]], Finished], image: AutoImage | None
) -> MpiInstallation:
    """Return the MPI library of a guest; its flavour is the same as that of the host's library.

    - `run`: runs a command in the guest.
    - `image`: the built image, whose package list has the version of the library; None for a user's
      image, where the library's launcher is asked.
    """
    flavour = host.flavour if host else "openmpi"
    if image is not None and flavour in _PACKAGES:
        version = image.packages[_PACKAGES[flavour]]
        return MpiInstallation(flavour, upstream_version(version), f"mpirun.{flavour}")
    for name in (f"mpirun.{flavour}", "mpirun", *_ELSEWHERE.get(flavour, ())):
        ended = run([name, "--version"])
        if ended.exit_code != 0:
            continue
        library = identify(ended.stdout + ended.stderr)
        if library is not None and library[0] == flavour:
            return MpiInstallation(flavour, library[1], name)
    return MpiInstallation(flavour, "0", "mpirun")


def upstream_version(version: str) -> str:
    """Return a library's version from its Debian package's version: 4.1.4 from 4.1.4-3+b1."""
    return version.rpartition(":")[2].partition("-")[0].partition("+")[0]


def _mpi_caveats(host: MpiInstallation | None, inside: MpiInstallation) -> tuple[str, ...]:
    if host is None or host.version == inside.version:
        return ()
    title = LAUNCHERS[inside.flavour].title
    if inside.version == "0":
        return (f"the guests have no {title}",)
    return (f"the guests run {title} {inside.version}, the host {host.version}",)
