"""Facts of the processor and its memory: topology, caches, instruction sets, peak rate, modules."""

from __future__ import annotations

import re
from collections.abc import Mapping

from bareline.facts.arm import ArmCore, dmi_hz, find_core, tree_hz, vector_bits
from bareline.facts.sections import (
    Facts,
    Found,
    Sections,
    chosen,
    files_of,
    integer,
    known,
    list_count,
    number,
    pairs,
    times,
)
from bareline.vocabulary.instructions import ARM_SETS, X86_SETS, widest
from bareline.vocabulary.model import Scalar

_CPU = "/sys/devices/system/cpu/"
_VECTOR_LENGTH = "/proc/sys/abi/sve_default_vector_length"
_CACHES = {("1", "Data"): "l1d", ("1", "Instruction"): "l1i", ("2", ""): "l2", ("3", ""): "l3"}
_CACHE_SIZE = re.compile(r"([\d.]+)\s*([KMG])i?B?(?:\s*\((\d+) instances?\))?")
#: Intel's models whose processors all have two units for AVX-512, and one of which some have.
_TWO_UNITS = (0x6A, 0x6C, 0x8F, 0xCF, 0xAD)
_SKYLAKE_SERVER = 0x55
_POWER = {"K": 10, "M": 20, "G": 30}


def parse_processor(sections: Sections) -> Facts:
    """Return the facts from the sections about the processor in the script's output."""
    first = dict(pairs(sections.get("cpuinfo", "").strip().partition("\n\n")[0]))
    lscpu = dict(pairs(sections.get("lscpu", "")))
    files = files_of(sections, "cpu")
    core = find_core(first)
    name = first.get("model name") or lscpu.get("Model name") or first.get("cpu") or ""
    if core is not None and name in ("", "-"):
        name = core.name
    model = re.sub(r"\s+", " ", name.replace("(R)", "").replace("(TM)", "")).strip()
    emulated = _emulated(sections.get("virt-vm", "").strip(), model, first)
    governors = {text for path, text in files.items() if path.endswith("/cpufreq/scaling_governor")}
    base_hz, source = _base_frequency(first, files, model, emulated)
    if base_hz is None and model and not emulated:
        base_hz, source = _firmware_frequency(sections)
    facts = known(
        {
            "cpu.model": model,
            "cpu.vendor": first.get("vendor_id") or lscpu.get("Vendor ID"),
            "cpu.family": integer(first.get("cpu family")),
            "cpu.model_number": integer(first.get("model")),
            "cpu.stepping": integer(first.get("stepping")),
            "cpu.microcode": first.get("microcode"),
            **_topology(sections, lscpu, files),
            **_caches(files, lscpu),
            **_instruction_sets(first, files.get(_VECTOR_LENGTH)),
            "cpu.governor": ", ".join(sorted(governors)),
            "cpu.frequency_driver": files.get(_CPU + "cpu0/cpufreq/scaling_driver"),
            "cpu.idle_driver": files.get(_CPU + "cpuidle/current_driver"),
            "cpu.turbo": _turbo(files),
            "cpu.emulated": emulated,
            **_frequencies(first, lscpu, files),
            "cpu.base_hz": base_hz,
            "cpu.base_from": source,
        }
    )
    return facts | _peak(facts, core)


def _frequencies(
    first: Mapping[str, str], lscpu: Mapping[str, str], files: Mapping[str, str]
) -> Found:
    highest_mhz = number(lscpu.get("CPU max MHz"))
    highest_khz = number(files.get(_CPU + "cpu0/cpufreq/cpuinfo_max_freq"))
    current_mhz = number(first.get("cpu MHz"))
    current_khz = number(files.get(_CPU + "cpu0/cpufreq/scaling_cur_freq"))
    # The kernel's own figure first; 0 means unknown.
    highest_hz = times(highest_khz, 1e3) or times(highest_mhz, 1e6)
    current_hz = times(current_mhz, 1e6) or times(current_khz, 1e3)
    return {"cpu.max_hz": highest_hz or None, "cpu.current_hz": current_hz or None}


def _turbo(files: Mapping[str, str]) -> bool | None:
    """Return whether the processor can run faster than its nominal frequency; None if unknown."""
    no_turbo = _switch(files.get(_CPU + "intel_pstate/no_turbo"))
    if no_turbo is not None:
        return not no_turbo
    return _switch(files.get(_CPU + "cpufreq/boost"))


def _switch(text: str | None) -> bool | None:
    """Return whether the text of a kernel's switch ("0", "1" ...) means on; None without a text."""
    return {"0": False, "1": True}.get(text or "")


def _topology(sections: Sections, lscpu: Mapping[str, str], files: Mapping[str, str]) -> Found:
    """Return the numbers of sockets, cores, threads, and processors that programs may use."""
    cpuinfo = sections.get("cpuinfo", "")
    packages = _package_of_cores(sections)
    cores = len(packages)
    sockets = len({package for package, _ in packages})
    if not cores:
        sockets = integer(lscpu.get("Socket(s)")) or 0
        cores = sockets * (integer(lscpu.get("Core(s) per socket")) or 0)
    logical = list_count(files.get(_CPU + "online"))
    if logical is None:
        logical = cpuinfo.count("processor\t:") or integer(lscpu.get("CPU(s)"))
    threads = None
    if cores and logical:
        threads = max(1, logical // cores)
    smt = _switch(files.get(_CPU + "smt/active"))
    if smt is None and threads is not None:
        smt = threads != 1
    facts: Found = {
        "cpu.logical": logical,
        "cpu.sockets": sockets or None,
        "cpu.cores": cores or None,
        "cpu.threads_per_core": threads,
        "cpu.smt": smt,
    }
    return facts | _allowed(sections)


def _package_of_cores(sections: Sections) -> set[tuple[str, str]]:
    """Return socket and number of each core, from sysfs or, if it lists no cores, /proc/cpuinfo."""
    topology = files_of(sections, "topology")
    cores = set()
    for path, core in topology.items():
        if path.endswith("/core_id"):
            package = topology.get(path.removesuffix("core_id") + "physical_package_id", "")
            cores.add((package, core))
    if cores:
        return cores
    for block in sections.get("cpuinfo", "").split("\n\n"):
        processor = dict(pairs(block))
        if "core id" in processor:
            cores.add((processor.get("physical id", ""), processor["core id"]))
    return cores


def _allowed(sections: Sections) -> Found:
    """Return how many processors programs may use by the affinity mask, and by the quota."""
    facts: Found = {}
    for line in sections.get("allowed", "").splitlines():
        match line.split():
            case ["Cpus_allowed_list:", members] if count := list_count(members):
                facts["cpu.allowed"] = count
            case [used, each] if (quota := number(used)) and (period := number(each)):
                facts["cpu.quota_cores"] = quota / period
    return facts


def _caches(files: Mapping[str, str], lscpu: Mapping[str, str]) -> Facts:
    facts: Facts = {}
    for path, level in files.items():
        base = path.removesuffix("level")
        name = _CACHES.get((level, files.get(base + "type", ""))) or _CACHES.get((level, ""))
        size = _cache_bytes(files.get(base + "size"))
        if path.endswith("/level") and name and size is not None:
            facts[f"cpu.{name}_bytes"] = size
    if facts:
        return facts
    for label in ("L1d", "L1i", "L2", "L3"):
        size = _cache_bytes(lscpu.get(f"{label} cache"))
        if size is not None:
            facts[f"cpu.{label.lower()}_bytes"] = size
    return facts


def _cache_bytes(text: str | None) -> int | None:
    """Return the size of one cache in bytes, from its text in sysfs; lscpu prints only sums."""
    match = _CACHE_SIZE.match(text or "")
    if match is None:
        return None
    amount = number(match[1])
    if amount is None:
        return None
    instances = max(1, int(match[3] or 1))
    return round(amount * (1 << _POWER[match[2]]) / instances)


def _instruction_sets(first: Mapping[str, str], vector_length: str | None) -> Found:
    words = set((first.get("flags") or first.get("Features") or "").split())
    if not words:
        return {}
    sets = X86_SETS if "flags" in first else ARM_SETS
    facts: Found = {f"cpu.flags.{kind.name}": kind.flag in words for kind in sets}
    best = widest(_shown(facts))
    if "flags" in first:
        fused = " + FMA" if facts.get("cpu.flags.fma") else ""
        if best:
            facts["cpu.isa"] = f"{best}{fused}"
        return facts
    bits = vector_bits(facts, vector_length)
    width = "width unknown" if bits is None else f"{bits} bits"
    if best:
        facts["cpu.isa"] = f"{best}, {width}"
    facts["cpu.vector_bits"] = bits
    return facts


def _emulated(detected: str, model: str, first: Mapping[str, str]) -> bool | None:
    """Return whether the processor is emulated; None on machines that do not show it.

    The model name of a processor that QEMU emulates contains "TCG", or systemd-detect-virt prints
    "qemu". systemd-detect-virt also prints "qemu" for a KVM guest that hides its hypervisor. Such
    a guest lacks the processor flag ``hypervisor``, which an emulated processor has.
    """
    flags = first.get("flags", "").split()
    if "TCG" in model or (detected == "qemu" and "hypervisor" in flags):
        return True
    if detected in ("kvm", "xen", "vmware", "microsoft"):
        return False
    is_bare = flags and "hypervisor" not in flags
    return False if is_bare else None


def _base_frequency(
    first: Mapping[str, str], files: Mapping[str, str], model: str, emulated: bool | None
) -> tuple[float | None, str]:
    khz = number(files.get(_CPU + "cpu0/cpufreq/base_frequency"))
    if khz:
        return khz * 1e3, "cpufreq"
    # Arm servers: the processor's collaborative performance control.
    mhz = number(files.get(_CPU + "cpu0/acpi_cppc/nominal_freq"))
    if mhz:
        return mhz * 1e6, "ACPI CPPC"
    named = re.search(r"@ ?([\d.]+) ?GHz", model)
    if named and (ghz := number(named[1])):
        return ghz * 1e9, "model name"
    bogomips = number(first.get("bogomips"))
    if bogomips and "constant_tsc" in first.get("flags", "").split() and not emulated:
        # Linux derives the figure from the time stamp counter, which runs at the nominal rate.
        return bogomips * 1e6 / 2, "time stamp counter"
    return None, ""


def _firmware_frequency(sections: Sections) -> tuple[float | None, str]:
    """Return the nominal frequency that the firmware declares, and the name of its source.

    If the firmware declares no frequency, return None and "unknown".
    """
    tree = files_of(sections, "device-tree")
    clocks = [hz for hz in map(tree_hz, tree.values()) if hz]
    if clocks:
        return max(clocks), "device tree"
    declared_hz = dmi_hz(sections.get("dmi-processor", ""), "Current Speed")
    if declared_hz:
        return declared_hz, "DMI"
    return None, "unknown"


def _peak(facts: Facts, core: ArmCore | None) -> Facts:
    """Return the double-precision peak at the nominal frequency.

    The result is empty if the frequency or the operations per cycle are uncertain, or if the
    processor is emulated.
    """
    base_hz = facts.get("cpu.base_hz")
    per_cycle = flops_per_cycle(facts)
    if core is not None:
        bits = facts.get("cpu.vector_bits", 0)
        per_cycle = core.flops_per_cycle if int(bits) >= core.needs_bits else None
    if not isinstance(base_hz, float) or per_cycle is None or facts.get("cpu.emulated"):
        return {}
    peak: Facts = {
        "cpu.flops_per_cycle": per_cycle,
        "cpu.peak_flops_per_core": base_hz * per_cycle,
    }
    cores = facts.get("cpu.cores")
    if isinstance(cores, int):
        peak["cpu.peak_flops"] = base_hz * per_cycle * cores
    return peak


def flops_per_cycle(facts: Facts) -> int | None:
    """Return the double-precision operations per core and cycle; None if the model is ambiguous.

    The number depends on the instruction sets that the node shows. A guest whose processor model
    hides AVX cannot use AVX, even if the hardware has it.
    """
    family = facts.get("cpu.family")
    model = facts.get("cpu.model_number")
    if not isinstance(family, int) or not isinstance(model, int):
        return None
    name = str(facts.get("cpu.model", ""))
    sets = _shown(facts)
    if facts.get("cpu.vendor") == "AuthenticAMD":
        return _amd_flops_per_cycle(family, model, name, sets)
    if facts.get("cpu.vendor") == "GenuineIntel" and family == 6 and "sse2" in sets:
        return _intel_flops_per_cycle(model, name, sets)
    return None


def _amd_flops_per_cycle(family: int, model: int, name: str, sets: set[str]) -> int | None:
    if family < 0x17:
        return None  # modules of two cores shared their units
    if not {"avx2", "fma"} <= sets:
        return 8 if "avx" in sets else 4
    if family == 0x1A:
        return 32 if "avx512f" in sets and "EPYC" in name else 16
    return 16 if family > 0x17 or model >= 0x30 else 8


def _intel_flops_per_cycle(model: int, name: str, sets: set[str]) -> int | None:
    if "avx512f" in sets:
        two_units = model in _TWO_UNITS
        if model == _SKYLAKE_SERVER:
            two_units = re.search(r"Platinum|Gold 6", name) is not None
        return 32 if two_units else None
    if "fma" in sets and "avx2" in sets:
        return 16
    return 8 if "avx" in sets else 4


def _shown(facts: Mapping[str, Scalar | None]) -> set[str]:
    return {key.removeprefix("cpu.flags.") for key in facts if facts[key] is True}


def parse_memory(sections: Sections) -> Facts:
    """Return the facts from the sections about memory in the script's output."""
    table = dict(pairs(sections.get("meminfo", "")))
    files = files_of(sections, "vm")

    def size(name: str) -> float | None:
        amount, _, unit = table.get(name, "").partition(" ")
        return times(integer(amount), 1024) if unit == "kB" else None

    balancing = files.get("/proc/sys/kernel/numa_balancing")
    return known(
        {
            "memory.total_bytes": size("MemTotal"),
            "memory.swap_bytes": size("SwapTotal"),
            "memory.hugepage_bytes": size("Hugepagesize"),
            "memory.available_bytes": size("MemAvailable"),
            "memory.hugepages": integer(table.get("HugePages_Total")),
            "memory.transparent_hugepages": chosen(
                files.get("/sys/kernel/mm/transparent_hugepage/enabled")
            ),
            "memory.swappiness": integer(files.get("/proc/sys/vm/swappiness")),
            "memory.overcommit": integer(files.get("/proc/sys/vm/overcommit_memory")),
            "memory.numa_balancing": None if not balancing else balancing != "0",
            "memory.numa_nodes": list_count(
                files_of(sections, "cpu").get("/sys/devices/system/node/online")
            ),
            **_modules(sections.get("dmidecode", "")),
        }
    )


def _modules(text: str) -> Found:
    """Return facts of the memory modules that the firmware lists.

    The firmware of a guest lists invented modules, which are also recorded.
    """
    devices = [dict(pairs(block)) for block in text.split("\n\n") if "Memory Device" in block]
    installed = [device for device in devices if (device.get("Size") or "N")[0].isdigit()]
    kinds = {device.get("Type", "") for device in installed} - {"", "Unknown", "RAM"}
    rates = [_transfer_rate(device) for device in installed]
    slowest = min((rate for rate in rates if rate), default=None)
    return {
        "memory.modules": len(installed) or None,
        "memory.type": ", ".join(sorted(kinds)),
        "memory.transfers_per_s": times(slowest, 1e6),
    }


def _transfer_rate(device: Mapping[str, str]) -> float | None:
    """Return a memory module's rate in 10^6 transfers/s: the configured rate if it is known."""
    for name in ("Configured Memory Speed", "Configured Clock Speed", "Speed"):
        rate = number(device.get(name))
        if rate:
            return rate
    return None
