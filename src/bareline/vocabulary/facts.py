"""The facts of a platform: their labels, groups and kinds, and the format of their values."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from enum import StrEnum
from functools import cache
from pathlib import Path

from bareline.vocabulary.instructions import INSTRUCTION_SETS
from bareline.vocabulary.model import Scalar
from bareline.vocabulary.nodeset import fold_numbers
from bareline.vocabulary.units import format_duration, format_value, percent, significant


class FactGroup(StrEnum):
    """A section of the characteristics table; the order is the order of display."""

    PROCESSOR = "Processor"
    MEMORY = "Memory"
    SYSTEM = "System"
    VIRTUALIZATION = "Virtualization"
    NETWORK = "Network"
    SOFTWARE = "MPI and compiler"
    STORAGE = "Storage"
    PLATFORM = "Platform"


class Kind(StrEnum):
    """The conclusion from a fact that differs between two platforms.

    A characteristic that differs is a difference between the platforms. An identity (a host name, a
    device name) differs without any meaning. A volatile fact changes from minute to minute.
    """

    CHARACTERISTIC = "characteristic"
    IDENTITY = "identity"
    VOLATILE = "volatile"


@dataclass(frozen=True, slots=True)
class FactKey:
    """The label and format of a fact.

    - `unit`: a base unit of `bareline.vocabulary.units`, ``bit/s``, ``T/s`` (transfers per second),
      ``switch`` (on or off) or empty.
    - `detail`: the fact is shown only if it differs, or on request.
    """

    key: str
    label: str
    group: FactGroup
    unit: str = ""
    kind: Kind = Kind.CHARACTERISTIC
    detail: bool = False


#: Names of a platform's nodes, the nodes of each switch, and the excluded nodes.
NODES_NAMES = "nodes.names"
NODES_SWITCHES = "nodes.switches"
NODES_EXCLUDED = "nodes.excluded"
#: The price of a node and of a core, and the currency; `bareline status` computes costs with them.
PRICE_PER_HOUR = "price.per_hour"
PRICE_PER_CORE_HOUR = "price.per_core_hour"
PRICE_CURRENCY = "price.currency"


#: How bareline's own programs were compiled, as they print it.
NATIVE_FACTS = ("native.c", "native.fortran", "native.flags")
#: Value of `native.flags` if the programs were built without additional flags.
NO_FLAGS = "none"


def unlike_builds(facts: Mapping[str, Scalar], others: Mapping[str, Scalar]) -> str:
    """Return how the compilation of bareline's own programs differs between two platforms.

    The result is empty if it does not differ, or if a platform has no facts about it.
    """
    flags = NATIVE_FACTS[-1]
    if not facts.get(flags) or not others.get(flags):
        return ""
    here = []
    baseline = []
    for key in NATIVE_FACTS:
        mine = str(facts.get(key, ""))
        other = str(others.get(key, ""))
        # A machine without a Fortran compiler has no Fortran programs to compare.
        if mine and other and mine != other:
            here.append(mine)
            baseline.append(other)
    if not here:
        return ""
    return f"{', '.join(here)} here, {', '.join(baseline)} for the baseline"


def money(facts: Mapping[str, Scalar], core_hours: float | None) -> tuple[float, str] | None:
    """Return the cost of a platform's core hours and the currency; None without a price."""
    price = facts.get(PRICE_PER_CORE_HOUR)
    if core_hours is None or not isinstance(price, int | float):
        return None
    return core_hours * price, str(facts.get(PRICE_CURRENCY, ""))


def _rows() -> Iterator[FactKey]:
    group = FactGroup.PLATFORM
    for line in Path(__file__).with_name("facts.txt").read_text(encoding="utf-8").splitlines():
        if line.startswith("["):
            group = FactGroup(line.strip("[]"))
        elif line and not line.startswith("#"):
            fact = _row(line, group)
            if fact.key == "cpu.flags.*":
                for instructions in INSTRUCTION_SETS:
                    key = f"cpu.flags.{instructions.name}"
                    yield replace(fact, key=key, label=instructions.title)
            else:
                yield fact


def _cell(text: str) -> str:
    return "" if text == "-" else text


def _row(line: str, group: FactGroup) -> FactKey:
    key, label, unit, note = map(_cell, _COLUMNS.split(line))
    kind = Kind(note) if note in ("identity", "volatile") else Kind.CHARACTERISTIC
    return FactKey(key, label, group, unit, kind, detail=note == "detail")


_COLUMNS = re.compile(r"\s*\|\s*")
#: Every fact that `bareline.facts.gather` may give, in the order of display.
FACT_KEYS: Mapping[str, FactKey] = {fact.key: fact for fact in _rows()}

_PREFIXES = {
    "cpu": FactGroup.PROCESSOR,
    "memory": FactGroup.MEMORY,
    **dict.fromkeys(("kernel", "os", "node"), FactGroup.SYSTEM),
    **dict.fromkeys(("virt", "vm", "container"), FactGroup.VIRTUALIZATION),
    **dict.fromkeys(("net", "netns", "tcp"), FactGroup.NETWORK),
    **dict.fromkeys(("mpi", "compiler", "library"), FactGroup.SOFTWARE),
    "fs": FactGroup.STORAGE,
}
_SUFFIXES = (
    ("_flops", "flop/s"),
    ("_bytes", "B"),
    ("_bits_per_s", "bit/s"),
    ("_messages_per_s", "op/s"),
    ("_bps", "bit/s"),
    ("_ratio", "ratio"),
    ("_hz", "Hz"),
    ("_s", "s"),
)
_NODE_KEY = re.compile(r"node\[([\d,-]+)\]\.(.+)")


def key_of_nodes(nodes: Iterable[int], key: str) -> str:
    """Return the key of a fact of some nodes by their numbers: ``node[1-3,7].net.mtu``."""
    return f"node[{fold_numbers(nodes)}].{key}"


def split_nodes(key: str) -> tuple[str, str]:
    """Split ``node[1-3,7].net.mtu`` into ``1-3,7`` and the rest; the first part may be "".

    It is "" in a key without node numbers, such as ``net.mtu``, which is a fact of node 0.
    """
    match = _NODE_KEY.fullmatch(key)
    return (match[1], match[2]) if match else ("", key)


#: Labels of facts about the source of a program, by the last word of their keys.
_SOURCE = {"spec": "Build of {}", "hash": "Hash of {}", "prefix": "Folder of {}"}


def source_fact(probe: str, name: str) -> str:
    """Return the key of a fact of a probe's program: its spec, hash or prefix."""
    return f"from.{probe}.{name}"


@cache
def describe(key: str) -> FactKey:
    """Return the label and format of a fact; for an unknown key, derive them from the key."""
    nodes, plain = split_nodes(key)
    if nodes:
        fact = describe(plain)
        word = "node" if nodes.isdigit() else "nodes"
        return replace(fact, key=key, label=f"{fact.label} ({word} {nodes})")
    if key in FACT_KEYS:
        return FACT_KEYS[key]
    first, _, rest = key.partition(".")
    if first == "environment":
        return FactKey(key, f"Variable {rest}", FactGroup.PLATFORM)
    if first == "placement":
        return FactKey(key, f"Cores seen on {rest}", FactGroup.SOFTWARE, detail=True)
    if first == "from" and (last := rest.rpartition("."))[2] in _SOURCE:
        kind = Kind.IDENTITY if last[2] == "prefix" else Kind.CHARACTERISTIC
        return FactKey(key, _SOURCE[last[2]].format(last[0]), FactGroup.SOFTWARE, kind=kind)
    label = rest or key
    suffix, unit = next((pair for pair in _SUFFIXES if label.endswith(pair[0])), ("", ""))
    label = label.removesuffix(suffix)
    words = re.sub(r"[._]+", " ", label).strip()
    kind = Kind.VOLATILE if first == "load" else Kind.CHARACTERISTIC
    group = _PREFIXES.get(first, FactGroup.PLATFORM)
    return FactKey(key, words[:1].upper() + words[1:], group, unit, kind)


#: Values of facts that are replaced by clearer texts for people.
_SPELLED = {
    ("mpi.flavour", "openmpi"): "Open MPI",
    ("mpi.flavour", "mpich"): "MPICH",
    ("mpi.flavour", "intel"): "Intel MPI",
    ("fs.server", "node"): "on the first node",
    ("fs.server", "own"): "on a node of its own, behind the network",
    ("fs.server", "host"): "on the machine below the nodes",
    ("fs.server", "remote"): "a server of the site",
    ("virt.hypervisor", "kvm"): "KVM",
    ("virt.hypervisor", "qemu"): "QEMU (emulation)",
    ("virt.hypervisor", "xen"): "Xen",
    ("virt.hypervisor", "vmware"): "VMware",
    ("virt.hypervisor", "microsoft"): "Hyper-V",
}


def positive_number(facts: Mapping[str, Scalar], key: str) -> float | None:
    """Return a fact that is a finite number above 0; None if it is anything else, or unknown."""
    value = facts.get(key)
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    return float(value) if value > 0 and math.isfinite(value) else None


def same_value(left: Scalar | None, right: Scalar | None) -> bool:
    """Return whether two values agree; measured values agree within 1/1000.

    For example, a frequency differs slightly because the kernel measures it again at each boot.
    """
    if isinstance(left, float) and isinstance(right, float):
        return math.isclose(left, right, rel_tol=1e-3)
    return left == right and isinstance(left, bool) == isinstance(right, bool)


def format_fact(key: str, value: Scalar | None) -> str:
    """Format the value of a fact for people, e.g. ``2.80 GHz``; ``-`` if it is not known."""
    if value is None:
        return "-"
    unit = describe(key).unit
    if isinstance(value, bool):
        words = ("off", "on") if unit == "switch" else ("no", "yes")
        return words[value]
    if isinstance(value, str):
        return _SPELLED.get((split_nodes(key)[1], value), value)
    return _format_number(value, unit)


def _format_number(value: float, unit: str) -> str:
    if unit == "ratio":
        return percent(value, 2)
    if unit == "bit/s":
        # The decimal prefixes are the same as for bytes per second.
        return format_value(value, "B/s").removesuffix("B/s") + "b/s"
    if unit == "T/s":
        return f"{significant(value / 1e6, 4)} MT/s"
    if unit == "s" and value >= 60:
        return format_duration(value)
    if unit and unit != "switch":
        return format_value(value, unit)
    return str(value) if isinstance(value, int) else significant(value)
