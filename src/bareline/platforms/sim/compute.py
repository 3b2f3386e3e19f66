"""Seconds of computation: recorded once for a program, its arguments and ranks, then injected.

A program that was built for the simulator (``npb_compute.h``) can record what it computes between
two calls of MPI, as processor time, and can be told these times later instead. The recordings lie
in the cache folder, a TOML file each; a simulation that uses one is deterministic.

The simulator runs all ranks in turn on one core, so a recording knows no shared caches or memory
channels. Where the ranks fit the cores of this machine, the real program is run as well, and the
recording is scaled to the computation that it reports.
"""

from __future__ import annotations

import hashlib
import json
import os
import tomllib
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from bareline.host.load import busy_cores, foreign_cores, read_load
from bareline.platforms.base import Context
from bareline.platforms.local import LocalOptions, LocalPlatform
from bareline.platforms.process import Finished
from bareline.vocabulary.errors import BarelineError, PlatformError
from bareline.vocabulary.files import replacing
from bareline.vocabulary.model import Command, Layout
from bareline.vocabulary.platform import PlatformSpec

#: Recordings of a program; noise only ever adds, so the lowest mean of each stretch is kept.
_RECORDINGS = 3
#: After a first recording this long there is no second one.
_LONG_S = 20.0
_TIMED_PART = 1

#: What a stretch of computation lies between: stage, function and count before and after.
Kind = tuple[int, int, int, int, int]


@dataclass(frozen=True, slots=True)
class Recording:
    """Seconds of each kind of stretch.

    - `stretches`: calls over all ranks, and seconds of one stretch, by kind.
    - `scale`: what the seconds are multiplied by: those of the real program over those recorded.
    - `source`: how it was made, for people.
    - `busy_cores`: how many cores other programs kept busy meanwhile.
    """

    stretches: Mapping[Kind, tuple[int, float]]
    scale: float
    source: str
    busy_cores: float = 0.0

    def timed_s(self, ranks: int) -> float:
        """Computation in the timed part, mean over the ranks, as it was recorded."""
        return (
            sum(
                calls * seconds
                for (stage, *_), (calls, seconds) in self.stretches.items()
                if stage == _TIMED_PART
            )
            / ranks
        )

    def to_inject(self, factor: float) -> str:
        """Give the lines that the program reads, with all seconds times a factor."""
        return "".join(
            f"{' '.join(map(str, kind))} {calls} {seconds * self.scale * factor:.9g}\n"
            for kind, (calls, seconds) in self.stretches.items()
        )


def merge(recordings: Sequence[str]) -> dict[Kind, tuple[int, float]]:
    """Join recorded lines: the mean over ranks of each recording, the lowest of all recordings."""
    merged: dict[Kind, tuple[int, float]] = {}
    for text in recordings:
        sums: dict[Kind, tuple[int, float]] = {}
        for line in text.splitlines():
            try:
                *numbers, seconds = line.split()
                stage, before, before_count, after, after_count, calls = map(int, numbers)
                kind = (stage, before, before_count, after, after_count)
                known, spent = sums.get(kind, (0, 0.0))
                sums[kind] = (known + calls, spent + calls * float(seconds))
            except ValueError as error:
                raise PlatformError(f"'{line}' is no recorded computation") from error
        for kind, (calls, spent) in sums.items():
            mean = spent / calls if calls else 0.0
            merged[kind] = (calls, min(mean, merged.get(kind, (0, mean))[1]))
    return merged


def record(
    launch: Callable[[Mapping[str, str]], float], folder: Path
) -> tuple[dict[Kind, tuple[int, float]], int]:
    """Record a program's computation.

    - `launch`: runs it in the simulator with these variables and gives its wall time in s.
    - `folder`: where the recordings may be written. Gives the stretches and how many recordings
      they come from.
    """
    texts = []
    for number in range(_RECORDINGS):
        path = folder / f"recording-{number}"
        path.unlink(missing_ok=True)
        seconds = launch({"BARELINE_COMPUTE": f"record:{path}"})
        texts.append(path.read_text(encoding="utf-8") if path.exists() else "")
        path.unlink(missing_ok=True)
        if seconds > _LONG_S:
            break
    return merge(texts), len(texts)


def key_of(parts: Sequence[str]) -> str:
    """Name a recording by what it depends on: build, program, arguments, ranks, processor."""
    return hashlib.sha256(json.dumps(list(parts)).encode()).hexdigest()[:16]


def load(path: Path) -> Recording | None:
    """Read a recording; None when there is none, or none that can be read."""
    try:
        content: dict[str, Any] = tomllib.loads(path.read_text(encoding="utf-8"))
        stretches = {
            (stage, before, count, after, after_count): (calls, float(seconds))
            for stage, before, count, after, after_count, calls, seconds in content["stretches"]
        }
        return Recording(
            stretches, float(content["scale"]), str(content["source"]), float(content["busy_cores"])
        )
    except (OSError, ValueError, KeyError, TypeError):
        return None


def save(path: Path, recording: Recording, about: Mapping[str, Any]) -> None:
    """Write a recording, complete or not at all."""
    import tomli_w

    rows = [[*kind, calls, seconds] for kind, (calls, seconds) in recording.stretches.items()]
    numbers = {
        "scale": recording.scale,
        "source": recording.source,
        "busy_cores": recording.busy_cores,
    }
    content = {**about, **numbers, "stretches": rows}
    path.parent.mkdir(parents=True, exist_ok=True)
    with replacing(path) as part:
        part.write_text(tomli_w.dumps(content), encoding="utf-8")


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
    ) -> tuple[Recording, tuple[str, ...]]:
        """Give a recording, and what is to be told of it where it was made now.

        - `command`, `argv`: the program as a probe names it, and as it is simulated.
        - `folded`: all ranks share one memory.
        """
        parts = [*argv, "fold" if folded else "", str(layout.ranks), self.processor, _VERSION]
        path = self.context.cache / "compute" / f"{key_of(parts)}.toml"
        known = load(path)
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
        save(path, made, about)
        return made, (f"recorded the computation of {what}: {made.source}",)

    def _record(
        self, command: Sequence[str], what: str, layout: Layout, *, folded: bool
    ) -> Recording:
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
        stretches, count = record(launch, self.context.scratch)
        after = read_load()
        busy = round(foreign_cores(before, after), 2) if before and after else 0.0
        source = f"{count} recordings in the simulator on one core, beside {busy:.1f} busy cores"
        if folded:
            source += ", all ranks in one memory, which caches hold more of than of many"
        real = real_compute_s(command, layout.ranks, self.context)
        total = Recording(stretches, 1.0, "").timed_s(layout.ranks)
        if real is None or total <= 0:
            source += ", not compared with the real program"
            return Recording(stretches, 1.0, source, busy)
        scale = real / total
        source += f", times {scale:.3f} to agree with the real program"
        return Recording(stretches, scale, source, busy)
