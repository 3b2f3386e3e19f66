"""Facts of the processor: model, topology, caches, instruction sets, frequency, peak rate."""

from __future__ import annotations

import re
from collections.abc import Mapping

from bareline.facts.sections import (
    Facts,
    Sections,
    files_of,
    integer,
    list_count,
    number,
    pairs,
    put,
)
from bareline.vocabulary.instructions import ARM_SETS, X86_SETS, widest

_CPU = "/sys/devices/system/cpu/"
_CACHES = {("1", "Data"): "l1d", ("1", "Instruction"): "l1i", ("2", ""): "l2", ("3", ""): "l3"}
_CACHE_SIZE = re.compile(r"([\d.]+)\s*([KMG])i?B?(?:\s*\((\d+) instances?\))?")
_POWER = {"K": 10, "M": 20, "G": 30}


def parse_processor(sections: Sections) -> Facts:
    """Read the sections about the processor."""
    first = _first_processor(sections.get("cpuinfo", ""))
    lscpu = dict(pairs(sections.get("lscpu", "")))
    files = files_of(sections, "cpu")
    facts: Facts = {}
    put(facts, "cpu.model", _model(first, lscpu))
    put(facts, "cpu.vendor", first.get("vendor_id") or lscpu.get("Vendor ID"))
    put(facts, "cpu.family", integer(first.get("cpu family")))
    put(facts, "cpu.model_number", integer(first.get("model")))
    put(facts, "cpu.stepping", integer(first.get("stepping")))
    put(facts, "cpu.microcode", first.get("microcode"))
    facts.update(_topology(sections, lscpu, files))
    facts.update(_caches(files, lscpu))
    facts.update(_instruction_sets(first))
    facts.update(_power(files))
    put(facts, "cpu.emulated", _emulated(sections, facts, first))
    facts.update(_frequencies(first, lscpu, files, facts))
    facts.update(_peak(facts))
    return facts


def _first_processor(cpuinfo: str) -> dict[str, str]:
    return dict(pairs(cpuinfo.strip().partition("\n\n")[0]))


def _model(first: Mapping[str, str], lscpu: Mapping[str, str]) -> str | None:
    name = first.get("model name") or lscpu.get("Model name") or first.get("cpu") or ""
    return re.sub(r"\s+", " ", name.replace("(R)", "").replace("(TM)", "")).strip() or None


def _topology(sections: Sections, lscpu: Mapping[str, str], files: Mapping[str, str]) -> Facts:
    facts: Facts = {}
    cores, packages = _cores(sections)
    logical = list_count(files.get(_CPU + "online"))
    if logical is None:
        logical = sections.get("cpuinfo", "").count("processor\t:") or integer(lscpu.get("CPU(s)"))
    put(facts, "cpu.logical", logical)
    if not cores:
        packages = integer(lscpu.get("Socket(s)")) or 0
        cores = packages * (integer(lscpu.get("Core(s) per socket")) or 0)
    put(facts, "cpu.sockets", packages or None)
    put(facts, "cpu.cores", cores or None)
    if cores and logical:
        put(facts, "cpu.threads_per_core", max(1, logical // cores))
    active = files.get(_CPU + "smt/active")
    if active in ("0", "1"):
        put(facts, "cpu.smt", active == "1")
    elif "cpu.threads_per_core" in facts:
        put(facts, "cpu.smt", facts["cpu.threads_per_core"] != 1)
    facts.update(_allowed(sections))
    return facts


def _cores(sections: Sections) -> tuple[int, int]:
    """Count physical cores and sockets, from the kernel's topology or else its processor list."""
    files = files_of(sections, "topology")
    seen = set()
    for path, core in files.items():
        if path.endswith("/core_id"):
            package = files.get(path.removesuffix("core_id") + "physical_package_id", "")
            seen.add((package, core))
    if not seen:
        for block in sections.get("cpuinfo", "").split("\n\n"):
            values = dict(pairs(block))
            if "core id" in values:
                seen.add((values.get("physical id", ""), values["core id"]))
    return len(seen), len({package for package, _ in seen})


def _allowed(sections: Sections) -> Facts:
    """Count what a process may use: fewer processors than the node has under taskset or a quota."""
    facts: Facts = {}
    for line in sections.get("allowed", "").splitlines():
        name, colon, value = line.partition(":")
        if colon and name == "Cpus_allowed_list":
            put(facts, "cpu.allowed", list_count(value))
        elif not colon and len(line.split()) == 2:
            quota, period = (number(part) for part in line.split())
            if quota and period:
                put(facts, "cpu.quota_cores", quota / period)
    return facts


def _caches(files: Mapping[str, str], lscpu: Mapping[str, str]) -> Facts:
    facts: Facts = {}
    for path, level in files.items():
        if not path.endswith("/level"):
            continue
        base = path.removesuffix("level")
        kind = files.get(base + "type", "")
        name = _CACHES.get((level, kind)) or _CACHES.get((level, ""))
        if name:
            put(facts, f"cpu.{name}_bytes", _cache_bytes(files.get(base + "size")))
    if not facts:
        for label, name in (("L1d", "l1d"), ("L1i", "l1i"), ("L2", "l2"), ("L3", "l3")):
            put(facts, f"cpu.{name}_bytes", _cache_bytes(lscpu.get(f"{label} cache")))
    return facts


def _cache_bytes(text: str | None) -> int | None:
    """Read the size of one cache; lscpu gives the sum over its instances."""
    match = _CACHE_SIZE.match(text or "")
    amount = number(match[1]) if match else None
    if match is None or amount is None:
        return None
    return round(amount * (1 << _POWER[match[2]]) / max(1, int(match[3] or 1)))


def _instruction_sets(first: Mapping[str, str]) -> Facts:
    facts: Facts = {}
    words = set((first.get("flags") or first.get("Features") or "").split())
    if not words:
        return facts
    for known in X86_SETS if "flags" in first else ARM_SETS:
        facts[f"cpu.flags.{known.name}"] = known.flag in words
    best = [found] if (found := widest(_shown(facts))) else []
    if best and facts.get("cpu.flags.fma"):
        best.append("FMA")
    put(facts, "cpu.isa", " + ".join(best))
    return facts


def _power(files: Mapping[str, str]) -> Facts:
    facts: Facts = {}
    governors = {text for path, text in files.items() if path.endswith("/cpufreq/scaling_governor")}
    put(facts, "cpu.governor", ", ".join(sorted(governors)))
    put(facts, "cpu.frequency_driver", files.get(_CPU + "cpu0/cpufreq/scaling_driver"))
    put(facts, "cpu.idle_driver", files.get(_CPU + "cpuidle/current_driver"))
    off, boost = files.get(_CPU + "intel_pstate/no_turbo"), files.get(_CPU + "cpufreq/boost")
    if off in ("0", "1"):
        facts["cpu.turbo"] = off == "0"
    elif boost in ("0", "1"):
        facts["cpu.turbo"] = boost == "1"
    return facts


def _emulated(sections: Sections, facts: Facts, first: Mapping[str, str]) -> bool | None:
    """Tell whether the processor is software; None on machines that cannot tell.

    QEMU's translator says so in its own model's name, and through CPUID to systemd-detect-virt.
    The latter also answers "qemu" for a KVM guest that hides its hypervisor; that one lacks the
    hypervisor flag.
    """
    if "TCG" in str(facts.get("cpu.model", "")):
        return True
    flags = first.get("flags", "").split()
    if sections.get("virt-vm", "").strip() == "qemu" and "hypervisor" in flags:
        return True
    if sections.get("virt-vm", "").strip() in ("kvm", "xen", "vmware", "microsoft"):
        return False
    return False if flags and "hypervisor" not in flags else None


def _frequencies(
    first: Mapping[str, str], lscpu: Mapping[str, str], files: Mapping[str, str], facts: Facts
) -> Facts:
    found: Facts = {}
    highest = number(files.get(_CPU + "cpu0/cpufreq/cpuinfo_max_freq"))
    if highest:
        put(found, "cpu.max_hz", highest * 1e3)
    elif mhz := number(lscpu.get("CPU max MHz")):
        put(found, "cpu.max_hz", mhz * 1e6)
    if mhz := number(first.get("cpu MHz")):
        put(found, "cpu.current_hz", mhz * 1e6)
    base, source = _base_frequency(first, files, facts)
    if base:
        found["cpu.base_hz"] = base
        found["cpu.base_from"] = source
    return found


def _base_frequency(
    first: Mapping[str, str], files: Mapping[str, str], facts: Facts
) -> tuple[float | None, str]:
    """Find the nominal frequency and say where it comes from."""
    if base := number(files.get(_CPU + "cpu0/cpufreq/base_frequency")):
        return base * 1e3, "cpufreq"
    named = re.search(r"@ ?([\d.]+) ?GHz", str(facts.get("cpu.model", "")))
    if named and (base := number(named[1])):
        return base * 1e9, "model name"
    bogomips = number(first.get("bogomips"))
    steady = "constant_tsc" in first.get("flags", "").split()
    if bogomips and steady and not facts.get("cpu.emulated"):
        # Linux derives the figure from the time stamp counter, which runs at the nominal rate.
        return bogomips * 1e6 / 2, "time stamp counter"
    return None, ""


def _peak(facts: Facts) -> Facts:
    """Give the double-precision peak at the nominal frequency, where both factors are sure."""
    base, per_cycle = facts.get("cpu.base_hz"), flops_per_cycle(facts)
    if not isinstance(base, float) or per_cycle is None or facts.get("cpu.emulated"):
        return {}
    found: Facts = {"cpu.flops_per_cycle": per_cycle, "cpu.peak_flops_per_core": base * per_cycle}
    cores = facts.get("cpu.cores")
    if isinstance(cores, int):
        found["cpu.peak_flops"] = base * per_cycle * cores
    return found


def flops_per_cycle(facts: Facts) -> int | None:
    """Count double-precision operations per core and cycle, None where the model leaves doubt.

    The instruction sets that the node shows count, not those that its processor has: a guest
    whose CPU model hides AVX cannot use it.
    """
    vendor, family = facts.get("cpu.vendor"), facts.get("cpu.family")
    model, name = facts.get("cpu.model_number"), str(facts.get("cpu.model", ""))
    if not isinstance(family, int) or not isinstance(model, int):
        return None
    shown = _shown(facts)
    if vendor == "AuthenticAMD":
        if family < 0x17:
            return None  # modules of two cores shared their units
        if {"avx2", "fma"} <= shown:
            if family == 0x1A:
                return 32 if "avx512f" in shown and "EPYC" in name else 16
            return 16 if family > 0x17 or model >= 0x30 else 8
        return 8 if "avx" in shown else 4
    if vendor != "GenuineIntel" or family != 6 or "sse2" not in shown:
        return None
    if "avx512f" in shown:
        two_units = model in (0x6A, 0x6C, 0x8F, 0xCF, 0xAD) or (
            model == 0x55 and re.search(r"Platinum|Gold 6", name)
        )
        return 32 if two_units else None
    if "fma" in shown and "avx2" in shown:
        return 16
    return 8 if "avx" in shown else 4


def _shown(facts: Facts) -> set[str]:
    """Give the instruction sets that a node shows."""
    return {key.removeprefix("cpu.flags.") for key in facts if facts[key] is True}
