"""What the probes of programs that a user compiled share: where they are, and how they are found.

A folder and an environment module are those of the nodes, so only there can be looked for them.
"""

from __future__ import annotations

import os
from collections.abc import Container, Iterable, Sequence
from pathlib import PurePosixPath
from typing import Any

from bareline.formats.reading import Reading
from bareline.vocabulary.errors import ParseError
from bareline.vocabulary.model import Command, Sample
from bareline.vocabulary.sources import LOAD_MODULE

_NAME = "find-program.sh"
#: Runs on every rank. Where the program is missing, one rank says so.
_SCRIPT = """\
modules=$1 folder=$2 program=$3
shift 3
say() {
    [ "${OMPI_COMM_WORLD_RANK:-${PMI_RANK:-${SLURM_PROCID:-0}}}" = 0 ] && echo "$program: $1" >&2
    exit 2
}
if [ -n "$modules" ]; then
    find_modules || say "there are no environment modules on $(uname -n)"
    load_module "$modules" "${modules%%/*}" ||
        say "the module '$modules' cannot be loaded on $(uname -n)"
fi
if [ -z "$folder" ]; then
    command -v "$program" >/dev/null 2>&1 && exec "$program" "$@"
    say "not on the path of $(uname -n)"
fi
for file in "$folder/$program" "$folder"/*/"$program" "$folder"/*/*/"$program"; do
    [ -f "$file" ] && [ -x "$file" ] && exec "$file" "$@"
done
say "neither in the folder '$folder' on $(uname -n) nor two folders deep in it"
"""


def check_folder(folder: str) -> None:
    """Refuse a folder that depends on where a program is started.

    Raises ValueError: it is not absolute.
    """
    if folder and not PurePosixPath(folder).is_absolute():
        raise ValueError(f"folder = '{folder}' is not an absolute path")


def installed_command(program: str, options: Sequence[str], params: Any, variable: str) -> Command:
    """Run an installed program under MPI.

    - `params`: those of the probe: the `folder` of the nodes with the program, or up to two above
      it, and the environment `module` that is loaded before; each may be "".
    - `variable`: environment variable that names the folder where the parameter does not; the
      program is on the path without either.
    """
    folder = params.folder or os.environ.get(variable, "")
    return Command(
        argv=("sh", f"{{workdir}}/{_NAME}", params.module, folder, program, *options),
        mpi=True,
        inputs=((_NAME, LOAD_MODULE + _SCRIPT),),
        requires=("sh",) if folder or params.module else ("sh", program),
    )


def only_samples(
    readings: Iterable[Reading], probe: str, wanted: Container[str], largest_bytes: int
) -> Iterable[Sample]:
    """Give the wanted metrics of the one reading that was asked for.

    Its sizes have to end at `largest_bytes`; 0 where the program's own was left.

    Raises ParseError: it is another one, or several, or cannot be trusted.
    """
    found = list(readings)
    if [reading.probe for reading in found] != [probe]:
        names = ", ".join(reading.probe for reading in found) or "nothing"
        raise ParseError(f"the output is of {names}, not of one {probe}")
    samples = found[0].samples
    last_bytes = max(int(sample.point.get("size_bytes", 0)) for sample in samples)
    if largest_bytes and last_bytes != largest_bytes:
        raise ParseError(f"the sizes end at {last_bytes} instead of {largest_bytes}")
    # That the output ends where it was told to is no caveat.
    return [Sample(one.metric, one.value, one.point) for one in samples if one.metric in wanted]
