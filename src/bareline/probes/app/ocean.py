"""A hydrostatic ocean: explicit layers, and conjugate gradients for the pressure at its lid."""

from __future__ import annotations

from typing import ClassVar

from bareline.probes.app._mini import MiniApp, squarest

#: Cells along x and y.
_CELLS = {"S": 32, "W": 64, "A": 128, "B": 256, "C": 512}
#: Cells that a rank needs in either direction: ghosts are two wide.
_FEWEST = 4


class Ocean(MiniApp):
    """MITgcm's pattern: halo exchanges, and two sums of 8 bytes an iteration of its solver."""

    name: ClassVar[str] = "app.ocean"
    title: ClassVar[str] = "ocean (MITgcm's kind)"
    summary: ClassVar[str] = "ocean (MITgcm's pattern): halos; many Allreduce of 8 bytes"
    source: ClassVar[str] = "Marshall et al. 1997"
    kernel: ClassVar[str] = "ocean"

    def rank_rule(self, problem_class: str, ranks: int) -> str:
        """The ranks cut the basin into rectangles of at least four cells a side."""
        if _FEWEST * max(squarest(ranks)) > _CELLS[problem_class]:
            return f"each needs {_FEWEST} of the {_CELLS[problem_class]} cells in a direction"
        return ""


PROBE = Ocean()
