import json
import math

import polars as pl

from bareline.analysis.numbers.row import Estimate, between, read_rows
from bareline.report.content.cells import numeric_axis
from bareline.report.content.document import Document
from bareline.report.exhibits.base import find_exhibit
from bareline.report.figures.svg import draw
from bareline.testing.exhibits import seen_as
from bareline.vocabulary.exhibit import ExhibitSpec
from bareline.vocabulary.place import KEY, varying


def test_nothing_of_either_frame_is_dropped(document: Document) -> None:
    assert document.points is not None
    cells = read_rows(document.summary, document.points)
    keys = ["platform", *KEY]
    wanted = set(document.summary.select(keys).iter_rows())
    wanted |= set(document.points.select(keys).iter_rows())
    assert len(cells) == len(wanted)
    assert {cell.verdict for cell in cells} >= {"slower", "failed", "missing", None}
    failed = [cell for cell in cells if cell.verdict == "failed"]
    assert failed and all(cell.value is None and cell.ratio is None for cell in failed)


def test_the_axis_is_the_point_parameter_with_most_numbers(document: Document) -> None:
    allreduce = [cell for cell in document.cells if cell.place.probe == "mpi.allreduce"]
    assert varying(cell.place for cell in allreduce) == ("ranks", "size_bytes")
    assert numeric_axis(allreduce) == "size_bytes"
    one_size = [cell for cell in allreduce if cell.place.coordinates["size_bytes"] == 64]
    assert numeric_axis(one_size) == "ranks"
    assert numeric_axis([cell for cell in one_size if cell.place.ranks < 8]) is None
    assert (
        numeric_axis([cell for cell in document.cells if cell.place.probe == "net.nuttcp"]) is None
    )


def test_the_baseline_has_no_ratio(document: Document) -> None:
    own = [cell for cell in document.cells if cell.platform == document.baseline]
    assert own and all(cell.ratio is None and cell.verdict is None for cell in own)


def test_an_open_end_of_an_interval_is_written_and_drawn(document: Document) -> None:
    assert between(Estimate(9.5, 9.3)) == "≥ 9.30"
    assert document.points is not None
    open_above = document.points.with_columns(pl.lit(math.inf).alias("hi"))
    cells = read_rows(document.summary, open_above)
    assert any(cell.ratio and cell.ratio.lo for cell in cells)
    assert all(cell.ratio.hi is None for cell in cells if cell.ratio)
    other = seen_as(document, points=open_above)
    (figure,) = find_exhibit("curve").figures(
        other, ExhibitSpec(kind="curve", probe="mpi.pingpong", metric="latency")
    )
    assert "Infinity" not in json.dumps(figure.panels[0])
    assert "NaN" not in draw(figure.panels[0])
