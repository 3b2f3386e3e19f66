"""The calibration of simulated platforms on the page: nothing that is not in the run directory."""

from dataclasses import replace

import pytest

from bareline.report.content.document import PlatformInfo
from bareline.report.exhibits.base import find_exhibit
from bareline.report.exhibits.page_figures import draw_figures
from bareline.store.header import CalibrationKeys, read_header
from bareline.testing.exhibits import planted_document  # noqa: F401 - a fixture
from bareline.testing.messages import raises
from bareline.vocabulary.errors import StoreError
from bareline.vocabulary.exhibit import ExhibitSpec

KEYS = CalibrationKeys(
    curve=[[0, 9e-6], [1024, 11e-6], [65_536, 90e-6]],
    checks=[
        ["mpi.pingpong", 2, "size_bytes=0", "s", 9e-6, 9e-6],
        ["mpi.allreduce", 2, "size_bytes=8", "s", 10e-6, 11e-6],
        ["mpi.allreduce", 2, "size_bytes=1024", "s", 20e-6, 14e-6],
        ["npb.cg", 2, "problem_class=W", "s", 0.0, 0.1],
        ["npb.cg", 2, "problem_class=A", "s", 0.5, 0.45],
    ],
    error=0.2,
    source="ping-pong of net, run one",
)


@pytest.fixture
def calibrated(planted_document):  # noqa: F811
    first, *others = planted_document.platforms
    platforms = [PlatformInfo(first.name, first.title, "sim", KEYS), *others]
    return replace(planted_document, platforms=platforms)


def test_every_calibrated_platform_has_its_errors_on_the_page(calibrated):
    figures, _ = draw_figures(calibrated)
    (figure,) = [one for one in figures if one.id.startswith("calibration")]
    assert "an interval of 20%" in figure.caption and "run one" in figure.caption
    rows = {row[0].text: [field.text for field in row] for row in figure.data_table.rows}
    assert rows["mpi.pingpong"][2:5] == ["1", "0.0", "+0.0"]
    assert rows["mpi.pingpong"][-1] == "yes" and rows["mpi.allreduce"][-1] == "no"
    # Errors of +10 % and -30 %: the median of their sizes is 20 %, the worst has its place.
    assert rows["mpi.allreduce"][2:6] == ["2", "20.0", "-30.0", "1 KiB"]
    # What was measured as zero has no relative error.
    assert rows["npb.cg"][2] == "1"
    assert len(figure.data) == 4


def test_a_probe_may_be_chosen_and_measured_platforms_have_none(calibrated, planted_document):  # noqa: F811
    exhibit = find_exhibit("calibration")
    (figure,) = exhibit.figures(calibrated, ExhibitSpec(kind="calibration", probe="npb.*"))
    assert [row[0].text for row in figure.data_table.rows] == ["npb.cg"]
    assert exhibit.figures(planted_document, ExhibitSpec(kind="calibration")) == []


def test_damaged_checks_are_named_with_their_key(make_run):
    run = make_run({"a": {}, "b": {}})
    path = run.path / "run.toml"
    text = path.read_text()
    assert '[platform.a]\ntype = "null"' in text
    path.write_text(
        text.replace(
            '[platform.a]\ntype = "null"', '[platform.a]\ntype = "sim"\nchecks = [["mpi.x", 2]]'
        )
    )
    with raises(StoreError, "BL-STORE-641"):
        read_header(run.path)
