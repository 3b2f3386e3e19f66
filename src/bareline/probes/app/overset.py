"""A flow solver on overlapping structured zones: implicit lines, and an exchange each step."""

from __future__ import annotations

from typing import ClassVar

from bareline.probes.app._mini import MiniApp

#: Blocks that the 23 zones are cut into, of which each rank needs one.
_BLOCKS = {"S": 39, "W": 61, "A": 65, "B": 248, "C": 530}


class Overset(MiniApp):
    """OVERFLOW-2's pattern: line solves in blocks, ghosts of all overlaps once a step."""

    name: ClassVar[str] = "app.overset"
    title: ClassVar[str] = "overset (OVERFLOW-2's kind)"
    summary: ClassVar[str] = "overlapping zones (OVERFLOW-2's pattern): line solves, halos"
    source: ClassVar[str] = "Pulliam and Chaussee 1981"
    kernel: ClassVar[str] = "overset"

    def rank_rule(self, problem_class: str, ranks: int) -> str:
        """Each rank has a block at least."""
        most = _BLOCKS[problem_class]
        return f"it takes at most {most}" if ranks > most else ""


PROBE = Overset()
