from bareline.report.cells import numeric_axis, read_cells, varying
from bareline.report.document import Document


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
