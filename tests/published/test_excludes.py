"""What a document leaves out of a figure is not laid beside that figure."""

from __future__ import annotations

import pytest

from bareline.analysis.numbers.row import Row
from bareline.published.catalogue import publications
from bareline.published.ratios import PublishedRatio, published_ratios
from bareline.report.content.published import PublishedPoint, same_place
from bareline.vocabulary.model import Layer, Metric
from bareline.vocabulary.place import Place

EXCLUDING = [
    (result.id, name)
    for study in publications().values()
    for result in study.results
    for name in result.excludes
    if not result.restates
]


def ratio_of(result: str) -> PublishedRatio:
    (found,) = [
        ratio
        for study in publications().values()
        for ratio in published_ratios(study)
        if result in ratio.results
    ]
    return found


def test_some_figures_leave_programs_out() -> None:
    assert len(EXCLUDING) >= 3


@pytest.mark.parametrize(("result", "name"), EXCLUDING)
def test_every_exclusion_is_kept(result: str, name: str) -> None:
    ratio = ratio_of(result)
    point = PublishedPoint(ratio, "p", "b", "short", "label")
    assert ratio.probe_metric is not None
    for member, stays in ((name, False), ("FT", True)):
        probe = f"npb.{member.lower()}"
        assert point.measures(probe, ratio.probe_metric) is stays
        ranks = 16 if "npb-compute-all" in ratio.results else 8
        place = Place(probe, ratio.probe_metric, ranks=ranks, nodes=1, used=1)
        assert same_place(ratio, place) is stays


def test_files_in_one_directory_and_in_many_are_two_rows() -> None:
    """InfiniCloud's Table 4: 1000 files in one directory, 4000 in 30."""
    points = [
        PublishedPoint(ratio, "p", "b", "short", "label")
        for ratio in published_ratios(publications()["infinicloud"])
        if ratio.part == "infinicloud:table-4"
    ]
    for params in ("sync=fsync", "directories=30 sync=fsync"):
        place = Place("io.create", "create_rate", f"files=100 {params}", nodes=1, used=1)
        cell = Row(place, "p", Layer.IO, Metric("1/s", "higher"))
        (about,) = [point for point in points if point.about(cell)]
        assert ("directories" in about.ratio.conditions) == ("directories" in params)
