"""A cause: a kernel that reads the time from another source than the baseline's."""

from __future__ import annotations

from bareline.analysis.judgements.causes.case import LossCase, Rule
from bareline.analysis.judgements.causes.cause import Cause, NoCause
from bareline.vocabulary.model import Layer


def timekeeper(case: LossCase) -> Cause | NoCause:
    """Compare the clock sources; nothing bounds the cost of another one."""
    ours, baseline = case.both("clock.source")
    if ours == baseline:
        return NoCause(f"both kernels read the time from {ours}")
    return Cause(f"its kernel reads the time from {ours}, the baseline's from {baseline}")


RULE = Rule(
    "timekeeper",
    (Layer.NETWORK, Layer.MPI, Layer.NPB, Layer.APP),
    timekeeper,
    needs=("clock.source",),
)
