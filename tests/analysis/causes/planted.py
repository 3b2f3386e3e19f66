"""Losses, measurements and facts as causes see them, made in memory."""

from dataclasses import replace

from bareline.analysis.judgements.causes.search import explain
from bareline.testing.causes import MadeLoss

KEYS = ("sse2", "ssse3", "sse4_1", "sse4_2", "avx", "fma", "avx2", "avx512f")


def processor(*hidden, model="Xeon", emulated=False, **more):
    """Give the facts of a processor that shows all sets but some."""
    facts = {f"cpu.flags.{key}": key not in hidden for key in KEYS}
    return {**facts, "cpu.model": model, "cpu.emulated": emulated, **more}


HASWELL = processor("avx512f")
NEHALEM = processor("avx", "fma", "avx2", "avx512f", model="Intel Core i7 9xx (Nehalem)")
SMALL = {"rate": False, "nodes": 2, "point": "size_bytes=64"}
LARGE = {"rate": False, "nodes": 2, "point": "size_bytes=1048576"}


def found(probe, ratio, *, metric="m", **more):
    """Return a finding of one point that is so many times worse."""
    finding = MadeLoss(probe=probe, ratio=ratio, **more).finding()
    (point,) = finding.points
    return replace(finding, points=(replace(point, place=replace(point.place, metric=metric)),))


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
