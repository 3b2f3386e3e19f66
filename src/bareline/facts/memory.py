"""Facts of the memory: size, NUMA nodes, huge pages, modules."""

from __future__ import annotations

from bareline.facts.sections import (
    Facts,
    Sections,
    chosen,
    files_of,
    integer,
    list_count,
    number,
    pairs,
    put,
)

_KIB = 1024


def parse_memory(sections: Sections) -> Facts:
    """Read the sections about memory."""
    facts: Facts = {}
    table = dict(pairs(sections.get("meminfo", "")))
    for key, name in (
        ("memory.total_bytes", "MemTotal"),
        ("memory.swap_bytes", "SwapTotal"),
        ("memory.hugepage_bytes", "Hugepagesize"),
        ("memory.available_bytes", "MemAvailable"),
    ):
        amount, _, unit = table.get(name, "").partition(" ")
        size = integer(amount)
        put(facts, key, None if size is None or unit != "kB" else size * _KIB)
    put(facts, "memory.hugepages", integer(table.get("HugePages_Total")))
    files = files_of(sections, "vm")
    put(
        facts,
        "memory.transparent_hugepages",
        chosen(files.get("/sys/kernel/mm/transparent_hugepage/enabled")),
    )
    put(facts, "memory.swappiness", integer(files.get("/proc/sys/vm/swappiness")))
    put(facts, "memory.overcommit", integer(files.get("/proc/sys/vm/overcommit_memory")))
    balancing = files.get("/proc/sys/kernel/numa_balancing")
    put(facts, "memory.numa_balancing", balancing != "0" if balancing else None)
    nodes = files_of(sections, "cpu").get("/sys/devices/system/node/online")
    put(facts, "memory.numa_nodes", list_count(nodes))
    facts.update(_modules(sections.get("dmidecode", "")))
    return facts


def _modules(text: str) -> Facts:
    """Read the memory modules that the firmware lists; a guest's are invented but recorded."""
    facts: Facts = {}
    installed = []
    for block in text.split("\n\n"):
        values = dict(pairs(block))
        if "Memory Device" in block and (values.get("Size") or "N")[0].isdigit():
            installed.append(values)
    if not installed:
        return facts
    facts["memory.modules"] = len(installed)
    kinds = sorted({values.get("Type", "") for values in installed} - {"", "Unknown", "RAM"})
    put(facts, "memory.type", ", ".join(kinds))
    rates = set()
    for values in installed:
        for name in ("Configured Memory Speed", "Configured Clock Speed", "Speed"):
            if rate := number(values.get(name)):
                rates.add(rate * 1e6)
                break
    if rates:
        facts["memory.transfers_per_s"] = min(rates)
    return facts
