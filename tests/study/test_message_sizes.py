"""A study at the message sizes of an application."""

from __future__ import annotations

from typing import Any

import pytest

from bareline.study.catalogue import find_study
from bareline.study.message_sizes import with_message_sizes
from bareline.study.study import study_from_toml

SIZES = [8, 200, 65536]


def study(*measures: dict[str, Any], exhibits: tuple[dict[str, Any], ...] = ()) -> Any:
    content = {"study": {"name": "s"}, "measure": [*measures], "exhibit": [*exhibits]}
    return study_from_toml(content, where="s")


@pytest.mark.parametrize(
    ("params", "listed"),
    [
        ({}, "8,200,65536"),
        ({"max_bytes": 256, "between": True, "budget_s": 1}, "8,200"),
        ({"min_bytes": 64}, "200,65536"),
    ],
)
def test_a_sweep_has_the_sizes_within_its_own_range(params: dict[str, Any], listed: str) -> None:
    sized = with_message_sizes(
        study({"probe": "mpi.allreduce", "ranks": 2, "params": params}), SIZES
    )
    (measure,) = sized.study.measures
    rest = {name: value for name, value in params.items() if name == "budget_s"}
    assert measure.params == {**rest, "sizes_bytes": listed}
    ((_, case),) = sized.study.cases()
    assert sized.study.params_of(case).sizes(8) == [*map(int, listed.split(","))]
    assert not [*sized.lines()]


def test_what_has_no_size_within_its_range_or_none_at_all_stays() -> None:
    stays = (
        {"probe": "mpi.bcast", "ranks": 2, "params": {"min_bytes": 1 << 20}},
        {"probe": "mpi.barrier", "ranks": 2},
        {"probe": "mpi.gather", "ranks": 2, "sweep": {"max_bytes": [64, 128]}},
        {"probe": "null"},
    )
    before = study(*stays)
    sized = with_message_sizes(before, SIZES)
    assert sized.study.measures == before.measures
    assert sized.out_of_range == ("mpi.bcast",)
    assert any("mpi.bcast" in line for line in sized.lines())


def test_exhibits_at_a_size_that_is_not_measured_are_named() -> None:
    exhibit = {"kind": "curve", "probe": "mpi.allreduce", "metric": "latency", "x": "ranks"}
    sized = with_message_sizes(
        study(
            {"probe": "mpi.allreduce", "ranks": [2, 4]},
            exhibits=(
                {**exhibit, "title": "A sum", "where": {"size_bytes": 8}},
                {**exhibit, "title": "A page", "where": {"size_bytes": 4096}},
            ),
        ),
        SIZES,
    )
    assert sized.exhibits == ("A page",)


@pytest.mark.parametrize("name", ["communication", "nebula", "magellan", "ladder-mpi"])
def test_every_case_of_a_study_stays_one_of_its_own(name: str) -> None:
    # Two measures of one probe divide its sizes: no case may appear twice.
    before = find_study(name)
    sized = with_message_sizes(before, [8, 200, 40000, 1 << 20])
    assert len([*sized.study.cases()]) == len([*before.cases()])
    assert sized.probes
