"""Causes on simulated platforms: what the models were given, which is all that can differ.

A simulation differs from another one by its parameters only, so that a parameter that differs is
the cause, and nothing else is looked for.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from bareline.analysis.judgements.causes.case import Case, number
from bareline.analysis.judgements.causes.cause import DECADE, WITHIN_NODE, Absent, Cause
from bareline.analysis.judgements.rule import Need, Rule
from bareline.vocabulary.facts import format_fact
from bareline.vocabulary.model import Layer
from bareline.vocabulary.verdicts import DEFAULT_MARGIN


@dataclass(frozen=True, slots=True)
class _Parameter:
    """A parameter of a simulated platform.

    - `name`: what the cause is called.
    - `key`: the fact that holds it.
    - `words`: what it is, as the subject of "was given as".
    - `higher`: whether more of it is better.
    - `computes`: whether it is of computation: it then concerns programs, not messages.
    """

    name: str
    key: str
    words: str
    higher: bool = False
    computes: bool = False


_GIVEN = (
    _Parameter("simulated latency", "sim.latency_s", "its network's latency"),
    _Parameter("simulated rate", "sim.rate_bits_per_s", "its network's rate", higher=True),
    _Parameter("simulated send overhead", "sim.send_overhead_s", "the work on a message sent"),
    _Parameter(
        "simulated receive overhead", "sim.receive_overhead_s", "the work on a message received"
    ),
    _Parameter(
        "simulated message rate",
        "sim.nic_messages_per_s",
        "the rate of messages of its NICs",
        higher=True,
    ),
    _Parameter("simulated switch", "sim.oversubscription", "the oversubscription of its switch"),
    _Parameter(
        "simulated computation", "sim.compute_factor", "the time of its computation", computes=True
    ),
)
_PROGRAMS = (Layer.NPB, Layer.APP)


def _given(parameter: _Parameter) -> Callable[[Case], Cause | Absent]:
    """Make the rule that a parameter was given another value."""

    def find(case: Case) -> Cause | Absent:
        if not case.uses_network and not parameter.computes:
            return WITHIN_NODE
        own, base = (number(facts, parameter.key) for facts in (case.facts, case.baseline_facts))
        if own is None or base is None:
            return Absent("it was not given a value above 0")
        worse = base / own if parameter.higher else own / base
        if worse <= 1 + DEFAULT_MARGIN:
            return Absent("it was given no worse a value")
        values = [format_fact(parameter.key, value) for value in case.both(parameter.key)]
        words = f"{parameter.words} was given as {values[0]}, the baseline's as {values[1]}"
        # Far apart, it bounds nothing; it is what differs all the same.
        return Cause(words, 1.0, worse if worse <= DECADE else None)

    return find


RULES = tuple(
    Rule(
        parameter.name,
        _PROGRAMS if parameter.computes else (Layer.MPI, *_PROGRAMS),
        _given(parameter),
        (Need.any(parameter.key),),
    )
    for parameter in _GIVEN
)
