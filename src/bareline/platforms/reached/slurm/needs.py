"""An inspection of a free node of a Slurm cluster, by a job that takes about a second."""

from __future__ import annotations

import re
from collections.abc import Sequence

from bareline.platforms.base import NodeLook
from bareline.platforms.reached.remote.needs import needs_line, read_needs
from bareline.platforms.reached.remote.software import loader
from bareline.platforms.reached.slurm import commands
from bareline.vocabulary.errors import NotNow, PlatformError

#: So long a free node is waited for.
_WAIT_S = 10
#: How srun reports that its time is over before a node was free.
_BUSY = re.compile(r"nodes are busy|[Ii]mmediate|not available now")


def look_at_free_node(words: Sequence[str], software: Sequence[str] = ()) -> NodeLook:
    """Return the equipment of a node that is free now.

    - `words`: the request for nodes, in options of ``salloc`` and ``sbatch``.
    - `software`: modules and environments that the node loads first.

    Raises NotNow: no node is free within some seconds.
    Raises PlatformError: Slurm refuses the request, or the node does not answer.
    """
    # A separate job on a node that may be shared; options that come later count.
    wanted = [word for word in words if word != "--exclusive"]
    line = ["srun", "--mpi=none", "--quiet", *wanted, "--nodes=1", "--ntasks=1", "--time=1"]
    line += [f"--immediate={_WAIT_S}", "--chdir=/", *loader(software), *needs_line()]
    ended = commands.ask(*line, timeout_s=_WAIT_S + 50.0)
    if ended.exit_code or ended.timed_out:
        why = commands.last_line(ended.stderr) or ended.why
        if _BUSY.search(ended.stderr) or ended.timed_out:
            raise NotNow(f"no node is free within {_WAIT_S} s ({why})")
        raise PlatformError(
            f"srun cannot start a program: {why}", hint="check that `sinfo` works here"
        )
    return read_needs(ended.stdout)


def cores_of_nodes(partition: str | None) -> dict[str, int]:
    """Return the cores of each node of a partition, or of the cluster, as Slurm reports them.

    The result is empty if Slurm does not answer.
    """
    where = [f"--partition={partition}"] if partition else []
    try:
        ended = commands.ask(
            "sinfo", "--noheader", "--Node", "--format=%N %c", *where, timeout_s=10
        )
    except PlatformError:
        return {}
    rows = (line.split() for line in ended.stdout.splitlines())
    return {row[0]: int(row[1]) for row in rows if len(row) == 2 and row[1].isdigit()}
