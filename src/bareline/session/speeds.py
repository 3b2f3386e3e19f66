"""A machine with two speeds: launches of several probes that one platform ran slower together.

A neighbour in a cache or in memory slows some calls down for seconds, then leaves. What several
programs show at once on one platform, and the others of the block do not, is the machine's and not
a program's, and no pairing removes it.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from statistics import median
from typing import Any

from bareline.probes.base import Probe
from bareline.store.run import Run
from bareline.study.study import Study
from bareline.vocabulary.model import Case, Measured, Record, Trial, format_point

#: Of a launch at the slower speed that no other one replaced.
SPEED_CAVEAT = "two-speeds"

#: A launch is at another speed where a fifth of its points take so many times as long as they do
#: in the case's other launches there, and as the other platforms' of the block take of theirs.
_SLOWER, _SHARE = 1.5, 0.2
#: So many probes at once are the machine's; fewer launches of a case have no middle.
_PROBES, _LAUNCHES = 3, 4
#: Beyond it no number is printed: a call that usually takes nothing had to wait once.
_MOST_TIMES = 100
#: Larger runs are not looked through: their launches are many enough.
_MOST_BYTES = 64 << 20


@dataclass(frozen=True, slots=True)
class Switch:
    """What one platform ran at the slower speed in one block."""

    platform: str
    block: int
    records: tuple[Record, ...]
    times: float

    def __str__(self) -> str:
        trials = sorted(record.trial.index for record in self.records)
        probes = sorted({record.trial.case.probe for record in self.records})
        times = f"{self.times:.1f}" if self.times < _MOST_TIMES else f"more than {_MOST_TIMES}"
        return (
            f"the machine changed its speed between trials {trials[0]} and {trials[-1]}: "
            f"{', '.join(probes)} took {times} times as long at the slowest fifth of their points"
        )


def switches(records: Iterable[Record], probes: Mapping[str, Probe[Any]]) -> list[Switch]:
    """Find where launches of several probes switch together on one platform."""
    found = [record for record in records if isinstance(record.outcome, Measured)]
    slowness = _slowness(found, probes)
    by_place: dict[tuple[Case, int], dict[str, float]] = defaultdict(dict)
    for record in found:
        trial = record.trial
        if trial.index in slowness:
            by_place[trial.case, trial.block][trial.platform] = slowness[trial.index]
    slow: dict[tuple[str, int], list[tuple[Record, float]]] = defaultdict(list)
    for record in found:
        trial = record.trial
        every = by_place[trial.case, trial.block]
        others = [value for name, value in every.items() if name != trial.platform]
        own = every.get(trial.platform)
        if own is not None and others and own - max(0.0, median(others)) > math.log(_SLOWER):
            slow[trial.platform, trial.block].append((record, own))
    return [
        Switch(platform, block, tuple(one for one, _ in of), math.exp(median(own for _, own in of)))
        for (platform, block), of in sorted(slow.items())
        if len({one.trial.case.probe for one, _ in of}) >= _PROBES
    ]


def see_speeds(
    run: Run,
    study: Study,
    note: Callable[[str, str], None],
    again: Callable[[Trial, int, tuple[int, int]], Record | None],
) -> None:
    """Name where the machine changed its speed, and measure the cases of those blocks again.

    All platforms of a block are, so that its pairs stay close in time, each at most once. What
    still differs then has a caveat.

    - `note`: takes the platform, and what was seen there.
    - `again`: measures a trial as this attempt, and as which of how many repeats; None where the
      budget is used up or it failed.
    """
    probes = {measure.probe: study.find_probe(measure.probe) for measure in study.measures}
    if run.records_bytes > _MOST_BYTES:
        return
    found = run.finished(lambda name: (probes[name].headline,))
    repeats: dict[int, Record] = {}
    for switch in switches(found.values(), probes):
        if any(one.attempt > 1 or SPEED_CAVEAT in one.caveats for one in switch.records):
            continue
        note(switch.platform, str(switch))
        repeats |= {one.trial.index: one for one in _beside(switch, found.values())}
    for number, record in enumerate(repeats.values(), start=1):
        fresh = again(record.trial, record.attempt + 1, (number, len(repeats)))
        if fresh is not None:
            run.append(fresh)
            found[record.trial.index] = fresh
    left = {
        one.trial.index
        for switch in switches(found.values(), probes)
        for one in switch.records
        if SPEED_CAVEAT not in one.caveats
    }
    whole = run.finished() if left else {}
    for index in sorted(left):
        run.append(replace(whole[index], caveats=(*whole[index].caveats, SPEED_CAVEAT)))


def _beside(switch: Switch, found: Iterable[Record]) -> list[Record]:
    """Return the launches of a switch's cases in its block, those of other platforms too."""
    cases = {one.trial.case for one in switch.records}
    return [
        record
        for record in found
        if record.trial.block == switch.block and record.trial.case in cases
    ]


def _slowness(found: list[Record], probes: Mapping[str, Probe[Any]]) -> dict[int, float]:
    """Return by trial the logarithm of how many times as long its slower points took as usual."""
    values: dict[tuple[str, Case, str], dict[int, float]] = defaultdict(dict)
    for record in found:
        trial, probe = record.trial, probes[record.trial.case.probe]
        sign = 1 if probe.metrics[probe.headline].better == "lower" else -1
        assert isinstance(record.outcome, Measured)
        for sample in record.outcome.samples:
            if sample.metric == probe.headline and sample.value > 0:
                place = (trial.platform, trial.case, format_point(sample.point))
                values[place][trial.index] = sign * math.log(sample.value)
    deviations: dict[int, list[float]] = defaultdict(list)
    for of_place in values.values():
        if len(of_place) >= _LAUNCHES:
            middle = median(of_place.values())
            for index, value in of_place.items():
                deviations[index].append(value - middle)
    return {
        index: sorted(of, reverse=True)[int(_SHARE * len(of))] for index, of in deviations.items()
    }
