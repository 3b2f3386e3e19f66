"""How values of facts are compared and written for people."""

from __future__ import annotations

import math

from bareline.vocabulary.facts import describe, split_nodes
from bareline.vocabulary.model import Scalar
from bareline.vocabulary.units import format_duration, format_value, significant

#: Texts that read better spelled out.
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


def same_value(left: Scalar | None, right: Scalar | None) -> bool:
    """Tell whether two values of a fact agree; measured ones within one part in a thousand.

    A frequency that the kernel calibrates at boot differs in its last digits each time.
    """
    if isinstance(left, float) and isinstance(right, float):
        return math.isclose(left, right, rel_tol=1e-3)
    return left == right and isinstance(left, bool) == isinstance(right, bool)


def format_fact(key: str, value: Scalar | None) -> str:
    """Write a fact's value for people, e.g. ``2.80 GHz``; ``-`` where it is not known."""
    if value is None:
        return "-"
    unit = describe(key).unit
    if isinstance(value, bool):
        return ("on" if value else "off") if unit == "switch" else ("yes" if value else "no")
    if isinstance(value, str):
        return _SPELLED.get((split_nodes(key)[1], value), value)
    if unit == "ratio":
        return f"{significant(100 * value, 2)} %"
    if unit == "bit/s":
        # The decimal prefixes are those of bytes per second.
        return format_value(value, "B/s").removesuffix("B/s") + "b/s"
    if unit == "T/s":
        return f"{significant(value / 1e6, 4)} MT/s"
    if unit == "s" and value >= 60:
        return format_duration(value)
    if unit and unit != "switch":
        return format_value(value, unit)
    return str(value) if isinstance(value, int) else significant(value)
