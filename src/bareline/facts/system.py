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
#: Files by which a container is recognised if systemd-detect-virt is missing.
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
    """Return the facts from the sections about the operating system and the layers below it."""
    uname = dict(enumerate(sections.get("uname", "").split("\n")))
    release_file = files_of(sections, "os-release").get("/etc/os-release", "")
    os = {name: value.strip("\"'") for name, value in pairs(release_file, "=")}
    options = files_of(sections, "cmdline").get("/proc/cmdline", "").split()
    clock = files_of(sections, "clock")
    load = files_of(sections, "load")
    dmi = {path.removeprefix(_DMI): text for path, text in files_of(sections, "machine").items()}
    product = [dmi.get("sys_vendor"), dmi.get("product_name")]
    steal = parse_stat(sections.get("stat", ""))
    return known(
        {
            "kernel.name": uname.get(0, "").strip(),
            "kernel.release": uname.get(1, "").strip(),
            "kernel.machine": uname.get(2, "").strip(),
            "node.name": uname.get(3, "").strip(),
            "os.name": os.get("PRETTY_NAME") or os.get("NAME"),
            "kernel.options": " ".join(word for word in options if _OPTIONS.fullmatch(word)),
            "kernel.mitigations": _holes(sections, "Mitigation"),
            "kernel.vulnerable": _holes(sections, "Vulnerable"),
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


def _holes(sections: Sections, state: str) -> str:
    """Return the names of the processor's vulnerabilities whose state begins with `state`."""
    names = []
    for path, text in files_of(sections, "vulnerabilities").items():
        if text.startswith(state):
            names.append(path.rpartition("/")[2])
    return ", ".join(sorted(names))


def _virtualization(sections: Sections) -> Found:
    hypervisor = _hypervisor(sections)
    container = _container(sections)
    kind = None
    if hypervisor:
        kind = "container in a virtual machine" if container else "virtual machine"
    elif hypervisor is not None:
        kind = "container" if container else "bare metal"
        hypervisor = "none"
    return {"virt.hypervisor": hypervisor, "virt.container": container, "virt.kind": kind}


def _container(sections: Sections) -> str | None:
    """Return the kind of container that contains the node; None if there is no container."""
    detected = sections.get("virt-container", "").strip()
    if detected:
        return None if detected == "none" else detected
    marks = sections.get("container", "")
    for mark, name in _CONTAINER_MARKS.items():
        if mark in marks:
            return name
    return "unknown kind" if marks.strip() else None


def _hypervisor(sections: Sections) -> str | None:
    """Return the name of the hypervisor: "" if there is none, None if that is unknown."""
    detected = sections.get("virt-vm", "").strip()
    if detected and detected != "none":
        return detected
    first = dict(pairs(sections.get("cpuinfo", "").partition("\n\n")[0]))
    flags = first.get("flags", "")
    if "TCG" in first.get("model name", ""):
        return "qemu"
    vendor = dict(pairs(sections.get("lscpu", ""))).get("Hypervisor vendor")
    if vendor:
        return vendor.lower()
    machine = files_of(sections, "machine")
    kind = machine.get("/sys/hypervisor/type")
    if kind:
        return kind
    clocks = files_of(sections, "clock").get(_CLOCK + "available_clocksource", "")
    for mark, name in _CLOCK_HYPERVISORS.items():
        if mark in clocks:
            return name
    if "QEMU" in machine.get(_DMI + "sys_vendor", ""):
        return "QEMU, acceleration unknown"
    if "hypervisor" in flags.split():
        return "unknown kind"
    is_none = detected == "none" or flags
    return "" if is_none else None


def _limits(sections: Sections) -> Found:
    facts: Found = {}
    for name, text in pairs(sections.get("limits", ""), " "):
        if name not in _LIMITS:
            continue
        key, unit = _LIMITS[name]
        amount = number(text) if text.isdecimal() else None
        if amount is not None:
            facts[key] = int(amount) * unit
        elif text == "unlimited":
            facts[key] = text
    return facts


def parse_software(sections: Sections) -> Facts:
    """Return the facts from the sections about software in the script's output."""
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
    """Return the fact of an installed package; empty if the package is not a known library."""
    threads = " with threads" if re.search("pthread|openmp$", package) else ""
    return {
        key: f"{name} {version(release) or release}{threads}"
        for key, packages, name in _LIBRARIES
        if packages.fullmatch(package)
    }


def mpi_version(text: str) -> tuple[str | None, str | None]:
    """Return the key and the version of the MPI library that ``mpirun --version`` printed."""
    if "Intel(R) MPI" in text:
        return "intel", _first_group(r"Version (\d[\w.]*(?: Update \d+)?)", text)
    if "HYDRA" in text or "MPICH" in text:
        return "mpich", _first_group(r"Version:\s+(\d\S*)", text)
    if "Open MPI" in text or "OpenRTE" in text or "open-mpi" in text:
        return "openmpi", version(text)
    return None, None


def _first_group(pattern: str, text: str) -> str | None:
    match = re.search(pattern, text)
    return match[1] if match else None


def compiler_version(text: str) -> str | None:
    """Return a compiler's version from the output of ``--version``.

    The version of the distribution's package, in parentheses, is ignored.
    """
    lines = [line for line in text.splitlines() if line.strip()][:2]
    versions = (version(re.sub(r"\([^)]*\)", " ", line)) for line in lines)
    return next(filter(None, versions), None)
