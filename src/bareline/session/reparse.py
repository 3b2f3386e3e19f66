"""``bareline reparse``: the raw output of a run, read again with the parsers of today."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import nullcontext, suppress
from dataclasses import dataclass, field, replace
from typing import Any

from bareline.session.correction import Correction
from bareline.session.intake import read_again
from bareline.session.judge import judge_output
from bareline.session.origin import declare_today, study_of
from bareline.store.raw import was_shortened
from bareline.store.run import Run
from bareline.study.study import Study
from bareline.vocabulary.instructions import GENERIC_BLAS
from bareline.vocabulary.model import Failed, Measured, Output, Record, Scalar, Stage

#: Failures of launches that ran: what they printed was kept.
_RAN = frozenset({Stage.PARSE, Stage.BUDGET, Stage.EXIT, Stage.SIGNAL, Stage.TIMEOUT})


@dataclass(slots=True)
class Reread:
    """What came of reading a run again.

    - `read`: number of trials read again.
    - `changed`: those that came out differently: as they were, and as they are.
    - `unread`: those that cannot be read again, and why.
    """

    read: int = 0
    changed: list[tuple[Record, Record]] = field(default_factory=list)
    unread: list[tuple[Record, str]] = field(default_factory=list)

    @property
    def counts(self) -> tuple[int, int]:
        """Number of trials read again, and of those that came out differently."""
        return self.read, len(self.changed)

    def rows(self) -> list[dict[str, Any]]:
        """Give what came out differently, and what could not be read, as rows for ``--json``."""
        changed = [(old, new.status, _reason(new)) for old, new in self.changed]
        unread = [(old, "unread", why) for old, why in self.unread]
        return [
            {
                "trial": old.trial.index,
                "platform": old.trial.platform,
                "probe": old.trial.case.probe,
                "before": old.status,
                "now": now,
                "reason": why,
            }
            for old, now, why in (*changed, *unread)
        ]


def _reason(record: Record) -> str | None:
    return record.outcome.reason if isinstance(record.outcome, Failed) else None


def reparse_run(
    run: Run,
    *,
    only: str | None = None,
    correction: Correction | None = None,
    dry_run: bool = False,
) -> Reread:
    """Read the raw output of finished trials again, with the parsers of today.

    What comes out differently is appended to the records, of which the latest of a trial counts:
    what stood there before stays.

    - `only`: only this probe's trials.
    - `correction`: only the programs whose outputs are to be read otherwise, and thus; the run goes
      by it from then on.
    - `dry_run`: write nothing.
    """
    with nullcontext() if dry_run else run.writing():
        reread = _Rereading(run, correction)
        for record in run.finished().values():
            name = record.trial.case.probe
            if name in (correction.changed if correction else {only or name}):
                reread.take(record)
        if not dry_run:
            reread.keep()
    return reread.done


class _Rereading:
    """Reads records again one by one, with the facts of their sessions."""

    def __init__(self, run: Run, correction: Correction | None) -> None:
        self._run = run
        self._correction = correction
        self._study = correction.study if correction else None
        if not correction and not run.header.imported:
            self._study = study_of(run)
        self._known: dict[int, dict[str, dict[str, Scalar]]] = {}
        self._facts: dict[int, dict[str, dict[str, Scalar]]] = {}
        self.done = Reread()

    def take(self, record: Record) -> None:
        """Read a record's output again."""
        output = self._run.read_raw(record.trial, record.attempt)
        if output is None:
            outcome = record.outcome
            if isinstance(outcome, Measured) or outcome.stage in _RAN:
                self.done.unread.append((record, "its output was not kept"))
            elif self._correction:
                self.done.unread.append((record, f"it did not run [{outcome.stage.value}]"))
            return
        new = self._judged(record, output)
        if record.status == "failed" and new.status == "measured" and was_shortened(output):
            self.done.unread.append((record, "only both ends of its output were kept"))
            return
        self.done.read += 1
        if new != record:
            self.done.changed.append((record, new))

    def keep(self) -> None:
        """Write what came out, the header first: all that it declares may stand in records."""
        run, correction, changed = self._run, self._correction, self.done.changed
        if correction:
            run.replace_header(correction.header)
        elif self._study is not None:
            declare_today(run)
        run.append(*(new for _, new in changed))
        for number, platforms in self._facts.items():
            for name, here in platforms.items():
                if here != self._known[number].get(name, {}):
                    run.write_facts(name, here, number)
        for probe, keys in (correction.changed if correction else {}).items():
            for platform in run.header.platforms:
                count = sum(
                    (new.trial.case.probe, new.trial.platform) == (probe, platform)
                    for _, new in changed
                )
                text = f"{count} trials of {probe} read otherwise: {', '.join(keys)} corrected"
                if count:
                    run.append_event(platform, text)

    def _judged(self, record: Record, output: Output) -> Record:
        if self._study is None:
            return _with_outcome(record, *read_again(record.trial.case, output.stdout))
        number = record.session
        if number not in self._known:
            self._known[number] = self._run.facts_of(number)
            self._facts[number] = {name: dict(one) for name, one in self._known[number].items()}
        here = self._facts[number].setdefault(record.trial.platform, {})
        new, told = _judge_again(self._study, record, output, here)
        here.update(told)
        return new


def _judge_again(
    study: Study, record: Record, output: Output, facts: Mapping[str, Scalar]
) -> tuple[Record, Mapping[str, Scalar]]:
    """Give a measured trial's record, and what it tells of its platform, as read today."""
    trial = record.trial
    probe = study.find_probe(trial.case.probe)
    params = study.params_of(trial.case)
    old = {GENERIC_BLAS}
    if record.status == "measured":
        # An output that was damaged since then may raise anything: `judge_output` says so.
        with suppress(Exception):
            old.update(probe.caveats(params, output))
    outcome, caveats = judge_output(
        probe, params, output, trial.timeout_s, profile=trial.case.profile, facts=facts
    )
    kept = [code for code in record.caveats if code not in old]
    every = tuple(dict.fromkeys((*kept, *caveats)))
    if set(every) == set(record.caveats):
        every = record.caveats  # The same in another order is no change.
    told = probe.facts(params, output) if isinstance(outcome, Measured) else {}
    return _with_outcome(record, outcome, every), told


def _with_outcome(record: Record, outcome: Measured | Failed, caveats: tuple[str, ...]) -> Record:
    return replace(record, outcome=outcome, caveats=caveats)
