"""The wrong term of a prediction is the one whose cost was planted wrongly."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from planted_programs import network, profile_of, program

from bareline.predict.applications import Application, ProfiledLaunch
from bareline.predict.case import PredictionCase
from bareline.predict.curves.compute import ComputeFactor
from bareline.predict.curves.costs import Costs
from bareline.predict.replay.engine import replay
from bareline.predict.replay.reference import ReferenceRun
from bareline.predict.validation.wrong import wrong_term
from bareline.vocabulary.model import Layout

SAME = ComputeFactor(1.0, 1.0, 1.0, "the same")
SIZE = 65536


def measured_on(steps, ladder):
    """Return the application on a platform, with the times that its calls take there."""
    done = replay(steps, Costs(ladder))
    streams = []
    for stream, taken in zip(steps.streams, done.taken_s, strict=True):
        each = taken / np.maximum(np.bincount(stream.shape, minlength=len(taken)), 1)
        streams.append(replace(stream, spent_s=each[stream.shape]))
    trace = replace(steps, streams=tuple(streams))
    launch = ProfiledLaunch(Path("x.profile"), Path("x.trace"), Layout(2, 1))
    compute_s = float(trace.streams[0].compute_s.sum())
    object.__setattr__(launch, "profile", profile_of(trace, done.time_s, compute_s=compute_s))
    object.__setattr__(launch, "trace", trace)
    return Application("app", ladder.platform, (launch,), 0)


def case(target, **steps):
    """Predict a program from a fast network to one where the ladder says `target`."""
    fast = network("fast", latency=2e-6, rate=5e9)
    base = measured_on(program(steps=20, size=SIZE, **steps), fast)
    own = base.typical
    return PredictionCase(ReferenceRun(own.profile, own.trace, fast), target, SAME)


def test_a_right_prediction_has_no_wrong_term():
    slow = network("slow", latency=50e-6, rate=1e8)
    assert wrong_term(case(slow), measured_on(program(steps=20, size=SIZE), slow)) is None


@pytest.mark.parametrize(
    ("truth", "compute_s", "name", "too_long"),
    [
        ({"worse": 8.0}, 1e-3, "MPI_Allreduce up to 8 B", False),
        ({"rate": 2e8}, 1e-3, "messages up to 64 KiB", True),
        ({}, 3e-3, "computing", False),
    ],
    ids=["collectives", "bytes", "computing"],
)
def test_the_term_that_was_planted_wrongly_is_named(truth, compute_s, name, too_long):
    planted = {"latency": 50e-6, "rate": 1e8}
    predicted = case(network("slow", **planted))
    real = network("slow", **{**planted, **truth})
    measured = measured_on(program(steps=20, size=SIZE, compute=compute_s), real)
    term = wrong_term(predicted, measured)
    assert term is not None and term.name == name
    assert (term.too_long_s > 0) == too_long
    assert term.share == pytest.approx(term.too_long_s / measured.typical.time_s)
    assert str(term).startswith(f"{name} (")


def test_without_traces_no_term_is_named():
    slow = network("slow", latency=50e-6, rate=1e8)
    measured = measured_on(program(steps=20, size=SIZE), slow)
    known = case(slow)
    object.__setattr__(measured.typical, "trace", None)
    assert wrong_term(known, measured) is None
    untraced = replace(known, base=replace(known.base, trace=None))
    assert wrong_term(untraced, measured_on(program(steps=20, size=SIZE), slow)) is None
    bounds = replace(known, compute=ComputeFactor(None, 0.5, 2.0, "bounds"))
    assert wrong_term(bounds, measured_on(program(steps=20, size=SIZE), slow)) is None
