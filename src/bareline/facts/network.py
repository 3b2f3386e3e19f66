"""Facts of the network: the device that trials use, its driver and offloads, TCP settings."""

from __future__ import annotations

import re

from bareline.facts.sections import (
    Facts,
    Found,
    Sections,
    chosen,
    files_of,
    integer,
    known,
    number,
    pairs,
    times,
)

#: Drivers, by the way to the wire, which the studies call the virtualization mode.
_VIRTUAL = frozenset({"veth", "bridge", "tun", "macvlan", "ipvlan", "vxlan", "bonding", "dummy"})
_PARAVIRTUAL = frozenset({"virtio_net", "vmxnet3", "xen_netfront", "vif", "hv_netvsc"})
_FUNCTIONS = frozenset({"ixgbevf", "igbvf", "iavf", "i40evf", "cxgb4vf", "ena"})
_EMULATED = frozenset({"e1000", "e1000e", "8139too", "8139cp", "pcnet32", "ne2k-pci", "tulip"})

_OFFLOADS = {
    "tso": "tcp-segmentation-offload",
    "gso": "generic-segmentation-offload",
    "gro": "generic-receive-offload",
    "lro": "large-receive-offload",
    "tx_checksum": "tx-checksumming",
    "rx_checksum": "rx-checksumming",
    "scatter_gather": "scatter-gather",
    "rx_hash": "receive-hashing",
    "gro_hw": "rx-gro-hw",
}
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
    """Return the facts from the sections about the network in the script's output."""
    line, _, _ = sections.get("device", "").partition("\n")
    words = line.split(" ")
    device = words[0]
    choice = words[1] if len(words) > 1 else ""
    facts: Found = {}
    if device:
        facts = {
            "net.device": device,
            "net.chosen_by": {"address": "node address", "route": "default route"}.get(choice),
            **_device(sections, device),
            **_ethtool(sections),
            **_shaping(sections),
        }
    return known({**facts, **_tcp(sections), **_rdma(sections)})


def _device(sections: Sections, device: str) -> Found:
    files = files_of(sections, "net")
    base = f"/sys/class/net/{device}/"
    link = sections.get("iplink", "")
    links = sections.get("netlinks", "")

    def of_link(word: str, file: str) -> int | None:
        match = re.search(rf"\b{word} (\d+)", link)
        text = match[1] if match else files.get(base + file)
        return integer(text)

    ids = [files.get(base + f"device/{name}", "") for name in ("vendor", "device")]
    match = re.search(r"/device/driver -> \S*/([^/\s]+)", links)
    driver = dict(pairs(sections.get("ethtool-i", ""))).get("driver")
    if match:
        driver = match[1]
    pci_id = None
    if all(ids):
        pci_id = ":".join(part.removeprefix("0x") for part in ids)
    type_ = dict(pairs(files.get(base + "uevent", ""), "=")).get("DEVTYPE", "")
    kind = _kind(sections, device, driver or type_)
    speed_mbps = integer(files.get(base + "speed"))  # -1 where the device has none
    if kind == "virtual link":  # those claim 10 Gb/s whatever they do
        speed_mbps = None
    return {
        "net.mtu": of_link("mtu", "mtu"),
        "net.tx_queue_length": of_link("qlen", "tx_queue_len"),
        "net.pci_id": pci_id,
        "net.sriov_functions": integer(files.get(base + "device/sriov_numvfs")),
        "net.sriov_functions_max": integer(files.get(base + "device/sriov_totalvfs")),
        "net.queues.rx": links.count("/queues/rx-") or None,
        "net.queues.tx": links.count("/queues/tx-") or None,
        "net.driver": driver,
        "net.kind": kind,
        "net.speed_bps": times(speed_mbps or None, 1e6),
    }


def _kind(sections: Sections, device: str, driver: str) -> str | None:
    links = sections.get("netlinks", "")
    if device == "lo":
        return "loopback"
    if driver in _VIRTUAL:
        return "virtual link"
    if driver in _PARAVIRTUAL:
        return "paravirtual"
    if "/physfn ->" in links or driver in _FUNCTIONS:
        return "virtual function"
    first = sections.get("cpuinfo", "").partition("\n\n")[0]
    if "hypervisor" in dict(pairs(first)).get("flags", "").split():
        return "emulated" if driver in _EMULATED else None
    return "hardware" if "/device/driver ->" in links else None


def _ethtool(sections: Sections) -> Found:
    features = dict(pairs(sections.get("ethtool-k", "")))
    about = dict(pairs(sections.get("ethtool-i", "")))
    coalescing = dict(pairs(sections.get("ethtool-c", "")))
    rings = dict(pairs(sections.get("ethtool-g", "").partition("Current hardware")[2]))
    adaptive = re.search(r"Adaptive RX: (on|off)", sections.get("ethtool-c", ""))
    switch = {"on": True, "off": False}
    facts: Found = {
        f"net.offload.{key}": switch.get(features.get(name, "").partition(" ")[0])
        for key, name in _OFFLOADS.items()
    }
    facts["net.firmware"] = about.get("firmware-version")
    for way in ("rx", "tx"):
        facts[f"net.coalesce.{way}_s"] = times(integer(coalescing.get(f"{way}-usecs")), 1e-6)
        facts[f"net.coalesce.{way}_frames"] = integer(coalescing.get(f"{way}-frames"))
    facts["net.coalesce.adaptive_rx"] = switch[adaptive[1]] if adaptive else None
    return facts | {f"net.ring.{way}": integer(rings.get(way.upper())) for way in ("rx", "tx")}


def _shaping(sections: Sections) -> Found:
    disciplines = sections.get("qdisc", "")
    roots = [line.split() for line in disciplines.strip().splitlines() if " root " in f"{line} "]
    of_link = re.search(r"\bqdisc (\S+)", sections.get("iplink", ""))
    root = of_link[1] if of_link else None
    if roots and len(roots[0]) > 1:
        root = roots[0][1]
    shaping = disciplines + sections.get("class", "")
    rates = [float(amount) * _DECIMAL[prefix] for amount, prefix in _RATE.findall(shaping)]
    delay = _DELAY.search(shaping)
    delay_s = None
    if delay:
        delay_s = float(delay[1]) * {"s": 1.0, "ms": 1e-3, "us": 1e-6}[delay[2]]
    return {
        "net.qdisc": root,
        "net.shaped_bps": min(rates, default=None),
        "net.delay_s": delay_s,
    }


def _tcp(sections: Sections) -> Found:
    values = {path.rpartition("/")[2]: text for path, text in files_of(sections, "sysctl").items()}
    facts: Found = {"tcp.congestion": values.get("tcp_congestion_control")}
    for name in ("rmem", "wmem"):
        sizes = [integer(word) for word in values.get(f"tcp_{name}", "").split()]
        if len(sizes) == 3:
            for part, size in zip(("min", "default", "max"), sizes, strict=True):
                facts[f"tcp.{name}_{part}_bytes"] = size
        for part in ("default", "max"):
            facts[f"net.core.{name}_{part}_bytes"] = integer(values.get(f"{name}_{part}"))
    for name in _SWITCHES:
        state = integer(values.get(f"tcp_{name}"))
        facts[f"tcp.{name}"] = None if state is None else state != 0
    return {
        **facts,
        "tcp.mtu_probing": integer(values.get("tcp_mtu_probing")),
        "tcp.ecn": integer(values.get("tcp_ecn")),
        "net.core.default_qdisc": chosen(values.get("default_qdisc")),
        "net.core.netdev_max_backlog": integer(values.get("netdev_max_backlog")),
        "net.core.busy_poll": integer(values.get("busy_poll")),
        "net.core.busy_read": integer(values.get("busy_read")),
    }


def _rdma(sections: Sections) -> Found:
    """Return the facts of the first active RDMA port; if none is active, of the first port."""
    files = files_of(sections, "infiniband")
    facts: Found = {}
    states = {path: text for path, text in files.items() if path.endswith("/state")}
    if states:
        active = [path for path, text in states.items() if "ACTIVE" in text]
        port = (active or sorted(states))[0].removesuffix("state")
        device = port.partition("/ports/")[0]
        speed = files.get(port + "rate", "")  # e.g. "56 Gb/sec (4X FDR)"
        width = re.search(r"\(([^)]*)\)", speed)
        facts = {
            "net.rdma.active_ports": len(active),
            "net.rdma.device": device.rpartition("/")[2],
            "net.rdma.adapter": files.get(device + "/hca_type"),
            "net.rdma.firmware": files.get(device + "/fw_ver"),
            "net.rdma.link": files.get(port + "link_layer"),
            "net.rdma.rate_bps": times(number(speed) or None, 1e9),
            "net.rdma.width": width and width[1],
        }
    return {**facts, "net.ofed": sections.get("ofed", "").strip().partition("\n")[0]}
