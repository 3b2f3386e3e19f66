"""``bareline reparse``: the raw output of a run, read again with the parsers of today.

A corrected study may change how outputs are read, and nothing else.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Hashable
from contextlib import nullcontext
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Literal

from typing_extensions import TypedDict

from bareline.probes.app.program import Program
from bareline.session.intake import read_again
from bareline.session.judge import judge_output
from bareline.session.origin import declare_today, platforms_of, study_of
from bareline.store.header import Header
from bareline.store.raw import was_shortened
from bareline.store.run import Run
from bareline.study.reading import load_study
from bareline.study.study import Study, study_from_toml
from bareline.vocabulary.errors import StudyError
from bareline.vocabulary.instructions import GENERIC_BLAS
from bareline.vocabulary.model import Case, Failed, Measured, Output, Record, Scalar, Stage
from bareline.vocabulary.rows import row_of
from bareline.vocabulary.units import listing

#: Keys of a program that define how its outputs are read, and keys that only describe it.
_READING = ("metrics", "values", "complete", "verify")
_WORDS = ("title", "summary", "source")
_HINT = "only metrics, values, complete and verify may differ; else measure into a new folder"


@dataclass(frozen=True, slots=True)
class Correction:
    """How the outputs of a run are to be read; `changed` has the changed keys by probe."""

    study: Study
    header: Header
    changed: dict[str, list[str]]


def read_correction(run: Run, file: Path) -> Correction:
    """Return from a corrected study file how the outputs of a run are to be read.

    Raises StudyError: it would have measured something else, or reads a file that was not kept.
    Raises UsageError: the run was imported.
    """
    where = str(file)
    study = study_of(run)
    # The study as the run would have begun it: at the run's scale, with its defaults.
    given = study_from_toml(load_study(file).to_toml(), where=where, defaults=run.header.defaults)
    given = given.at_scale(study.scale) if study.scale else given
    _refuse_other_cases(study, given, run, where)
    changed = {}
    for name, program in study.programs.items():
        if name not in given.programs:
            raise StudyError(f"there is no [app.{name}], which the run measured", where=where)
        keys = _differences(name, program, given.programs[name], where)
        if keys:
            changed[f"app.{name}"] = keys
    return _corrected(run, given, changed, where)


def _refuse_other_cases(study: Study, given: Study, run: Run, where: str) -> None:
    specs = platforms_of(run)

    def cases_of(edition: Study) -> dict[Hashable, Case]:
        """Return cases by all their parameters: one given as its default equals one left out."""
        return {
            (replace(case, params=""), *sorted(asdict(edition.params_of(case)).items())): case
            for _, case in edition.cases(specs)
        }

    before = cases_of(study)
    now = cases_of(given)
    for text, cases, others in (
        ("does not measure", before, now),
        ("measures, unlike the run,", now, before),
    ):
        other = sorted(cases[key].label for key in cases.keys() - others.keys())
        if other:
            raise StudyError(f"{text} {other[0]}", where=where, hint=_HINT)


def _differences(name: str, before: Program, now: Program, where: str) -> list[str]:
    """Return the keys that change how a program's outputs are read; refuse other differences."""
    old = before.model_dump()
    new = now.model_dump()
    for key in old:
        if key not in (*_READING, *_WORDS) and old[key] != new[key]:
            text = f"[app.{name}]: '{key}' is not what the run measured with"
            raise StudyError(text, where=where, hint=_HINT)
    lacking = sorted(_files(now) - _files(before) - set(before.files))
    if lacking:
        raise StudyError(
            f"[app.{name}] reads {listing(lacking)}, which its launches did not bring back",
            where=where,
            hint="read it from what they did bring back, or measure into a new folder",
        )
    return [key for key in _READING if old[key] != new[key]]


def _files(program: Program) -> set[str]:
    sources = (*program.metrics.values(), *program.values.values())
    return {source.file for source in sources if source.file}


def _corrected(run: Run, given: Study, changed: dict[str, list[str]], where: str) -> Correction:
    header = run.header
    content = {**header.study, "app": given.to_toml().get("app", {})}
    study = study_of(Run(run.path, replace(header, study=content)))
    sampled: dict[str, set[str]] = defaultdict(set)
    for record in run.records():
        name = record.trial.case.probe
        if name in changed and isinstance(record.outcome, Measured):
            sampled[name].update(sample.metric for sample in record.outcome.samples)
    probes = dict(header.probes)
    for name in changed:
        if name not in probes:
            continue  # in the study, and never measured
        old = probes[name]
        new = study.find_probe(name).declaration()
        declared = {metric: old["metrics"][metric] for metric in sampled[name]}
        for metric, table in declared.items():
            now = new["metrics"].get(metric, table)
            if any(now[key] != table[key] for key in ("unit", "better")):
                raise StudyError(
                    f"{name} measured {metric} in {table['unit']} ({table['better']} is better), "
                    f"not in {now['unit']} ({now['better']})",
                    where=where,
                    hint="give it another name: the run's values keep their meaning",
                )
        # The metrics of earlier records stay declared, or the run could not be read.
        begun = {key: old[key] for key in ("defaults",) if key in old}
        probes[name] = {**old, **new, **begun, "metrics": {**declared, **new["metrics"]}}
    return Correction(study, replace(header, study=content, probes=probes), changed)


#: Failures of launches that ran: their output was kept.
_RAN = frozenset({Stage.PARSE, Stage.BUDGET, Stage.EXIT, Stage.SIGNAL, Stage.TIMEOUT})


class ReadAgain(TypedDict):
    """``reparse``: a trial that came out differently, or could not be read again, and why."""

    trial: int
    platform: str
    probe: str
    before: Literal["measured", "failed"]
    now: Literal["measured", "failed", "unread"]
    reason: str | None


@dataclass(slots=True)
class Reread:
    """The result of reading a run again: `changed` as old and new record, `unread` with reasons."""

    read: int = 0
    changed: list[tuple[Record, Record]] = field(default_factory=list)
    unread: list[tuple[Record, str]] = field(default_factory=list)

    @property
    def counts(self) -> tuple[int, int]:
        """Number of trials read again, and number of them with a new result."""
        return self.read, len(self.changed)

    def rows(self) -> list[ReadAgain]:
        """Return the trials with a new result, and the unread trials, as rows for ``--json``."""
        changed = [
            (old, new.status, new.outcome.reason if isinstance(new.outcome, Failed) else None)
            for old, new in self.changed
        ]
        unread = [(old, "unread", why) for old, why in self.unread]
        return [
            row_of(
                ReadAgain,
                old.trial,
                trial=old.trial.index,
                probe=old.trial.case.probe,
                before=old.status,
                now=now,
                reason=why,
            )
            for old, now, why in (*changed, *unread)
        ]


def reparse_run(
    run: Run,
    *,
    only: str | None = None,
    correction: Correction | None = None,
    dry_run: bool = False,
) -> Reread:
    """Read the raw output of finished trials again, with the parsers of today.

    A new result is appended to the records: the latest record of a trial counts.

    - `only`: read the trials of this probe only; of all by default.
    - `correction`: read only the programs that it changes; it becomes part of the run's header.
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
    def __init__(self, run: Run, correction: Correction | None) -> None:
        self._run = run
        self._correction = correction
        self._study = correction.study if correction else None
        if not correction and not run.header.imported:
            self._study = study_of(run)
        self._facts: dict[int, dict[str, dict[str, Scalar]]] = {}
        self.done = Reread()

    def take(self, record: Record) -> None:
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
        """Write the new results, the header first: records may contain all that it declares."""
        run = self._run
        correction = self._correction
        changed = self.done.changed
        if correction:
            run.replace_header(correction.header)
        elif self._study is not None:
            declare_today(run)
        run.append(*(new for _, new in changed))
        for number, platforms in self._facts.items():
            facts = run.facts_of(number)
            for name, here in platforms.items():
                if here != facts.get(name, {}):
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
            outcome, caveats = read_again(record.trial.case, output.stdout, record.caveats)
            return replace(record, outcome=outcome, caveats=caveats)
        number = record.session
        if number not in self._facts:
            self._facts[number] = self._run.facts_of(number)
        trial = record.trial
        here = self._facts[number].setdefault(trial.platform, {})
        probe = self._study.find_probe(trial.case.probe)
        params = self._study.params_of(trial.case)
        judged = judge_output(
            probe, params, output, trial.timeout_s, profile=trial.case.profile, facts=here
        )
        # The probe's caveats come last, as after a measurement.
        old = {GENERIC_BLAS}
        if record.status == "measured":
            old.update(judged.caveats)
        others = [code for code in record.caveats if code not in old]
        codes = tuple(dict.fromkeys((*others, *judged.caveats)))
        if set(codes) == set(record.caveats):
            codes = record.caveats  # The same caveats in another order are not a change.
        here.update(judged.facts)
        return replace(record, outcome=judged.outcome, caveats=codes)
