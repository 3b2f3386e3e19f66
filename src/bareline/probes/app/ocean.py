"""A hydrostatic ocean: explicit layers, and conjugate gradients for the pressure at its lid."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import ClassVar, Final, Literal

from bareline.probes._native import read_report
from bareline.probes.app._mini import MiniAppParams, MiniProgram, squarest
from bareline.vocabulary.errors import ParseError
from bareline.vocabulary.model import Command, Layout, Output, Sample

#: Cells along x and y.
_CELLS = {"S": 32, "W": 64, "A": 128, "B": 256, "C": 512}
#: Cells that a rank needs in either direction: ghosts are two wide.
_FEWEST = 4
#: The program's own.
_DEFAULT: Final = "2011"


@dataclass(frozen=True, slots=True)
class OceanParams(MiniAppParams):
    """Parameters of the ocean.

    Attributes
    ----------
    problem_class
        Size of the problem: S, W, A, B or C, each several times the one before.
    variant
        What the solver for the lid's pressure sends: "2011" three sums of 8 bytes and two exchanges
        an iteration, as MITgcm did then; "tiles" sums of 8 bytes for each rank, as MITgcm does
        since 2015; "saving" two sums and one exchange, less than MITgcm.
    """

    variant: Literal["2011", "tiles", "saving"] = _DEFAULT


class Ocean(MiniProgram[OceanParams]):
    """MITgcm's pattern: halo exchanges, and three sums of 8 bytes an iteration of its solver."""

    name: ClassVar[str] = "app.ocean"
    params: type[OceanParams] = OceanParams
    title: ClassVar[str] = "the mini-app ocean"
    summary: ClassVar[str] = "ocean (MITgcm's pattern): halos; many Allreduce of 8 bytes"
    source: ClassVar[str] = "Marshall et al. 1997"
    kernel: ClassVar[str] = "ocean"

    def command(self, params: OceanParams, layout: Layout) -> Command:
        """Name the variant, where it is not the program's own."""
        command = MiniProgram.command(self, params, layout)
        if params.variant == _DEFAULT:
            return command
        return Command(argv=(*command.argv, "-v", params.variant), mpi=True)

    def parse(self, params: OceanParams, output: Output) -> Iterable[Sample]:
        """Refuse another variant; programs that had none said nothing of it."""
        said = read_report(output, self.suite, self.kernel).header.get("variant", params.variant)
        if said != params.variant:
            raise ParseError(f"variant {said} instead of {params.variant}")
        return MiniProgram.parse(self, params, output)

    def rank_rule(self, problem_class: str, ranks: int) -> str:
        """The ranks cut the basin into rectangles of at least four cells a side."""
        if _FEWEST * max(squarest(ranks)) > _CELLS[problem_class]:
            return f"each needs {_FEWEST} of the {_CELLS[problem_class]} cells in a direction"
        return ""


PROBE = Ocean()
