"""What is named as the reason of a bad prediction."""

from __future__ import annotations

import math
from pathlib import Path

import pytest
from planted_programs import network, profile_of, program

from bareline.predict.applications import Application, ProfiledLaunch
from bareline.predict.case import PredictionCase
from bareline.predict.curves.compute import ComputeFactor
from bareline.predict.curves.costs import connections
from bareline.predict.replay.reference import ReferenceRun
from bareline.predict.validation.cross_validation import reasons
from bareline.vocabulary.model import Layout

SAME = ComputeFactor(1.0, 1.0, 1.0, "the same")


def application(name: str, walls: list[float], compute_s: float) -> Application:
    launches = []
    for wall in walls:
        launch = ProfiledLaunch(Path("x.profile"), Path("x.trace"), Layout(2, 1))
        planted = profile_of(program(), wall, compute_s=compute_s)
        object.__setattr__(launch, "profile", planted)
        launches.append(launch)
    return Application("app", name, tuple(launches), 0)


def told(*, computing=0.5, walls=(1.0, 1.0, 1.0), error=0.2, cores=None, reproduced=1.0):
    base = application("a", [1.0, 1.0, 1.0], 0.5)
    target = application("b", list(walls), computing)
    case = PredictionCase(
        ReferenceRun(base.typical.profile, None, network("a")), network("b", cores=cores), SAME
    )
    return reasons(case, base, target, math.log1p(error), reproduced)


def test_computing_that_took_less_there_explains_a_prediction_that_is_too_long():
    assert "computing took 0.60 times" in told(computing=0.3, error=0.2)[0]
    # It would have made the prediction too short, not too long.
    assert not any("computing" in one for one in told(computing=0.8, error=0.2))


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"walls": (0.8, 1.0, 1.3)}, "its launches on b take"),
        ({"reproduced": 0.9}, "the replay takes 0.90"),
        ({"cores": 1}, "share cores"),
        ({}, "no measurement shows it"),
    ],
)
def test_what_is_large_enough_is_named(given, words):
    assert any(words in one for one in told(**given))


def test_a_small_error_wants_no_reason():
    assert told(error=0.01, computing=0.3) == ()


def test_connections_are_the_ranks_that_a_rank_talks_to():
    assert connections(profile_of(program(ranks=2), 1.0, compute_s=0.5)) == 1
    # A reduction over eight ranks is a tree of three messages.
    assert connections(profile_of(program(ranks=8), 1.0, compute_s=0.5)) == 3
