"""How often a busy cloud is asked again, after which pauses, and when that ends."""

from __future__ import annotations

import pytest

from bareline.platforms.made.cloud.provider import BackOff, Busy, QuotaReached, Retries
from bareline.testing.messages import raises
from bareline.vocabulary.errors import NotNow

LONG = BackOff(first_s=1.0, longest_s=8.0, most_s=20.0)


class Cloud:
    """Fails as often as it is told to, then gives what was asked for."""

    def __init__(self, *failures):
        self.failures = list(failures)
        self.asked = 0

    def __call__(self):
        self.asked += 1
        if self.failures:
            raise self.failures.pop(0)
        return "made"


@pytest.fixture
def waited():
    return []


@pytest.fixture
def insist(waited):
    return Retries(lambda _: None, LONG, waited.append)


def test_pauses_double_up_to_the_longest():
    assert [LONG.pause_s(n, 0.0, None) for n in (1, 2, 3, 4, 5)] == [1, 2, 4, 8, 8]


def test_gives_up_where_a_pause_does_not_fit_any_more():
    assert LONG.pause_s(5, 12.0, None) == 8
    assert LONG.pause_s(5, 12.1, None) is None
    assert LONG.pause_s(1, 0.0, 20.0) == 20
    assert LONG.pause_s(1, 0.0, 21.0) is None


def test_what_the_cloud_asks_for_is_waited_for_to_the_second(insist, waited):
    cloud = Cloud(Busy("too many", retry_after_s=7.0), Busy("too many", retry_after_s=0.0))
    assert insist.ask("asking", cloud) == "made"
    assert waited == [7.0, 1.0]


def test_own_pauses_are_spread_so_that_many_do_not_come_again_at_once(insist, waited):
    insist.ask("asking", Cloud(*(Busy("500") for _ in range(4))))
    assert len(waited) == 4
    assert all(0.75 * n <= s <= n for n, s in zip((1, 2, 4, 8), waited, strict=True))


def test_ends_with_what_was_said_last(insist):
    cloud = Cloud(*(Busy(f"answer {n}") for n in range(1, 99)))
    with raises(NotNow, "BL-PLATFORMS-703"):
        insist.ask("making it", cloud)
    assert 4 <= cloud.asked <= 8


def test_refusal_is_not_asked_again(insist):
    cloud = Cloud(QuotaReached("no more"))
    with pytest.raises(QuotaReached):
        insist.ask("asking", cloud)
    assert cloud.asked == 1


def test_what_was_made_although_the_answer_was_lost_is_not_made_twice(insist):
    cloud = Cloud(Busy("connection reset"), Busy("connection reset"))
    found = iter([None, "made before"])
    assert insist.ask("making", cloud, lambda: next(found)) == "made before"
    assert cloud.asked == 2


def test_looking_for_it_may_fail_as_well(insist):
    looks = Cloud(Busy("503"))
    cloud = Cloud(Busy("connection reset"))
    assert insist.ask("making", cloud, looks) == "made"
    assert (cloud.asked, looks.asked) == (1, 2)
