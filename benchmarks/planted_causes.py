"""Plant causes and decoys on null platforms, and count what `explain` makes of them.

Each world is a pair of platforms whose times follow from what they are made of: what a message
costs to start, what its bytes cost, operations, memory, files. An effect changes a time and the
fact that tells of it; a decoy changes the fact alone. Names of causes are looked for where the
effect is at least a twentieth of the loss.

    python benchmarks/planted_causes.py
"""

from __future__ import annotations

import json
import math
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

import numpy as np

from bareline.analysis.judgements.causes.cause import Cause
from bareline.analysis.judgements.causes.explanation import Explanation
from bareline.analysis.numbers.programs import COMMUNICATING, COMPUTING
from bareline.analysis.numbers.records import read_runs
from bareline.analysis.words.comparison import Comparison
from bareline.platforms.config import platforms_from_toml
from bareline.session import begin
from bareline.session.origin import plan_of
from bareline.store.run import Run
from bareline.study.study import study_from_toml
from bareline.vocabulary.model import Measured, Record, Sample, Scalar, Trial

BASE, OWN = "bare", "own"
#: An effect of less of the loss than this need not be named.
_MATTERS = 0.05
_NOISE = 0.004
_LAUNCHES = 10
SIZES = (8, 1024, 6144, 65536, 262144)


@dataclass(frozen=True)
class Physics:
    """What a platform is made of.

    - `start_s`, `byte_s`: of a message of MPI; a stream's bytes are cheaper, since it is pipelined.
    - `link_bps`: the rate of the link; None without a limit.
    - `operation`, `memory`, `page`, `cores`, `files`: times over those of the plain platform.
    """

    start_s: float = 8e-6
    byte_s: float = 4e-10
    link_bps: float | None = None
    operation: float = 1.0
    memory: float = 1.0
    page: float = 1.0
    cores: float = 1.0
    files: float = 1.0

    @property
    def stream_byte_s(self) -> float:
        """Time of a byte of a stream; a link's heads and frames take a share of its rate."""
        wire = 8 / self.link_bps * 1.06 if self.link_bps else 0.0
        return max(0.9 * self.byte_s, wire)

    def message_s(self, size: float) -> float:
        """Time of a message one way."""
        wire = 8 / self.link_bps * 1.02 if self.link_bps else 0.0
        return self.start_s + size * max(self.byte_s, wire)


Facts = Mapping[str, Scalar]


@dataclass(frozen=True)
class Effect:
    """A cause by the name of its rule, what it changes, and the facts that tell of it."""

    rule: str
    changes: Mapping[str, float]
    own: Facts
    base: Facts = field(default_factory=dict)

    def on(self, physics: Physics) -> Physics:
        """Return a platform with it: times are multiplied, starts added to, a link limited."""
        made = {}
        for name, value in self.changes.items():
            before = getattr(physics, name)
            if name == "link_bps":
                made[name] = value
            else:
                made[name] = before + value if name == "start_s" else before * value
        return replace(physics, **made)


@dataclass(frozen=True)
class World:
    """A planted pair of platforms; `without` are probes that nobody ran."""

    name: str
    effects: tuple[Effect, ...] = ()
    decoys: tuple[Effect, ...] = ()
    without: tuple[str, ...] = ()
    base: Physics = Physics()

    def own(self, but: Effect | None = None) -> Physics:
        """Return the slower platform, perhaps without one of its effects."""
        physics = self.base
        for effect in self.effects:
            physics = physics if effect is but else effect.on(physics)
        return physics


def link(own_bps: float, base_bps: float | None = 10e9) -> Effect:
    """Return a slower link; the baseline's may have no limit."""
    base = {} if base_bps is None else {"net.shaped_bps": base_bps}
    return Effect("link rate", {"link_bps": own_bps}, {"net.shaped_bps": own_bps}, base)


def delayed(added_s: float) -> Effect:
    """Return a link with an added delay."""
    return Effect("delay", {"start_s": added_s}, {"net.delay_s": added_s}, {"net.delay_s": 0.0})


_SETS = ("sse2", "ssse3", "sse4_1", "sse4_2", "avx", "fma", "avx2")
_SHOWN: Facts = {f"cpu.flags.{name}": True for name in _SETS}
_HIDDEN: Facts = {f"cpu.flags.{name}": not name.startswith(("avx", "fma")) for name in _SETS}
SHORT_FRAMES = Effect("MTU", {"byte_s": 1.8}, {"net.mtu": 1500}, {"net.mtu": 9000})
NO_OFFLOAD = Effect(
    "offload", {"byte_s": 2.2}, {"net.offload.tso": False}, {"net.offload.tso": True}
)
VIRTUAL = Effect(
    "NIC",
    {"start_s": 25e-6, "byte_s": 2.5},
    {"net.kind": "paravirtual"},
    {"net.kind": "hardware"},
)
EMULATED = replace(VIRTUAL, own={"net.kind": "emulated"}, changes={"start_s": 90e-6, "byte_s": 9.0})
CLOCK = Effect("clock", {"operation": 1.5}, {"cpu.max_hz": 2e9}, {"cpu.max_hz": 3e9})
SETS = Effect("instruction sets", {"operation": 2.6}, _HIDDEN, _SHOWN)
MEMORY = Effect(
    "memory speed",
    {"memory": 1.45},
    {"memory.transfers_per_s": 2.13e9},
    {"memory.transfers_per_s": 3.2e9},
)
PAGES = Effect(
    "pages",
    {"page": 2.2},
    {"memory.transparent_hugepages": "never"},
    {"memory.transparent_hugepages": "always"},
)
CORES = Effect("cores", {"cores": 1.9}, {"cpu.allowed": 1}, {"cpu.allowed": 2})
FILES = Effect("file system", {"files": 4.0}, {"fs.type": "nfs"}, {"fs.type": "ext4"})
_NO_STREAM, _NO_LATENCY, _NO_PEAK = ("net.nuttcp",), ("net.sockperf",), ("compute.peak",)

WORLDS = (
    World("1 instead of 10 Gb/s", (link(1e9),)),
    World("1 instead of 10 Gb/s, no stream", (link(1e9),), without=_NO_STREAM),
    World("1 Gb/s instead of no limit", (link(1e9, None),)),
    World("1 Gb/s instead of no limit, no stream", (link(1e9, None),), without=_NO_STREAM),
    World("5 Mb/s instead of 2.5 Gb/s", (link(5e6, 2.5e9),)),
    World("10 Gb/s instead of no limit", (link(10e9, None),), base=Physics(byte_s=1.5e-10)),
    World("a delay of 0.1 ms", (delayed(1e-4),)),
    World("a delay of 20 us, no latency", (delayed(2e-5),), without=_NO_LATENCY),
    World("short frames", (SHORT_FRAMES,)),
    World("short frames, no stream", (SHORT_FRAMES,), without=_NO_STREAM),
    World("no offload", (NO_OFFLOAD,)),
    World("no offload, no stream", (NO_OFFLOAD,), without=_NO_STREAM),
    World("a paravirtual NIC", (VIRTUAL,)),
    World("an emulated NIC", (EMULATED,)),
    World("a lower clock", (CLOCK,)),
    World("a lower clock, no peak", (CLOCK,), without=_NO_PEAK),
    World("hidden instructions", (SETS,)),
    World("hidden instructions, no peak", (SETS,), without=_NO_PEAK),
    World("slower memory", (MEMORY,)),
    World("no huge pages", (PAGES,)),
    World("fewer cores", (CORES,)),
    World("another file system", (FILES,)),
    World("a slow and delayed link", (link(1e9), delayed(1e-4))),
    World("a slow link and short frames", (link(1e9), replace(SHORT_FRAMES, changes={}))),
    World("short frames without offload", (SHORT_FRAMES, NO_OFFLOAD)),
    World("a delay and a paravirtual NIC", (delayed(5e-5), VIRTUAL)),
    World("clock and instructions", (CLOCK, SETS)),
    World("memory and cores", (MEMORY, CORES)),
    World("a slow link, and files", (link(1e9), FILES)),
    # Decoys: the fact differs, and the time does not, or differs for another reason.
    World("a rate that nothing uses", decoys=(link(5e9),), effects=(delayed(1e-4),)),
    World("a delay that is not there", decoys=(delayed(1e-4),), effects=(link(1e9),)),
    World("a delay larger than the loss", (link(1e9),), (delayed(5e-3),), _NO_LATENCY),
    World("frames that nothing waits for", (delayed(1e-4),), (SHORT_FRAMES,)),
    World("offload beside a full link", (link(1e9),), (NO_OFFLOAD,)),
    World("a clock that the peak does not see", (MEMORY,), (CLOCK,)),
    World("sets that the peak does not see", (CORES,), (SETS,)),
    World("a rate above the loss", (SHORT_FRAMES,), (link(2e8),), _NO_STREAM),
    World("a link that the stream does not fill", (VIRTUAL,), (link(20e9, 40e9),)),
    World("a NIC of another kind, alike", (CLOCK,), (VIRTUAL,)),
)

_MEASURES = (
    {"probe": "net.nuttcp", "ranks": 2, "nodes": 2},
    {"probe": "net.sockperf", "ranks": 2, "nodes": 2},
    {"probe": "mpi.pingpong", "ranks": 2, "nodes": 2},
    {"probe": "mpi.allreduce", "ranks": 2, "nodes": 2},
    {"probe": "mpi.alltoall", "ranks": 2, "nodes": 2},
    {"probe": "compute.peak"},
    {"probe": "compute.dgemm"},
    {"probe": "compute.linpack"},
    {"probe": "memory.stream"},
    {"probe": "memory.random_access"},
    {"probe": "io.create"},
    {"probe": "npb.cg", "ranks": 2, "nodes": 2},
)
#: Messages of the planted program on the way of one rank, and their size.
_PROGRAM_MESSAGES, _PROGRAM_BYTES = 20_000, 6144
_PROGRAM_COMPUTES_S = 0.4


def time_of(probe: str, size: int, made: Physics) -> float:
    """Return the time of a probe's operation on a platform, in s."""
    match probe:
        case "net.nuttcp":
            return made.stream_byte_s
        case "net.sockperf":
            return 0.8 * 8e-6 + (made.start_s - 8e-6)
        case "mpi.pingpong":
            return made.message_s(size)
        case "mpi.allreduce" | "mpi.alltoall":  # both ways at once
            alone = made.message_s(0)
            return 1.05 * alone + 1.15 * (made.message_s(size) - alone)
        case "compute.peak" | "compute.dgemm":
            return made.operation
        case "compute.linpack":
            return made.operation * made.cores
        case "memory.stream":
            return made.memory
        case "memory.random_access":
            return made.memory * made.page
        case "npb.cg":
            return _PROGRAM_COMPUTES_S * made.operation + program_messages_s(made)
    return made.files


def program_messages_s(made: Physics) -> float:
    """Return the time of the messages of the planted program, in s."""
    return _PROGRAM_MESSAGES * made.message_s(_PROGRAM_BYTES)


def _samples(probe: str, made: Physics, generator: np.random.Generator) -> Iterator[Sample]:
    sized = probe.startswith("mpi.")
    for size in SIZES if sized else (0,):
        noise = float(np.exp(_NOISE * generator.standard_normal()))
        time_s = time_of(probe, size, made) * noise
        if sized:
            yield Sample("latency", time_s, {"size_bytes": size})
        elif probe == "net.sockperf":
            yield Sample("latency", time_s)
        elif probe == "memory.stream":
            yield Sample("bandwidth", 1e10 / time_s, {"kernel": "triad"})
        elif probe == "npb.cg":
            messages_s = program_messages_s(made) * noise
            yield Sample("time", time_s)
            yield Sample(COMPUTING, time_s - messages_s)
            yield Sample(COMMUNICATING, messages_s)
        elif probe == "io.create":
            yield Sample("create_rate", 1e4 / time_s)
        else:
            yield Sample("rate", (8 if probe == "net.nuttcp" else 6e10) / time_s)


def plant(world: World, folder: Path) -> Run:
    """Make a run of a world on null platforms."""
    measures = [one for one in _MEASURES if one["probe"] not in world.without]
    head = {"name": "planted", "launches": _LAUNCHES, "precision": 0}
    study = study_from_toml({"study": head, "measure": measures}, where="planted")
    tables = {name: {"type": "null", "nodes": 2} for name in (BASE, OWN)}
    specs = list(platforms_from_toml({"platform": tables}, where="planted").values())
    run = begin.create_run(study, specs, folder, baseline=BASE)
    generator = np.random.default_rng(7)
    made = {BASE: world.base, OWN: world.own()}
    with run.writing():
        for trial in plan_of(run):
            run.append(_record(trial, made[trial.platform], generator))
    facts = {BASE: {}, OWN: {}}
    for effect in (*world.effects, *world.decoys):
        facts[BASE].update(effect.base)
        facts[OWN].update(effect.own)
    for name, known in facts.items():
        (run.path / "facts" / f"{name}.json").write_text(json.dumps(known))
    return run


def _record(trial: Trial, made: Physics, generator: np.random.Generator) -> Record:
    samples = tuple(_samples(trial.case.probe, made, generator))
    return Record(trial=trial, outcome=Measured(samples), started="t", duration_s=0.1)


@dataclass(frozen=True)
class Judged:
    """What `explain` made of a world.

    - `causes`: effects that matter somewhere; `unnamed`, `withdrawn`, `not_first`, `outside`: those
      that are not named, are withdrawn where they matter, stand behind a smaller one, or whose
      share is outside its interval; `standing`: decoys that are named.
    - `left`: the largest part of a loss that is certainly left over where all was measured.
    """

    world: World
    causes: int
    unnamed: tuple[str, ...]
    withdrawn: tuple[str, ...]
    not_first: tuple[str, ...]
    outside: tuple[str, ...]
    standing: tuple[str, ...]
    left: float


def judge(world: World, folder: Path) -> Judged:
    """Explain a planted world and hold what is said against what was planted."""
    explanations = Comparison(read_runs([plant(world, folder)])).explanations
    matter: dict[str, int] = {}
    named: set[str] = set()
    found: dict[str, list[str]] = {"withdrawn": [], "not_first": [], "outside": []}
    for one in explanations:
        shares = _true_shares(world, one)
        standing = {cause.rule: cause for cause in one.standing}
        named |= standing.keys() & shares.keys()
        for rule, share in shares.items():
            matter[rule] = matter.get(rule, 0) + 1
            where = f"{rule} of {one.finding.subject}"
            found["withdrawn"] += [where] * any(c.rule == rule and c.withdrawn for c in one.causes)
            given = standing[rule].share if rule in standing else None
            slack = 0.05 * one.extra.value
            if given is not None and not given.holds(share, slack):
                found["outside"].append(f"{where}: {share:.3g}, {given}")
        if shares and one.standing:
            first = max(shares, key=lambda rule: shares[rule])
            smaller = shares.get(one.standing[0].rule, 0.0) < shares[first] / 2
            if smaller and not _as_large(one, standing.get(first)):
                found["not_first"].append(f"{first} of {one.finding.subject}")
    decoys = {decoy.rule for decoy in world.decoys}
    wrong = [
        f"{cause.rule} of {one.finding.subject}"
        for one in explanations
        for cause in one.standing
        if cause.rule in decoys
    ]
    return Judged(
        world,
        len(matter),
        tuple(rule for rule in matter if rule not in named),
        **{name: tuple(each) for name, each in found.items()},
        standing=tuple(wrong),
        left=max(
            (one.left.lo / one.extra.value for one in explanations if _whole(one)), default=0.0
        ),
    )


def _as_large(one: Explanation, cause: Cause | None) -> bool:
    """Whether a cause has the share of the first one: nothing tells apart facts of one term."""
    largest = one.standing[0].share
    if cause is None or cause.share is None or largest is None:
        return False
    return math.isclose(cause.share.value, largest.value, rel_tol=1e-6)


def _whole(one: Explanation) -> bool:
    """Whether all of its terms were measured."""
    return bool(one.terms) and not one.missing


def _true_shares(world: World, one: Explanation) -> dict[str, float]:
    """Return what each effect adds to the baseline's time at a point, where it matters."""
    probe = one.finding.probe
    size = one.point.place.size_bytes or 0
    base_s = time_of(probe, size, world.base)
    whole_s = time_of(probe, size, world.own())
    found = {}
    for effect in world.effects:
        share = (whole_s - time_of(probe, size, world.own(but=effect))) / base_s
        if share > _MATTERS * (whole_s / base_s - 1):
            found[effect.rule] = share
    return found


def judged_worlds(worlds: Sequence[World] = WORLDS) -> Iterator[Judged]:
    """Judge worlds one after the other."""
    with tempfile.TemporaryDirectory() as folder:
        for number, world in enumerate(worlds):
            yield judge(world, Path(folder) / str(number))


def main() -> None:
    """Print what became of every world, and the sums."""
    every = []
    for one in judged_worlds():
        every.append(one)
        faults = {
            "unnamed": one.unnamed, "withdrawn": one.withdrawn, "not first": one.not_first,
            "outside": one.outside, "standing": one.standing,
        }  # fmt: skip
        said = "; ".join(f"{name}: {', '.join(each)}" for name, each in faults.items() if each)
        print(f"{one.world.name}: {one.causes} causes, {said or 'as planted'}")
    decoys = sum(len(one.world.decoys) for one in every)
    causes = sum(one.causes for one in every if not one.world.decoys)
    print(
        f"{causes} causes: {sum(len(one.unnamed) for one in every)} unnamed, "
        f"{sum(len(one.withdrawn) for one in every)} withdrawn, "
        f"{sum(len(one.not_first) for one in every)} behind a smaller one, "
        f"{sum(len(one.outside) for one in every)} outside; "
        f"{decoys} decoys: {sum(bool(one.standing) for one in every)} standing"
    )


if __name__ == "__main__":
    main()
