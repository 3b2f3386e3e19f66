"""Judge the outcome of a trial, and find programs that fail on every platform."""

from __future__ import annotations

import json
import re
import signal
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from types import MappingProxyType
from typing import Any

from bareline.probes.base import Probe
from bareline.profile.launch import why_unprofiled
from bareline.vocabulary.errors import OutOfTime, ParseError
from bareline.vocabulary.instructions import BLAS_KERNELS, blas_caveats
from bareline.vocabulary.message_codes import code_of
from bareline.vocabulary.model import Failed, Measured, Output, Record, Sample, Scalar, Stage, Trial
from bareline.vocabulary.units import listing

#: Launchers frame their own lines, for example that a process returned a non-zero exit code.
_FRAMED = re.compile(r"^-{60,}\n.*?\n-{60,}$\n?", re.MULTILINE | re.DOTALL)
#: The exit code and the line with which bareline's own programs refuse a function that their build
#: left out: ``BL_STATUS_LEFT_OUT`` in native/common/bl_error.h.
_LEFT_OUT_STATUS = 69
_LEFT_OUT_LINE = re.compile(r"^.*\bbuilt without .+$", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class JudgedOutput:
    """The result of a trial.

    - `facts`: facts of the platform that the program reported.
    """

    outcome: Measured | Failed
    caveats: tuple[str, ...] = ()
    facts: Mapping[str, Scalar] = field(default_factory=dict)
    output: Output | None = None
    foreign_cores: float | None = None


def judge_output(
    probe: Probe[Any],
    params: Any,
    output: Output,
    timeout_s: float,
    *,
    profile: bool = False,
    facts: Mapping[str, Scalar] = MappingProxyType({}),
) -> JudgedOutput:
    """Turn the output of a launch into samples or a failure, with the probe's caveats and facts.

    - `profile`: whether the launch was profiled; it failed if the profile is missing.
    """
    ended = _ended(output, timeout_s)
    # A program that wrote all its output and then did not exit has lost no values.
    hung = output.timed_out and _wrote_its_end(output.stdout)
    if ended is not None and not hung:
        return _failed(output, *ended)
    try:
        reading = probe.read(params, output)
        samples = _in_cache(reading.samples, reading.arrays, facts)
        caveats = [*reading.caveats]
        if BLAS_KERNELS in reading.facts:
            caveats += blas_caveats({**facts, **reading.facts})
    except ParseError as error:
        return _failed(output, _stage_of(error), str(error), code_of(error))
    except Exception as error:  # a third party's probe may raise any error
        problem = f"{type(error).__name__}: {error}"
        return _failed(output, Stage.PARSE, f"{probe.name} cannot read its output: {problem}")
    if profile:
        if reason := why_unprofiled(output):
            return _failed(output, Stage.PARSE, f"no profile: {reason}")
        caveats.append("profiled")
    caveats += _cut_caveats(output)
    if hung:
        caveats.append("hung-at-end")
    return JudgedOutput(Measured(samples), tuple(caveats), reading.facts)


def _failed(output: Output, stage: Stage, reason: str, code: str | None = None) -> JudgedOutput:
    # The messages of the program itself, if it wrote any.
    messages = _FRAMED.sub("", output.stderr).strip() or output.stderr.strip()
    parts = [reason, *output.cut]
    if tail := messages[-600:].strip():
        parts.append(f"stderr ends: {tail}")
    return JudgedOutput(Failed(stage, "; ".join(parts), code), _cut_caveats(output))


def _cut_caveats(output: Output) -> tuple[str, ...]:
    return ("output-cut",) if output.cut else ()


def _stage_of(error: ParseError) -> Stage:
    return Stage.BUDGET if isinstance(error, OutOfTime) else Stage.PARSE


def _wrote_its_end(stdout: str) -> bool:
    try:
        last = json.loads(stdout.rstrip().rpartition("\n")[2])
    except ValueError:
        return False
    return isinstance(last, dict) and last.get("end") is True


def _ended(output: Output, timeout_s: float) -> tuple[Stage, str] | None:
    if output.timed_out:
        return Stage.TIMEOUT, f"no end after {timeout_s:g} s"
    if output.exit_code < 0:
        return Stage.SIGNAL, f"died by {_signal_name(-output.exit_code)}"
    if output.exit_code == _LEFT_OUT_STATUS and _LEFT_OUT_LINE.search(output.stderr):
        return Stage.ABSENT, "its build left it out"
    if output.exit_code > 0:
        text = f"exit code {output.exit_code}"
        if output.exit_code > 128:
            text += f" ({_signal_name(output.exit_code - 128)})"
        return Stage.EXIT, text
    return None


def _in_cache(
    samples: tuple[Sample, ...], arrays: Mapping[str, int], facts: Mapping[str, Scalar]
) -> tuple[Sample, ...]:
    """Mark the memory rates whose array is not larger than the last-level cache."""
    cache_bytes = facts.get("cpu.l3_bytes") or facts.get("cpu.l2_bytes") or 0
    in_cache = tuple(name for name, size in arrays.items() if size <= float(cache_bytes))
    if not in_cache:
        return samples
    marked = []
    for sample in samples:
        if sample.metric.startswith(in_cache):
            sample = replace(sample, caveats=(*sample.caveats, "in-cache"))
        marked.append(sample)
    return tuple(marked)


def _signal_name(number: int) -> str:
    try:
        return signal.Signals(number).name
    except ValueError:
        return f"signal {number}"


#: After so many failures on every platform, and no success, the user should look at the program.
ENOUGH = 2
_MEND = "; `bareline reparse RUN --study FILE` reads these outputs again, once it is mended"


class Failures:
    """The number of failures, by probe and platform."""

    def __init__(self, plan: Sequence[Trial]) -> None:
        self._left = Counter((trial.case.probe, trial.platform) for trial in plan)
        self._planned = Counter(self._left)
        self._failed: Counter[tuple[str, str]] = Counter()
        #: Probes that worked once, or that were reported.
        self._settled: set[str] = set()
        self._absent: set[tuple[str, str]] = set()

    def add(self, record: Record) -> str:
        """Count a record; return a message when a probe first fails everywhere, else ""."""
        probe = record.trial.case.probe
        platform = record.trial.platform
        self._left[probe, platform] -= 1
        outcome = record.outcome
        if not isinstance(outcome, Failed):
            self._settled.add(probe)
            return ""
        if record.skipped:
            self._absent.add((probe, platform))
            return ""
        self._failed[probe, platform] += 1
        if probe in self._settled:
            return ""
        tried = [cell for cell in self._planned if cell[0] == probe and cell not in self._absent]
        left = sum(self._left[cell] for cell in tried)
        if not left or not all(map(self._has_failed, tried)):
            return ""
        self._settled.add(probe)
        counts = listing([f"{self._failed[cell]} on {cell[1]}" for cell in tried])
        reason = " ".join(outcome.reason.split())[:240]
        if outcome.stage is Stage.PARSE:
            reason += _MEND
        return (
            f"{probe} has failed every time ({counts}), and {left} more trials of it are planned: "
            f"[{outcome.stage.value}] {reason}"
        )

    def _has_failed(self, cell: tuple[str, str]) -> bool:
        """Whether a probe failed so often on a platform that it counts as failing there."""
        return self._failed[cell] >= min(ENOUGH, self._planned[cell])
