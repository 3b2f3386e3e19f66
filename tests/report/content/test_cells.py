import json
import math
from dataclasses import replace

import polars as pl

from bareline.report.content.cells import numeric_axis, read_cells, varying
from bareline.report.content.document import Document
from bareline.report.content.wording import ratio_interval
from bareline.report.exhibits.base import find_exhibit
from bareline.report.figures.svg import draw
from bareline.store.header import ExhibitSpec


def test_nothing_of_either_frame_is_dropped(document: Document) -> None:
    assert document.comparison is not None
    cells = read_cells(document.summary, document.comparison)
    keys = ["platform", "probe", "params", "ranks", "threads", "nodes", "point", "metric"]
    wanted = set(document.summary.select(keys).iter_rows())
    wanted |= set(document.comparison.select(keys).iter_rows())
    assert len(cells) == len(wanted)
    assert {cell.verdict for cell in cells} >= {"slower", "failed", "missing", ""}
    failed = [cell for cell in cells if cell.verdict == "failed"]
    assert failed and all(cell.value is None and cell.ratio is None for cell in failed)


def test_the_axis_is_the_point_parameter_with_most_numbers(document: Document) -> None:
    allreduce = [cell for cell in document.cells if cell.probe == "mpi.allreduce"]
    assert varying(allreduce) == ("ranks", "size_bytes")
    assert numeric_axis(allreduce) == "size_bytes"
    one_size = [cell for cell in allreduce if cell.coordinates["size_bytes"] == 64]
    assert numeric_axis(one_size) == "ranks"
    assert numeric_axis([cell for cell in one_size if cell.ranks < 8]) is None
    assert numeric_axis([cell for cell in document.cells if cell.probe == "net.nuttcp"]) is None


def test_the_baseline_has_no_ratio(document: Document) -> None:
    own = [cell for cell in document.cells if cell.platform == document.baseline]
    assert own and all(cell.ratio is None and cell.verdict == "" for cell in own)


def test_an_open_end_of_an_interval_is_written_and_drawn(document: Document) -> None:
    assert ratio_interval(9.3, None) == "≥ 9.30"
    assert document.comparison is not None
    open_above = document.comparison.with_columns(pl.lit(math.inf).alias("hi"))
    cells = read_cells(document.summary, open_above)
    assert any(cell.ratio_lo is not None for cell in cells)
    assert all(cell.ratio_hi is None for cell in cells)
    other = replace(document, comparison=open_above)
    (figure,) = find_exhibit("curve").figures(
        other, ExhibitSpec(kind="curve", probe="mpi.pingpong", metric="latency")
    )
    assert "Infinity" not in json.dumps(figure.panels[0].to_dict(validate=False))
    assert "NaN" not in draw(figure.panels[0])
