import json
import re
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest

from bareline.report.blocks import Figure
from bareline.report.content.document import Document
from bareline.report.exhibits.base import (
    find_exhibit,
    load_exhibits,
)
from bareline.report.exhibits.columns import graded
from bareline.report.exhibits.page_figures import default_exhibits, draw_figures
from bareline.report.exhibits.shared_axis import parameter_axis
from bareline.report.figures.svg import draw, for_file, for_page, specification, to_png
from bareline.testing.exhibits import seen_as
from bareline.testing.messages import raises
from bareline.vocabulary.caveats import FAILED_TRIALS, Caveat
from bareline.vocabulary.errors import AnalysisError
from bareline.vocabulary.verdicts import Grade, Verdict

from .drawn import check, figures, rows_of


def tips(figure: Figure) -> list[str]:
    """Return each tooltip once."""
    found = rows_of(figure.panels)
    return list(dict.fromkeys(row["tip"] for row in found if "tip" in row))


def test_every_kind_is_found_by_its_name() -> None:
    text = (Path(__file__).parents[3] / "docs" / "reference" / "exhibits.md").read_text()
    assert {*load_exhibits()} == {*re.findall(r"^### `([a-z-]+)`$", text, re.MULTILINE)}
    for kind, exhibit in load_exhibits().items():
        assert exhibit.kind == kind
        assert exhibit.summary


def test_an_unknown_kind_names_the_closest() -> None:
    with raises(AnalysisError, "BL-REPORT-612", "curve"):
        find_exhibit("curves")


def test_defaults_cover_every_metric_that_is_not_a_detail(document: Document) -> None:
    specs = default_exhibits(document)
    assert specs[0].kind == "overview"
    asked = [(spec.kind, spec.probe, spec.metric) for spec in specs[1:]]
    assert ("curve", "mpi.pingpong", "latency") in asked
    assert ("curve", "mpi.pingpong", "bandwidth") in asked
    assert ("bars", "memory.stream", None) in asked
    shown = {
        (figure.probe, field.text)
        for figure in draw_figures(document)[0]
        if figure.data_table is not None
        for row in figure.data_table.rows
        for field in row
    }
    for cell in document.cells:
        if not cell.metric.detail:
            assert (cell.place.probe, cell.platform) in shown


@pytest.mark.parametrize("kind", ["overview", "curve", "bars", "trials", "table"])
def test_every_figure_is_valid_and_complete(document: Document, kind: str) -> None:
    drawn = figures(document, kind=kind)
    assert drawn
    for figure in drawn:
        assert figure.data_table is not None
        assert figure.data_table.rows
        width = len(figure.data_table.columns)
        assert all(len(row) == width for row in figure.data_table.rows)
        if figure.chart is not None:
            check(figure.chart)
            assert figure.text_summary


def test_the_overview_has_a_row_per_subject_and_a_mark_per_platform(document: Document) -> None:
    (figure,) = figures(document, kind="overview")
    told = tips(figure)
    assert len(told) == len(document.findings)
    assert any("vm-e1000, memory bandwidth (STREAM): failed" in tip for tip in told)
    for finding in document.findings:
        if finding.ratio is not None:
            assert any(
                tip.startswith(f"{finding.platform}, {finding.subject}: ")
                and f"n = {finding.n}" in tip
                for tip in told
            )


def test_long_overviews_keep_one_row_per_probe(document: Document) -> None:
    crowded = [
        replace(
            finding,
            title=f"{finding.title}_{i}",
            points=tuple(
                replace(point, place=replace(point.place, probe=f"{finding.probe}_{i}"))
                for point in finding.points
            ),
        )
        for i in range(15)
        for finding in document.findings  # type: ignore[type-var]
    ]
    (figure,) = figures(seen_as(document, findings=crowded), kind="overview")
    probes = {finding.probe for finding in crowded}
    assert figure.data_table is not None
    assert len({row[0].text for row in figure.data_table.rows}) == len(probes)
    assert "rows" in figure.caption


def test_a_curve_shows_every_trial_every_median_and_the_ratio(document: Document) -> None:
    (figure,) = figures(document, kind="curve", probe="mpi.pingpong", metric="latency")
    assert len(figure.panels) == 1
    told = tips(figure)
    trials = [tip for tip in told if ", trial " in tip]
    medians = [tip for tip in told if "n = " in tip]
    assert len(trials) == 3 * 10 * 24
    assert len(medians) == 3 * 24
    assert sum("times slower [" in tip for tip in medians) == 2 * 24


def test_ranks_become_small_multiples_on_common_axes(document: Document) -> None:
    (figure,) = figures(document, kind="curve", probe="mpi.allreduce")
    assert len(figure.panels) == 3
    specs = [json.dumps(panel) for panel in figure.panels]
    domains = {spec[spec.index('"domain"') :][:60] for spec in specs}
    assert len(domains) == 1
    assert figure.data_table is not None
    assert [row[0].text for row in figure.data_table.rows[:1]] == ["2"]


def test_where_and_x_choose_points(document: Document) -> None:
    (figure,) = figures(
        document, kind="curve", probe="mpi.allreduce", x="ranks", where={"size_bytes": [64, 1024]}
    )
    assert figure.title == "Latency by ranks"
    assert len(figure.panels) == 2
    (figure,) = figures(
        document, kind="curve", probe="mpi.pingpong", metric="latency", where={"platform": "bare"}
    )
    assert all(tip.startswith("bare") for tip in tips(figure))


def test_bars_start_at_zero_and_say_what_failed(document: Document) -> None:
    (figure,) = figures(document, kind="bars", probe="memory.stream")
    spec = specification(figure.panels[0])
    domains = [
        layer["encoding"]["x"]["scale"]["domain"]
        for layer in spec["layer"]
        if "domain" in layer["encoding"].get("x", {}).get("scale", {})
    ]
    assert domains and all(domain[0] == 0 for domain in domains)
    failed = {row["y"] for row in rows_of(spec) if row.get("text") == "failed"}
    assert len(failed) == 4
    assert "vm-e1000 failed" in figure.text_summary


def test_curves_are_left_out_where_nothing_varies(document: Document) -> None:
    assert figures(document, kind="curve", probe="compute.dgemm") == []


def test_trials_stand_in_time_order_with_what_was_counted_and_their_median(
    document: Document,
) -> None:
    (figure,) = figures(document, kind="trials", probe="net.nuttcp", metric="rate")
    table = figure.data_table
    assert table is not None
    heads = [column.title for column in table.columns]
    assert heads[:3] == ["trial", "bare (GB/s)", "retrans"]
    assert len(table.rows) == 10
    samples = document.metric_samples["net.nuttcp", "rate"].filter(platform="bare").sort("trial")
    assert [row[1].order for row in table.rows] == samples["value"].to_list()
    counted = document.metric_samples["net.nuttcp", "retransmissions"].filter(platform="bare")
    assert [row[2].order for row in table.rows] == counted.sort("trial")["value"].to_list()
    virtio = [row[3].text for row in table.rows]
    assert virtio[-2:] == ["", ""]
    assert table.foot[0].text == "median"
    assert "2 further trials failed" in figure.caption
    (figure,) = figures(document, kind="trials", probe="net.nuttcp", metric="rate", rule="sorted")
    assert figure.data_table is not None
    bare = [row[1].order for row in figure.data_table.rows]
    assert bare == sorted(bare)  # type: ignore[type-var]


def test_a_table_has_ratio_interval_n_and_caveats(document: Document) -> None:
    (figure,) = figures(document, kind="table", probe="net.nuttcp")
    table = figure.data_table
    assert table is not None
    heads = [column.title for column in table.columns]
    assert heads == ["platform", "ratio", "95 %", "verdict", "median rate (GB/s)", "95 %", "n"]
    virtio = next(row for row in table.rows if row[0].text == "vm-virtio")
    assert virtio[6].text == "8"
    assert virtio[1].tone == "worse"
    assert Caveat(FAILED_TRIALS, some=2) in virtio[4].caveats
    cell = next(
        cell
        for cell in document.cells
        if (cell.platform, cell.place.probe) == ("vm-virtio", "net.nuttcp")
        and cell.place.metric == "rate"
    )
    assert cell.ratio is not None and virtio[1].order == cell.ratio.value
    equal = [
        row
        for row in table.rows
        if row[3].text.removeprefix("likely ") not in ("slower", "faster", "failed", "missing")
    ]
    assert all(row[1].tone in ("", "muted") for row in equal)


def test_crowded_panels_thin_their_dots_and_say_so(planted: Callable[..., Document]) -> None:
    document = planted(("a", "b"), blocks=60, probes=("mpi.pingpong",), broken=False)
    document.__dict__["dots_per_panel"] = 400
    (figure,) = figures(document, kind="curve", probe="mpi.pingpong", metric="latency")
    told = [tip for tip in tips(figure) if ", trial " in tip]
    assert 300 < len(told) <= 400
    assert f"{len(told)} of 2880 trials are drawn as dots" in figure.caption


@pytest.mark.parametrize("kind", ["bars", "pairs"])
def test_crowded_bars_thin_the_dots_of_every_metric(
    planted: Callable[..., Document], kind: str
) -> None:
    document = planted(("a", "b"), blocks=60, probes=("memory.stream",), broken=False)
    document.__dict__["dots_per_panel"] = 20
    (figure,) = figures(document, kind=kind, probe="memory.stream")
    rows = rows_of(figure.panels)
    dots = {(row["y"], row["x"]) for row in rows if ", trial " in row.get("tip", "")}
    assert len(dots) == 4 * 2 * 10
    assert "80 of 480 trials are drawn as dots" in figure.caption


def test_simulated_values_are_hollow(planted: Callable[..., Document]) -> None:
    names = tuple(f"p{i}" for i in range(7))
    document = planted(names, probes=("mpi.pingpong", "compute.dgemm"), blocks=6, broken=False)
    (figure,) = figures(document, kind="curve", probe="mpi.pingpong", metric="latency")
    marks = [row for row in rows_of(figure.panels[0]) if row.get("series") == "p6"]
    assert marks
    assert all(row["fill"] != row["colour"] for row in marks)
    others = [row for row in rows_of(figure.panels[0]) if row.get("series") in names[:6]]
    assert all(row["fill"] == row["colour"] for row in others)
    (overview,) = figures(document, kind="overview")
    hollow = [
        row
        for row in rows_of(overview.panels[0])
        if "shape" in row and row["fill"] != row["colour"]
    ]
    assert hollow and all(row["tip"].startswith("p6,") for row in hollow)


def test_published_ratios_are_diamonds_with_their_source(in_roles: Document) -> None:
    (bars,) = figures(in_roles, kind="bars", probe="net.nuttcp", metric="rate")
    (curve,) = figures(in_roles, kind="curve", probe="mpi.allreduce", x="size_bytes")
    for figure, source in ((bars, "Section V.A"), (curve, "Figure 5")):
        told = [tip for tip in tips(figure) if tip.startswith("published:")]
        assert any(source in tip for tip in told)
        assert '"diamond"' in json.dumps(figure.panels[0])
        assert "published ratio" in figure.caption
        assert figure.data_table is not None
        assert figure.data_table.columns[-4].title == "published ratio"
    assert any("71 to 139 times worse" in tip and "128 ranks" in tip for tip in tips(curve))
    # A published ratio moves the baseline's own value: no absolute figure of 2012 is drawn.
    (base,) = (
        c
        for c in in_roles.cells
        if (c.platform, c.place.probe, c.place.metric) == ("bare", "net.nuttcp", "rate")
    )
    assert base.median is not None
    drawn = [
        row
        for row in rows_of(bars.panels[0])
        if row.get("tip", "").startswith("published:") and "Section V.A" in row["tip"]
    ]
    assert drawn[0]["x"] == pytest.approx(base.median / 1.64 * 1e-9, rel=0.01)


def test_an_exhibit_shows_the_parts_that_it_names(in_roles: Document) -> None:
    (bars,) = figures(
        in_roles, kind="bars", probe="net.nuttcp", metric="rate", published=["nccs:slide-nuttcp"]
    )
    told = [tip for tip in tips(bars) if tip.startswith("published:")]
    assert told and all("NCCS" in tip for tip in told)


def test_platforms_look_the_same_everywhere(document: Document) -> None:
    seen: dict[str, set[tuple[str, str]]] = {}
    for figure in draw_figures(document)[0]:
        for row in rows_of(figure.panels):
            name = row.get("series") or row.get("name")
            if name and "shape" in row:
                seen.setdefault(name, set()).add((row["colour"], row["shape"]))
    assert set(seen) == {"bare", "vm-virtio", "vm-e1000"}
    assert all(len(looks) == 1 for looks in seen.values())
    assert len({next(iter(looks)) for looks in seen.values()}) == 3


def test_drawings_follow_the_page_and_files_do_not(document: Document) -> None:
    (figure,) = figures(document, kind="bars", probe="compute.dgemm")
    drawing = draw(figure.panels[0])
    page = for_page(drawing, label="a & b", prefix="x-")
    assert 'role="img"' in page and 'aria-label="a &amp; b"' in page
    assert "var(--p1)" in page and "#0072b2" not in page
    assert "data-tip" in page and "style=" not in page
    file = for_file(drawing)
    assert "#0072b2" in file and "var(" not in file
    png = to_png(file)
    assert png.startswith(b"\x89PNG") and len(png) > 3000
    assert draw(figure.panels[0]) == drawing


def test_a_file_carries_the_caveats_of_its_values(document: Document) -> None:
    for kind, probe in (("curve", "mpi.pingpong"), ("bars", "compute.dgemm"), ("overview", None)):
        for figure in figures(document, kind=kind, probe=probe):
            assert figure.chart is not None
            file = for_file(draw(figure.chart), figure.caveats)
            told = " ".join(element.text or "" for element in ElementTree.fromstring(file).iter())
            assert "processor time away during the trial (vm-e1000)" in told, figure.id
            height = float(re.search(r'viewBox="0 0 \S+ (\S+)"', file)[1])
            assert all(float(y) < height for y in re.findall(r'<text x="\S+" y="(\S+)"', file))


def test_a_curve_of_one_platform_has_an_axis_and_holds_every_trial(
    planted: Callable[..., Document],
) -> None:
    document = planted(("bare",), probes=("mpi.pingpong",), ranks=(2,), blocks=3, broken=False)
    (figure,) = figures(document, kind="curve", metric="latency")
    drawing = draw(figure.panels[0])
    assert ">Message size<" in drawing and ">64\u00a0B<" in drawing
    (trials, *_) = figure.panels[0]["layer"]
    low, high = trials["encoding"]["y"]["scale"]["domain"]
    values = [row["y"] for row in rows_of(figure.panels[0])
              if "trial" in row.get("tip", "")]  # fmt: skip
    assert len(values) > 60 and low < min(values) and max(values) < high


@pytest.mark.parametrize(
    ("x", "values", "ticks"),
    [
        ("frequency_hz", [0.8632, 3.453, 13.81, 55.24, 221.0, 883.9], ("1", "10", "100", "1000")),
        ("iodepth", [1.0, 4.0, 16.0], ("1", "4", "16")),
        ("iodepth", [0.0, 1.0, 4.0], ("0", "1", "4")),
        (
            "size_bytes",
            [1.0, 4096.0, 262_144.0],
            ("1\u00a0B", "64\u00a0B", "4\u00a0KiB", "256\u00a0KiB"),
        ),
    ],
)
def test_a_curve_has_round_ticks_or_those_of_few_counts(
    x: str, values: list[float], ticks: tuple[str, ...]
) -> None:
    assert parameter_axis(x, values)[0].labels == ticks


def test_exhibits_with_nothing_to_show_are_told(planted: Callable[..., Document]) -> None:
    document = planted(
        probes=("compute.dgemm",),
        exhibits=(
            {"kind": "bars", "probe": "compute.dgemm"},
            {"kind": "curve", "probe": "mpi.pingpong", "title": "Absent"},
        ),
    )
    drawn, empty = draw_figures(document)
    assert drawn[0].id == "overview"
    assert [spec.title for spec in empty] == ["Absent"]


def test_context_metrics_are_shown_without_a_ratio(document: Document) -> None:
    (figure,) = figures(document, kind="table", probe="net.nuttcp", metric="cpu_sender")
    assert figure.data_table is not None
    heads = [column.title for column in figure.data_table.columns]
    assert heads == ["platform", "median CPU sender (%)", "95 %", "n"]


def test_the_empty_message_has_its_place_before_one_byte(document: Document) -> None:
    (figure,) = figures(document, kind="curve", probe="mpi.pingpong", metric="latency")
    spec = json.dumps(specification(figure.panels[0]))
    assert "'0' : abs(datum.value - 1.0)" in spec
    assert figure.data_table is not None
    assert figure.data_table.rows[0][0].text == "0 B"


def test_stacked_bars_divide_the_time_into_computation_and_communication(
    planted: Callable[..., Document],
) -> None:
    document = planted(("bare", "net"), probes=("npb.cg", "compute.dgemm"), broken=False)
    (figure,) = figures(document, kind="stacked", probe="npb.*")
    assert figure.probe == "npb.cg"
    medians = {
        (cell.platform, cell.place.ranks, cell.place.metric): cell.median
        for cell in document.cells
        if cell.place.probe == "npb.cg"
    }
    pieces = [
        row for row in rows_of(figure.panels)
        if "strength" in row
    ]  # fmt: skip
    assert len(pieces) == 2 * 3 * 2
    for y in {row["y"] for row in pieces}:
        dark, light = sorted((row for row in pieces if row["y"] == y), key=_start)
        assert dark["strength"] > light["strength"]
        assert (dark["x"], light["x"]) == (0, dark["end"])
    ends = {
        max(row["end"] for row in pieces if row["y"] == y) for y in {row["y"] for row in pieces}
    }
    sums = {
        medians["bare", ranks, "compute_mean"] + medians["bare", ranks, "communication_mean"]
        for ranks in (2, 4, 8)
    }
    assert all(any(end == pytest.approx(total) for end in ends) for total in sums)
    assert any("; computation " in tip and "; communication " in tip for tip in tips(figure))
    assert "of it communication" in figure.text_summary
    assert figure.data_table is not None
    assert len(figure.data_table.rows) == 3 * 2 * 3


def _start(row: dict[str, Any]) -> float:
    return float(row["x"])


def test_relative_figures_hold_the_ratios_of_all_probes_on_the_same_axes(
    planted: Callable[..., Document],
) -> None:
    document = planted(("bare", "net", "vm"), probes=("npb.cg", "compute.dgemm"), broken=False)
    (figure,) = figures(document, kind="relative", probe="npb.*", metric="time")
    assert (figure.layer, figure.probe) == ("npb", "")
    check(figure.chart)
    compared = [
        cell for cell in document.cells
        if (cell.place.probe, cell.place.metric) == ("npb.cg", "time") and cell.ratio is not None
    ]  # fmt: skip
    assert len(compared) == 3 * 2
    drawn = rows_of(figure.panels)
    marked = {row["y"] for row in drawn if "tip" in row and row["y"] != row["lo"]}
    assert marked == {cell.ratio.value for cell in compared if cell.ratio}
    assert figure.data_table is not None
    assert len(figure.data_table.rows) == len(compared)
    assert all(name in figure.text_summary for name in ("net", "vm"))


def test_programs_of_a_suite_share_one_chart_and_one_panel_a_platform(
    planted: Callable[..., Document],
) -> None:
    document = planted(("bare", "net", "vm"), probes=("npb.cg", "npb.ft"), broken=False)
    (stacked,) = figures(document, kind="stacked", probe="npb.*")
    assert (stacked.layer, stacked.probe) == ("npb", "")
    heads = [
        row["text"] for row in rows_of(stacked.panels)
        if str(row.get("text", "")).endswith(" ranks")
    ]  # fmt: skip
    assert list(dict.fromkeys(heads)) == [
        f"{name}, {ranks} ranks" for ranks in (2, 4, 8) for name in ("CG", "FT")
    ]
    (relative,) = figures(document, kind="relative", probe="npb.*", metric="time")
    assert relative.names == ("net", "vm") and len(relative.panels) == 2
    for name, panel in zip(relative.names, relative.panels, strict=True):
        rows = rows_of([panel])
        assert {row["series"] for row in rows if "series" in row} == {"CG", "FT"}
        assert {row["text"] for row in rows if "text" in row} == {"CG", "FT"}
        assert all(row["tip"].startswith(f"{name}, ") for row in rows if "tip" in row)


def test_relative_figures_need_two_numbers_of_ranks(document: Document) -> None:
    assert figures(document, kind="relative", probe="memory.stream") == []


def test_a_probe_that_tells_no_parts_is_not_stacked(document: Document) -> None:
    assert figures(document, kind="stacked") == []


def test_steps_tell_the_improvement_over_the_step_before_and_the_first(
    planted: Callable[..., Document],
) -> None:
    names = ("bare", "vm-e1000", "vm-virtio")
    document = planted(names, ladder=True, broken=False, probes=("mpi.pingpong",))
    where = {"size_bytes": 8}
    (drawn,) = figures(document, kind="steps", metric="latency", where=where)
    table = drawn.data_table
    assert table is not None
    assert [row[0].text for row in table.rows] == ["vm-e1000", "vm-virtio", "bare"]
    first, second, last = table.rows
    assert [field.text for field in first[1:5]] == ["", "", "", ""]
    # Planted start-up times: 0.9, 14 and 62 microseconds.
    assert second[1].order == pytest.approx(14 / 62, rel=0.1)
    assert second[1].tone == "worse"
    assert last[1].order == pytest.approx(62 / 0.9, rel=0.1)
    assert last[3].order == pytest.approx(14 / 0.9, rel=0.1)
    assert last[3].tone == "better"
    low, high = map(float, last[4].text.split("–"))
    assert low < last[3].order < high


def test_steps_need_a_study_that_is_a_ladder(document: Document) -> None:
    assert figures(document, kind="steps") == []


def test_a_table_says_what_is_likely_and_not_certain() -> None:
    assert graded(Verdict.SLOWER, Grade.CERTAIN, few_boots=False).text == "slower"
    assert graded(Verdict.FASTER, Grade.LIKELY, few_boots=False).text == "likely faster"
    assert graded(Verdict.INCONCLUSIVE, Grade.OPEN, few_boots=False).text == "undecided"
    assert graded(None, None, few_boots=False).text == ""
    assert (
        graded(Verdict.SLOWER, Grade.LIKELY, few_boots=True).text == "likely slower in these boots"
    )
