"""Look for what spoils measurements on this machine."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from bareline.doctor.check import Area, Health, HostCheck, ask
from bareline.facts import parse_node, script
from bareline.vocabulary.facts import format_fact
from bareline.vocabulary.model import Scalar

_STEAL_LIMIT = 0.005
_FREE_LIMIT = 0.1


def conditions() -> Iterable[HostCheck]:
    """Read this machine's facts and judge them as a place to measure."""
    done = ask(["sh", "-s", "--", "127.0.0.1", "/tmp"], stdin=script(), timeout_s=10.0)
    yield from judge(parse_node(done.stdout))


def judge(facts: dict[str, Scalar]) -> Iterator[HostCheck]:
    """Judge the facts of a node; what is not known is not judged."""
    yield from _cores(facts)
    yield from _frequency(facts)
    yield from _clock(facts)
    yield from _memory(facts)
    yield from _neighbours(facts)


def _check(name: str, bad: str, good: str, hint: str = "") -> HostCheck:
    if bad:
        return HostCheck(name, Area.LOCAL, Health.WARN, bad, hint)
    return HostCheck(name, Area.LOCAL, Health.OK, good)


def _cores(facts: dict[str, Scalar]) -> Iterator[HostCheck]:
    usable = facts.get("cpu.allowed", facts.get("cpu.logical"))
    if isinstance(usable, int):
        yield _check(
            "cores",
            f"{usable} usable: ranks share it and wait for each other" if usable < 2 else "",
            f"{usable} usable",
            "measure two ranks on a machine with at least two cores",
        )
    quota = facts.get("cpu.quota_cores")
    if isinstance(quota, float) and isinstance(usable, int) and quota < usable:
        yield _check(
            "processor quota",
            f"{quota:g} of {usable} processors: jobs are stopped whenever it is used up",
            "",
            "raise the container's processor limit",
        )
    if "cpu.smt" in facts:
        yield _check(
            "SMT",
            "on: two ranks may share a core" if facts["cpu.smt"] else "",
            "off",
            "bind ranks to cores, or as root: `echo off > /sys/devices/system/cpu/smt/control`",
        )


def _frequency(facts: dict[str, Scalar]) -> Iterator[HostCheck]:
    governor = facts.get("cpu.governor")
    if governor is not None:
        fixed = governor == "performance"
        yield _check(
            "governor",
            "" if fixed else f"{governor}: the frequency follows the load",
            "performance",
            "as root: `cpupower frequency-set --governor performance`",
        )
    if "cpu.turbo" in facts:
        driver = str(facts.get("cpu.frequency_driver", ""))
        switch = (
            "echo 1 > /sys/devices/system/cpu/intel_pstate/no_turbo"
            if "pstate" in driver and "intel" in driver
            else "echo 0 > /sys/devices/system/cpu/cpufreq/boost"
        )
        yield _check(
            "turbo",
            "on: the frequency depends on heat and on busy neighbour cores"
            if facts["cpu.turbo"]
            else "",
            "off",
            f"for narrower intervals, as root: `{switch}`",
        )


def _clock(facts: dict[str, Scalar]) -> Iterator[HostCheck]:
    source = facts.get("clock.source")
    if source is None:
        return
    # kvm-clock is read from the same counter without a system call.
    quick = source in ("tsc", "kvm-clock", "arch_sys_counter")
    other = "tsc" in str(facts.get("clock.available", "")).split()
    yield _check(
        "clock source",
        "" if quick else f"{source}: reading the time is a slow system call",
        str(source),
        "as root: `echo tsc > /sys/devices/system/clocksource/clocksource0/current_clocksource`"
        if other
        else "boot with tsc=reliable where the counter is known to be steady",
    )


def _memory(facts: dict[str, Scalar]) -> Iterator[HostCheck]:
    pages = facts.get("memory.transparent_hugepages")
    if pages is not None:
        yield _check(
            "transparent huge pages",
            "always: memory results depend on when the kernel merges pages"
            if pages == "always"
            else "",
            str(pages),
            "as root: `echo madvise > /sys/kernel/mm/transparent_hugepage/enabled`",
        )
    nodes = facts.get("memory.numa_nodes")
    if isinstance(nodes, int) and nodes > 1 and facts.get("memory.numa_balancing"):
        yield _check(
            "NUMA balancing",
            f"on, {nodes} NUMA nodes: the kernel moves pages during a trial",
            "",
            "as root: `sysctl kernel.numa_balancing=0`",
        )
    total, free = facts.get("memory.total_bytes"), facts.get("memory.available_bytes")
    if isinstance(total, int) and isinstance(free, int) and total:
        scarce = free < _FREE_LIMIT * total
        text = format_fact("memory.available_bytes", free) + " available"
        yield _check("memory", text if scarce else "", text, "end what uses the memory")


def _neighbours(facts: dict[str, Scalar]) -> Iterator[HostCheck]:
    load, usable = facts.get("load.one_minute"), facts.get("cpu.logical")
    if isinstance(load, float) and isinstance(usable, int):
        busy = load > 0.5 * usable
        yield _check(
            "load",
            f"{load:g} on {usable} processors: something else runs here" if busy else "",
            f"{load:g} on {usable} processors",
            "measure when the machine is idle",
        )
    steal = facts.get("cpu.steal_ratio")
    hypervisor = facts.get("virt.hypervisor")
    if isinstance(steal, float) and hypervisor not in (None, "none"):
        text = f"{format_fact('cpu.steal_ratio', steal)} since boot"
        yield _check(
            "steal time",
            f"{text}: other guests take processor time" if steal > _STEAL_LIMIT else "",
            text,
            "measure on a machine that is not shared",
        )
    if "virt.kind" in facts:
        under = format_fact("virt.hypervisor", hypervisor)
        inside = hypervisor not in (None, "none")
        yield _check(
            "hardware",
            f"{facts['virt.kind']} ({under}): the platform 'bare' means this machine, not the "
            "hardware under it"
            if inside
            else "",
            str(facts["virt.kind"]),
        )
