"""A flow around a sphere on Cartesian cells that it cuts: Runge-Kutta steps with multigrid."""

from __future__ import annotations

from typing import ClassVar

from bareline.probes.app._mini import MiniApp

#: Bricks of 16 cells along an edge that are not wholly inside the sphere.
_BRICKS = {"S": 8, "W": 64, "A": 512, "B": 4088, "C": 7968}


class Cartesian(MiniApp):
    """CART3D's pattern: ghosts of few neighbours at every stage and level, one sum a cycle."""

    name: ClassVar[str] = "app.cartesian"
    title: ClassVar[str] = "cartesian (CART3D's kind)"
    summary: ClassVar[str] = (
        "cut-cell flow (CART3D's pattern): point to point on every level of a multigrid"
    )
    source: ClassVar[str] = "Aftosmis, Berger, Adomavicius 2000"
    kernel: ClassVar[str] = "cartesian"

    def rank_rule(self, problem_class: str, ranks: int) -> str:
        """Each rank has a brick of the grid at least."""
        most = _BRICKS[problem_class]
        return f"it takes at most {most}" if ranks > most else ""


PROBE = Cartesian()
