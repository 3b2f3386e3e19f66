"""Facts of the network: the device that trials use, its driver and offloads, TCP settings."""

from __future__ import annotations

import re
from collections.abc import Mapping

from bareline.facts.sections import (
    Facts,
    Sections,
    chosen,
    files_of,
    integer,
    number,
    pairs,
    put,
)

_PARAVIRTUAL = frozenset({"virtio_net", "vmxnet3", "xen_netfront", "vif", "hv_netvsc"})
_EMULATED = frozenset({"e1000", "e1000e", "8139too", "8139cp", "pcnet32", "ne2k-pci", "tulip"})
_FUNCTIONS = frozenset({"ixgbevf", "igbvf", "iavf", "i40evf", "cxgb4vf", "ena"})
_VIRTUAL = frozenset({"veth", "bridge", "tun", "macvlan", "ipvlan", "vxlan", "bonding", "dummy"})

_OFFLOADS = (
    ("tso", "tcp-segmentation-offload"),
    ("gso", "generic-segmentation-offload"),
    ("gro", "generic-receive-offload"),
    ("lro", "large-receive-offload"),
    ("tx_checksum", "tx-checksumming"),
    ("rx_checksum", "rx-checksumming"),
    ("scatter_gather", "scatter-gather"),
    ("rx_hash", "receive-hashing"),
    ("gro_hw", "rx-gro-hw"),
)
_SWITCHES = (
    "window_scaling",
    "timestamps",
    "sack",
    "slow_start_after_idle",
    "moderate_rcvbuf",
    "no_metrics_save",
    "autocorking",
)
_RATE = re.compile(r"\brate (\d+(?:\.\d+)?)([KMGT]?)bit")
_DELAY = re.compile(r"\bdelay (\d+(?:\.\d+)?)(us|ms|s)\b")
_DECIMAL = {"": 1.0, "K": 1e3, "M": 1e6, "G": 1e9, "T": 1e12}


def parse_network(sections: Sections) -> Facts:
    """Read the sections about the network."""
    facts: Facts = {}
    device, choice = ([*sections.get("device", "").split("\n", 1)[0].split(" "), "", ""])[:2]
    if device:
        put(facts, "net.device", device)
        put(
            facts,
            "net.chosen_by",
            {"address": "node address", "route": "default route"}.get(choice),
        )
        facts.update(_device(sections, device))
        facts.update(_ethtool(sections))
        facts.update(_shaping(sections))
    facts.update(_tcp(sections))
    facts.update(_rdma(sections))
    return facts


def _device(sections: Sections, device: str) -> Facts:
    facts: Facts = {}
    files = files_of(sections, "net")
    base = f"/sys/class/net/{device}/"
    link = sections.get("iplink", "")
    for key, word, file in (
        ("net.mtu", "mtu", "mtu"),
        ("net.tx_queue_length", "qlen", "tx_queue_len"),
    ):
        found = re.search(rf"\b{word} (\d+)", link)
        put(facts, key, integer(found[1] if found else files.get(base + file)))
    vendor, model = (files.get(base + f"device/{name}", "") for name in ("vendor", "device"))
    if vendor and model:
        put(facts, "net.pci_id", f"{vendor.removeprefix('0x')}:{model.removeprefix('0x')}")
    put(facts, "net.sriov_functions", integer(files.get(base + "device/sriov_numvfs")))
    put(facts, "net.sriov_functions_max", integer(files.get(base + "device/sriov_totalvfs")))
    links = sections.get("netlinks", "")
    for direction in ("rx", "tx"):
        put(facts, f"net.queues.{direction}", links.count(f"/queues/{direction}-") or None)
    driver = dict(pairs(sections.get("ethtool-i", ""))).get("driver")
    if match := re.search(r"/device/driver -> \S*/([^/\s]+)", links):
        driver = match[1]
    put(facts, "net.driver", driver)
    kind = dict(pairs(files.get(base + "uevent", ""), "=")).get("DEVTYPE", "")
    put(facts, "net.kind", _kind(sections, device, driver or kind, "/physfn ->" in links))
    speed = integer(files.get(base + "speed"))  # in Mb/s; -1 where the device has none
    if speed and facts.get("net.kind") != "virtual link":  # those claim 10 Gb/s whatever they do
        facts["net.speed_bps"] = speed * 1e6
    return facts


def _kind(sections: Sections, device: str, driver: str, function: bool) -> str | None:
    """Say how the device reaches the wire: what the studies call the virtualization mode."""
    if device == "lo":
        return "loopback"
    if driver in _VIRTUAL:
        return "virtual link"
    if driver in _PARAVIRTUAL:
        return "paravirtual"
    if function or driver in _FUNCTIONS:
        return "virtual function"
    first = sections.get("cpuinfo", "").partition("\n\n")[0]
    guest = "hypervisor" in dict(pairs(first)).get("flags", "").split()
    if guest:
        return "emulated" if driver in _EMULATED else None
    return "hardware" if "/device/driver ->" in sections.get("netlinks", "") else None


def _ethtool(sections: Sections) -> Facts:
    facts: Facts = {}
    features = dict(pairs(sections.get("ethtool-k", "")))
    for key, name in _OFFLOADS:
        if state := features.get(name, "").partition(" ")[0]:
            put(facts, f"net.offload.{key}", {"on": True, "off": False}.get(state))
    put(
        facts,
        "net.firmware",
        dict(pairs(sections.get("ethtool-i", ""))).get("firmware-version"),
    )
    text = sections.get("ethtool-c", "")
    coalescing = dict(pairs(text))
    for direction in ("rx", "tx"):
        delay = integer(coalescing.get(f"{direction}-usecs"))
        put(facts, f"net.coalesce.{direction}_s", None if delay is None else delay * 1e-6)
        put(
            facts,
            f"net.coalesce.{direction}_frames",
            integer(coalescing.get(f"{direction}-frames")),
        )
    if match := re.search(r"Adaptive RX: (on|off)", text):
        facts["net.coalesce.adaptive_rx"] = match[1] == "on"
    rings = dict(pairs(sections.get("ethtool-g", "").partition("Current hardware")[2]))
    for direction in ("rx", "tx"):
        put(facts, f"net.ring.{direction}", integer(rings.get(direction.upper())))
    return facts


def _shaping(sections: Sections) -> Facts:
    """Read the queueing discipline: its kind, and rate and delay where it sets them."""
    facts: Facts = {}
    disciplines = sections.get("qdisc", "").strip().splitlines()
    roots = [line.split() for line in disciplines if " root " in f"{line} "]
    if roots and len(roots[0]) > 1:
        put(facts, "net.qdisc", roots[0][1])
    elif match := re.search(r"\bqdisc (\S+)", sections.get("iplink", "")):
        facts["net.qdisc"] = match[1]
    rates = []
    shaping = sections.get("qdisc", "") + sections.get("class", "")
    for amount, prefix in _RATE.findall(shaping):
        rates.append(float(amount) * _DECIMAL[prefix])
    if rates:
        facts["net.shaped_bps"] = min(rates)
    if match := _DELAY.search(shaping):
        facts["net.delay_s"] = float(match[1]) * {"s": 1.0, "ms": 1e-3, "us": 1e-6}[match[2]]
    return facts


def _tcp(sections: Sections) -> Facts:
    facts: Facts = {}
    values = {path.rpartition("/")[2]: text for path, text in files_of(sections, "sysctl").items()}
    put(facts, "tcp.congestion", values.get("tcp_congestion_control"))
    for name in ("rmem", "wmem"):
        sizes = [integer(word) for word in values.get(f"tcp_{name}", "").split()]
        if len(sizes) == 3:
            for part, size in zip(("min", "default", "max"), sizes, strict=True):
                put(facts, f"tcp.{name}_{part}_bytes", size)
        for part in ("default", "max"):
            put(facts, f"net.core.{name}_{part}_bytes", integer(values.get(f"{name}_{part}")))
    for name in _SWITCHES:
        if (state := integer(values.get(f"tcp_{name}"))) is not None:
            facts[f"tcp.{name}"] = state != 0
    put(facts, "tcp.mtu_probing", integer(values.get("tcp_mtu_probing")))
    put(facts, "tcp.ecn", integer(values.get("tcp_ecn")))
    put(facts, "net.core.default_qdisc", chosen(values.get("default_qdisc")))
    for name in ("netdev_max_backlog", "busy_poll", "busy_read"):
        put(facts, f"net.core.{name}", integer(values.get(name)))
    return facts


def _rdma(sections: Sections) -> Facts:
    """Read the RDMA adapters: the first active port stands for them, else the first port."""
    facts: Facts = {}
    files = files_of(sections, "infiniband")
    states = {path: text for path, text in files.items() if path.endswith("/state")}
    if states:
        active = [path for path, text in states.items() if "ACTIVE" in text]
        facts["net.rdma.active_ports"] = len(active)
        port = (active or sorted(states))[0].removesuffix("state")
        facts.update(_rdma_port(files, port))
    version = sections.get("ofed", "").strip().partition("\n")[0]
    put(facts, "net.ofed", version)
    return facts


def _rdma_port(files: Mapping[str, str], port: str) -> Facts:
    facts: Facts = {}
    device = port.partition("/ports/")[0]
    put(facts, "net.rdma.device", device.rpartition("/")[2])
    put(facts, "net.rdma.adapter", files.get(device + "/hca_type"))
    put(facts, "net.rdma.firmware", files.get(device + "/fw_ver"))
    put(facts, "net.rdma.link", files.get(port + "link_layer"))
    rate = number(files.get(port + "rate"))  # e.g. "56 Gb/sec (4X FDR)"
    put(facts, "net.rdma.rate_bps", rate * 1e9 if rate else None)
    if match := re.search(r"\(([^)]*)\)", files.get(port + "rate", "")):
        put(facts, "net.rdma.width", match[1])
    return facts
