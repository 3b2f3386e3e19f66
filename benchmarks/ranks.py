"""Programs of many kinds on more ranks than they were profiled on, call by call against the truth.

    benchmarks/ranks.py                       all programs, from 4, 8 and 16 to 64 ranks
    benchmarks/ranks.py fold lu --ranks 36    some of them
    benchmarks/ranks.py --table               as the table of docs/method/prediction.md

Each program of `halo.c` (and the mini-apps) is profiled with `bareline profile --period` at a few
counts and at the count that is predicted, ranks sharing cores; only calls count, no times. What is
predicted for each rank is compared with what it calls there: function, partner, root, tag, bytes,
and the members of the communicator. The result is one of

- ``exact``: every call of every rank is alike;
- ``stated``: some are not, and for each of them the prediction named the assumption: as many calls
  are unchecked, partners differ along a side that a caution names, sizes depend on a cut that is
  assumed to be even, sizes are means, or the number of iterations is assumed to be constant;
- ``refused``: with the reason that is printed; ``not run``: the program itself ends there;
- ``WRONG``: some are not, and nothing said so. Then the exit code is 1.

Ranks run at the lowest priority, one job at a time. `--json FILE` writes the rows, `--keep DIR`
keeps the periods and uses those that are there.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import subprocess
import sys
import tempfile
import textwrap
from collections import Counter
from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from itertools import zip_longest
from pathlib import Path
from typing import Any

from bareline.build.native import build_native
from bareline.host.cache import cache_folder
from bareline.platforms.hosts.launchers.installation import find_mpi
from bareline.predict.scaling.grid import Grid, parse_grid
from bareline.predict.scaling.ranks import Grown, scaled
from bareline.profile.period import ProgramPeriod, calls_of, period_file, read_period
from bareline.profile.records import POINT_TO_POINT
from bareline.vocabulary.errors import BarelineError

_SHARED = {
    "OMPI_ALLOW_RUN_AS_ROOT": "1",
    "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
    "OMPI_MCA_rmaps_base_oversubscribe": "1",
    "OMPI_MCA_mpi_yield_when_idle": "1",
    "OMPI_MCA_hwloc_base_binding_policy": "none",
}
_TIMEOUT_S = 900.0
#: Characters of a reason that the table shows, and the part that all its rows share.
_REASON = 150
_TIME_AND_RANKS = re.compile(r" \(such calls take [^)]*\) cannot be made anew for \d+ ranks:")


@dataclass(frozen=True, slots=True)
class Case:
    """A program with its settings, and the counts that it is profiled on.

    - `program`: a mini-app or NPB program of bareline instead of `halo.c`.
    - `grid`: the grid that the user gives.
    """

    name: str
    settings: str = ""
    counts: tuple[int, ...] = (4, 8, 16)
    program: str = ""
    grid: str = ""


CASES = (
    Case("halo", "cells=64x64"),
    Case("ends", "cells=64x64 ends"),
    Case("ring", "cells=4096"),
    Case("cubes", "cells=64x64x64", (8, 27)),
    Case("cubes-more", "cells=64x64x64", (8, 16, 32)),
    Case("uneven", "cells=60x60"),
    Case("uneven-profiled", "cells=67x67", (6, 9, 12, 16)),
    Case("padded", "cells=64x64 pad=128"),
    Case("falling", "cells=64x64 rule=falling"),
    Case("squares", "cells=72x72", (4, 9, 16)),
    Case("first-stays", "cells=96x96 rule=first=4", (8, 12, 16)),
    Case("first-stays-given", "cells=96x96 rule=first=4", (8, 12, 16), grid="4x16"),
    Case("four", "cells=64x64 four"),
    Case("six", "cells=64x64 six"),
    Case("roots", "cells=64x64 roots"),
    Case("rows", "cells=64x64 rows"),
    Case("fours", "cells=64x64 fours"),
    Case("opposite", "cells=64x64 opposite"),
    Case("opposite-cubes", "cells=72x72x72 opposite", (8, 27)),
    Case("fold", "cells=64x64 fold ends"),
    Case("transposed", "cells=64x64 transposed", (4, 16)),
    Case("random", "cells=64x64 random"),
    Case("grow", "cells=64x64 grow"),
    Case("late", "cells=64x64 late"),
    Case("tiles", "cells=64x64 tiles"),
    Case("barotropic", "cells=64x64 tiles monitor ends roots"),
    Case("lu", "cells=64x64 lu"),
    Case("lu-33", "cells=33x33 lu"),
    Case("complex", "cells=64x64 complex"),
    Case("complex-uneven", "cells=60x60 complex"),
    Case("padded-profiled", "cells=72x72 pad=128"),
    Case("corners", "cells=64x64 corners"),
    Case("pairs", "cells=64x64 pairs"),
    Case("halves", "cells=64x64 halves"),
    Case("leaders", "cells=64x64 leaders"),
    Case("butterfly", "cells=64x64 butterfly"),
    Case("everyone", "cells=64x64 everyone"),
    Case("sized", "cells=512x512 sized"),
    Case("diagonals", "cells=64x64 diagonals"),
    Case("diagonals-cubes", "cells=64x64x64 diagonals", (8, 16, 32)),
    Case("moving", "cells=64x64 moving"),
    Case("circling", "cells=64x64 circling steps=64"),
    Case("triangle", "cells=64x64 triangle"),
    Case("quarter", "cells=64x64 quarter"),
    Case("quarter-late", "cells=64x64 quarter", (8, 16)),
    Case("quarter-given", "cells=64x64 quarter", (8, 16), grid="8x8"),
    Case("onward", "cells=64x64 onward"),
    Case("onward-given", "cells=64x64 onward", (16, 32), grid="8x8"),
    Case("third", "cells=64x64 third"),
    Case("logarithm", "cells=64x64 logarithm"),
    Case("logarithm-squares", "cells=144x144 logarithm", (4, 9, 16)),
    Case("master", "cells=64x64 master"),
    Case("curve", "cells=64x64 curve", (4, 16)),
    Case("cyclic", "cells=64x64 cyclic"),
    Case("cyclic-uneven", "cells=72x64 cyclic"),
    Case("scans", "cells=64x64 scans"),
    Case("neighbours", "cells=64x64 neighbours"),
    Case("nonblocking", "cells=64x64 nonblocking"),
    Case("panels", "cells=64x64 panels"),
    Case("strip", "cells=64x64 strip"),
    Case("shuffle", "cells=64x64 shuffle"),
    Case("squares-of-X", "cells=64x64 squares"),
    Case("middle", "cells=144x144 middle", (4, 9, 16)),
    Case("gathers", "cells=64x64 gathers"),
    Case("blocks", "cells=648x72 blocks", (9, 12, 16)),
    Case("oddeven", "cells=64x64 oddeven"),
    Case("farther", "cells=64x64 farther"),
    Case("app.ocean", "S", program="app_ocean"),
    Case("app.lattice", "S", (16, 32), program="app_lattice", grid="2x4x8"),
    Case("app.cartesian", "S", (8, 16), program="app_cartesian"),
    Case("app.unstructured", "S", (8, 16), program="app_unstructured"),
    Case("app.overset", "S", (8, 16), program="app_overset"),
    Case("app.planewave", "S", (4, 8), program="app_planewave"),
    Case("npb.bt", "S", (4, 9, 16), program="npb_bt"),
    Case("npb.sp", "S", (4, 9, 16), program="npb_sp"),
    Case("npb.cg", "S", program="npb_cg"),
    Case("npb.mg", "S", program="npb_mg"),
    Case("npb.ft", "S", program="npb_ft"),
    Case("npb.is", "S", program="npb_is"),
)


@dataclass(frozen=True, slots=True)
class Outcome:
    """What became of a case: `verdict` as in the head of this file, `reason` in words."""

    name: str
    counts: tuple[int, ...]
    ranks: int
    grid: str
    calls: int
    unlike: int
    sent_bytes: int
    true_bytes: int
    verdict: str
    reason: str


class Programs:
    """Profiles periods of programs, each once."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._mpi = find_mpi("openmpi")
        self._halo = folder / "halo"
        compiler = self._mpi.mpicc or "mpicc"
        source = Path(__file__).with_name("halo.c")
        subprocess.run([compiler, "-O1", str(source), "-o", str(self._halo)], check=True)

    def period(self, case: Case, ranks: int) -> ProgramPeriod:
        """Return a program's period on so many ranks; raises BarelineError: there is none."""
        out = self._folder / f"{case.name}.p{ranks}"
        if period_file(out).exists():
            return read_period(period_file(out))
        program = self._halo
        if case.program:
            program = build_native(self._mpi, cache_folder()).programs / case.program
        line = ["nice", "-n", "19", sys.executable, "-m", "bareline"]
        line += ["profile", "--period", "-o", str(out), "--", self._mpi.mpirun, "-n", str(ranks)]
        line += [str(program), *case.settings.split()]
        done = subprocess.run(
            line, env=os.environ | _SHARED, cwd=self._folder, capture_output=True, text=True,
            check=False, timeout=_TIMEOUT_S,
        )  # fmt: skip
        if not period_file(out).exists():
            lines = done.stderr.strip().splitlines()
            reasons = [text for text in lines if "no period" in text] or lines[-1:] or ["no output"]
            raise BarelineError(reasons[0][:300])
        return read_period(period_file(out))


def asked(period: ProgramPeriod | Grown) -> list[list[tuple[Any, ...]]]:
    """Return what each rank calls, with the members of communicators instead of their numbers."""
    members: dict[int, set[int]] = {}
    for stream in period.trace.streams:
        for shape in stream.shapes:
            if shape.comm_size > 1:
                members.setdefault(shape.comm, set()).add(stream.rank)
    # Arrivals repeat the arguments of the receive, and files vary from step to step.
    return [
        [
            (replace(shape, comm=0, element=0), tuple(members.get(shape.comm, ())))
            for shape in calls_of(stream)
            if shape.kind not in ("done", "posix-io", "mpi-io")
        ]
        for stream in period.trace.streams
    ]


def compared(case: Case, ranks: int, programs: Programs) -> Outcome:
    """Profile a case, predict it, and compare call by call."""
    row: dict[str, Any] = {"name": case.name, "counts": case.counts, "ranks": ranks, "grid": "-"}
    try:
        own = scaled([programs.period(case, count) for count in case.counts])
        grid: Grid = parse_grid(case.grid) if case.grid else own.grid(ranks)
        grown = own.grown(grid)
    except BarelineError as error:
        return Outcome(**row, calls=0, unlike=0, sent_bytes=0, true_bytes=0, verdict="refused",
                       reason=f"{error.what}; {error.hint}")  # fmt: skip
    try:
        true = programs.period(case, ranks)
    except BarelineError as error:
        return Outcome(**row, calls=0, unlike=0, sent_bytes=0, true_bytes=0, verdict="not run",
                       reason=error.what)  # fmt: skip
    pairs = list(zip(asked(grown), asked(true), strict=True))
    calls = sum(len(own) for _, own in pairs)
    kinds = differences(grown, pairs)
    unlike = kinds.total()
    reasons = reasons_of(grown)
    if unlike and messages_only(grown) == messages_only(true):
        reasons.append("only collectives differ in number: iterations are taken as constant")
        kinds.clear()  # the calls after the first missing one are compared with their neighbours
    verdict = "stated" if is_stated(grown, kinds) else "WRONG"
    if not unlike:
        verdict = "exact"
    row |= {"grid": str(grown.grid), "calls": calls, "unlike": unlike}
    return Outcome(
        **row, sent_bytes=sent(grown), true_bytes=sent(true), verdict=verdict,
        reason="; ".join(reasons),
    )  # fmt: skip


def differences(grown: Grown, pairs: Sequence[tuple[Any, Any]]) -> Counter[str]:
    """Count the unlike calls by their kind: "calls", "sizes", or "partners" along which sides."""
    kinds: Counter[str] = Counter()
    for made, own in pairs:
        for one, other in zip_longest(made, own):
            if one != other:
                kinds[_difference(grown.grid, one, other)] += 1
    return kinds


def _difference(grid: Grid, one: Any, other: Any) -> str:
    if one is None or other is None:
        return "calls"
    a, b = one[0], other[0]
    if a.call != b.call:
        return "calls"
    bare = {"size": 0, "sent": 0, "received": 0}
    if (replace(a, **bare), one[1]) == (replace(b, **bare), other[1]):
        return "sizes"
    ends = [(a.to, b.to), (a.from_, b.from_)]
    if one[1] != other[1] or a.root != b.root or min(map(min, ends)) < 0:
        return "partners"
    sides = {
        side
        for first, second in ends
        for side, (here, there) in enumerate(zip(grid.at(first), grid.at(second), strict=True))
        if here != there
    }
    return f"partners {' '.join(map(str, sorted(sides)))}".strip()


def is_stated(grown: Grown, kinds: Counter[str]) -> bool:
    """Whether the prediction names an assumption for each kind of unlike calls."""
    if kinds.total() <= grown.unchecked.calls:
        return True
    about = {caution.about for caution in grown.cautions}
    sides = {str(side) for one in grown.cautions if one.about == "partners" for side in one.sides}
    for kind, count in kinds.items():
        is_covered = {
            "sizes": bool(grown.assumed_even or grown.off or "sizes" in about),
            "calls": "calls" in about,
        }.get(kind, kind != "partners" and set(kind.split()[1:]) <= sides)
        if count and not is_covered:
            return False
    return True


def reasons_of(grown: Grown) -> list[str]:
    """Return what the prediction names as unchecked or assumed, in short words."""
    reasons = []
    if grown.unchecked.calls:
        reasons.append(f"{grown.unchecked.calls} calls unchecked: {grown.unchecked.first}")
    if grown.assumed_even:
        sides = ", ".join(str(side + 1) for side in grown.assumed_even)
        reasons.append(f"side {sides} assumed even ({grown.even_share:.0%} of the bytes)")
    if grown.off:
        reasons.append(f"sizes are means, off by {grown.off:.1%}")
    for caution in grown.cautions:
        sides = ", ".join(str(side + 1) for side in caution.sides)
        where = f" along side {sides}" if sides else ""
        reasons.append(f"{caution.about} assumed{where} ({caution.calls:,} calls)")
    return reasons


def messages_only(period: ProgramPeriod | Grown) -> list[list[tuple[Any, ...]]]:
    """Return the messages between two ranks alone."""
    return [[call for call in own if call[0].kind in POINT_TO_POINT] for own in asked(period)]


def sent(period: ProgramPeriod | Grown) -> int:
    """Return the bytes that all ranks send."""
    return sum(shape.sent for one in period.trace.streams for shape in calls_of(one)
               if shape.kind not in ("posix-io", "mpi-io"))  # fmt: skip


def line_of(outcome: Outcome) -> str:
    """Return an outcome as a line."""
    return (
        f"{outcome.name:18} {outcome.counts!s:14} {outcome.grid:7} {outcome.calls:7} calls "
        f"{outcome.unlike:6} unlike  {outcome.verdict:8} {outcome.reason[:230]}"
    )


def table_row(case: Case, outcome: Outcome) -> str:
    """Return an outcome as a row of the table in docs/method/prediction.md."""
    counts = ", ".join(map(str, outcome.counts))
    program = case.program.replace("_", ".", 1) or case.name
    settings = f"`{case.settings}`" + (f", `--grid {case.grid}`" if case.grid else "")
    result = outcome.verdict
    if outcome.verdict != "exact":
        reason = _TIME_AND_RANKS.sub(":", outcome.reason.replace("|", "or"))
        result += f": {textwrap.shorten(reason, _REASON, placeholder=' ...')}"
    calls = f"{outcome.calls:,} | {outcome.unlike:,}" if outcome.calls else " | "
    return f"| {program} | {settings} | {counts} | {outcome.grid} | {calls} | {result} |"


def main(words: Sequence[str] | None = None) -> None:
    """Run the cases that are named, or all."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("cases", nargs="*", help="names, all by default")
    parser.add_argument("--ranks", type=int, default=64)
    parser.add_argument("--json", type=Path)
    parser.add_argument("--keep", type=Path, metavar="DIR", help="for the periods")
    parser.add_argument("--table", action="store_true", help="as rows of Markdown")
    given = parser.parse_args(words)
    unknown = set(given.cases) - {case.name for case in CASES}
    if unknown:
        parser.error(f"there is no {', '.join(sorted(unknown))}")
    rows = []
    with tempfile.TemporaryDirectory() as folder:
        kept = given.keep or Path(folder)
        kept.mkdir(parents=True, exist_ok=True)
        programs = Programs(kept)
        for case in CASES:
            if given.cases and case.name not in given.cases:
                continue
            outcome = compared(case, given.ranks, programs)
            rows.append(asdict(outcome))
            print(table_row(case, outcome) if given.table else line_of(outcome), flush=True)
    if given.json is not None:
        given.json.write_text(json.dumps(rows, indent=1) + "\n")
    sys.exit(any(row["verdict"] == "WRONG" for row in rows))


if __name__ == "__main__":
    main()
