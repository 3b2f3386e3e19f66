"""``bareline reparse``: the raw output of a run, read again with the parsers of today."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from dataclasses import replace

from bareline.session.intake import read_again
from bareline.session.judge import judge_output
from bareline.session.origin import declare_today, study_of
from bareline.store.run import Run
from bareline.study.study import Study
from bareline.vocabulary.errors import ParseError
from bareline.vocabulary.instructions import GENERIC_BLAS
from bareline.vocabulary.model import Failed, Measured, Output, Record, Scalar


def reparse_run(run: Run, *, only: str | None = None) -> tuple[int, int]:
    """Read the raw output of finished trials again, with the parsers of today.

    Parameters
    ----------
    only
        Only this probe's trials.

    Returns
    -------
    tuple of int
        Number of trials read again, and how many of them came out differently.
    """
    study = None if run.header.imported else study_of(run)
    with run.writing():
        if study is not None:
            declare_today(run)
        records, read, changed = [], 0, 0
        known: dict[int, dict[str, dict[str, Scalar]]] = {}
        facts: dict[int, dict[str, dict[str, Scalar]]] = {}
        for record in run.records():
            probe_name = record.trial.case.probe
            output = run.read_raw(record.trial, record.attempt)
            if output is None or (only and only != probe_name):
                records.append(record)
                continue
            if study is None:
                new = _with_outcome(record, *read_again(record.trial.case, output.stdout))
            else:
                number = record.session
                if number not in known:
                    known[number] = run.facts_of(number)
                    facts[number] = {name: dict(one) for name, one in known[number].items()}
                here = facts[number].setdefault(record.trial.platform, {})
                new, told = _judge_again(study, record, output, here)
                here.update(told)
            read += 1
            changed += new != record
            records.append(new)
        if changed:
            run.replace_records(records)
        for number, platforms in facts.items():
            for name, here in platforms.items():
                if here != known[number].get(name, {}):
                    run.write_facts(name, here, number)
    return read, changed


def _judge_again(
    study: Study, record: Record, output: Output, facts: Mapping[str, Scalar]
) -> tuple[Record, Mapping[str, Scalar]]:
    """Give a measured trial's record, and what it tells of its platform, as read today."""
    trial = record.trial
    probe = study.find_probe(trial.case.probe)
    params = study.params_of(trial.case)
    old = {GENERIC_BLAS}
    if record.status == "measured":
        # An output that was damaged since then: `judge_output` says so.
        with suppress(ParseError):
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
