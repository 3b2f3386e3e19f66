"""The probe of Linpack over ranks, by ScaLAPACK or by a user's own build of HPL.

ScaLAPACK comes with the distribution. For published results, the owner of a machine tunes HPL. If a
program ``xhpl`` is on the path of the nodes, it is run unchanged.

References
----------
L. S. Blackford et al., "ScaLAPACK Users' Guide", SIAM 1997, doi:10.1137/1.9780898719642.
A. Petitet, R. C. Whaley, J. Dongarra, A. Cleary, "HPL: a portable implementation of the
High-Performance Linpack benchmark", https://www.netlib.org/benchmark/hpl.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import chain
from typing import Annotated, ClassVar, Literal

from pydantic import Field

from bareline.formats import hpl
from bareline.formats.table import split_before
from bareline.probes._kernel import squarest
from bareline.probes._native import (
    TELL_KERNELS,
    kernels_of_header,
    kernels_printed,
    options,
    read_report,
)
from bareline.probes.base import Probe, ProbeReading
from bareline.probes.compute.rates import solved_order
from bareline.vocabulary.errors import ParseError
from bareline.vocabulary.model import Command, Layer, Layout, Metric, Output, Sample

_BY_XHPL = "solved by the xhpl on the platform's path, not by ScaLAPACK"


#: One variant of each choice, the program's own recommendation.
_CHOICES = """\
16.0         threshold
1            number of panel factorizations
2            PFACTs (0=left, 1=Crout, 2=Right)
1            number of recursive stopping criteria
4            NBMINs
1            number of panels in recursion
2            NDIVs
1            number of recursive panel factorizations
1            RFACTs (0=left, 1=Crout, 2=Right)
1            number of broadcasts
1            BCASTs (0=1rg, 1=1rM, 2=2rg, 3=2rM, 4=Lng, 5=LnM)
1            number of lookahead depths
1            DEPTHs
2            SWAP (0=bin-exch, 1=long, 2=mix)
64           swapping threshold
0            L1 in (0=transposed, 1=no-transposed) form
0            U  in (0=transposed, 1=no-transposed) form
1            Equilibration (0=no, 1=yes)
8            memory alignment in double
"""


def input_text(order: int, block: int, ranks: int, *, to_stdout: bool) -> str:
    """Return the text of HPL.dat for one system.

    The program reads the text line by line; the words after the values are comments.

    - `to_stdout`: whether results go to standard output; HPC Challenge writes them to its own file.
    """
    rows, columns = squarest(ranks)
    device = 6 if to_stdout else 8
    return (
        "HPLinpack benchmark input file\n"
        "made by bareline\n"
        "HPL.out      output file name (if any)\n"
        f"{device}            device out (6=stdout,7=stderr,file)\n"
        "1            number of problem sizes (N)\n"
        f"{order:<12} Ns\n"
        "1            number of NBs\n"
        f"{block:<12} NBs\n"
        "0            PMAP process mapping (0=Row-,1=Column-major)\n"
        "1            number of process grids (P x Q)\n"
        f"{rows:<12} Ps\n"
        f"{columns:<12} Qs\n"
        f"{_CHOICES}"
    )


@dataclass(frozen=True, slots=True)
class LinpackMpiParams:
    """Parameters of Linpack over ranks.

    - `n`: order of the system.
    - `nb`: edge of the blocks in which the matrix is distributed.
    - `repeat`: number of solutions in a trial with ScaLAPACK, of which the median counts. HPL
      solves the system only once.
    - `program`: "scalapack", "xhpl" (the program ``xhpl`` on the path), or "auto" (``xhpl`` if the
      path has this program, otherwise ScaLAPACK).
    - `budget_s`: time limit; after this time, ScaLAPACK begins no further solution.
    """

    n: Annotated[int, Field(ge=16, le=1_000_000)] = 1000
    nb: Annotated[int, Field(ge=1, le=4096)] = 64
    repeat: Annotated[int, Field(ge=1, le=1000)] = 3
    program: Literal["auto", "scalapack", "xhpl"] = "auto"
    budget_s: Annotated[float, Field(gt=0, le=86_400)] = 10.0


class LinpackMpi(Probe[LinpackMpiParams]):
    """The probe of the solution of A x = b over ranks, which is checked by HPL's residual.

    The rate counts 2/3 n^3 + 3/2 n^2 operations. The scaled residual must be below 16.
    """

    name: ClassVar[str] = "compute.linpack_mpi"
    layer: ClassVar[Layer] = Layer.COMPUTE
    title: ClassVar[str] = "the Linpack rate over ranks"
    summary: ClassVar[str] = "Linpack over ranks: ScaLAPACK, or the xhpl on the path"
    source: ClassVar[str] = "HPL 2.3"
    params = LinpackMpiParams
    metrics: ClassVar[Mapping[str, Metric]] = hpl.METRICS

    def command(self, params: LinpackMpiParams, layout: Layout) -> Command:
        """Return the command of bareline's program, with an input for xhpl if it may start xhpl."""
        threads = str(layout.threads_per_rank)
        env = [("OMP_NUM_THREADS", threads), ("OPENBLAS_NUM_THREADS", threads)]
        inputs: tuple[tuple[str, str], ...] = ()
        if params.program != "scalapack":
            # An xhpl has no header that could name its kernels.
            env.append(TELL_KERNELS)
            data = input_text(params.n, params.nb, layout.ranks, to_stdout=True)
            inputs = (("HPL.dat", data),)
        requires = ("xhpl",) if params.program == "xhpl" else ()
        return Command(
            argv=(
                "{native}/linpack_mpi",
                *options(params, "program", "n", "nb", "repeat"),
                *("--threads", threads, *options(params, "budget_s")),
            ),
            mpi=True,
            env=tuple(env),
            inputs=inputs,
            requires=requires,
        )

    def parse(self, params: LinpackMpiParams, output: Output) -> ProbeReading:
        if params.program != "scalapack" and hpl.TITLE.search(output.stdout):
            caveats = (_BY_XHPL,) if params.program == "auto" else ()
            return ProbeReading(
                samples=_hpl_samples(params, output.stdout),
                caveats=caveats,
                facts=kernels_printed(output),
            )
        if params.program == "xhpl":
            raise ParseError("the output is not of HPL")
        report = read_report(output, "linpack_mpi", "linpack")
        report.check(params, "n", "nb")
        point = report.point
        if solved_order(point) != params.n:
            raise ParseError(f"the order of the matrix is not the requested {params.n}")
        rate = point.positive("rate", "median")
        time_s = hpl.operations(params.n) / rate
        return ProbeReading(
            samples=(Sample("rate", rate), Sample("time", time_s)),
            facts=kernels_of_header(report.header),
        )


def _hpl_samples(params: LinpackMpiParams, text: str) -> tuple[Sample, ...]:
    launches = split_before(hpl.TITLE, text)
    trials = list(chain.from_iterable(map(hpl.read, launches)))
    if len(trials) != 1:
        raise ParseError(
            f"HPL solved {len(trials)} systems instead of one; check that HPL is linked with"
            " the MPI library of the platform"
        )
    (trial,) = trials
    samples = trial.samples
    if (trial.params.get("n"), trial.params.get("nb")) != (params.n, params.nb):
        raise ParseError(
            f"HPL did not solve the requested system with n = {params.n} and nb = {params.nb}"
        )
    return samples


PROBE = LinpackMpi()
