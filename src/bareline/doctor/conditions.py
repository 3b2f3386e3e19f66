"""Checks for conditions of this machine that disturb measurements."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from bareline.doctor.check import Health, HostCheck, ask, judged
from bareline.facts.gather import parse_node, script
from bareline.vocabulary.facts import format_fact
from bareline.vocabulary.model import Scalar

_STEAL_LIMIT = 0.005
_FREE_LIMIT = 0.1


def conditions() -> Iterable[HostCheck]:
    """Yield checks of this machine's facts (e.g. the clock rate) that disturb measurements."""
    finished = ask(["sh", "-s", "--", "127.0.0.1", "/tmp"], stdin=script(), timeout_s=10.0)
    yield from judge(parse_node(finished.stdout))


def judge(facts: dict[str, Scalar]) -> Iterator[HostCheck]:
    """Yield a check for each known fact of a node that can disturb measurements."""
    for look in (_cores, _frequency, _clock, _memory, _neighbours):
        yield from look(facts)


def _cores(facts: dict[str, Scalar]) -> Iterator[HostCheck]:
    usable = facts.get("cpu.allowed", facts.get("cpu.logical"))
    if isinstance(usable, int):
        yield judged(
            "cores",
            usable >= 2,
            f"{usable} usable: ranks share it and wait for each other",
            f"{usable} usable",
            "measure two ranks on a machine with at least two cores",
        )
    quota = facts.get("cpu.quota_cores")
    if isinstance(quota, float) and isinstance(usable, int) and quota < usable:
        text = f"{quota:g} of {usable} processors: jobs are stopped whenever it is used up"
        hint = "raise the container's processor limit"
        yield HostCheck("processor quota", Health.WARN, text, hint)
    if "cpu.smt" in facts:
        yield judged(
            "SMT",
            not facts["cpu.smt"],
            "on: two ranks may share a core",
            "off",
            "bind ranks to cores, or as root: `echo off > /sys/devices/system/cpu/smt/control`",
        )


def _frequency(facts: dict[str, Scalar]) -> Iterator[HostCheck]:
    governor = facts.get("cpu.governor")
    if governor is not None:
        yield judged(
            "governor",
            governor == "performance",
            f"{governor}: the frequency follows the load",
            "performance",
            "as root: `cpupower frequency-set --governor performance`",
        )
    if "cpu.turbo" in facts:
        driver = str(facts.get("cpu.frequency_driver", ""))
        intel = "pstate" in driver and "intel" in driver
        switch = "1 > {}/intel_pstate/no_turbo" if intel else "0 > {}/cpufreq/boost"
        yield judged(
            "turbo",
            not facts["cpu.turbo"],
            "on: the frequency depends on heat and on busy neighbour cores",
            "off",
            f"for narrower intervals, as root: `echo {switch.format('/sys/devices/system/cpu')}`",
        )


def _clock(facts: dict[str, Scalar]) -> Iterator[HostCheck]:
    source = facts.get("clock.source")
    if source is None:
        return
    other = "tsc" in str(facts.get("clock.available", "")).split()
    yield judged(
        "clock source",
        # kvm-clock is read from the same counter without a system call.
        source in ("tsc", "kvm-clock", "arch_sys_counter"),
        f"{source}: reading the time is a slow system call",
        str(source),
        "as root: `echo tsc > /sys/devices/system/clocksource/clocksource0/current_clocksource`"
        if other
        else "boot with tsc=reliable where the counter is known to be steady",
    )


def _memory(facts: dict[str, Scalar]) -> Iterator[HostCheck]:
    pages = facts.get("memory.transparent_hugepages")
    if pages is not None:
        yield judged(
            "transparent huge pages",
            pages != "always",
            "always: memory results depend on when the kernel merges pages",
            str(pages),
            "as root: `echo madvise > /sys/kernel/mm/transparent_hugepage/enabled`",
        )
    nodes = facts.get("memory.numa_nodes")
    if isinstance(nodes, int) and nodes > 1 and facts.get("memory.numa_balancing"):
        text = f"on, {nodes} NUMA nodes: the kernel moves pages during a trial"
        hint = "as root: `sysctl kernel.numa_balancing=0`"
        yield HostCheck("NUMA balancing", Health.WARN, text, hint)
    total = facts.get("memory.total_bytes")
    free = facts.get("memory.available_bytes")
    if isinstance(total, int) and isinstance(free, int) and total:
        text = format_fact("memory.available_bytes", free) + " available"
        hint = "end programs that use the memory"
        yield judged("memory", free >= _FREE_LIMIT * total, text, text, hint)


def _neighbours(facts: dict[str, Scalar]) -> Iterator[HostCheck]:
    load = facts.get("load.one_minute")
    usable = facts.get("cpu.logical")
    if isinstance(load, float) and isinstance(usable, int):
        text = f"{load:g} on {usable} processors"
        busy = f"{text}: other programs run on this machine"
        yield judged("load", load <= 0.5 * usable, busy, text, "measure when the machine is idle")
    steal = facts.get("cpu.steal_ratio")
    hypervisor = facts.get("virt.hypervisor")
    inside = hypervisor not in (None, "none")
    if isinstance(steal, float) and inside:
        text = f"{format_fact('cpu.steal_ratio', steal)} since boot"
        yield judged(
            "steal time",
            steal <= _STEAL_LIMIT,
            f"{text}: other guests take processor time",
            text,
            "measure on a machine that is not shared",
        )
    if "virt.kind" in facts:
        kind = facts["virt.kind"]
        under = format_fact("virt.hypervisor", hypervisor)
        yield judged(
            "hardware",
            not inside,
            f"{kind} ({under}): 'bare' is this machine, not the hardware below it",
            str(kind),
        )
