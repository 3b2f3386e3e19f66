"""What the real program computes, to scale a recording where its ranks fit this machine."""

from __future__ import annotations

import json
import os
from collections.abc import Sequence
from contextlib import suppress

from bareline.host.quiet import busy_cores
from bareline.platforms.base import Context
from bareline.platforms.local import LocalOptions, LocalPlatform
from bareline.vocabulary.errors import BarelineError
from bareline.vocabulary.model import Command, Layout
from bareline.vocabulary.platform import PlatformSpec

_RUNS = 3
_TIMEOUT_S = 600.0


def real_compute_s(argv: Sequence[str], ranks: int, context: Context) -> float | None:
    """Run a program under this machine's own MPI library and read its computation.

    `argv`: the program, as ``{native}/NAME``, and its arguments.
    Gives the least of three runs of the mean over the ranks in s, in the timed part. None where the
    ranks do not fit the cores, other programs keep this machine busy, there is no MPI library, or
    the program fails.
    """
    if ranks > len(os.sched_getaffinity(0)) or machine_is_busy():
        return None
    spec = PlatformSpec("compute", "local", LocalOptions())
    layout = Layout(1, ranks)
    command = Command(argv=tuple(argv), mpi=True)
    found = []
    with suppress(BarelineError), LocalPlatform(spec, context).acquire(layout) as here:
        for _ in range(_RUNS):
            output = here.run(command, layout, timeout_s=_TIMEOUT_S)
            if output.exit_code == 0:
                found.append(_mean_of(output.stdout))
    return min((value for value in found if value is not None), default=None)


def machine_is_busy() -> bool:
    """Tell whether other programs compute here now, beside which a real one is timed wrongly."""
    return busy_cores(None) > 0


def _mean_of(stdout: str) -> float | None:
    for line in stdout.splitlines():
        with suppress(ValueError, KeyError, TypeError):
            point = json.loads(line)
            return float(point["compute_s"]["mean"])
    return None
