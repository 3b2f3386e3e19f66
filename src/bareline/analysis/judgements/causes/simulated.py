"""Causes on simulated platforms: only the parameters of their models can differ."""

from __future__ import annotations

from bareline.analysis.judgements.causes.case import LossCase, Rule
from bareline.analysis.judgements.causes.cause import Cause, NoCause, Term
from bareline.analysis.judgements.causes.share import Share
from bareline.vocabulary.facts import format_fact
from bareline.vocabulary.model import PROGRAM_LAYERS, Layer
from bareline.vocabulary.verdicts import DEFAULT_MARGIN


def _given(
    name: str, key: str, words: str, *, higher: bool = False, computes: bool = False
) -> Rule:
    """Return the rule for a parameter of a platform's model that is worse than the baseline's.

    - `computes`: the parameter changes computing in programs; if false, it changes messages.
    """

    def find(case: LossCase) -> Cause | NoCause:
        number, base_number = case.both_numbers(key)
        if number is None or base_number is None:
            return NoCause("it was not given a value above 0")
        if higher:
            worse = base_number / number
        else:
            worse = number / base_number
        if worse <= 1 + DEFAULT_MARGIN:
            return NoCause("it was given no worse a value")
        values = [format_fact(key, value) for value in case.both(key)]
        given = f"{words} was given as {values[0]}, the baseline's as {values[1]}"
        share = Share.at_most(worse - 1)
        return Cause(given, (Term.MODEL,), share)

    layers: tuple[Layer, ...] = PROGRAM_LAYERS
    if not computes:
        layers = (Layer.MPI, *PROGRAM_LAYERS)
    return Rule(f"simulated {name}", layers, find, (key,), between=not computes)


RULES = (
    _given("latency", "sim.latency_s", "its network's latency"),
    _given("rate", "sim.rate_bits_per_s", "its network's rate", higher=True),
    _given("send overhead", "sim.send_overhead_s", "the work on a message sent"),
    _given("receive overhead", "sim.receive_overhead_s", "the work on a message received"),
    _given(
        "message rate", "sim.nic_messages_per_s", "the rate of messages of its NICs", higher=True
    ),
    _given("switch", "sim.oversubscription", "the oversubscription of its switch"),
    _given("computation", "sim.compute_factor", "the time of its computation", computes=True),
)
