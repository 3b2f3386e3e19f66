"""Causes in containers: a user namespace for each rank, bounded by one that they share."""

import pytest

from bareline.analysis.judgements.causes.cause import CauseStatus
from bareline.analysis.judgements.causes.search import explain

from .planted import explained, factors, found, names

WITHIN = {"rate": False, "nodes": 1, "ranks": 2, "point": "size_bytes=262144", "base": 44e-6}
EACH = {"container.userns": "per-rank", "container.runtime": "bubblewrap", "mpi.version": "4.1.4"}
SHARED = EACH | {"container.userns": "per-node"}
PIECE = found("mpi.pingpong", 1.0, **(WITHIN | {"point": "size_bytes=4096", "base": 2e-6}))
NAME = "user namespace for each rank"


def test_a_user_namespace_for_each_rank_costs_a_second_copy():
    one = explained(found("mpi.pingpong", 1.9, **WITHIN), PIECE, facts=EACH)
    assert names(one) == [NAME]
    # 64 pieces of 4 KiB and a handshake take 2 us each, and the message without it 44 us.
    assert factors(one) == (1.0, pytest.approx(3.0))
    assert one.word is CauseStatus.MAY_EXPLAIN
    # Much more than a second copy is something else, too.
    more = explained(found("mpi.pingpong", 6.0, **WITHIN), PIECE, facts=EACH)
    assert more.word is CauseStatus.CONTRIBUTES and more.left.lo == pytest.approx(6 / 1.05 - 3)


def test_the_bound_is_of_this_platform_and_size():
    """4.77 times was measured at 64 KiB where a piece takes 1.6 us and CMA 5.7 us."""
    within = WITHIN | {"point": "size_bytes=65536", "base": 5.7e-6}
    piece = found("mpi.pingpong", 1.0, **(WITHIN | {"point": "size_bytes=4096", "base": 1.6e-6}))
    one = explained(found("mpi.pingpong", 4.77, **within), piece, facts=EACH)
    assert factors(one) == (1.0, pytest.approx(18 * 1.6 / 5.7))
    assert one.word is CauseStatus.MAY_EXPLAIN
    # As a bandwidth it is the same.
    rate = {"rate": True, "base": 65536 / 5.7e-6}
    slow = found("mpi.bandwidth", 4.77, **(within | rate))
    piece = found(
        "mpi.bandwidth",
        1.0,
        **(WITHIN | {"point": "size_bytes=4096", "rate": True, "base": 4096 / 1.6e-6}),
    )
    assert explained(slow, piece, facts=EACH).explained == one.explained


def test_without_a_message_that_is_copied_twice_anyway_there_is_no_bound():
    one = explained(found("mpi.pingpong", 4.77, **WITHIN), facts=EACH)
    assert names(one) == [NAME] and one.word is CauseStatus.DIFFERS


@pytest.mark.parametrize(
    ("facts", "base", "more", "why"),
    [
        (SHARED, {}, {}, "its ranks share a user namespace"),
        (EACH, EACH, {}, "both have a user namespace for each rank"),
        (EACH, {}, {"point": "size_bytes=4096"}, "only messages above 4 KiB"),
        (EACH, {}, {"point": ""}, "only messages above 4 KiB"),
        (EACH, {}, {"nodes": 2}, "no ranks share a node"),
        ({}, {}, {}, "container.userns is not known"),
    ],
)
def test_where_it_is_no_cause(facts, base, more, why):
    one = explained(found("mpi.pingpong", 1.9, **(WITHIN | more)), facts=facts, base=base)
    assert not one.known and why in one.absent[NAME]


@pytest.mark.parametrize(
    ("ratio", "facts", "standing", "words"),
    [
        (1.0, SHARED, [NAME], "costs 1.90 [1.72, 2.09] times as much as on q"),
        (1.85, SHARED, [NAME], "which may cost nothing"),
        (2.2, SHARED, [], ""),
        # Another image is another difference.
        (1.0, SHARED | {"container.image": "other"}, [NAME], ""),
    ],
)
def test_the_same_container_shared_by_the_ranks_tells_what_it_costs(ratio, facts, standing, words):
    slow = found("mpi.pingpong", 1.9, **WITHIN)
    other = found("mpi.pingpong", ratio, **WITHIN, platform="q")
    told = explain([slow, PIECE, other], {"vm": EACH, "bare": {}, "q": facts}, "bare")
    one = next(each for each in told if each.finding is slow)
    assert names(one) == standing
    assert words in " ".join(cause.words for cause in one.causes)
    if not standing:
        assert "times as long as on q, where they share one" in one.withdrawn
    elif "costs" in words:
        # 1.9 times the baseline, and 1.9 times the time with shared containers.
        least, most = (1.9 * way * (1 - 1 / (1.9 * way**2)) for way in (1 / 1.05, 1.05))
        assert (one.explained.lo, one.explained.hi) == pytest.approx((least, most))
        assert one.word is CauseStatus.EXPLAINS
