"""Causes of losses within a node: neighbours (busy tenants of the host), processor and memory."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from bareline.analysis.judgements.causes.case import LossCase, Rule
from bareline.analysis.judgements.causes.cause import Cause, NoCause, Term
from bareline.analysis.judgements.causes.share import Share
from bareline.analysis.judgements.causes.terms import PEAK
from bareline.analysis.numbers.models import EMULATED_CPU
from bareline.vocabulary.instructions import X86_SETS, InstructionSet, widest
from bareline.vocabulary.model import PROGRAM_LAYERS, Layer
from bareline.vocabulary.place import Place
from bareline.vocabulary.units import listing, significant
from bareline.vocabulary.verdicts import DEFAULT_MARGIN

#: Resources that neighbours share even if they have separate cores, and the layers that this may
#: slow down.
_SHARED: Mapping[str, tuple[str, tuple[Layer, ...]]] = {
    "cpu": ("its caches and clock", (Layer.COMPUTE, Layer.MEMORY, Layer.NPB, Layer.APP)),
    "memory": ("its caches and memory", (Layer.COMPUTE, Layer.MEMORY, Layer.NPB, Layer.APP)),
    "network": ("its links", (Layer.NETWORK, Layer.MPI, Layer.NPB, Layer.APP)),
    "disk": ("its disk", (Layer.IO, Layer.APP)),
    "same": ("its machine", tuple(Layer)),
}
#: In these layers the time is computation: with a third of a core it takes three times as long.
#: Ranks that wait for each other also wait for turns, which nothing bounds.
_COMPUTING = (Layer.COMPUTE, Layer.MEMORY)
#: Instruction sets of x86 for arithmetic in double precision, except SSE2, which every x86-64
#: processor has.
_SETS = tuple(kind for kind in X86_SETS if kind.operations and kind.name != "sse2")
_LEAST_OPERATIONS = 2  # SSE2
_INFINICLOUD = (
    "InfiniCloud's Linpack became 3 times faster when its guests saw the host's processor instead "
    "of a Nehalem, J. Low et al., 2015"
)
_NEBULA = (
    "Nebula's study puts a part of its DGEMM loss down to SSSE3 that KVM hid, NASA, 2012, "
    "section V.B.1"
)
#: The terms that a busy machine changes, by layer.
_BUSY: Mapping[Layer, tuple[Term, ...]] = {
    Layer.COMPUTE: (Term.ARITHMETIC,),
    Layer.MEMORY: (Term.MEMORY,),
    Layer.NETWORK: (Term.START, Term.BYTES),
    Layer.MPI: (Term.START, Term.BYTES),
}
_BY_BLAS = (
    *("compute.dgemm", "compute.linpack", "compute.linpack_mpi"),
    *("app.planewave", "app.quantum_espresso"),
)
#: The highest cost of a load that must first find its page of 4 KiB, divided by the cost of the
#: load alone.
_PAGE_WALK = 3.0


def neighbours(case: LossCase) -> Cause | NoCause:
    """Judge whether the platform's node has more, or different, tenants than the baseline's."""
    count, base_count = case.both_numbers("neighbours.count")
    busy = int(count or 0)
    base_busy = int(base_count or 0)
    load, base_load = case.both("neighbours.load")
    if busy == 0 or load == "idle":
        return NoCause("nobody works beside it")
    if busy <= base_busy and load == base_load:
        return NoCause("as many neighbours work beside the baseline")
    crowd = _Crowd.of(case, busy, str(load))
    beside_base = f"{base_busy or 'none'} beside the baseline"
    promised, base_promised = case.both_numbers("neighbours.processors_per_core")
    promised = promised or 1.0
    base_promised = base_promised or 1.0
    if promised > base_promised:
        words = f"{crowd.turns_words}, {beside_base}: for each core {promised:.3g} processors are "
        ratio = promised / base_promised
        return _taking_turns(case, f"{words}promised", ratio)
    if not crowd.reaches:
        return NoCause(f"neighbours of load {load} share {crowd.resource} alone")
    terms = _BUSY.get(case.finding.layer, ())
    return Cause(f"{crowd.words} use{crowd.verb_end} {crowd.resource}, {beside_base}", terms)


def _taking_turns(case: LossCase, words: str, ratio: float) -> Cause:
    """Return the cause that more virtual processors share a core than on the baseline.

    - `ratio`: the virtual processors per core, divided by the baseline's.
    """
    share = None
    if case.finding.layer in _COMPUTING:
        share = Share.at_most(ratio - 1)
    if any(caveat.code == "steal-time" for caveat in case.finding.own_caveats):
        words += ", and a hypervisor took time away"
    terms = _BUSY.get(case.finding.layer, ())
    return Cause(words, terms, share, caveat="cores-with-neighbours")


@dataclass(frozen=True, slots=True)
class _Crowd:
    """The busy neighbours of a platform.

    - `resource`: the resource that their load uses.
    - `reaches`: whether load on this resource slows the layer of the loss.
    """

    count: int
    load: str
    resource: str
    reaches: bool

    @classmethod
    def of(cls, case: LossCase, count: int, load: str) -> _Crowd:
        """Return the neighbours with the resource that they share."""
        resource, layers = _SHARED.get(load, _SHARED["same"])
        reaches = case.finding.layer in layers
        return cls(count, load, resource, reaches)

    @property
    def words(self) -> str:
        """The number and load of the neighbours: ``2 busy neighbours (load: cpu)``."""
        noun = "neighbour"
        if self.count > 1:
            noun = "neighbours"
        return f"{self.count} busy {noun} (load: {self.load})"

    @property
    def verb_end(self) -> str:
        """The ending of a verb after `words`: "s" for one neighbour, else empty."""
        if self.count > 1:
            return ""
        return "s"

    @property
    def turns_words(self) -> str:
        """A clause about the cores, and about any other resource, that the neighbours share."""
        text = f"{self.words} take{self.verb_end} turns with it on its cores"
        if self.reaches and self.load != "cpu":
            text += f" and use{self.verb_end} {self.resource}"
        return text


def instruction_sets(case: LossCase) -> Cause | NoCause:
    """Judge whether the platform's processor lacks instruction sets, or hides them."""
    hidden = hidden_sets(case)
    if case.emulated:
        return NoCause("its processor is emulated: its flags are not its hardware's")
    if not hidden:
        return NoCause("its processor shows every instruction set that the baseline's does")
    families = [kind.family or kind.title for kind in hidden]
    names = listing(families)
    model = case.facts.get("cpu.model")
    processor = "its processor"
    if model:
        processor = f"its processor ({model})"
    visible = [kind for kind in _SETS if case.facts.get(f"cpu.flags.{kind.name}") is True]
    most = max((kind.operations for kind in visible), default=_LEAST_OPERATIONS)
    most_hidden = max(kind.operations for kind in hidden)
    fewer = most_hidden / most
    words = f"{processor} does not show {names}, which the baseline's does"
    if fewer <= 1:
        words += f": libraries run the code of an older processor ({_NEBULA})"
        return Cause(words, (Term.ARITHMETIC,))
    family = widest(kind.name for kind in visible)
    vectors = family if family.startswith("AVX") else "SSE"  # all kinds of SSE are as wide
    words += (
        f": OpenBLAS and FFTW run their {vectors} code there, up to {fewer:g} "
        f"times fewer operations an instruction ({_INFINICLOUD}); a guest that is given the "
        "host's processor (cpu model host-passthrough) sees them"
    )
    share = Share.at_most(fewer - 1)
    return Cause(words, (Term.ARITHMETIC,), share)


def hidden_sets(case: LossCase) -> list[InstructionSet]:
    """Return the instruction sets that only the baseline's processor shows."""
    return [kind for kind in _SETS if case.both(f"cpu.flags.{kind.name}") == (False, True)]


def blas_kernels(case: LossCase) -> Cause | NoCause:
    """Judge whether OpenBLAS uses other kernels for a reason other than hidden instruction sets."""
    kernels, base_kernels = case.both("library.blas_kernels")
    if kernels == base_kernels:
        return NoCause(f"both run the kernels '{kernels}'")
    if hidden_sets(case):
        return NoCause("the kernels follow from the instruction sets")
    return Cause(f"its BLAS runs the kernels '{kernels}', the baseline's runs '{base_kernels}'")


def clock(case: LossCase) -> Cause | NoCause:
    """Judge whether the highest clock frequency is lower than the baseline's."""
    quotient = case.quotient("cpu.max_hz", "cpu.base_hz")
    if quotient is None or quotient <= 1 + DEFAULT_MARGIN:
        return NoCause("its clock is not lower")
    words = f"its clock is {significant(quotient)} times lower"
    return Cause(words, (Term.ARITHMETIC,), Share.at_most(quotient - 1))


#: Modes of the probes that use all cores unless a study sets another mode.
_MODES = {"compute.linpack": "all"}


def cores(case: LossCase) -> Cause | NoCause:
    """Judge whether the platform has fewer cores, for a probe that uses all cores together."""
    if not uses_all_cores(case.place):
        return NoCause("it does not use all cores together")
    quotient = case.quotient("cpu.allowed", "cpu.cores")
    if quotient is None or quotient <= 1:
        return NoCause("it has no fewer cores")
    words = f"it has {significant(quotient)} times fewer cores"
    return Cause(words, (Term.CORES,), Share.at_most(quotient - 1))


def uses_all_cores(place: Place) -> bool:
    """Whether a value is of all cores together; in mode "star" a value is of one core."""
    usual_mode = _MODES.get(place.probe)
    return place.coordinates.get("mode", usual_mode) == "all"


def shared_cores(case: LossCase) -> Cause | NoCause:
    """Judge whether ranks, or simulated hosts, share the cores of one machine."""
    flags = set()
    for caveat in case.finding.own_caveats:
        if caveat.for_most:
            flags.add(caveat.code)
    nodes = case.place.ran_on or 1
    allowed = case.facts.get("cpu.allowed")
    terms = _BUSY.get(case.finding.layer, ())
    if "shared-host" in flags and isinstance(allowed, int) and allowed < nodes:
        noun = "core"
        if allowed > 1:
            noun = "cores"
        return Cause(f"its {nodes} hosts take turns on {allowed} {noun}", terms)
    if "oversubscribed" in flags:
        words = "its ranks take turns on fewer cores than they are"
        return Cause(words, terms, caveat="oversubscribed")
    return NoCause("its ranks do not share cores, or the baseline's ranks share cores as well")


def emulated_processor(case: LossCase) -> Cause | NoCause:
    """Judge whether the processor is emulated."""
    if not case.emulated:
        return NoCause("its processor is not emulated, or the baseline's is as well")
    return Cause(
        "its processor is emulated (every instruction of programs, libraries and kernel is "
        "translated)",
        _BUSY.get(case.finding.layer, ()),
        caveat=EMULATED_CPU,
    )


def memory_speed(case: LossCase) -> Cause | NoCause:
    """Judge whether the memory modules are slower than the baseline's."""
    quotient = case.quotient("memory.transfers_per_s")
    if quotient is None or quotient <= 1 + DEFAULT_MARGIN:
        return NoCause("its memory makes no fewer transfers a second")
    words = f"its memory makes {significant(quotient)} times fewer transfers a second"
    return Cause(words, (Term.MEMORY,), Share.at_most(quotient - 1))


def pages(case: LossCase) -> Cause | NoCause:
    """Judge whether only the baseline has huge pages; address translation then costs more."""
    mode, base_mode = case.both("memory.transparent_hugepages")
    if mode != "never" or base_mode == "never":
        return NoCause(
            f"transparent huge pages are '{mode}' there and '{base_mode}' on the baseline"
        )
    share = Share.at_most(_PAGE_WALK - 1)
    return Cause("it has no transparent huge pages", (Term.MEMORY,), share)


_FLAGS = " or ".join(f"cpu.flags.{kind.name}" for kind in reversed(_SETS))
_NEIGHBOURS = ("neighbours.count", "neighbours.load")
_PAGED = ("memory.latency", "memory.random_access")
RULES = (
    Rule("neighbours", tuple(Layer), neighbours, _NEIGHBOURS, both=False),
    Rule("instruction sets", (Layer.COMPUTE,), instruction_sets, (_FLAGS,), (PEAK,)),
    Rule(
        "BLAS kernels",
        (Layer.COMPUTE, Layer.APP),
        blas_kernels,
        ("library.blas_kernels",),
        only=_BY_BLAS,
    ),
    Rule("clock", (Layer.COMPUTE, *PROGRAM_LAYERS), clock, ("cpu.max_hz or cpu.base_hz",), (PEAK,)),
    Rule("cores", _COMPUTING, cores, ("cpu.allowed or cpu.cores",)),
    Rule("shared cores", (Layer.NETWORK, Layer.MPI, *PROGRAM_LAYERS), shared_cores),
    Rule("emulated processor", (Layer.NETWORK, Layer.MPI, Layer.IO), emulated_processor),
    Rule(
        "memory speed", (Layer.MEMORY, *PROGRAM_LAYERS), memory_speed, ("memory.transfers_per_s",)
    ),
    Rule("pages", (Layer.MEMORY,), pages, ("memory.transparent_hugepages",), only=_PAGED),
)
