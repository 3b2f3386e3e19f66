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
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from bareline.vocabulary.errors import PlatformError

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
    told = {
        "scale": recording.scale,
        "source": recording.source,
        "busy_cores": recording.busy_cores,
    }
    content = {**about, **told, "stretches": rows}
    path.parent.mkdir(parents=True, exist_ok=True)
    part = path.with_suffix(f".{os.getpid()}.part")
    part.write_text(tomli_w.dumps(content), encoding="utf-8")
    part.replace(path)
