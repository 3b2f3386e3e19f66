"""Losses, measurements and facts as causes see them, made in memory."""

from bareline.analysis.judgements.causes.search import explain
from bareline.analysis.judgements.causes.work import LATENCIES, STREAMS
from bareline.analysis.judgements.findings import Finding
from bareline.analysis.numbers.row import Estimate, Row
from bareline.analysis.numbers.sizes import classes
from bareline.vocabulary.caveats import read_caveats
from bareline.vocabulary.model import Layer, Metric
from bareline.vocabulary.place import Place, varying
from bareline.vocabulary.verdicts import Verdict, grade_of

KEYS = ("sse2", "ssse3", "sse4_1", "sse4_2", "avx", "fma", "avx2", "avx512f")


def processor(*hidden, model="Xeon", emulated=False, **more):
    """Give the facts of a processor that shows all sets but some."""
    facts = {f"cpu.flags.{key}": key not in hidden for key in KEYS}
    return {**facts, "cpu.model": model, "cpu.emulated": emulated, **more}


HASWELL = processor("avx512f")
NEHALEM = processor("avx", "fma", "avx2", "avx512f", model="Intel Core i7 9xx (Nehalem)")
SMALL = {"rate": False, "nodes": 2, "point": "size_bytes=64"}
LARGE = {"rate": False, "nodes": 2, "point": "size_bytes=1048576"}
LAYERS = {layer.value: layer for layer in Layer} | {"net": Layer.NETWORK}


def found(probe, ratio, *, verdict=Verdict.SLOWER, half=1.05, rate=None, nodes=1, **more):
    """Give a finding of one point that is so many times worse, known to a factor of `half`."""
    layer = LAYERS[probe.partition(".")[0]]
    stream = probe in STREAMS
    if rate is None:
        rate = layer not in (Layer.NPB, Layer.APP) and probe not in LATENCIES
    usual = 10e9 if stream else 1e9 if rate else 1e-3
    place = Place(
        probe, more.pop("metric", "m"), more.pop("params", ""), ranks=more.pop("ranks", 1),
        point=more.pop("point", ""), used=nodes,
    )  # fmt: skip
    point = Row(
        place, more.pop("platform", "vm"), layer,
        Metric("bit/s" if stream else "B/s" if rate else "s", "higher" if rate else "lower"),
        baseline="bare", n=10, n_baseline=10, base=Estimate(more.pop("base", usual)),
        ratio=Estimate(ratio, ratio / half, ratio * half), verdict=verdict,
        grade=grade_of(Verdict(verdict), sure=True),
        own_caveats=read_caveats(more.pop("own_caveats", ())),
    )  # fmt: skip
    kind = next(classes([point.place.point]))[0]
    return Finding(probe, (point,), kind, varying([point.place, Place("")]), **more)


def explained(*findings, facts=None, base=None, splits=None, replayed=None):
    """Explain the first of some findings."""
    told = explain(findings, {"vm": facts or {}, "bare": base or {}}, "bare", splits, replayed)
    return next(one for one in told if one.finding is findings[0])


def names(one):
    """Name the causes that stand."""
    return [cause.name for cause in one.standing]


def factors(one):
    """Give the bounds of how many times as long its terms together make it."""
    return 1 + one.explained.lo, 1 + one.explained.hi


def share_of(one, name):
    """Give the share of one of its causes."""
    return next(cause.share for cause in one.standing if cause.name == name)
