"""Causes in containers: a user namespace for each rank, bounded by one that they share."""

import pytest

from bareline.analysis.judgements.causes.cause import Word
from bareline.analysis.judgements.causes.search import explain

from .planted import explained, found, names

WITHIN = {"rate": False, "nodes": 1, "ranks": 2, "point": "size_bytes=262144"}
EACH = {"container.userns": "per-rank", "container.runtime": "bubblewrap", "mpi.version": "4.1.4"}
SHARED = EACH | {"container.userns": "per-node"}
NAME = "user namespace for each rank"


def test_a_user_namespace_for_each_rank_costs_a_second_copy():
    one = explained(found("mpi.pingpong", 1.9, **WITHIN), facts=EACH)
    assert names(one) == [NAME]
    assert one.explained == (1.0, 3.0)
    assert one.word is Word.MAY_EXPLAIN
    # Much more than a second copy is something else, too.
    more = explained(found("mpi.pingpong", 6.0, **WITHIN), facts=EACH)
    assert more.word is Word.CONTRIBUTES and more.residual[0] == pytest.approx(2 / 1.05)


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
    told = explain([slow, other], {"vm": EACH, "bare": {}, "q": facts}, "bare")
    one = next(each for each in told if each.finding is slow)
    assert names(one) == standing
    assert words in " ".join(cause.words for cause in one.causes)
    if not standing:
        assert "times as long as on q, where they share one" in one.withdrawn
    elif "costs" in words:
        assert one.explained == (pytest.approx(1.9 / 1.05**2), 3.0)
        assert one.word is Word.EXPLAINS
