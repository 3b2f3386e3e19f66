"""The probes of the mini-apps; docs/method/apps.md compares each mini-app with its original."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, ClassVar, Final, Literal

from bareline.probes._kernel import KERNEL_METRICS, Kernel, squarest
from bareline.probes._native import Report, kernels_of_header
from bareline.probes.base import declared
from bareline.vocabulary.errors import ParseError
from bareline.vocabulary.model import Command, Layer, Layout, Metric, Scalar


@dataclass(frozen=True, slots=True)
class MiniAppParams:
    """Parameters of a mini-app.

    - `problem_class`: size of the problem: S, W, A, B or C, each several times as large as the
      previous one.
    """

    problem_class: Literal["S", "W", "A", "B", "C"] = "W"


_OCEAN_VARIANT: Final = "2011"


@dataclass(frozen=True, slots=True)
class OceanParams(MiniAppParams):
    """Parameters of the ocean.

    - `problem_class`: size of the problem: S, W, A, B or C, each several times as large as the
      previous one.
    - `variant`: the messages in each iteration of the solver for surface pressure. "2011": three
      sums of 8 bytes and two exchanges, as in MITgcm until 2015. "tiles": three sums, each
      of 8 bytes per rank of the job, and two exchanges, as in MITgcm since 2015. "saving": two sums
      and one exchange, fewer than in MITgcm.
    """

    variant: Literal["2011", "tiles", "saving"] = _OCEAN_VARIANT


class MiniProgram(Kernel):
    """The probe of a mini-app; docs/method/apps.md names the unit of work that its rate counts."""

    layer: ClassVar[Layer] = Layer.APP
    params: type[MiniAppParams] = MiniAppParams
    metrics: ClassVar[Mapping[str, Metric]] = KERNEL_METRICS


class Ocean(MiniProgram):
    """The ocean mini-app, whose pressure solver has variants with different messages."""

    params: type[MiniAppParams] = OceanParams

    def command(self, params: OceanParams, layout: Layout) -> Command:
        command = super().command(params, layout)
        variant = () if params.variant == _OCEAN_VARIANT else ("-v", params.variant)
        return replace(command, argv=(*command.argv, *variant))

    def check_header(self, params: OceanParams, header: Mapping[str, Any]) -> None:
        """Check that an output is of the requested variant.

        Older programs without variants do not print a variant.
        """
        reported = header.get("variant", params.variant)
        if reported != params.variant:
            raise ParseError(f"the output is of variant {reported} instead of {params.variant}")
        super().check_header(params, header)


class Planewave(MiniProgram):
    """The plane-wave mini-app, which calls BLAS."""

    def facts_of(self, report: Report) -> Mapping[str, Scalar]:
        return kernels_of_header(report.header)


Rule = Callable[[str, int], str]


def _most(words: str = "it takes at most", **most: int) -> Rule:
    def rule(problem_class: str, ranks: int) -> str:
        limit = most[problem_class]
        return f"{words} {limit}" if ranks > limit else ""

    return rule


def _ocean(problem_class: str, ranks: int) -> str:
    """Return "" if each rank's rectangle has at least 4 cells a side, else the reason.

    Each rank computes one rectangle of the basin. The exchange of ghost cells, which are two cells
    wide, needs rectangles of at least 4 cells a side.
    """
    cells = {"S": 32, "W": 64, "A": 128, "B": 256, "C": 512}[problem_class]
    fewest = 4
    if fewest * max(squarest(ranks)) > cells:
        return f"each needs {fewest} of the {cells} cells in a direction"
    return ""


#: Sites of the lattice along y, z and t, the directions that are cut.
_SITES = {
    "S": (8, 8, 8), "W": (8, 16, 16), "A": (16, 16, 32), "B": (32, 32, 32), "C": (32, 32, 64),
}  # fmt: skip


def _lattice(problem_class: str, ranks: int) -> str:
    """Return "" if a number of ranks can cut the lattice along y, z and t, else the reason.

    Each prime factor of the number of ranks cuts one of the lengths y, z and t into equal parts;
    it must divide the length that earlier factors have left.
    """
    lengths = list(_SITES[problem_class])
    for factor in sorted(_prime_factors(ranks), reverse=True):
        fit = [length for length in lengths if length % factor == 0]
        if not fit:
            return "it needs a number whose factors divide the lattice along y, z or t"
        longest = len(lengths) - 1 - lengths[::-1].index(max(fit))
        lengths[longest] //= factor
    return ""


def _prime_factors(number: int) -> list[int]:
    least = next((n for n in range(2, number + 1) if number % n == 0), 0)
    return [least, *_prime_factors(number // least)] if least else []


#: Hexahedra along an edge of the box; each consists of six tetrahedra.
_EDGES = {"S": 8, "W": 16, "A": 32, "B": 64, "C": 112}
#: Largest number of ranks: a rank needs 48 tetrahedra to have some of every colour.
_TETRAHEDRA = {name: 6 * edge**3 // 48 for name, edge in _EDGES.items()}

_program = partial(declared, MiniProgram)
PROBES = (
    _program(
        "app.cartesian",
        title="cartesian (CART3D's kind)",
        summary="cut-cell flow (CART3D's pattern): point to point on every level of a multigrid",
        source="Aftosmis, Berger, Adomavicius 2000",
        # The number of bricks (16 cells along an edge) that are not wholly inside the sphere.
        rank_rule=_most(S=8, W=64, A=512, B=4088, C=7968),
    ),
    _program(
        "app.lattice",
        title="lattice (MILC's kind)",
        summary="lattice QCD (MILC's pattern): faces point to point; Allreduce of 32 bytes",
        source="Kogut and Susskind 1975",
        rank_rule=_lattice,
    ),
    declared(
        Ocean,
        "app.ocean",
        title="the mini-app ocean",
        summary="ocean (MITgcm's pattern): halos; many Allreduce of 8 bytes",
        source="Marshall et al. 1997",
        rank_rule=_ocean,
    ),
    _program(
        "app.overset",
        title="overset (OVERFLOW-2's kind)",
        summary="overlapping zones (OVERFLOW-2's pattern): line solves, halos",
        source="Pulliam and Chaussee 1981",
        # The number of blocks into which the 23 zones are cut.
        rank_rule=_most(S=39, W=61, A=65, B=248, C=530),
    ),
    declared(
        Planewave,
        "app.planewave",
        title="planewave (PARATEC's kind)",
        summary="plane waves (PARATEC's pattern): Alltoall; products of matrices",
        source="Payne et al. 1992",
        # The number of planes of the grid.
        rank_rule=_most(S=24, W=32, A=48, B=64, C=96),
    ),
    _program(
        "app.unstructured",
        title="unstructured (USM3D's kind)",
        summary="unstructured flow solver (USM3D's pattern): neighbours point to point; small "
        "Allreduce",
        source="Frink 1996",
        rank_rule=_most("there are cells for at most", **_TETRAHEDRA),
    ),
)
