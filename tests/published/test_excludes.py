"""What a document leaves out of a figure is not laid beside that figure."""

from __future__ import annotations

import pytest

from bareline.published.catalogue import publications
from bareline.published.ratios import PublishedRatio, published_ratios
from bareline.report.content.published import PublishedPoint, same_place
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
