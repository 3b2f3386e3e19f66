"""Find where a machine changes its speed: launches of several probes become slower together.

Another program that uses the same cache or memory can slow launches down for some seconds. If
several programs are slower at once on one platform, but not on the other platforms of the block,
the cause is the machine and not a program. The pairing of launches within a block does not remove
this slowdown.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from statistics import median
from typing import Any

from bareline.probes.base import Probe
from bareline.store.run import Run
from bareline.study.study import Study
from bareline.vocabulary.model import Case, Measured, Record, Trial, format_point

#: Caveat of a launch at the slower speed that no later launch replaced.
SPEED_CAVEAT = "two-speeds"

#: A launch is at the slower speed if its slowest points take more than so many times as long as in
#: the case's other launches there, after division by the slowdown of the block's other platforms.
_SLOWER = 1.5
#: Share of a launch's points that must be so slow.
_SHARE = 0.2
#: The cause is the machine if launches of at least this number of probes are slow at once.
_PROBES = 3
#: Smallest number of launches from which a usual time is computed.
_LAUNCHES = 4
#: Larger slowdowns are not printed: they occur if a very short call had to wait once.
_MOST_TIMES = 100
#: Records of more bytes are not searched: so large a run has enough launches.
_MOST_BYTES = 64 << 20


@dataclass(frozen=True, slots=True)
class SpeedChange:
    """The launches of one platform at the slower speed in one block."""

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


def switches(records: Iterable[Record], probes: Mapping[str, Probe[Any]]) -> list[SpeedChange]:
    """Find where launches of several probes become slower together on one platform."""
    measured = [record for record in records if isinstance(record.outcome, Measured)]
    slow: dict[tuple[str, int], list[_SlowLaunch]] = defaultdict(list)
    for launch in _slow_launches(measured, _slowness(measured, probes)):
        trial = launch.record.trial
        slow[trial.platform, trial.block].append(launch)
    changes = []
    for (platform, block), launches in sorted(slow.items()):
        slow_records = tuple(launch.record for launch in launches)
        if len({record.trial.case.probe for record in slow_records}) >= _PROBES:
            times = math.exp(median(launch.slowness for launch in launches))
            changes.append(SpeedChange(platform, block, slow_records, times))
    return changes


@dataclass(frozen=True, slots=True)
class _SlowLaunch:
    """A launch that was slower than usual.

    - `slowness`: the logarithm of the launch's time divided by the usual time.
    """

    record: Record
    slowness: float


def _slow_launches(
    measured: Sequence[Record], slowness: Mapping[int, float]
) -> Iterator[_SlowLaunch]:
    """Yield launches that were slowed down more than other platforms were in the same block."""
    by_place: dict[tuple[Case, int], dict[str, float]] = defaultdict(dict)
    slow = [record for record in measured if record.trial.index in slowness]
    for record in slow:
        trial = record.trial
        by_place[trial.case, trial.block][trial.platform] = slowness[trial.index]
    for record in slow:
        trial = record.trial
        by_platform = dict(by_place[trial.case, trial.block])
        value = by_platform.pop(trial.platform)
        if not by_platform:
            continue
        slowdown = max(0.0, median(by_platform.values()))
        if value - slowdown > math.log(_SLOWER):
            yield _SlowLaunch(record, value)


def remeasure_changed_speeds(
    run: Run,
    study: Study,
    note: Callable[[str, str], None],
    again: Callable[[Trial, int, tuple[int, int]], Record | None],
) -> None:
    """Report where the machine changed its speed, and measure the cases of those blocks again.

    These cases are measured again on all platforms of the block, so that launches that form a pair
    stay close in time. Each is repeated at most once. Launches that are still slower get a caveat.

    - `note`: called with a platform and a description of the change.
    - `again`: measures a trial again. Its arguments are the trial, the attempt, and the repeat's
      number with the number of all repeats. It returns None if the budget is used up or the trial
      failed.
    """
    probes = {measure.probe: study.find_probe(measure.probe) for measure in study.measures}
    if run.records_bytes > _MOST_BYTES:
        return
    records = run.finished(lambda name: (probes[name].headline,))
    repeats: dict[int, Record] = {}
    for switch in switches(records.values(), probes):
        if not _was_repeated(switch):
            note(switch.platform, str(switch))
            for launch in _beside(switch, records.values()):
                repeats[launch.trial.index] = launch
    for number, record in enumerate(repeats.values(), start=1):
        fresh = again(record.trial, record.attempt + 1, (number, len(repeats)))
        if fresh is not None:
            run.append(fresh)
            records[record.trial.index] = fresh
    _add_caveats(run, switches(records.values(), probes))


def _was_repeated(switch: SpeedChange) -> bool:
    """Whether a slower launch was measured again, or already has the caveat `SPEED_CAVEAT`."""
    return any(record.attempt > 1 or SPEED_CAVEAT in record.caveats for record in switch.records)


def _add_caveats(run: Run, left: Iterable[SpeedChange]) -> None:
    """Append new records with the caveat `SPEED_CAVEAT` for the launches that are still slower."""
    doubtful: set[int] = set()
    for switch in left:
        for record in switch.records:
            if SPEED_CAVEAT not in record.caveats:
                doubtful.add(record.trial.index)
    if not doubtful:
        return
    records = run.finished()
    for index in sorted(doubtful):
        record = records[index]
        run.append(replace(record, caveats=(*record.caveats, SPEED_CAVEAT)))


def _beside(switch: SpeedChange, finished: Iterable[Record]) -> list[Record]:
    """Return all launches, in that block, of the cases that became slower on a platform."""
    cases = {launch.trial.case for launch in switch.records}
    of_block = [record for record in finished if record.trial.block == switch.block]
    return [record for record in of_block if record.trial.case in cases]


def _slowness(measured: Sequence[Record], probes: Mapping[str, Probe[Any]]) -> dict[int, float]:
    """Return by trial the logarithm of the slowdown that a fifth of its points exceed."""
    deviations: dict[int, list[float]] = defaultdict(list)
    for by_trial in _logarithms(measured, probes).values():
        if len(by_trial) < _LAUNCHES:
            continue
        usual = median(by_trial.values())
        for index, value in by_trial.items():
            deviations[index].append(value - usual)
    slowness = {}
    for index, of_trial in deviations.items():
        slowest_first = sorted(of_trial, reverse=True)
        slowness[index] = slowest_first[int(_SHARE * len(of_trial))]
    return slowness


def _logarithms(
    measured: Sequence[Record], probes: Mapping[str, Probe[Any]]
) -> Mapping[tuple[str, Case, str], Mapping[int, float]]:
    """Return the logarithms of headline values by platform, case and point; larger is slower."""
    values: dict[tuple[str, Case, str], dict[int, float]] = defaultdict(dict)
    for record in measured:
        trial = record.trial
        probe = probes[trial.case.probe]
        sign = 1 if probe.metrics[probe.headline].better == "lower" else -1
        assert isinstance(record.outcome, Measured)
        for sample in record.outcome.samples:
            if sample.metric == probe.headline and sample.value > 0:
                place = (trial.platform, trial.case, format_point(sample.point))
                values[place][trial.index] = sign * math.log(sample.value)
    return values
