"""Facts of the system: kernel, clock, virtualization, load, limits, compilers and libraries."""

from __future__ import annotations

import re

from bareline.facts.sections import Facts, Found, Sections, files_of, known, number, pairs, version
from bareline.facts.steal import parse_stat

_CLOCK = "/sys/devices/system/clocksource/clocksource0/"
_DMI = "/sys/class/dmi/id/"

#: Words of the kernel's command line that affect measurements; all other words stay private.
_OPTIONS = re.compile(
    r"(?:mitigations|isolcpus|nohz|nohz_full|rcu_nocbs|nosmt|maxcpus|nr_cpus|tsc|clocksource|idle"
    r"|processor\.max_cstate|intel_idle\.max_cstate|intel_pstate|amd_pstate|cpufreq\.\w+"
    r"|intel_iommu|amd_iommu|iommu|hugepages|hugepagesz|default_hugepagesz|transparent_hugepage"
    r"|numa|numa_balancing|nopti|pti|spectre_v2|nospectre_v\d|l1tf|mds|retbleed|preempt"
    r"|skew_tick|nmi_watchdog|nowatchdog|swiotlb|audit)(?:=\S*)?"
)
_CLOCK_HYPERVISORS = {"kvm-clock": "kvm", "hyperv": "microsoft", "xen": "xen"}
#: Files that engines leave in a container, where systemd is not there to ask.
_CONTAINER_MARKS = {"/.dockerenv": "docker", "/run/.containerenv": "podman"}
#: Options of `ulimit`: the fact, and the size of the option's unit in the fact's unit.
_LIMITS = {
    "locked": ("limits.locked_memory_bytes", 1024),
    "stack": ("limits.stack_bytes", 1024),
    "files": ("limits.open_files", 1),
}

_COMPILERS = (
    ("compiler.c", "gcc"),
    ("compiler.fortran", "gfortran"),
    ("compiler.clang", "clang"),
    ("compiler.intel_c", "icx"),
    ("compiler.intel_c", "icc"),
    ("compiler.intel_fortran", "ifx"),
    ("compiler.intel_fortran", "ifort"),
    ("compiler.nvidia_c", "nvc"),
    ("compiler.nvidia_fortran", "nvfortran"),
)
_LIBRARIES = (
    ("library.blas", re.compile(r"libopenblas0-\w+|openblas"), "OpenBLAS"),
    ("library.fftw", re.compile(r"libfftw3-double3|fftw-libs-double"), "FFTW"),
    ("library.scalapack", re.compile(r"libscalapack-\w+?\d[\d.]*|scalapack-openmpi"), "ScaLAPACK"),
    ("library.mkl", re.compile(r"mkl"), "MKL"),
    ("library.ucx", re.compile(r"libucx0|ucx"), "UCX"),
    ("library.libfabric", re.compile(r"libfabric1|libfabric"), "libfabric"),
    ("library.libc", re.compile(r"libc6|glibc"), "glibc"),
)


def parse_system(sections: Sections) -> Facts:
    """Read the sections about the operating system and the layers below it."""
    name, release, machine, node = ([*sections.get("uname", "").split("\n"), "", "", "", ""])[:4]
    release_file = files_of(sections, "os-release").get("/etc/os-release", "")
    os = {name: value.strip("\"'") for name, value in pairs(release_file, "=")}
    options = files_of(sections, "cmdline").get("/proc/cmdline", "").split()
    holes = sorted(
        (path.rpartition("/")[2], text)
        for path, text in files_of(sections, "vulnerabilities").items()
    )
    clock, load = files_of(sections, "clock"), files_of(sections, "load")
    dmi = {path.removeprefix(_DMI): text for path, text in files_of(sections, "machine").items()}
    product = [dmi.get("sys_vendor"), dmi.get("product_name")]
    steal = parse_stat(sections.get("stat", ""))
    return known(
        {
            "kernel.name": name.strip(),
            "kernel.release": release.strip(),
            "kernel.machine": machine.strip(),
            "node.name": node.strip(),
            "os.name": os.get("PRETTY_NAME") or os.get("NAME"),
            "kernel.options": " ".join(word for word in options if _OPTIONS.fullmatch(word)),
            **{
                f"kernel.{key}": ", ".join(hole for hole, text in holes if text.startswith(word))
                for key, word in (("mitigations", "Mitigation"), ("vulnerable", "Vulnerable"))
            },
            "clock.source": clock.get(_CLOCK + "current_clocksource"),
            "clock.available": clock.get(_CLOCK + "available_clocksource"),
            "system.product": " ".join(filter(None, product)),
            "system.board": dmi.get("board_name"),
            "system.firmware": dmi.get("bios_version"),
            **_virtualization(sections),
            # The load changes from minute to minute, and thus is never a difference.
            "load.one_minute": number(load.get("/proc/loadavg")),
            "load.uptime_s": number(load.get("/proc/uptime")),
            "cpu.steal_ratio": steal.since_boot if steal else None,
            **_limits(sections),
        }
    )


def _virtualization(sections: Sections) -> Found:
    hypervisor = _hypervisor(sections)
    marks = sections.get("container", "")
    left = [name for mark, name in _CONTAINER_MARKS.items() if mark in marks]
    container = sections.get("virt-container", "").strip() or (
        left[0] if left else "unknown kind" if marks.strip() else "none"
    )
    inside, kind = container != "none", None
    if hypervisor:
        kind = "container in a virtual machine" if inside else "virtual machine"
    elif hypervisor is not None:
        kind = "container" if inside else "bare metal"
    return {
        "virt.hypervisor": hypervisor if hypervisor is None else hypervisor or "none",
        "virt.container": container if inside else None,
        "virt.kind": kind,
    }


def _hypervisor(sections: Sections) -> str | None:
    """Return the name of the hypervisor: "" for none, None if unknown."""
    detected = sections.get("virt-vm", "").strip()
    if detected and detected != "none":
        return detected
    first = dict(pairs(sections.get("cpuinfo", "").partition("\n\n")[0]))
    flags = first.get("flags", "")
    if "TCG" in first.get("model name", ""):
        return "qemu"
    lscpu = dict(pairs(sections.get("lscpu", "")))
    if vendor := lscpu.get("Hypervisor vendor", ""):
        return vendor.lower()
    machine = files_of(sections, "machine")
    if kind := machine.get("/sys/hypervisor/type"):
        return kind
    clocks = files_of(sections, "clock").get(_CLOCK + "available_clocksource", "")
    if named := [name for mark, name in _CLOCK_HYPERVISORS.items() if mark in clocks]:
        return named[0]
    if "QEMU" in machine.get(_DMI + "sys_vendor", ""):
        return "QEMU, acceleration unknown"
    if "hypervisor" in flags.split():
        return "unknown kind"
    return "" if detected == "none" or flags else None


def _limits(sections: Sections) -> Found:
    facts: Found = {}
    for name, text in pairs(sections.get("limits", ""), " "):
        key, unit = _LIMITS.get(name, ("", 1))
        amount = number(text) if text.isdecimal() else None
        if key and (amount is not None or text == "unlimited"):
            facts[key] = text if amount is None else int(amount) * unit
    return facts


def parse_software(sections: Sections) -> Facts:
    """Read the sections about software."""
    flavour, release = mpi_version(sections.get("version.mpirun", ""))
    facts: Found = {"mpi.flavour": flavour, "mpi.version": release}
    for key, program in _COMPILERS:
        compiler = compiler_version(sections.get(f"version.{program}", ""))
        if compiler and key not in facts:
            facts[key] = f"{program} {compiler}"
    for line in sections.get("libraries", "").splitlines():
        match line.split():
            case ["installed", package, release_text]:
                facts |= _library(package, release_text)
    return known(facts)


def _library(package: str, release: str) -> Found:
    """Return the fact of an installed package; none where it is not a known library."""
    threads = " with threads" if re.search("pthread|openmp$", package) else ""
    return {
        key: f"{name} {version(release) or release}{threads}"
        for key, packages, name in _LIBRARIES
        if packages.fullmatch(package)
    }


def mpi_version(text: str) -> tuple[str | None, str | None]:
    """Return the key of the MPI library and its version from the output of ``mpirun --version``."""
    if "Intel(R) MPI" in text:
        match = re.search(r"Version (\d[\w.]*(?: Update \d+)?)", text)
        return "intel", match[1] if match else None
    if "HYDRA" in text or "MPICH" in text:
        match = re.search(r"Version:\s+(\d\S*)", text)
        return "mpich", match[1] if match else None
    if "Open MPI" in text or "OpenRTE" in text or "open-mpi" in text:
        return "openmpi", version(text)
    return None, None


def compiler_version(text: str) -> str | None:
    """Return a compiler's version from the output of ``--version``, without the packager's."""
    lines = [line for line in text.splitlines() if line.strip()][:2]
    versions = (version(re.sub(r"\([^)]*\)", " ", line)) for line in lines)
    return next(filter(None, versions), None)
