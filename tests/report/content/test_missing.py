"""What is told of what is missing: each layout by itself, as every other case."""

from __future__ import annotations

from collections.abc import Callable

from bareline.report.blocks import Block, Prose, Section, Table
from bareline.report.content.document import Document
from bareline.report.content.missing import missing_blocks
from bareline.vocabulary.exhibit import ExhibitSpec


def rows_of(blocks: list[Block], title: str) -> list[tuple[str, ...]]:
    """Return the fields of the table in the section of a title."""
    (table,) = (block for one in blocks if isinstance(one, Section) and one.title == title
                for block in one.blocks if isinstance(block, Table))  # fmt: skip
    return [tuple(field.plain for field in row) for row in table.rows]


def test_each_layout_has_a_line_of_its_own(planted: Callable[..., Document]) -> None:
    document = planted(probes=("mpi.allreduce",), ranks=(2, 4), nodes=(1, 2))
    lost = [case for _, case, _ in rows_of(missing_blocks(document, ()), "Missing values")]
    assert lost == [
        "mpi.allreduce, 4 ranks within a node",
        "mpi.allreduce, 4 ranks between two nodes",
    ]


def test_a_failed_case_is_worded_as_everywhere(document: Document) -> None:
    found = missing_blocks(document, [ExhibitSpec(kind="curve", probe="npb.cg")])
    cases = {case for _, case, *_ in rows_of(found, "Failed and skipped trials")}
    assert cases == {"net.nuttcp", "memory.stream"}
    assert Section("Exhibits without data", (Prose(("curve of npb.cg",), "list"),)) in found
