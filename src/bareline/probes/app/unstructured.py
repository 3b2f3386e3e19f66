"""Flow over a bump on a mesh of tetrahedra: implicit finite volumes, Gauss-Seidel by colours."""

from __future__ import annotations

from typing import ClassVar

from bareline.probes.app._mini import MiniApp

#: Hexahedra along an edge of the box, each of six cells.
_EDGE = {"S": 8, "W": 16, "A": 32, "B": 64, "C": 112}
#: Cells that a rank needs, so that it has some of every colour.
_FEWEST = 48


class Unstructured(MiniApp):
    """USM3D's pattern: cells of neighbours after every colour of a sweep, small sums."""

    name: ClassVar[str] = "app.unstructured"
    title: ClassVar[str] = "unstructured (USM3D's kind)"
    summary: ClassVar[str] = (
        "unstructured flow solver (USM3D's pattern): neighbours point to point; small Allreduce"
    )
    source: ClassVar[str] = "Frink 1996"
    kernel: ClassVar[str] = "unstructured"

    def rank_rule(self, problem_class: str, ranks: int) -> str:
        """Every rank must have some cells."""
        most = 6 * _EDGE[problem_class] ** 3 // _FEWEST
        return f"there are cells for at most {most}" if ranks > most else ""


PROBE = Unstructured()
