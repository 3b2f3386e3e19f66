"""The cause of those who share the machine: named where it differs, and where it can reach."""

import pytest

from bareline.analysis.judgements.causes.cause import CauseStatus
from bareline.analysis.judgements.causes.share import Share

from .planted import SMALL, explained, found, names


def beside(count, load="cpu", promised=None):
    """Give the facts of a platform with neighbours."""
    facts = {"neighbours.count": count, "neighbours.load": load}
    return facts | ({"neighbours.processors_per_core": promised} if promised else {})


ALONE = {"neighbours.count": 0}


def test_who_has_a_third_of_a_core_takes_at_most_three_times_as_long():
    one = explained(found("compute.dgemm", 2.9), facts=beside(2, promised=3.0), base=ALONE)
    (cause,) = one.standing
    assert "2 busy neighbours (load: cpu) take turns" in cause.words
    assert "none beside the baseline" in cause.words and "3 processors" in cause.words
    assert cause.share == Share.at_most(2.0)
    assert one.word is CauseStatus.MAY_EXPLAIN


def test_more_than_its_share_is_not_explained_by_them():
    one = explained(found("compute.dgemm", 9.0), facts=beside(2, promised=3.0), base=ALONE)
    assert one.word is CauseStatus.CONTRIBUTES


def test_one_neighbour_more_counts_by_what_the_baseline_has():
    loss = found("memory.stream", 1.4)
    one = explained(loss, facts=beside(2, promised=3.0), base=beside(1, promised=2.0))
    assert [cause.share.hi for cause in one.standing] == [0.5]
    assert "1 beside the baseline" in one.standing[0].words


def test_ranks_that_wait_for_turns_have_no_bound():
    one = explained(found("mpi.pingpong", 400, **SMALL), facts=beside(1, promised=2.0), base=ALONE)
    assert names(one) == ["neighbours"]
    assert one.standing[0].share is None
    assert (
        "1 busy neighbour (load: cpu) takes turns with it on its cores, none"
        in one.standing[0].words
    )


def test_what_else_they_use_is_said_and_that_time_was_stolen():
    loss = found("net.nuttcp", 2, nodes=2, own_caveats=["steal-time"])
    one = explained(loss, facts=beside(2, "network", promised=3.0), base=ALONE)
    (cause,) = one.standing
    assert "take turns with it on its cores and use its links" in cause.words
    assert cause.words.endswith("a hypervisor took time away")


@pytest.mark.parametrize(
    ("load", "probe", "named"),
    [
        ("memory", "memory.stream", True),
        ("memory", "net.nuttcp", False),
        ("network", "net.nuttcp", True),
        ("network", "compute.dgemm", False),
        ("disk", "io.sequential", True),
        ("disk", "mpi.allreduce", False),
        ("same", "mpi.allreduce", True),
    ],
)
def test_with_cores_of_their_own_they_reach_what_they_share(load, probe, named):
    nodes = {"nodes": 2} if probe in ("net.nuttcp", "mpi.allreduce") else {}
    one = explained(found(probe, 1.5, **nodes), facts=beside(1, load), base=ALONE)
    assert ("neighbours" in names(one)) is named


@pytest.mark.parametrize(
    ("facts", "base"),
    [
        (ALONE, beside(1, promised=2.0)),
        (beside(1, promised=2.0), beside(1, promised=2.0)),
        (beside(2, "idle"), ALONE),
        ({}, ALONE),
    ],
)
def test_as_many_or_idle_ones_are_no_cause(facts, base):
    assert "neighbours" not in names(explained(found("compute.dgemm", 2.0), facts=facts, base=base))
