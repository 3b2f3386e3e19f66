"""What a run may take of a cloud is counted over all times that a platform comes up."""

from __future__ import annotations

import uuid

import pytest

from bareline.platforms.made.cloud.budget import Budget, CloudOptions
from bareline.testing.messages import raises
from bareline.vocabulary.errors import PlatformError, TimeUp


class Clock:
    now_s = 0.0

    def __call__(self):
        return self.now_s


@pytest.fixture
def make():
    name, clock = uuid.uuid4().hex, Clock()

    def give(**options):
        return Budget(name, CloudOptions(**options), clock), clock

    return give


def test_instances_that_replace_others_count(make):
    budget, _ = make(max_instances=3)
    for number in range(3):
        budget.begin(f"n{number}")
        budget.end(f"n{number}")
    later, _ = make(max_instances=3)
    with raises(PlatformError, "BL-PLATFORMS-650", "3"):
        later.begin("n4")


def test_hours_of_all_instances_are_added(make):
    budget, clock = make(max_hours=3)
    budget.begin("n1")
    budget.begin("n2")
    clock.now_s = 3600.0
    assert budget.hours == 2
    budget.end("n1")
    budget.end("n1")
    budget.see()
    clock.now_s = 7200.0
    assert budget.hours == 3
    with raises(TimeUp, "BL-PLATFORMS-199", "3"):
        budget.see()
    with pytest.raises(TimeUp):
        budget.begin("n3")


def test_without_limits_nothing_is_refused(make):
    budget, clock = make()
    for number in range(50):
        budget.begin(f"n{number}")
    clock.now_s = 1e7
    budget.see()
