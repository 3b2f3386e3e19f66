"""Printed ranges beside a run's own ratios: what lies inside, and what must not be compared."""

import pytest

from bareline.report.exhibits.printed_ranges import SINGLE, RatioLine

ROLES = {
    "native": {"title": "the HPC system", "platform": "bare", "published": ["nebula:pleiades"]},
    "virtual": {"title": "the cloud", "platform": "vm-virtio", "published": ["nebula:nebula"]},
}
KIND = "against-published"
HOW = {"roles": ROLES, "probes": ("mpi.allreduce", "npb.cg"), "broken": False, "blocks": 7}


@pytest.fixture(scope="module")
def cloud(planted):
    return planted(("bare", "vm-virtio"), ranks=(16, 32, 64, 128), **HOW)


def rows(figure):
    return {row[0].text: row for row in figure.data_table.rows}


def row_of(figure, *words):
    (found,) = [row for name, row in rows(figure).items() if all(word in name for word in words)]
    return found


def test_values_at_the_printed_ranks_are_counted(cloud, figures):
    (figure,) = figures(cloud, kind=KIND, published=["nebula:figure-14"])
    # Total time of CG: planted ratios from 20/ranks of computation and messages 15 times slower.
    ratios = {
        cell.place.ranks: cell.ratio.value
        for cell in cloud.cells
        if (cell.place.probe, cell.place.metric, cell.platform) == ("npb.cg", "time", "vm-virtio")
    }
    assert set(ratios) == {16, 32, 64, 128}
    for words, ranks, low, high in (
        (("4 to 32",), (16, 32), 1.1, 2.2),
        (("above 32",), (64, 128), 1.8, 5.6),
    ):
        row = row_of(figure, "NPB", *words)
        inside = sum(low <= ratios[count] <= high for count in ranks)
        assert (row[4].text, row[5].text) == (str(inside), str(len(ranks) - inside))
    inside, outside = (sum(int(row[k].text) for row in figure.data_table.rows) for k in (4, 5))
    assert f"{inside} of {inside + outside} points lie inside" in figure.caption
    assert [field.text for field in figure.data_table.foot[4:6]] == [str(inside), str(outside)]


def test_a_single_printed_number_is_a_range_around_it(planted, figures):
    ours = planted(("bare", "vm-virtio"), ranks=(60, 120), **HOW)
    (figure,) = figures(ours, kind=KIND)
    # 60 and 120 ranks are none of the 128 that the paper names for its all-reduce.
    assert not [name for name in rows(figure) if "Allreduce" in name and "128 ranks" in name]
    (point,) = [p for p in ours.published if p.low == p.high and p.ratio.results == ("mitgcm-60",)]
    cell = next(cell for cell in ours.cells if cell.platform == "vm-virtio")
    factors = (0.99 / SINGLE, 1 / SINGLE + 0.01, 1.2)
    line = RatioLine.of(point, [(cell, 1.4 * factor) for factor in factors])
    assert line.inside == 2


def test_simulated_values_are_not_divided_by_measured_ones(planted, figures):
    names = ("bare", "a", "b", "c", "d", "e", "vm-virtio")  # the seventh is planted as simulated
    ours = planted(names, ranks=(16, 32), **HOW)
    assert figures(ours, kind=KIND) == []
