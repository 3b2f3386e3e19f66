"""What is told of what is missing: each layout by itself, as every other case."""

from __future__ import annotations

from collections.abc import Callable

from bareline.report.content import gaps
from bareline.report.content.document import Document
from bareline.vocabulary.exhibit import ExhibitSpec


def test_each_layout_has_a_line_of_its_own(planted: Callable[..., Document]) -> None:
    document = planted(probes=("mpi.allreduce",), ranks=(2, 4), nodes=(1, 2))
    found = gaps.find(document, ())
    lost = [hole.case for hole in found.holes]
    assert lost == [
        "mpi.allreduce, 4 ranks within a node",
        "mpi.allreduce, 4 ranks between two nodes",
    ]


def test_a_failed_case_is_worded_as_everywhere(document: Document) -> None:
    found = gaps.find(document, [ExhibitSpec(kind="curve", probe="npb.cg")])
    cases = {failure.case for failure in found.failures}
    assert cases == {"net.nuttcp", "memory.stream"}
    assert found.empty == ("curve of npb.cg",)
