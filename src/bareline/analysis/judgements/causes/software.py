"""Causes in what runs below a program: another MPI library, another kernel."""

from __future__ import annotations

import re

from bareline.analysis.judgements.causes.case import Case, Facts
from bareline.analysis.judgements.causes.cause import Absent, Cause
from bareline.analysis.judgements.rule import Need, Rule
from bareline.vocabulary.facts import format_fact
from bareline.vocabulary.model import Layer


def mpi_library(case: Case) -> Cause | Absent:
    """Another MPI library, or another version of it: what is compared are the libraries, too."""
    own, base = _library(case.facts), _library(case.baseline_facts)
    if own == base:
        return Absent(f"both run {own}")
    return Cause(f"it runs {own}, the baseline {base}: what differs may be the library's doing")


def kernel(case: Case) -> Cause | Absent:
    """Another kernel, of which messages, files and timers are; names of builds are no difference.

    Only between like and like: a guest and its host have two kernels anyway.
    """
    if case.facts.get("virt.kind") != case.baseline_facts.get("virt.kind"):
        return Absent("a machine and a guest have kernels of their own")
    own, base = _kernel(case.facts), _kernel(case.baseline_facts)
    if own == base:
        return Absent(f"both run Linux {own}")
    return Cause(f"its kernel is Linux {own}, the baseline's is {base}")


def _library(facts: Facts) -> str:
    flavour = format_fact("mpi.flavour", facts["mpi.flavour"])
    return f"{flavour} {facts['mpi.version']}"


def _kernel(facts: Facts) -> str:
    """Give a kernel's version without what a distribution adds: ``6.1`` of ``6.1.0-50-amd64``."""
    found = re.match(r"\d+\.\d+", str(facts["kernel.release"]))
    return found[0] if found else str(facts["kernel.release"])


RULES = (
    Rule(
        "MPI library",
        (Layer.MPI, Layer.NPB, Layer.APP),
        mpi_library,
        (Need.any("mpi.flavour"), Need.any("mpi.version")),
    ),
    Rule(
        "kernel",
        (Layer.NETWORK, Layer.MPI, Layer.IO, Layer.APP),
        kernel,
        (Need.any("kernel.release"),),
    ),
)
