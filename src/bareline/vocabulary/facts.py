"""What each fact is called, where it belongs and how it is shown: the one table of fact keys."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from enum import StrEnum
from functools import cache
from types import MappingProxyType

from bareline.vocabulary.instructions import INSTRUCTION_SETS
from bareline.vocabulary.nodeset import fold_numbers


class Group(StrEnum):
    """Section of the characteristics table, in the order of display."""

    PROCESSOR = "Processor"
    MEMORY = "Memory"
    SYSTEM = "System"
    VIRTUALIZATION = "Virtualization"
    NETWORK = "Network"
    SOFTWARE = "MPI and compiler"
    STORAGE = "Storage"
    PLATFORM = "Platform"


class Kind(StrEnum):
    """What a fact may say about two platforms.

    A characteristic that differs is a difference of the platforms. An identity (a host name, a
    device name) differs without meaning anything. A volatile fact changes from minute to minute.
    """

    CHARACTERISTIC = "characteristic"
    IDENTITY = "identity"
    VOLATILE = "volatile"


@dataclass(frozen=True, slots=True)
class FactKey:
    """How a fact is shown.

    - `unit`: a base unit of `bareline.vocabulary.units`, ``bit/s``, ``T/s`` (transfers per second),
      ``switch`` (on or off) or empty.
    - `detail`: shown only where it differs or on demand.
    """

    key: str
    label: str
    group: Group
    unit: str = ""
    kind: Kind = Kind.CHARACTERISTIC
    detail: bool = False


def _detail(key: str, label: str, group: Group, unit: str = "") -> FactKey:
    return FactKey(key, label, group, unit, detail=True)


def _identity(key: str, label: str, group: Group) -> FactKey:
    return FactKey(key, label, group, kind=Kind.IDENTITY)


def _volatile(key: str, label: str, group: Group, unit: str = "") -> FactKey:
    return FactKey(key, label, group, unit, kind=Kind.VOLATILE)


_PROCESSOR = (
    FactKey("cpu.model", "Processor", Group.PROCESSOR),
    _detail("cpu.vendor", "Vendor", Group.PROCESSOR),
    _detail("cpu.family", "Family", Group.PROCESSOR),
    _detail("cpu.model_number", "Model number", Group.PROCESSOR),
    _detail("cpu.stepping", "Stepping", Group.PROCESSOR),
    _detail("cpu.microcode", "Microcode", Group.PROCESSOR),
    FactKey("cpu.sockets", "Sockets", Group.PROCESSOR),
    FactKey("cpu.cores", "Cores", Group.PROCESSOR),
    FactKey("cpu.threads_per_core", "Threads per core", Group.PROCESSOR),
    FactKey("cpu.logical", "Logical processors", Group.PROCESSOR),
    FactKey("cpu.allowed", "Usable processors", Group.PROCESSOR),
    FactKey("cpu.quota_cores", "Processor quota (cores)", Group.PROCESSOR),
    FactKey("cpu.smt", "SMT (Hyper-Threading)", Group.PROCESSOR, "switch"),
    FactKey("cpu.turbo", "Turbo", Group.PROCESSOR, "switch"),
    FactKey("cpu.base_hz", "Nominal frequency", Group.PROCESSOR, "Hz"),
    _detail("cpu.base_from", "Nominal frequency read from", Group.PROCESSOR),
    FactKey("cpu.max_hz", "Highest frequency", Group.PROCESSOR, "Hz"),
    FactKey("cpu.governor", "Frequency governor", Group.PROCESSOR),
    _detail("cpu.frequency_driver", "Frequency driver", Group.PROCESSOR),
    _detail("cpu.idle_driver", "Idle driver", Group.PROCESSOR),
    FactKey("cpu.isa", "Vector instructions", Group.PROCESSOR),
    FactKey("cpu.common_set", "Instruction set forced on all nodes", Group.PROCESSOR),
    _detail("cpu.flops_per_cycle", "Operations per cycle and core", Group.PROCESSOR),
    FactKey("cpu.peak_flops_per_core", "Peak per core (double)", Group.PROCESSOR, "flop/s"),
    FactKey("cpu.peak_flops", "Peak per node (double)", Group.PROCESSOR, "flop/s"),
    FactKey("cpu.l1d_bytes", "L1 data cache", Group.PROCESSOR, "B"),
    _detail("cpu.l1i_bytes", "L1 instruction cache", Group.PROCESSOR, "B"),
    FactKey("cpu.l2_bytes", "L2 cache", Group.PROCESSOR, "B"),
    FactKey("cpu.l3_bytes", "L3 cache", Group.PROCESSOR, "B"),
    *(
        _detail(f"cpu.flags.{known.name}", known.title, Group.PROCESSOR)
        for known in INSTRUCTION_SETS
    ),
    _volatile("cpu.current_hz", "Frequency at the time", Group.PROCESSOR, "Hz"),
)
_MEMORY = (
    FactKey("memory.total_bytes", "Memory per node", Group.MEMORY, "B"),
    FactKey("memory.type", "Memory type", Group.MEMORY),
    FactKey("memory.transfers_per_s", "Memory speed", Group.MEMORY, "T/s"),
    FactKey("memory.modules", "Memory modules", Group.MEMORY),
    FactKey("memory.numa_nodes", "NUMA nodes", Group.MEMORY),
    _detail("memory.numa_balancing", "NUMA balancing", Group.MEMORY, "switch"),
    FactKey("memory.transparent_hugepages", "Transparent huge pages", Group.MEMORY),
    FactKey("memory.hugepages", "Reserved huge pages", Group.MEMORY),
    _detail("memory.hugepage_bytes", "Huge page size", Group.MEMORY, "B"),
    _detail("memory.swap_bytes", "Swap", Group.MEMORY, "B"),
    _detail("memory.swappiness", "Swappiness", Group.MEMORY),
    _detail("memory.overcommit", "Overcommit mode", Group.MEMORY),
    _volatile("memory.available_bytes", "Memory available", Group.MEMORY, "B"),
)
_SYSTEM = (
    FactKey("node.count", "Nodes", Group.SYSTEM),
    FactKey("node.heterogeneous", "Nodes differ from each other", Group.SYSTEM),
    FactKey("node.incomplete", "Facts cut short", Group.SYSTEM),
    _identity("node.name", "Host", Group.SYSTEM),
    FactKey("os.name", "Operating system", Group.SYSTEM),
    _detail("kernel.name", "Kernel", Group.SYSTEM),
    FactKey("kernel.release", "Kernel release", Group.SYSTEM),
    FactKey("kernel.machine", "Architecture", Group.SYSTEM),
    FactKey("kernel.options", "Kernel options", Group.SYSTEM),
    _detail("kernel.mitigations", "Mitigations active", Group.SYSTEM),
    _detail("kernel.vulnerable", "Left without mitigation", Group.SYSTEM),
    FactKey("clock.source", "Clock source", Group.SYSTEM),
    _detail("clock.available", "Clock sources available", Group.SYSTEM),
    FactKey("system.product", "Machine", Group.SYSTEM),
    _detail("system.board", "Board", Group.SYSTEM),
    _detail("system.firmware", "Firmware", Group.SYSTEM),
    _detail("limits.locked_memory_bytes", "Locked memory limit", Group.SYSTEM, "B"),
    _detail("limits.stack_bytes", "Stack limit", Group.SYSTEM, "B"),
    _detail("limits.open_files", "Open files limit", Group.SYSTEM),
    _volatile("load.one_minute", "Load average (1 min)", Group.SYSTEM),
    _volatile("load.uptime_s", "Uptime", Group.SYSTEM, "s"),
)
_VIRTUALIZATION = (
    FactKey("virt.kind", "Runs on", Group.VIRTUALIZATION),
    FactKey("virt.hypervisor", "Hypervisor", Group.VIRTUALIZATION),
    FactKey("virt.container", "Container", Group.VIRTUALIZATION),
    FactKey("container.runtime", "Container runtime", Group.VIRTUALIZATION),
    FactKey("container.version", "Version of the runtime", Group.VIRTUALIZATION),
    FactKey("container.share", "A container for each", Group.VIRTUALIZATION),
    FactKey("container.image", "Image", Group.VIRTUALIZATION),
    _detail("container.image_hash", "Hash of the image", Group.VIRTUALIZATION),
    FactKey("container.namespaces", "Namespaces of its own", Group.VIRTUALIZATION),
    FactKey("container.userns", "User namespace", Group.VIRTUALIZATION),
    _detail("container.rootless", "Container without root", Group.VIRTUALIZATION),
    _detail("container.seccomp", "Filter of system calls (seccomp)", Group.VIRTUALIZATION),
    _detail("container.limits", "Limits of the control group", Group.VIRTUALIZATION),
    FactKey("cpu.emulated", "Processor emulated in software", Group.VIRTUALIZATION),
    _volatile("cpu.steal_ratio", "Time stolen since boot", Group.VIRTUALIZATION, "ratio"),
)
_NETWORK = (
    _identity("net.device", "Device", Group.NETWORK),
    _detail("net.chosen_by", "Device found by", Group.NETWORK),
    FactKey("net.kind", "Kind of device", Group.NETWORK),
    FactKey("net.driver", "Driver", Group.NETWORK),
    _detail("net.pci_id", "PCI vendor and device", Group.NETWORK),
    _detail("net.firmware", "Firmware", Group.NETWORK),
    FactKey("net.speed_bps", "Link speed", Group.NETWORK, "bit/s"),
    FactKey("net.shaped_bps", "Shaped to", Group.NETWORK, "bit/s"),
    FactKey("net.delay_s", "Added delay", Group.NETWORK, "s"),
    FactKey("net.mtu", "MTU", Group.NETWORK),
    _detail("net.qdisc", "Queueing discipline", Group.NETWORK),
    _detail("net.tx_queue_length", "Transmit queue length", Group.NETWORK),
    FactKey("net.queues.rx", "Receive queues", Group.NETWORK),
    FactKey("net.queues.tx", "Transmit queues", Group.NETWORK),
    _detail("net.ring.rx", "Receive ring", Group.NETWORK),
    _detail("net.ring.tx", "Transmit ring", Group.NETWORK),
    FactKey("net.offload.tso", "TCP segmentation offload", Group.NETWORK, "switch"),
    FactKey("net.offload.gso", "Generic segmentation offload", Group.NETWORK, "switch"),
    FactKey("net.offload.gro", "Generic receive offload", Group.NETWORK, "switch"),
    FactKey("net.offload.lro", "Large receive offload", Group.NETWORK, "switch"),
    _detail("net.offload.tx_checksum", "Transmit checksums", Group.NETWORK, "switch"),
    _detail("net.offload.rx_checksum", "Receive checksums", Group.NETWORK, "switch"),
    _detail("net.offload.scatter_gather", "Scatter-gather", Group.NETWORK, "switch"),
    _detail("net.offload.rx_hash", "Receive hashing", Group.NETWORK, "switch"),
    _detail("net.offload.gro_hw", "Receive offload in hardware", Group.NETWORK, "switch"),
    FactKey("net.coalesce.adaptive_rx", "Adaptive interrupts", Group.NETWORK, "switch"),
    FactKey("net.coalesce.rx_s", "Interrupt delay, receive", Group.NETWORK, "s"),
    FactKey("net.coalesce.tx_s", "Interrupt delay, transmit", Group.NETWORK, "s"),
    _detail("net.coalesce.rx_frames", "Frames per interrupt, receive", Group.NETWORK),
    _detail("net.coalesce.tx_frames", "Frames per interrupt, transmit", Group.NETWORK),
    FactKey("net.sriov_functions", "SR-IOV functions in use", Group.NETWORK),
    _detail("net.sriov_functions_max", "SR-IOV functions possible", Group.NETWORK),
    _identity("net.rdma.device", "RDMA device", Group.NETWORK),
    FactKey("net.rdma.adapter", "RDMA adapter", Group.NETWORK),
    FactKey("net.rdma.link", "RDMA link layer", Group.NETWORK),
    FactKey("net.rdma.rate_bps", "RDMA rate", Group.NETWORK, "bit/s"),
    FactKey("net.rdma.width", "RDMA width and generation", Group.NETWORK),
    FactKey("net.rdma.active_ports", "RDMA ports active", Group.NETWORK),
    _detail("net.rdma.firmware", "RDMA firmware", Group.NETWORK),
    FactKey("net.ofed", "Vendor driver (OFED)", Group.NETWORK),
    FactKey("tcp.congestion", "TCP congestion control", Group.NETWORK),
    FactKey("tcp.rmem_max_bytes", "TCP receive buffer, highest", Group.NETWORK, "B"),
    FactKey("tcp.wmem_max_bytes", "TCP send buffer, highest", Group.NETWORK, "B"),
    _detail("tcp.rmem_default_bytes", "TCP receive buffer, default", Group.NETWORK, "B"),
    _detail("tcp.wmem_default_bytes", "TCP send buffer, default", Group.NETWORK, "B"),
    _detail("tcp.rmem_min_bytes", "TCP receive buffer, lowest", Group.NETWORK, "B"),
    _detail("tcp.wmem_min_bytes", "TCP send buffer, lowest", Group.NETWORK, "B"),
    FactKey("net.core.rmem_max_bytes", "Socket receive buffer, highest", Group.NETWORK, "B"),
    FactKey("net.core.wmem_max_bytes", "Socket send buffer, highest", Group.NETWORK, "B"),
    _detail("net.core.rmem_default_bytes", "Socket receive buffer, default", Group.NETWORK, "B"),
    _detail("net.core.wmem_default_bytes", "Socket send buffer, default", Group.NETWORK, "B"),
    _detail("tcp.mtu_probing", "TCP MTU probing", Group.NETWORK),
    _detail("tcp.ecn", "TCP ECN mode", Group.NETWORK),
    _detail("tcp.window_scaling", "TCP window scaling", Group.NETWORK, "switch"),
    _detail("tcp.timestamps", "TCP timestamps", Group.NETWORK, "switch"),
    _detail("tcp.sack", "TCP selective acknowledgement", Group.NETWORK, "switch"),
    _detail("tcp.slow_start_after_idle", "TCP slow start after idle", Group.NETWORK, "switch"),
    _detail("tcp.moderate_rcvbuf", "TCP receive buffer tuning", Group.NETWORK, "switch"),
    _detail("tcp.no_metrics_save", "TCP forgets past metrics", Group.NETWORK, "switch"),
    _detail("tcp.autocorking", "TCP auto-corking", Group.NETWORK, "switch"),
    _detail("net.core.default_qdisc", "Default queueing discipline", Group.NETWORK),
    _detail("net.core.netdev_max_backlog", "Receive backlog", Group.NETWORK),
    _detail("net.core.busy_poll", "Busy polling (µs)", Group.NETWORK),
    _detail("net.core.busy_read", "Busy reading (µs)", Group.NETWORK),
)
_SOFTWARE = (
    FactKey("mpi.flavour", "MPI library", Group.SOFTWARE),
    FactKey("mpi.version", "MPI version", Group.SOFTWARE),
    FactKey("mpi.transport", "MPI transport asked for", Group.SOFTWARE),
    _detail("mpi.library", "MPI library at run time", Group.SOFTWARE),
    FactKey("mpi.carrier.within_node", "MPI carries within a node by", Group.SOFTWARE),
    FactKey("mpi.carrier.between_nodes", "MPI carries between nodes by", Group.SOFTWARE),
    FactKey("compiler.c", "C compiler", Group.SOFTWARE),
    FactKey("compiler.fortran", "Fortran compiler", Group.SOFTWARE),
    FactKey("compiler.clang", "Clang", Group.SOFTWARE),
    FactKey("compiler.intel_c", "Intel C compiler", Group.SOFTWARE),
    FactKey("compiler.intel_fortran", "Intel Fortran compiler", Group.SOFTWARE),
    FactKey("compiler.nvidia_c", "NVIDIA C compiler", Group.SOFTWARE),
    FactKey("compiler.nvidia_fortran", "NVIDIA Fortran compiler", Group.SOFTWARE),
    FactKey("library.blas", "BLAS", Group.SOFTWARE),
    FactKey("library.blas_kernels", "BLAS kernels", Group.SOFTWARE),
    FactKey("library.mkl", "Intel MKL", Group.SOFTWARE),
    FactKey("library.scalapack", "ScaLAPACK", Group.SOFTWARE),
    FactKey("library.fftw", "FFT", Group.SOFTWARE),
    FactKey("library.ucx", "UCX", Group.SOFTWARE),
    FactKey("library.libfabric", "libfabric", Group.SOFTWARE),
    FactKey("library.libc", "C library", Group.SOFTWARE),
)
#: Names of a platform's nodes, which of them hang on which switch, and which were left out.
NODES_NAMES, NODES_SWITCHES, NODES_EXCLUDED = "nodes.names", "nodes.switches", "nodes.excluded"
#: What a node costs, and a core of it, in which currency; `bareline status` counts with them.
PRICE_PER_HOUR, PRICE_PER_CORE_HOUR = "price.per_hour", "price.per_core_hour"
PRICE_CURRENCY = "price.currency"
_CLOUD = (
    FactKey("cloud.flavor", "Flavor", Group.PLATFORM),
    FactKey("cloud.flavor_specs", "Flavor's extra specs", Group.PLATFORM),
    FactKey("cloud.vcpus", "Processors of an instance", Group.PLATFORM),
    FactKey("cloud.memory_bytes", "Memory of an instance", Group.PLATFORM, "B"),
    FactKey("cloud.ports", "Ports", Group.PLATFORM),
    FactKey("cloud.placement", "Server group", Group.PLATFORM),
    FactKey("cloud.image", "Image", Group.PLATFORM),
    _detail("cloud.image_id", "Image's id", Group.PLATFORM),
    FactKey("cloud.image_checksum", "Image's checksum", Group.PLATFORM),
    FactKey("cloud.image_properties", "Image's virtual hardware", Group.PLATFORM),
    FactKey("cloud.zone", "Availability zone", Group.PLATFORM),
    FactKey("cloud.hosts", "Machines under the instances", Group.PLATFORM),
    _identity("cloud.host_ids", "Which machine each instance is on", Group.PLATFORM),
    _volatile("cloud.active_s", "Until the last instance ran", Group.PLATFORM, "s"),
    _volatile("cloud.ssh_s", "From then until it answered over ssh", Group.PLATFORM, "s"),
    _volatile("cloud.retries", "Instances made again", Group.PLATFORM),
    FactKey(PRICE_PER_HOUR, "Price of a node-hour", Group.PLATFORM),
    FactKey(PRICE_PER_CORE_HOUR, "Price of a core hour", Group.PLATFORM),
    FactKey(PRICE_CURRENCY, "Currency", Group.PLATFORM),
)
_PLATFORM = (
    _identity(NODES_NAMES, "Nodes", Group.PLATFORM),
    _identity(NODES_SWITCHES, "Switches", Group.PLATFORM),
    _identity(NODES_EXCLUDED, "Nodes left out", Group.PLATFORM),
    FactKey("neighbours.count", "Neighbours", Group.PLATFORM),
    FactKey("neighbours.load", "Load of neighbours", Group.PLATFORM),
    FactKey("neighbours.processors_per_core", "Processors promised per core", Group.PLATFORM),
    _volatile("neighbours.busy_cores", "Cores that neighbours keep busy alone", Group.PLATFORM),
)
_STORAGE = (
    FactKey("fs.type", "File system", Group.STORAGE),
    FactKey("fs.layer", "File system mounted for the trials", Group.STORAGE),
    FactKey("fs.below", "File system below it", Group.STORAGE),
    FactKey("fs.below_cache", "Cache below it", Group.STORAGE),
    FactKey("fs.server", "File server", Group.STORAGE),
    FactKey("fs.server_program", "Program of the file server", Group.STORAGE),
    FactKey("fs.export", "Export options", Group.STORAGE),
    FactKey("fs.bricks", "Bricks", Group.STORAGE),
    _detail("fs.brick_places", "Bricks lie on", Group.STORAGE),
    FactKey("fs.guest_cache", "What guests keep of it", Group.STORAGE),
    FactKey("fs.striping", "Striping", Group.STORAGE),
    _identity("fs.device", "Device", Group.STORAGE),
    _identity("fs.mount", "Mounted on", Group.STORAGE),
    FactKey("fs.options", "Mount options", Group.STORAGE),
    FactKey("fs.total_bytes", "Size", Group.STORAGE, "B"),
    FactKey("fs.block_bytes", "Block size", Group.STORAGE, "B"),
    _identity("fs.disk.name", "Disk", Group.STORAGE),
    FactKey("fs.disk.model", "Disk model", Group.STORAGE),
    FactKey("fs.disk.rotational", "Disk reported as rotating", Group.STORAGE),
    _detail("fs.disk.scheduler", "Disk scheduler", Group.STORAGE),
    _volatile("fs.free_bytes", "Free", Group.STORAGE, "B"),
)

#: Every fact that `bareline.facts.gather` may give, in the order of display.
FACT_KEYS: Mapping[str, FactKey] = MappingProxyType(
    {
        fact.key: fact
        for group in (
            _PROCESSOR,
            _MEMORY,
            _SYSTEM,
            _VIRTUALIZATION,
            _NETWORK,
            _SOFTWARE,
            _STORAGE,
            _PLATFORM,
            _CLOUD,
        )
        for fact in group
    }
)

_PREFIXES = {
    "cpu": Group.PROCESSOR,
    "memory": Group.MEMORY,
    "kernel": Group.SYSTEM,
    "os": Group.SYSTEM,
    "node": Group.SYSTEM,
    "virt": Group.VIRTUALIZATION,
    "vm": Group.VIRTUALIZATION,
    "container": Group.VIRTUALIZATION,
    "net": Group.NETWORK,
    "netns": Group.NETWORK,
    "tcp": Group.NETWORK,
    "mpi": Group.SOFTWARE,
    "compiler": Group.SOFTWARE,
    "library": Group.SOFTWARE,
    "fs": Group.STORAGE,
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
    """Give the key of a fact of some nodes by their numbers: ``node[1-3,7].net.mtu``."""
    return f"node[{fold_numbers(nodes)}].{key}"


def split_nodes(key: str) -> tuple[str, str]:
    """Take ``node[1-3,7].net.mtu`` apart: ``1-3,7`` and the rest; "" where it is node 0's."""
    match = _NODE_KEY.fullmatch(key)
    return (match[1], match[2]) if match else ("", key)


@cache
def describe(key: str) -> FactKey:
    """Say how a fact is shown, those included that only a platform type knows.

    Their group follows from the first word of the key, the unit from its suffix.
    """
    nodes, plain = split_nodes(key)
    if nodes:
        fact = describe(plain)
        word = "node" if nodes.isdigit() else "nodes"
        return replace(fact, key=key, label=f"{fact.label} ({word} {nodes})")
    if key in FACT_KEYS:
        return FACT_KEYS[key]
    first, _, rest = key.partition(".")
    if first == "environment":
        return FactKey(key, f"Variable {rest}", Group.PLATFORM)
    if first == "placement":
        return _detail(key, f"Cores seen on {rest}", Group.SOFTWARE)
    label, unit = rest or key, ""
    for suffix, its_unit in _SUFFIXES:
        if label.endswith(suffix):
            label, unit = label.removesuffix(suffix), its_unit
            break
    words = re.sub(r"[._]+", " ", label).strip()
    kind = Kind.VOLATILE if first == "load" else Kind.CHARACTERISTIC
    group = _PREFIXES.get(first, Group.PLATFORM)
    return FactKey(key, words[:1].upper() + words[1:], group, unit, kind)
