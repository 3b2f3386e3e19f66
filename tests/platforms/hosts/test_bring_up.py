"""Nodes that are made come up side by side, and what fails is made anew up to a limit."""

from __future__ import annotations

import pytest

from bareline.platforms.hosts.nodes import bring_up
from bareline.vocabulary.errors import NotNow


class Planted:
    """Nodes by name, each failing so many times at first."""

    def __init__(self, **failures: int) -> None:
        self.left = failures
        self.tried: list[list[str]] = []
        self.ended: list[str] = []
        self.told: list[str] = []
        self.paused: list[int] = []

    def attempt(self, nodes):
        self.tried.append(list(nodes))
        failed = [name for name in nodes if self.left[name] > 0]
        for name in failed:
            self.left[name] -= 1
        return [(name, f"no {len(self.tried)}") for name in failed]

    def up(self, attempts=3):
        bring_up(
            self.left,
            self.attempt,
            self.ended.append,
            label=str,
            attempts=attempts,
            tell=self.told.append,
            hint="wait",
            pause=self.paused.append,
        )


def test_only_what_failed_is_made_again_and_each_attempt_is_told():
    planted = Planted(a=0, b=2, c=1)
    planted.up()
    assert planted.tried == [["a", "b", "c"], ["b", "c"], ["b"]]
    assert planted.ended == ["b", "c", "b"]
    assert planted.paused == [1, 2]
    assert planted.told == [
        "b did not come up, attempt 1 of 3: no 1",
        "c did not come up, attempt 1 of 3: no 1",
        "c came up at attempt 2",
        "b did not come up, attempt 2 of 3: no 2",
        "b came up at attempt 3",
    ]


def test_one_that_fails_every_time_is_ended_and_named_with_every_reason():
    planted = Planted(a=0, b=9)
    with pytest.raises(NotNow) as raised:
        planted.up(attempts=2)
    assert str(raised.value) == "b: the node did not start in 2 attempts: 1. no 1; 2. no 2; wait"
    assert planted.ended == ["b", "b"]
    assert planted.paused == [1]
