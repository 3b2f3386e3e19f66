"""A run with planted differences, failures, holes, caveats and hostile names; see `plant`."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import numpy as np
import pytest

from bareline.analysis.numbers.records import read_runs
from bareline.analysis.words.comparison import Comparison
from bareline.report.content.document import Document, document_of
from bareline.store.header import Header
from bareline.store.run import Run
from bareline.testing.runs import replace_records
from bareline.vocabulary.model import Case, Failed, Layout, Measured, Record, Sample, Stage, Trial

HOSTILE = "<script>window.broken=1</script>\"'&{{7*7}}</title>"
SIZES = (0, *(1 << power for power in range(0, 23)))

_METRICS = {
    "mpi.pingpong": ("mpi", "latency", {
        "latency": ("s", "lower", False),
        "bandwidth": ("B/s", "higher", False),
        "latency_p99": ("s", "lower", True),
    }),
    "mpi.allreduce": ("mpi", "latency", {"latency": ("s", "lower", False)}),
    "memory.stream": ("memory", "triad", dict.fromkeys(
        ("triad", "copy", "scale", "add"), ("B/s", "higher", False)
    )),
    "compute.dgemm": ("compute", "rate", {"rate": ("flop/s", "higher", False)}),
    **dict.fromkeys(("npb.cg", "npb.ft"), ("npb", "time", {
        "time": ("s", "lower", False),
        "compute_mean": ("s", "lower", True),
        "communication_mean": ("s", "lower", True),
    })),
    "net.nuttcp": ("network", "rate", {
        "rate": ("B/s", "higher", False),
        "retransmissions": ("1", "none", True),
        "cpu_sender": ("%", "none", True),
    }),
}  # fmt: skip


#: What a run holds unless it is asked for something else.
_USUAL = tuple(probe for probe in _METRICS if not probe.startswith("npb."))

TITLES = {
    "mpi.pingpong": "MPI ping-pong",
    "mpi.allreduce": "MPI_Allreduce",
    "memory.stream": "memory bandwidth (STREAM)",
    "compute.dgemm": "the DGEMM rate",
    "net.nuttcp": "TCP throughput (nuttcp)",
    "npb.cg": "the NAS benchmark CG",
    "npb.ft": "the NAS benchmark FT",
}


@dataclass(frozen=True)
class Costs:
    """What a planted platform costs: start-up and per-byte time, and factors of its rates."""

    startup_s: float
    byte_s: float
    memory: float = 1.0
    compute: float = 1.0
    noise: float = 0.02
    caveats: tuple[str, ...] = ()


COSTS = (
    Costs(0.9e-6, 1 / 11e9, noise=0.012),
    Costs(14e-6, 1 / 1.15e9, memory=0.97, compute=0.995, noise=0.03),
    Costs(62e-6, 1 / 0.11e9, memory=0.93, compute=0.99, noise=0.06, caveats=("steal-time",)),
    Costs(3.1e-6, 1 / 4.9e9, memory=0.999, compute=1.0, noise=0.015),
    Costs(8e-6, 1 / 2e9, memory=0.9, compute=0.6, noise=0.05, caveats=("emulated-cpu",)),
    Costs(30e-6, 1 / 0.7e9, memory=1.02, compute=0.9, noise=0.04),
    Costs(2e-6, 1 / 9e9, noise=0.02, caveats=("simulated",)),
    Costs(20e-6, 1 / 0.9e9, memory=0.8, compute=0.8, noise=0.08),
)


def _samples(probe: str, ranks: int, costs: Costs, rng: np.random.Generator) -> list[Sample]:
    def noisy(value: float) -> float:
        slow = 1.6 if rng.random() < 0.02 else 1.0
        return float(value * np.exp(costs.noise * rng.standard_normal()) * slow)

    def time_s(size: int) -> float:
        rendezvous = 2.2 * costs.startup_s if size > 8192 else 0.0
        return costs.startup_s + rendezvous + size * costs.byte_s

    if probe == "mpi.pingpong":
        shift = float(np.exp(0.5 * costs.noise * rng.standard_normal()))
        found = []
        for size in SIZES:
            point = {"size_bytes": size}
            latency = noisy(time_s(size)) * shift
            found += [
                Sample("latency", latency, point),
                Sample("latency_p99", latency * 1.8, point),
            ]
            if size:
                found.append(Sample("bandwidth", size / latency, point))
        return found
    if probe == "mpi.allreduce":
        steps = np.log2(ranks)
        return [
            Sample("latency", noisy(steps * time_s(size) * 1.3), {"size_bytes": size})
            for size in SIZES[3:22:2]
        ]
    if probe == "memory.stream":
        rates = {"copy": 11.2e9, "scale": 11.0e9, "add": 12.4e9, "triad": 12.5e9}
        return [Sample(name, 1 / noisy(1 / rate / costs.memory)) for name, rate in rates.items()]
    if probe == "compute.dgemm":
        return [Sample("rate", 1 / noisy(1 / 38e9 / costs.compute))]
    if probe.startswith("npb."):
        compute, communication = noisy(20.0 / ranks / costs.compute), noisy(5e4 * time_s(2048))
        return [
            Sample("time", compute + communication),
            Sample("compute_mean", compute),
            Sample("communication_mean", communication),
        ]
    return [
        Sample("rate", 1 / noisy(costs.byte_s / 0.93)),
        Sample("retransmissions", float(rng.poisson(20))),
        Sample("cpu_sender", noisy(60)),
    ]


def plant(
    folder: Path,
    names: tuple[str, ...] = ("bare", "vm-virtio", "vm-e1000"),
    *,
    blocks: int = 10,
    seed: int = 1,
    broken: bool = True,
    probes: tuple[str, ...] = _USUAL,
    ranks: tuple[int, ...] = (2, 4, 8),
    nodes: tuple[int | None, ...] = (None,),
    exhibits: tuple[dict[str, object], ...] = (),
    titles: tuple[str, ...] = (),
    ladder: bool = False,
    roles: dict[str, dict[str, object]] | None = None,
) -> Run:
    """Write a run directory with planted costs.

    With `broken`, the second platform fails some ``net.nuttcp`` trials, the last one fails all
    of ``memory.stream`` and never ran ``mpi.allreduce`` with the most ranks.
    """
    rng = np.random.default_rng(seed)
    header = Header(
        study={
            "study": {
                "name": "planted", "title": "Planted differences", "launches": blocks,
                "description": "What the network, the memory and the processor cost.",
                "margin": 0.02, "precision": 0.02, "ladder": ladder,
            },
            "measure": [], "exhibit": list(exhibits), "role": roles or {},
        },
        probes={
            probe: {
                "layer": _METRICS[probe][0], "headline": _METRICS[probe][1],
                "title": TITLES.get(probe, probe),
                "metrics": {
                    name: {"unit": unit, "better": better, "detail": detail}
                    for name, (unit, better, detail) in _METRICS[probe][2].items()
                },
            }
            for probe in probes
        },
        platforms={
            name: {"type": "netns" if index else "local",
                   "title": titles[index] if index < len(titles) else ""}
            for index, name in enumerate(names)
        },
        baseline=names[0], seed=seed, created="2025-11-20T14:03:22.000+00:00",
        versions={"bareline": "0.1.0", "python": "3.11.2"},
    )  # fmt: skip
    run = Run.create(folder, header)
    cases = [
        case
        for probe in probes
        for case in (
            [Case(probe=probe, ranks=count, nodes=on) for count in ranks for on in nodes]
            if probe == "mpi.allreduce" or probe.startswith("npb.")
            else [Case(probe=probe, ranks=2 if probe == "mpi.pingpong" else 1)]
        )
    ]
    records, index = [], 0
    for block in range(blocks):
        for case in cases:
            for number, name in enumerate(names):
                last = number == len(names) - 1
                if broken and last and case.ranks == max(ranks):
                    continue
                failure = broken and _failure(case.probe, block, number, last)
                trial = Trial(
                    index=index, block=block, platform=name, case=case,
                    layout=_layout(case),
                )  # fmt: skip
                costs = COSTS[number % len(COSTS)]
                records.append(
                    Record(
                        trial=trial,
                        outcome=failure
                        or Measured(tuple(_samples(case.probe, case.ranks, costs, rng))),
                        started=f"2025-11-20T14:{block:02d}:00.000+00:00",
                        duration_s=1.5, caveats=() if failure else costs.caveats,
                        clock="simulated" if "simulated" in costs.caveats else "wall",
                    )
                )  # fmt: skip
                index += 1
    replace_records(run, records)
    run.append_event(names[-1], "node 1 never came up; replaced after 30 s")
    return run


def _layout(case: Case) -> Layout:
    nodes = min(case.nodes or 2, case.ranks)
    return Layout(nodes, case.ranks // nodes)


def _failure(probe: str, block: int, number: int, last: bool) -> Failed | None:
    if probe == "net.nuttcp" and number == 1 and block in (2, 5):
        return Failed(Stage.TIMEOUT, "no answer within 300 s: nuttcp: connection refused")
    if probe == "memory.stream" and last:
        return Failed(Stage.SIGNAL, "killed by SIGILL (illegal instruction)")
    return None


@dataclass(frozen=True)
class PlantedFact:
    """One planted row of the platforms' characteristics."""

    group: str
    label: str
    values: tuple[str, ...]
    detail: bool = False

    @property
    def equal(self) -> bool:
        return len(set(self.values)) == 1


def planted_facts(names: tuple[str, ...]) -> list[PlantedFact]:
    """Return characteristics, some equal on all platforms."""

    def same(value: str) -> tuple[str, ...]:
        return (value,) * len(names)

    def each(*values: str) -> tuple[str, ...]:
        return tuple(values[index % len(values)] for index in range(len(names)))

    return [
        PlantedFact("processor", "model", each("Intel Xeon Gold 6148", "QEMU Virtual CPU 2.5+")),
        PlantedFact("processor", "instruction sets", each("SSE4.2, AVX, AVX2, AVX-512", "SSE4.2")),
        PlantedFact("processor", "cores", same("2")),
        PlantedFact("memory", "total", each("7.8 GiB", "1.0 GiB", "1.0 GiB")),
        PlantedFact("network", "device", each("lo", "virtio_net", "e1000")),
        PlantedFact("network", "MTU", each("65536", "1500")),
        PlantedFact("kernel", "release", same("6.1.0-28-amd64")),
        PlantedFact("MPI", "library", same("Open MPI 4.1.4")),
        PlantedFact("system", "hypervisor", each("", "QEMU")),
    ]


@pytest.fixture(scope="session", autouse=True)
def each_drawing_once() -> Iterator[None]:
    """Let the engine draw each specification once in a session: many tests put it on a page."""
    try:
        import vl_convert
    except ImportError:
        yield
        return
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(vl_convert, "vegalite_to_svg", cache(vl_convert.vegalite_to_svg))
        yield
        print(vl_convert.vegalite_to_svg.cache_info())


@pytest.fixture(scope="session")
def plant_run() -> Callable[..., Run]:
    """Return `plant` itself."""
    return plant


@pytest.fixture(scope="session")
def planted(tmp_path_factory: pytest.TempPathFactory) -> Callable[..., Document]:
    """Return a function that makes a document from a planted run."""

    def make(names: tuple[str, ...] = ("bare", "vm-virtio", "vm-e1000"), **how: object) -> Document:
        run = plant(tmp_path_factory.mktemp("planted") / "run", names, **how)  # type: ignore[arg-type]
        return document_of(Comparison(read_runs([run])), fact_rows=planted_facts(names))

    return make


@pytest.fixture(scope="session")
def document(planted: Callable[..., Document]) -> Document:
    """Return the usual document: three platforms, failures, holes, caveats."""
    return planted()


#: Planted platforms in the roles of published ones.
ROLES: dict[str, dict[str, object]] = {
    "native": {
        "title": "the HPC system",
        "platform": "bare",
        "published": ["nebula:pleiades", "nebula:nebula-bare", "nccs:bare-bare"],
    },
    "virtual": {
        "title": "the cloud",
        "platform": "vm-virtio",
        "published": ["nebula:nebula", "nccs:vm-vm-virtio"],
    },
    "missing": {"title": "SR-IOV", "published": ["nccs:vm-vm-sriov"]},
}


@pytest.fixture(scope="session")
def in_roles(planted: Callable[..., Document]) -> Document:
    """Return a document whose platforms stand for published ones."""
    return planted(roles=ROLES, probes=tuple(name for name in _METRICS if name != "npb.ft"))


@pytest.fixture(scope="session")
def hostile(planted: Callable[..., Document]) -> Document:
    """Return a document whose names try to break out of the page."""
    # A platform's facts lie in a file of its name, so that no key holds a slash.
    key = HOSTILE.replace("/", "")
    return planted(("bare" + key, "vm" + key), titles=(HOSTILE, HOSTILE), blocks=7)
