"""Where a loss comes from: what else differs between two platforms, and how much that explains.

Each cause predicts a bounded factor from other measurements and facts (peak by instruction set,
cores, clock, link rate, delay, network and memory figures), never from the loss itself. Measured is
explained times residual: a residual about 1 says that nothing else is needed, a larger one that
something is unknown. A cause that its own measurement contradicts is withdrawn, with the reason.
Where nothing is left, there is no known cause, and that is said.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from bareline.analysis.cell import Cell, Estimate
from bareline.analysis.findings import Finding
from bareline.analysis.sizes import Size
from bareline.vocabulary.caveats import codes as codes_of
from bareline.vocabulary.instructions import X86_SETS, InstructionSet, widest
from bareline.vocabulary.model import Layer, Scalar
from bareline.vocabulary.units import format_value, listing, significant
from bareline.vocabulary.verdicts import DEFAULT_MARGIN, Verdict

Facts = Mapping[str, Scalar]

#: Sets of x86 that do arithmetic in double precision, beyond what every x86-64 processor has.
_SETS = tuple(known for known in X86_SETS if known.operations and known.name != "sse2")
_LEAST_OPERATIONS = 2  # SSE2
_INFINICLOUD = (
    "InfiniCloud's Linpack became 3 times faster when its guests saw the host's processor instead "
    "of a Nehalem, J. Low et al., 2015"
)
_NEBULA = (
    "Nebula's study puts a part of its DGEMM loss down to SSSE3 that KVM hid, NASA, 2012, "
    "section V.B.1"
)
#: Share of a link's rate that TCP's headers and Ethernet's frames leave at least, with 1500 bytes
#: a frame; jumbo frames leave more.
_PAYLOAD = 0.94
#: A link that carries less than this share of its rate is not what limits a stream.
_LINK_FULL = 0.70
#: Probes whose time is that of matrix products by the BLAS.
_BY_BLAS = (
    *("compute.dgemm", "compute.linpack", "compute.linpack_mpi"),
    *("app.planewave", "app.quantum_espresso"),
)
#: Ways of a guest to the wire that cost something, dearest first, with what each frame meets.
_NICS = {
    "emulated": "every access to it ends in the hypervisor",
    "paravirtual": "frames pass through the hypervisor",
}
#: What must be alike for the kind of NIC to be what two guests differ in.
_BESIDE_NICS = ("cpu.emulated", "cpu.allowed", "net.mtu")


@dataclass(frozen=True, slots=True)
class Cause:
    """Something that differs, and the factor that it can explain.

    Parameters
    ----------
    name
        What it is, e.g. ``link rate``.
    words
        What differs, as the end of a sentence.
    lo, hi
        Bounds of the factor; `hi` is None where nothing bounds it.
    withdrawn
        Why it is no cause after all; empty where it is one.
    """

    name: str
    words: str
    lo: float
    hi: float | None
    withdrawn: str = ""


@dataclass(frozen=True, slots=True)
class Explanation:
    """What explains the worst certain loss of a finding.

    Parameters
    ----------
    finding, point
        What is explained.
    causes
        What is known to differ; those withdrawn have their reason.
    """

    finding: Finding
    point: Cell
    causes: tuple[Cause, ...]

    @property
    def standing(self) -> tuple[Cause, ...]:
        """The causes that nothing contradicts."""
        return tuple(cause for cause in self.causes if not cause.withdrawn)

    @property
    def explained(self) -> tuple[float, float | None]:
        """Bounds of the factor that the causes explain together."""
        his = [cause.hi for cause in self.standing]
        lo = math.prod(cause.lo for cause in self.standing)
        return lo, None if None in his else math.prod(hi for hi in his if hi is not None)

    @property
    def measured(self) -> Estimate:
        """The ratio that is explained."""
        assert self.point.ratio is not None
        return self.point.ratio

    @property
    def residual(self) -> tuple[float | None, float | None]:
        """Bounds of what is left: measured over explained."""
        lo, hi = self.explained
        ratio = self.measured
        least = None if ratio.lo is None or hi is None else ratio.lo / hi
        return least, None if ratio.hi is None else ratio.hi / lo

    @property
    def known(self) -> bool:
        """Whether any cause is known."""
        return bool(self.standing)

    @property
    def text(self) -> str:
        """Measured, explained and residual in words."""
        ratio = self.measured
        measured = significant(ratio.value)
        if ratio.lo is not None and ratio.hi is not None:
            measured += f" [{significant(ratio.lo)}, {significant(ratio.hi)}]"
        return f"measured {measured} = explained {_range(*self.explained)} x residual " + _range(
            *self.residual
        )


def _range(lo: float | None, hi: float | None) -> str:
    if lo is None:
        return "of unknown size" if hi is None else f"at most {significant(hi)}"
    if hi is None:
        return f"at least {significant(lo)}"
    low, high = significant(lo), significant(hi)
    return low if low == high else f"{low} to {high}"


@dataclass(frozen=True, slots=True)
class Case:
    """What a rule may look at.

    Parameters
    ----------
    finding, point
        A loss.
    findings
        All of them about the same platform.
    facts, baseline_facts
        Of both sides.
    others
        The same thing measured on other platforms, each with that platform's facts.
    """

    finding: Finding
    point: Cell
    findings: Sequence[Finding]
    facts: Facts
    baseline_facts: Facts
    others: Sequence[tuple[Finding, Facts]] = ()

    def measured(self, *probes: str) -> tuple[Finding, Cell, Estimate] | None:
        """Give what another probe measured on the same layout, the worst point of the first."""
        for probe in probes:
            for other in self.findings:
                if other.probe == probe and other.probe != self.finding.probe and other.compared:
                    worst = other.worst
                    if worst is not None and worst.ratio is not None and worst.ratio.bounded:
                        return other, worst, worst.ratio
        return None

    def quotient(self, key: str) -> float | None:
        """Give the baseline's value of a fact over the platform's, where both are numbers."""
        own, base = self.facts.get(key), self.baseline_facts.get(key)
        numbers = [v for v in (own, base) if isinstance(v, int | float) and v is not True and v > 0]
        return float(numbers[1]) / float(numbers[0]) if len(numbers) == 2 else None


def explain(
    findings: Sequence[Finding], facts: Mapping[str, Facts], baseline: str
) -> list[Explanation]:
    """Explain every finding with a certain loss.

    Parameters
    ----------
    findings
        About all platforms, compared with `baseline`.
    facts
        By platform.
    """
    told = []
    for finding in findings:
        losses = finding.of(Verdict.SLOWER)
        if not losses or losses[0].ratio is None:
            continue
        own = [other for other in findings if other.platform == finding.platform]
        elsewhere = [
            (other, facts.get(other.platform, {}))
            for other in findings
            if other.subject == finding.subject and other.platform != finding.platform
        ]
        own_facts, base_facts = facts.get(finding.platform, {}), facts.get(baseline, {})
        case = Case(finding, losses[0], own, own_facts, base_facts, elsewhere)
        found = tuple(cause for rule in _RULES.get(finding.layer, ()) for cause in rule(case))
        told.append(Explanation(finding, losses[0], found))
    return told


_Rule = Callable[[Case], Iterable[Cause]]


# Processor ----------------------------------------------------------------------------------------


def _hidden(case: Case) -> list[InstructionSet]:
    """Give the sets that the baseline's processor shows and the platform's does not."""
    return [
        known
        for known in _SETS
        if case.baseline_facts.get(f"cpu.flags.{known.name}") is True
        and case.facts.get(f"cpu.flags.{known.name}") is False
    ]


def instruction_sets(case: Case) -> Iterator[Cause]:
    """Instruction sets that a platform's processor does not show, as the peak measures them."""
    hidden = _hidden(case)
    if not hidden or case.facts.get("cpu.emulated") is True:
        return
    names = listing([known.family or known.title for known in hidden])
    shown = case.facts.get("cpu.model")
    model = f" ({shown})" if shown else ""
    times = max(known.operations for known in hidden) / _operations(case.facts)
    words = f"its processor{model} does not show {names}, which the baseline's does"
    if times <= 1:
        words += f": libraries run the code of an older processor ({_NEBULA})"
    else:
        words += (
            f": OpenBLAS and FFTW run their {_widest(case.facts)} code there, up to {times:g} "
            f"times fewer operations an instruction ({_INFINICLOUD}); a guest that is given the "
            "host's processor (cpu model host-passthrough) sees them"
        )
    yield _checked(case, Cause("instruction sets", words, 1.0, max(1.0, times)), "compute.peak")


def blas_kernels(case: Case) -> Iterator[Cause]:
    """Other kernels of OpenBLAS, where no hidden instructions are the reason for them."""
    own, base = (f.get("library.blas_kernels") for f in (case.facts, case.baseline_facts))
    if case.finding.probe not in _BY_BLAS or not own or not base or own == base or _hidden(case):
        return
    words = f"its BLAS runs the kernels '{own}', the baseline's runs '{base}'"
    yield Cause("BLAS kernels", words, 1.0, None)


def clock(case: Case) -> Iterator[Cause]:
    """A lower highest frequency, as the peak measures it."""
    quotient = case.quotient("cpu.max_hz") or case.quotient("cpu.base_hz")
    if quotient is not None and quotient > 1 + DEFAULT_MARGIN:
        words = f"its clock is {significant(quotient)} times lower"
        yield _checked(case, Cause("clock", words, 1.0, quotient), "compute.peak")


def cores(case: Case) -> Iterator[Cause]:
    """Fewer cores, where a probe uses all of them; and ranks that take turns on one."""
    quotient = case.quotient("cpu.allowed") or case.quotient("cpu.cores")
    label = case.finding.label(case.point)
    uses_all = "mode all" in label or "mode star" in label or case.finding.layer is Layer.NPB
    if quotient is not None and quotient > 1 and uses_all:
        words = f"it has {significant(quotient)} times fewer cores"
        yield Cause("cores", words, 1.0, quotient)


def sharing(case: Case) -> Iterator[Cause]:
    """Ranks, or hosts, that take turns on the cores of one machine."""
    codes = codes_of(case.finding.own_caveats)
    nodes, allowed = case.finding.nodes or 1, case.facts.get("cpu.allowed")
    if "shared-host" in codes and isinstance(allowed, int) and allowed < nodes:
        words = f"its {nodes} hosts take turns on {allowed} core{'s' if allowed > 1 else ''}"
        yield Cause("shared cores", words, 1.0, None)
    elif "oversubscribed" in codes:
        yield Cause("shared cores", "its ranks take turns on fewer cores than they are", 1.0, None)


def _checked(case: Case, cause: Cause, probe: str) -> Cause:
    """Take the factor that a probe of the cause measured, or withdraw what it contradicts."""
    other = case.measured(probe)
    if other is None:
        return cause
    finding, point, ratio = other
    assert ratio.lo is not None and ratio.hi is not None
    words = f"{cause.words}; {finding.title} is {_times(ratio)}"
    if point.said in (Verdict.EQUIVALENT, Verdict.FASTER):
        reason = f"{finding.title} is not worse {_interval(ratio)}"
        return replace(cause, withdrawn=reason)
    if point.said is not Verdict.SLOWER:
        return cause
    return replace(cause, words=words, lo=ratio.lo, hi=ratio.hi)


# Memory -------------------------------------------------------------------------------------------


def memory_speed(case: Case) -> Iterator[Cause]:
    """Slower memory modules."""
    quotient = case.quotient("memory.transfers_per_s")
    if quotient is not None and quotient > 1 + DEFAULT_MARGIN:
        words = f"its memory makes {significant(quotient)} times fewer transfers a second"
        yield Cause("memory speed", words, 1.0, quotient)


def pages(case: Case) -> Iterator[Cause]:
    """Huge pages that only the baseline has: finding a page then costs more."""
    own, base = (
        facts.get("memory.transparent_hugepages") for facts in (case.facts, case.baseline_facts)
    )
    random = case.finding.probe in ("memory.latency", "memory.random_access")
    if random and own == "never" and base in ("always", "madvise"):
        yield Cause("pages", "it has no transparent huge pages", 1.0, 3.0)


# Network and MPI ----------------------------------------------------------------------------------


def link_rate(case: Case) -> Iterator[Cause]:
    """A link that carries less than the baseline did, if the stream fills it."""
    rate = _link_bps(case.facts)
    base_value = case.point.base.value if case.point.base else None
    if rate is None or not base_value or not case.finding.rate or case.point.ratio is None:
        return
    bytes_per_s = rate / 8 if case.point.metric.unit == "B/s" else rate
    words = f"its link carries {format_value(rate, 'bit/s')}"
    cause = Cause("link rate", words, base_value / bytes_per_s, base_value / bytes_per_s / _PAYLOAD)
    if cause.hi is not None and cause.hi <= 1 + DEFAULT_MARGIN:
        return  # the baseline did not carry more either
    reached = base_value / case.point.ratio.value / bytes_per_s
    if reached < _LINK_FULL:
        reason = f"only {100 * reached:.0f} % of the link is used"
        cause = replace(cause, withdrawn=reason)
    yield cause


def network_below(case: Case) -> Iterator[Cause]:
    """What the network probes measured: a rate for large messages, a latency for small ones."""
    sizes = case.finding.sizes
    messages = sizes.size if sizes and sizes.of_messages else None
    if case.finding.nodes == 1:
        return  # within a node no network is used
    if messages is Size.LARGE or case.point.metric.unit == "B/s":
        other = case.measured("net.nuttcp", "net.iperf3", "net.ib_write_bw")
        name, facts_quotient = "network rate", _link_quotient(case)
    elif messages is Size.SMALL:
        other = case.measured("net.sockperf", "net.ib_write_lat")
        name, facts_quotient = "network latency", None
    else:
        return
    if other is not None:
        finding, point, ratio = other
        assert ratio.lo is not None and ratio.hi is not None
        words = f"{finding.title} is {_times(ratio)}"
        if point.said in (Verdict.EQUIVALENT, Verdict.FASTER):
            reason = f"{finding.title} is not worse {_interval(ratio)}"
            yield Cause(name, words, ratio.lo, ratio.hi, reason)
        elif ratio.lo > 1:
            yield Cause(name, words, ratio.lo, ratio.hi)
    elif facts_quotient is not None and facts_quotient > 1 + DEFAULT_MARGIN:
        words = f"its link carries {significant(facts_quotient)} times less than the baseline's"
        yield Cause("link rate", words, 1.0, facts_quotient)


def transport(case: Case) -> Iterator[Cause]:
    """Another way for MPI's messages, e.g. TCP instead of shared memory; nothing bounds it."""
    own, base = case.facts.get("mpi.transport"), case.baseline_facts.get("mpi.transport")
    if own is not None and base is not None and own != base:
        named = ["what the library chooses" if way == "auto" else way for way in (own, base)]
        words = f"its ranks talk over {named[0]}, the baseline's over {named[1]}"
        yield Cause("transport", words, 1.0, None)


def delay(case: Case) -> Iterator[Cause]:
    """A delay that was added to the link, over the baseline's own time."""
    own, base = (facts.get("net.delay_s", 0.0) for facts in (case.facts, case.baseline_facts))
    base_value = case.point.base.value if case.point.base else None
    numbers = isinstance(own, int | float) and isinstance(base, int | float)
    if not numbers or case.finding.nodes == 1 or not base_value or case.finding.rate:
        return
    added = float(own) - float(base)
    if added <= 0 or case.point.metric.unit != "s":
        return
    # One way at least, and there and back at most: probes differ in what they call latency.
    before = format_value(base_value, "s")
    words = f"its link adds {format_value(added, 's')} to the baseline's {before}"
    yield Cause("delay", words, 1 + added / base_value, 1 + 2 * added / base_value)


def emulation(case: Case) -> Iterator[Cause]:
    """A processor or an adapter that is software, where no stream measured what that costs.

    Nothing bounds a processor's part: its arithmetic is no measure of what a message costs it.
    """
    if case.finding.layer is Layer.MPI and any(not one.withdrawn for one in network_below(case)):
        return  # the stream went the same way, on the same processor
    if case.facts.get("cpu.emulated") is True and case.baseline_facts.get("cpu.emulated") is False:
        words = (
            "its processor is emulated (every instruction of MPI library and kernel is translated; "
            "nothing measured here bounds what that costs)"
        )
        yield Cause("emulated processor", words, 1.0, None)
    if case.finding.nodes != 1 and case.finding.layer is not Layer.IO:
        yield from _nic(case)


def _nic(case: Case) -> Iterator[Cause]:
    """The kind of a guest's adapter; another guest with a faster kind bounds its part below."""
    own, base = case.facts.get("net.kind"), case.baseline_facts.get("net.kind")
    if not isinstance(own, str) or own not in _NICS or own == base or base is None:
        return
    driver = case.facts.get("net.driver")
    words = f"its NIC is {own}{f' ({driver})' if driver else ''}"
    cause = Cause(f"{own} NIC", words, 1.0, None)
    for other, facts in case.others:
        point = next((p for p in other.compared if p.place == case.point.place), None)
        if point is None or not _faster_nic(case.facts, facts):
            continue
        own_ratio, beside = case.point.ratio, point.ratio
        if own_ratio and beside and own_ratio.bounded and beside.bounded:
            yield _beside(own_ratio, cause, other.platform, facts, beside)
            return
    yield replace(cause, words=f"{words}: {_NICS[own]}")


def _faster_nic(own: Facts, other: Facts) -> bool:
    """Tell whether another guest differs in having a NIC of a faster kind."""
    kinds = [*_NICS, "virtual function", "hardware"]
    kind, faster = own.get("net.kind"), other.get("net.kind")
    alike = all(own.get(key) == other.get(key) for key in _BESIDE_NICS)
    return alike and faster in kinds and kinds.index(str(kind)) < kinds.index(str(faster))


def _beside(own: Estimate, cause: Cause, platform: str, facts: Facts, other: Estimate) -> Cause:
    """Bound an adapter's part below by a guest with a faster one, or withdraw it."""
    assert own.lo and own.hi and other.lo and other.hi
    lo, hi = own.lo / other.hi, own.hi / other.lo
    times = own.value / other.value
    beside = f"on {platform}, whose NIC is {facts['net.kind']}"
    told = f"{significant(times)} [{significant(lo)}, {significant(hi)}]"
    if hi <= 1 + DEFAULT_MARGIN:
        return replace(cause, withdrawn=f"it takes {told} times as long as {beside}")
    if lo <= 1:
        words = f"{cause.words}, which may cost nothing ({told} times as long as {beside})"
        return replace(cause, words=words)
    words = f"{cause.words}, which costs {told} times as much as {beside}"
    return replace(cause, words=words, lo=lo)


# Storage and NAS benchmarks -----------------------------------------------------------------------


def file_system(case: Case) -> Iterator[Cause]:
    """Another file system or device, which nothing bounds."""
    for key, what in (("fs.type", "file system"), ("fs.disk.rotational", "kind of disk")):
        own, base = case.facts.get(key), case.baseline_facts.get(key)
        if own is not None and base is not None and own != base:
            yield Cause(what, f"its {what} is another one ({own} against {base})", 1.0, None)


def layers_below(case: Case) -> Iterator[Cause]:
    """What compute, memory and MPI lose by themselves: a whole program loses at most the most."""
    spans = []
    for layer in (Layer.COMPUTE, Layer.MEMORY, Layer.MPI):
        points = [
            point.ratio
            for other in case.findings
            if other.layer is layer
            for point in other.of(Verdict.SLOWER)
            if point.ratio is not None and point.ratio.hi is not None
        ]
        if points:
            spans.append((layer, max(points, key=lambda ratio: ratio.value)))
    if not spans:
        return
    named = [f"{layer.words} {significant(ratio.value)}" for layer, ratio in spans]
    most = max(ratio.hi or 1.0 for _, ratio in spans)
    yield Cause("layers below", f"the layers below lose up to {listing(named)} times", 1.0, most)


_RULES: Mapping[Layer, Sequence[_Rule]] = {
    Layer.COMPUTE: (instruction_sets, blas_kernels, clock, cores),
    Layer.MEMORY: (memory_speed, pages, cores),
    Layer.NETWORK: (link_rate, delay, sharing, emulation),
    Layer.MPI: (transport, network_below, delay, sharing, emulation),
    Layer.IO: (file_system, emulation),
    Layer.NPB: (layers_below, sharing),
    Layer.APP: (blas_kernels, layers_below, sharing),
}


def _link_bps(facts: Facts) -> float | None:
    found = [facts.get(key) for key in ("net.shaped_bps", "net.speed_bps")]
    known = [float(v) for v in found if isinstance(v, int | float) and v is not True and v > 0]
    return min(known) if known else None


def _link_quotient(case: Case) -> float | None:
    own, base = _link_bps(case.facts), _link_bps(case.baseline_facts)
    return None if own is None or base is None else base / own


def _times(ratio: Estimate) -> str:
    return f"{significant(ratio.value)} {_interval(ratio)} times worse"


def _interval(ratio: Estimate) -> str:
    return f"[{significant(ratio.lo or 0.0)}, {significant(ratio.hi or 0.0)}]"


def _operations(facts: Facts) -> int:
    """Give the most operations of one instruction that a processor shows."""
    return max((known.operations for known in _shown(facts)), default=_LEAST_OPERATIONS)


def _widest(facts: Facts) -> str:
    """Name the widest vectors that a processor shows; all kinds of SSE are equally wide."""
    family = widest(known.name for known in _shown(facts))
    return family if family.startswith("AVX") else "SSE"


def _shown(facts: Facts) -> list[InstructionSet]:
    return [known for known in _SETS if facts.get(f"cpu.flags.{known.name}") is True]
