"""The probe of a user's own binaries of the NAS Parallel Benchmarks.

Users compile NASA's NPB once per benchmark and class (``cg.A.x``), and until version 3.3 also per
number of processes (``cg.A.4``). This probe runs such a binary and reads the summary at the end of
its output. The metrics ``time`` and ``rate`` have the same meaning as in `npb.cg` etc.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar, Literal

from bareline.formats.npb import HALF_DIGIT, NpbSummary, read_summary
from bareline.formats.table import integer
from bareline.probes.base import Probe, ProbeReading, find_probe
from bareline.probes.mpi.installed import check_folder
from bareline.probes.npb.kernels import ProblemClass, operation_count
from bareline.vocabulary.errors import ParseError
from bareline.vocabulary.model import Command, Layer, Layout, Metric, Output, Sample

FOLDER_VARIABLE = "BARELINE_NPB_FOLDER"

#: A script that runs on every rank, because only the node can look into a folder of the node. If
#: the binary is missing, one rank reports this.
_SCRIPT = """\
folder=$1 kernel=$2 class=$3 ranks=$4
for name in "$kernel.$class.x" "$kernel.$class.$ranks"; do
    for file in "$folder/$name" "$folder/bin/$name"; do
        [ -f "$file" ] && [ -x "$file" ] && exec "$file"
    done
done
if [ "${OMPI_COMM_WORLD_RANK:-${PMI_RANK:-${SLURM_PROCID:-0}}}" = 0 ]; then
    there=
    for file in "$folder"/[a-z][a-z].[A-Z].* "$folder"/bin/[a-z][a-z].[A-Z].*; do
        [ -f "$file" ] && there="$there ${file##*/}"
    done
    if [ -z "$folder" ]; then
        echo "npb.reference: no folder of NPB binaries is named; set the parameter 'folder' or" \\
            "the environment variable BARELINE_NPB_FOLDER"
    elif [ ! -d "$folder" ]; then
        echo "npb.reference: there is no folder '$folder' on $(uname -n)"
    else
        echo "npb.reference: no $kernel.$class.x or $kernel.$class.$ranks that can be executed" \\
            "in '$folder' on $(uname -n); there:${there:- no NPB binaries}"
    fi >&2
fi
exit 2
"""
_SCRIPT_NAME = "npb-reference.sh"

#: NPB's operation counts contain constants of single precision.
_SINGLE_PRECISION = 1e-5


@dataclass(frozen=True, slots=True)
class ReferenceParams:
    """Parameters of the binary to run.

    - `kernel`: name of the benchmark.
    - `problem_class`: size of the problem: S, W, A, B, C, D or E.
    - `folder`: absolute path, on the platform's nodes, of the folder that contains the binaries,
      directly or in its folder ``bin``. By default, the folder in the environment variable
      ``BARELINE_NPB_FOLDER``.
    """

    kernel: Literal["ep", "is", "cg", "mg", "ft", "bt", "sp", "lu"] = "cg"
    problem_class: ProblemClass = "W"
    folder: str = ""

    def __post_init__(self) -> None:
        check_folder(self.folder)


class Reference(Probe[ReferenceParams]):
    """The probe of an NPB benchmark that a user compiled.

    It supports versions 2 and 3 over MPI. It has no metrics of computation and communication,
    because NPB does not measure them.
    """

    name: ClassVar[str] = "npb.reference"
    layer: ClassVar[Layer] = Layer.NPB
    title: ClassVar[str] = "the NAS benchmark compiled by its user"
    summary: ClassVar[str] = "your own binaries of NPB (a folder of cg.A.x and the like)"
    source: ClassVar[str] = "NAS Parallel Benchmarks 2.4 to 3.4, MPI"
    params = ReferenceParams
    metrics: ClassVar[Mapping[str, Metric]] = {
        "time": Metric("s", "lower"),
        "rate": Metric("op/s", "higher"),
    }

    def command(self, params: ReferenceParams, layout: Layout) -> Command:
        folder = params.folder or os.environ.get(FOLDER_VARIABLE, "")
        arguments = (params.kernel, params.problem_class, str(layout.ranks))
        return Command(
            argv=("sh", f"{{workdir}}/{_SCRIPT_NAME}", folder, *arguments),
            mpi=True,
            inputs=((_SCRIPT_NAME, _SCRIPT),),
            requires=("sh",),
        )

    def check_ranks(self, params: ReferenceParams, ranks: int, *, where: str | None = None) -> None:
        """Check the number of ranks by the rule of bareline's program for the same benchmark."""
        kernel = find_probe(f"npb.{params.kernel}")
        kernel.check_ranks(
            kernel.make_params({"problem_class": params.problem_class}), ranks, where=where
        )

    def parse(self, params: ReferenceParams, output: Output) -> ProbeReading:
        summary = read_summary(output.stdout)
        ranks = _checked_ranks(summary, params)
        time_s = summary.decimal("Time in seconds")
        rate = summary.decimal("Mop/s total") * 1e6
        if rate <= 0:
            raise ParseError("Mop/s are zero: NPB could not resolve the time; take a larger class")
        share = summary.decimal("Mop/s/process")
        if abs(rate / 1e6 - ranks * share) > HALF_DIGIT * (ranks + 2):
            raise ParseError("Mop/s in total and by process contradict each other")
        # Seconds have two decimals, but Mop/s have more digits, so that they give a better time.
        precise_s = operation_count(params.kernel, params.problem_class) / rate
        if abs(precise_s - time_s) > HALF_DIGIT + _SINGLE_PRECISION * precise_s:
            raise ParseError(
                f"{time_s} s and {rate / 1e6} Mop/s contradict each other for NPB 3.4's count of "
                "operations"
            )
        return ProbeReading((Sample("time", precise_s), Sample("rate", rate)))


def _checked_ranks(summary: NpbSummary, params: ReferenceParams) -> int:
    """Return the number of processes of a run in which all processes took part.

    Raises ParseError: the summary is of another benchmark or class, the result is wrong, or some
    processes did not take part.
    """
    kernel = summary.benchmark.lower()
    if kernel != params.kernel:
        raise ParseError(f"the output is of the benchmark {kernel} instead of {params.kernel}")
    if summary.field("Class") != params.problem_class:
        raise ParseError(
            f"the output is of class {summary.field('Class')} instead of {params.problem_class}"
        )
    summary.check_verified()
    if "Total processes" not in summary.fields:
        raise ParseError("the summary has no 'Total processes'; is it NPB's version for MPI?")
    total = integer(summary.field("Total processes"), "Total processes")
    for name in ("Active processes", "Active procs", "Compiled procs"):
        used = summary.fields.get(name, str(total))
        if used != str(total):
            raise ParseError(f"only {used} of {total} processes took part, but all must")
    return total


PROBE = Reference()
