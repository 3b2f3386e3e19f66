"""What a program computes: looked up, or recorded first, with the load that it was recorded at."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from bareline.host.load import busy_cores, foreign_cores, read_load
from bareline.platforms.base import Context
from bareline.platforms.local import LocalOptions, LocalPlatform
from bareline.platforms.process import Finished
from bareline.platforms.sim import compute
from bareline.vocabulary.errors import BarelineError, PlatformError
from bareline.vocabulary.model import Command, Layout
from bareline.vocabulary.platform import PlatformSpec

_RUNS = 3
_TIMEOUT_S = 600.0


def real_compute_s(argv: Sequence[str], ranks: int, context: Context) -> float | None:
    """Run a program under this machine's own MPI library and read its computation.

    - `argv`: the program, as ``{native}/NAME``, and its arguments. Gives the least of three runs of
      the mean over the ranks in s, in the timed part. None where the ranks do not fit the cores,
      other programs keep this machine busy, there is no MPI library, or the program fails.
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


RECORDING_TIMEOUT_S = 3600.0
#: Of what a recording holds: earlier ones do not say at what load they were made.
_VERSION = "2"


@dataclass(frozen=True, slots=True)
class Recorder:
    """Knows what programs compute.

    - `launch`: simulates the program with these variables besides its own.
    """

    platform: str
    context: Context
    processor: str
    launch: Callable[[Mapping[str, str]], Finished]

    def computation(
        self, command: Sequence[str], argv: Sequence[str], layout: Layout, *, folded: bool
    ) -> tuple[compute.Recording, tuple[str, ...]]:
        """Give a recording, and what is to be told of it where it was made now.

        - `command`, `argv`: the program as a probe names it, and as it is simulated.
        - `folded`: all ranks share one memory.
        """
        parts = [*argv, "fold" if folded else "", str(layout.ranks), self.processor, _VERSION]
        path = self.context.cache / "compute" / f"{compute.key_of(parts)}.toml"
        known = compute.load(path)
        if known is not None:
            return known, ()
        what = f"{Path(argv[0]).name} {' '.join(argv[1:])} on {layout.ranks} ranks"
        made = self._record(command, what, layout, folded=folded)
        about = {
            "program": Path(argv[0]).name,
            "arguments": list(argv[1:]),
            "ranks": layout.ranks,
            "processor": self.processor,
        }
        compute.save(path, made, about)
        return made, (f"recorded the computation of {what}: {made.source}",)

    def _record(
        self, command: Sequence[str], what: str, layout: Layout, *, folded: bool
    ) -> compute.Recording:
        def launch(variables: Mapping[str, str]) -> float:
            done = self.launch(variables)
            if done.exit_code != 0 or done.timed_out:
                raise PlatformError(
                    f"the computation of {what} could not be recorded: "
                    f"{done.stderr.strip()[-300:] or 'no end'}",
                    where=self.platform,
                )
            return done.duration_s

        before = read_load()
        stretches, count = compute.record(launch, self.context.scratch)
        after = read_load()
        busy = round(foreign_cores(before, after), 2) if before and after else 0.0
        source = f"{count} recordings in the simulator on one core, beside {busy:.1f} busy cores"
        if folded:
            source += ", all ranks in one memory, which caches hold more of than of many"
        real = real_compute_s(command, layout.ranks, self.context)
        total = compute.Recording(stretches, 1.0, "").timed_s(layout.ranks)
        if real is None or total <= 0:
            source += ", not held against the real program"
            return compute.Recording(stretches, 1.0, source, busy)
        scale = real / total
        source += f", times {scale:.3f} to agree with the real program"
        return compute.Recording(stretches, scale, source, busy)
