"""Facts of the system: kernel, distribution, clock, virtualization, load, limits."""

from __future__ import annotations

import re

from bareline.facts.sections import Facts, Sections, files_of, number, pairs, put
from bareline.facts.steal import parse_stat

_CLOCK = "/sys/devices/system/clocksource/clocksource0/"
_DMI = "/sys/class/dmi/id/"

#: Words of the kernel's command line that change what is measured; the others stay private.
_OPTIONS = re.compile(
    r"(?:mitigations|isolcpus|nohz|nohz_full|rcu_nocbs|nosmt|maxcpus|nr_cpus|tsc|clocksource|idle"
    r"|processor\.max_cstate|intel_idle\.max_cstate|intel_pstate|amd_pstate|cpufreq\.\w+"
    r"|intel_iommu|amd_iommu|iommu|hugepages|hugepagesz|default_hugepagesz|transparent_hugepage"
    r"|numa|numa_balancing|nopti|pti|spectre_v2|nospectre_v\d|l1tf|mds|retbleed|preempt"
    r"|skew_tick|nmi_watchdog|nowatchdog|swiotlb|audit)(?:=\S*)?"
)
_CLOCK_HYPERVISORS = (("kvm-clock", "kvm"), ("hyperv", "microsoft"), ("xen", "xen"))


def parse_system(sections: Sections) -> Facts:
    """Read the sections about the operating system and what lies under it."""
    facts: Facts = {}
    uname = [*sections.get("uname", "").split("\n"), "", "", "", ""]
    for key, value in zip(
        ("kernel.name", "kernel.release", "kernel.machine", "node.name"), uname, strict=False
    ):
        put(facts, key, value.strip())
    put(facts, "os.name", _os_name(files_of(sections, "os-release").get("/etc/os-release", "")))
    options = files_of(sections, "cmdline").get("/proc/cmdline", "").split()
    put(facts, "kernel.options", " ".join(word for word in options if _OPTIONS.fullmatch(word)))
    facts.update(_mitigations(sections))
    clock = files_of(sections, "clock")
    put(facts, "clock.source", clock.get(_CLOCK + "current_clocksource"))
    put(facts, "clock.available", clock.get(_CLOCK + "available_clocksource"))
    facts.update(_machine(sections))
    facts.update(_virtualization(sections))
    facts.update(_volatile(sections))
    facts.update(_limits(sections))
    return facts


def _os_name(text: str) -> str | None:
    values = {name: value.strip("\"'") for name, value in pairs(text, "=")}
    return values.get("PRETTY_NAME") or values.get("NAME")


def _mitigations(sections: Sections) -> Facts:
    facts: Facts = {}
    active, open_ = [], []
    for path, text in files_of(sections, "vulnerabilities").items():
        name = path.rpartition("/")[2]
        if text.startswith("Mitigation"):
            active.append(name)
        elif text.startswith("Vulnerable"):
            open_.append(name)
    put(facts, "kernel.mitigations", ", ".join(sorted(active)))
    put(facts, "kernel.vulnerable", ", ".join(sorted(open_)))
    return facts


def _machine(sections: Sections) -> Facts:
    facts: Facts = {}
    files = files_of(sections, "machine")
    names = [files.get(_DMI + name, "") for name in ("sys_vendor", "product_name")]
    put(facts, "system.product", " ".join(name for name in names if name))
    put(facts, "system.board", files.get(_DMI + "board_name"))
    put(facts, "system.firmware", files.get(_DMI + "bios_version"))
    return facts


def _virtualization(sections: Sections) -> Facts:
    facts: Facts = {}
    hypervisor = _hypervisor(sections)
    container = sections.get("virt-container", "").strip()
    if not container:
        container = _container_marks(sections.get("container", ""))
    known = hypervisor is not None
    if known:
        facts["virt.hypervisor"] = hypervisor or "none"
    if container and container != "none":
        facts["virt.container"] = container
    inside = "virt.container" in facts
    if hypervisor:
        facts["virt.kind"] = "container in a virtual machine" if inside else "virtual machine"
    elif known:
        facts["virt.kind"] = "container" if inside else "bare metal"
    return facts


def _container_marks(marks: str) -> str:
    """Tell a container by the files that its engine leaves, where systemd is not there to ask."""
    for mark, name in (("/.dockerenv", "docker"), ("/run/.containerenv", "podman")):
        if mark in marks:
            return name
    return "unknown kind" if marks.strip() else ""


def _hypervisor(sections: Sections) -> str | None:
    """Name what virtualizes the node: "" for nothing, None where nobody can tell."""
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
    for mark, name in _CLOCK_HYPERVISORS:
        if mark in clocks:
            return name
    if "QEMU" in machine.get(_DMI + "sys_vendor", ""):
        return "QEMU, acceleration unknown"
    if "hypervisor" in flags.split():
        return "unknown kind"
    return "" if detected == "none" or flags else None


def _volatile(sections: Sections) -> Facts:
    """Read what changes from minute to minute and thus is never a difference."""
    facts: Facts = {}
    files = files_of(sections, "load")
    put(facts, "load.one_minute", number(files.get("/proc/loadavg")))
    put(facts, "load.uptime_s", number(files.get("/proc/uptime")))
    if reading := parse_stat(sections.get("stat", "")):
        put(facts, "cpu.steal_ratio", reading.since_boot)
    return facts


def _limits(sections: Sections) -> Facts:
    facts: Facts = {}
    for line in sections.get("limits", "").splitlines():
        name, _, text = line.partition(" ")
        key = {
            "locked": "limits.locked_memory_bytes",
            "stack": "limits.stack_bytes",
            "files": "limits.open_files",
        }.get(name)
        if key is None:
            continue
        amount = number(text) if text.strip().isdecimal() else None
        if amount is not None:
            put(facts, key, int(amount) * (1024 if key.endswith("_bytes") else 1))
        elif text.strip() == "unlimited":
            put(facts, key, "unlimited")
    return facts
