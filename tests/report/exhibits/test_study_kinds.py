"""The kinds that the published studies ask for, on planted costs and published figures."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from bareline.report.blocks import Figure, Table
from bareline.report.content.document import Document
from bareline.report.figures.svg import draw

from .drawn import rows_of as drawn_rows

Draw = Callable[..., list[Figure]]
Rows = Callable[[Figure], list[dict[str, Any]]]


def table_of(figure: Figure) -> Table:
    assert figure.data_table is not None
    return figure.data_table


def column(figure: Figure, head: str) -> list[Any]:
    table = table_of(figure)
    place = [one.title for one in table.columns].index(head)
    return [row[place] for row in table.rows]


def test_factors_tell_values_factor_and_what_is_lost(in_roles: Document, figures: Draw) -> None:
    (figure,) = figures(in_roles, kind="factors")
    told = zip(column(figure, "benchmark"), column(figure, "platform"), strict=True)
    names = [(probe.text, platform.text) for probe, platform in told]
    place = names.index(("TCP throughput (nuttcp)", "vm-virtio"))
    ratio = column(figure, "factor")[place].order
    assert ratio == pytest.approx(9.6, rel=0.05)
    assert column(figure, "performance lost (%)")[place].order == pytest.approx(
        100 * (1 - 1 / ratio)
    )
    source = column(figure, "published ratio")[place]
    assert "1.64" in source.text and "Section V.A" in source.tip
    assert source.link.startswith("published-")
    failed = names.index(("Memory bandwidth (STREAM)", "vm-e1000"))
    assert column(figure, "factor")[failed].text == "–"
    assert column(figure, "performance lost (%)")[failed].text == "–"
    assert column(figure, "verdict")[failed].text == "failed"


def test_a_reporting_rule_is_named_and_drops_the_interval(
    in_roles: Document, figures: Draw
) -> None:
    spec = {"kind": "factors", "probe": "net.nuttcp", "metric": "rate"}
    (plain,) = figures(in_roles, **spec)
    (figure,) = figures(in_roles, **spec, rule="best-against-worst")
    assert "InfiniCloud" in figure.caption and "InfiniCloud" not in plain.caption
    assert "95 %" in [one.title for one in table_of(plain).columns]
    assert "95 %" not in [one.title for one in table_of(figure).columns]
    samples = in_roles.metric_samples["net.nuttcp", "rate"]
    best = samples.filter(platform="bare")["value"].max()
    worst = samples.filter(platform="vm-virtio")["value"].min()
    assert column(figure, "factor")[0].order == pytest.approx(best / worst)  # type: ignore[operator]
    (mean,) = figures(in_roles, **spec, rule="mean")
    assert "means of the trials" in mean.caption


def test_scaling_of_a_program_has_an_ideal_line_and_efficiency(
    in_roles: Document, figures: Draw, rows_of: Rows
) -> None:
    (figure,) = figures(in_roles, kind="scaling", probe="npb.cg", metric="time")
    values = {
        (cell.platform, cell.place.ranks): cell.median
        for cell in in_roles.cells
        if (cell.place.probe, cell.place.metric) == ("npb.cg", "time")
    }
    shares = {
        (row[0].text, int(row[1].order)): row[-3].order  # type: ignore[arg-type]
        for row in table_of(figure).rows
    }
    assert shares["bare", 2] == pytest.approx(100)
    assert shares["vm-virtio", 8] == pytest.approx(
        100 * values["vm-virtio", 2] * 2 / (values["vm-virtio", 8] * 8)
    )
    assert ("vm-e1000", 8) not in shares, "what was not measured has no efficiency"
    assert "Parallel efficiency" in draw(figure.panels[0])
    (weak,) = figures(in_roles, kind="scaling", probe="npb.cg", metric="time", scaling="weak")
    weak_shares = {(row[0].text, row[1].order): row[-3].order for row in table_of(weak).rows}
    assert weak_shares["bare", 8.0] == pytest.approx(100 * values["bare", 2] / values["bare", 8])
    assert "the problem grows" in weak.caption


def test_scaling_of_an_mpi_function_has_the_ratio_and_no_ideal(
    in_roles: Document, figures: Draw
) -> None:
    (figure,) = figures(in_roles, kind="scaling", probe="mpi.allreduce", where={"size_bytes": 1024})
    drawn = draw(figure.panels[0])
    assert "efficiency" not in drawn and "Ratio to bare" in drawn
    assert "Dashed: ideal" not in figure.caption


def test_relative_performance_starts_from_the_baselines_fewest_ranks(
    in_roles: Document, figures: Draw
) -> None:
    (figure,) = figures(in_roles, kind="relative-performance", probe="npb.*", metric="time")
    speeds = {(row[1].text, row[2].order): row[3].order for row in table_of(figure).rows}
    assert speeds["bare", 2.0] == pytest.approx(1)
    values = {(c.platform, c.place.ranks): c.median for c in in_roles.cells
              if (c.place.probe, c.place.metric) == ("npb.cg", "time")}  # fmt: skip
    assert speeds["vm-virtio", 8.0] == pytest.approx(values["bare", 2] / values["vm-virtio", 8])


def test_degradation_is_in_percent_from_zero_with_published_losses(
    in_roles: Document, figures: Draw, rows_of: Rows
) -> None:
    (figure,) = figures(in_roles, kind="degradation", probe="npb.*", metric="time")
    bars = [row for row in rows_of(figure) if "strength" in row]
    assert bars and all(row["x"] == 0 for row in bars)
    ratios = {(c.platform, c.place.ranks): c.ratio.value for c in in_roles.cells
              if (c.place.probe, c.place.metric) == ("npb.cg", "time") and c.ratio}  # fmt: skip
    assert {round(row["end"], 6) for row in bars} == {
        round(100 * (1 - 1 / ratio), 6) for ratio in ratios.values()
    }
    told = [row["tip"] for row in rows_of(figure) if row.get("tip", "").startswith("published")]
    assert any("Figure 14" in tip for tip in told)


def test_pairs_write_the_loss_beside_the_value(
    in_roles: Document, figures: Draw, rows_of: Rows
) -> None:
    (figure,) = figures(in_roles, kind="pairs", probe="net.nuttcp", metric="rate")
    texts = {row["name"]: row["text"] for row in rows_of(figure) if "top" in row and "text" in row}
    assert "%" not in texts["bare"]
    assert "(−89" in texts["vm-virtio"]


def test_pairs_say_no_loss_of_an_emulated_processor(
    planted: Callable[..., Document], figures: Draw, rows_of: Rows
) -> None:
    """Names beyond the third are planted with other costs; the fifth has an emulated processor."""
    document = planted(("bare", "b", "c", "d", "emulated"), broken=False)
    (figure,) = figures(document, kind="pairs", probe="compute.dgemm", metric="rate")
    texts = {row["name"]: row["text"] for row in rows_of(figure) if "top" in row and "text" in row}
    assert texts["emulated"].endswith("(not comparable)")
    assert "%" in texts["d"]
    (lost,) = figures(document, kind="degradation", probe="compute.dgemm", metric="rate")
    assert "emulated" not in {row["name"] for row in rows_of(lost) if "zero" in row}
    assert any(
        (row.get("name"), row.get("text")) == ("emulated", "not comparable")
        for row in rows_of(lost)
    )


def test_every_trial_of_bars_lies_on_their_axis(in_roles: Document, figures: Draw) -> None:
    trials = 0
    for figure in figures(in_roles, kind="bars"):
        for panel in figure.panels:
            (end,) = {
                one["encoding"]["x"]["scale"]["domain"][1]
                for one in panel["layer"]
                if "scale" in one["encoding"].get("x", {})
            }
            dots = [row["x"] for row in drawn_rows(panel) if ", trial " in row.get("tip", "")]
            assert max(dots, default=0) <= end
            trials += len(dots)
    assert trials > 100


def test_characteristics_stand_beside_the_published_ones(in_roles: Document, figures: Draw) -> None:
    (figure,) = figures(in_roles, kind="characteristics", published=["nebula:table-1"])
    heads = [one.title for one in table_of(figure).columns]
    assert "Nebula (cloud), published" in heads
    rows = {row[1].text: row[heads.index("Nebula (cloud), published")]
            for row in table_of(figure).rows}  # fmt: skip
    assert "X5660" in rows["Processor"].text
    assert "Table I" in rows["Processor"].tip
    assert all(row[2].text == "–" for row in table_of(figure).rows), "no fact was told here"


def test_suitability_has_a_row_per_class_and_its_reasons(in_roles: Document, figures: Draw) -> None:
    (matrix,) = figures(in_roles, kind="suitability")
    heads = [one.title for one in table_of(matrix).columns]
    own = heads.index("vm-virtio")
    assert heads[0] == "applications" and heads[own : own + 2] == ["vm-virtio", "vm-e1000"]
    assert own > 1 and all(head.endswith(", published") for head in heads[1:own])
    rows = {row[0].text: row for row in table_of(matrix).rows}
    assert rows["Small-message collectives"][own].text.startswith("not suited")
    assert rows["I/O-bound"][own].text == "not measured"
    told = rows["Small-message collectives"][own].note
    assert "times worse" in told or "performance is left" in told
    assert rows["I/O-bound"][own].note == ""


def test_published_trials_are_listed_beside_ours(in_roles: Document, figures: Draw) -> None:
    (figure,) = figures(
        in_roles, kind="trials", probe="net.nuttcp", metric="rate", published=["nccs:slide-nuttcp"]
    )
    heads = [one.title for one in table_of(figure).columns]
    assert "the cloud, published (Mb/s)" in heads
    place = heads.index("the HPC system, published (Mb/s)")
    assert table_of(figure).rows[0][place].text.startswith("4418.8")
    assert len(table_of(figure).rows) == 10
    # NCCS: 4418.8 Mb/s in the first trial, 9403.7 in most that followed.
    assert "The first trial over the median of the later ones: " in figure.caption
    assert "the HPC system, published 0.469" in figure.caption


def test_trials_are_a_strip_with_printed_ones_hollow_above(
    in_roles: Document, figures: Draw, rows_of: Rows
) -> None:
    spec = {"kind": "trials", "probe": "net.nuttcp", "metric": "rate"}
    (figure,) = figures(in_roles, **spec, published=["nccs:slide-nuttcp"])
    over_time = [row for row in rows_of(figure) if row.get("tip", "").startswith("bare, trial ")]
    assert [row["x"] for row in over_time] == list(range(1, 11))
    (figure,) = figures(in_roles, **spec, published=["nccs:slide-nuttcp"], rule="sorted")
    own = [row for row in rows_of(figure) if row.get("tip", "").startswith("bare, trial ")]
    assert len(own) == 10 and len({row["y"] for row in own}) == 1
    assert figure.narrow and "median" in figure.text_summary
    # Planted are bytes; what is printed in bits is only listed.
    assert not any(row.get("tip", "").startswith("published") for row in rows_of(figure))
