"""``bareline reparse``: parse the raw output of a run again, with the present parsers.

A corrected study may change only how outputs are parsed.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Collection, Hashable, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any, Literal

from typing_extensions import TypedDict

from bareline.probes.app.program import Program
from bareline.session.intake import read_again
from bareline.session.judge import judge_output
from bareline.session.origin import declare_today, platforms_of, study_of
from bareline.store.header import Header
from bareline.store.raw import was_shortened
from bareline.store.run import Run
from bareline.study.reading import load_study
from bareline.study.study import Study
from bareline.vocabulary.errors import StudyError
from bareline.vocabulary.instructions import GENERIC_BLAS
from bareline.vocabulary.model import Case, Failed, Measured, Output, Record, Scalar, Stage
from bareline.vocabulary.platform import PlatformSpec
from bareline.vocabulary.rows import row_of
from bareline.vocabulary.units import listing

#: The declaration of a probe in the header of a run.
_Declaration = Mapping[str, Any]
#: Keys of a program that define how its outputs are read, and keys that only describe it.
_READING = ("metrics", "values", "complete", "verify")
_WORDS = ("title", "summary", "source")
_HINT = (
    "only the keys `metrics`, `values`, `complete` and `verify` may differ; for other changes "
    "measure into a new folder"
)


@dataclass(frozen=True, slots=True)
class Correction:
    """A corrected study, by which the outputs of a run are parsed again.

    - `changed`: by probe, the keys whose values differ from the study of the run.
    """

    study: Study
    header: Header
    changed: dict[str, list[str]]


def read_correction(run: Run, file: Path) -> Correction:
    """Read a corrected study file, by which the outputs of a run will be parsed again.

    Raises StudyError: the corrected study would have measured something else, or parses a file that
        the run did not keep.
    Raises UsageError: the run was imported.
    """
    where = str(file)
    study = study_of(run)
    # The study as the run would have begun it: at the run's scale, with its defaults.
    given = load_study(file, run.header.defaults)
    if study.scale:
        given = given.at_scale(study.scale)
    _refuse_other_cases(study, given, run, where)
    changed = {}
    for name, program in study.programs.items():
        if name not in given.programs:
            raise StudyError(
                f"the file has no table [app.{name}], but the run measured this program",
                where=where,
            )
        keys = _differences(name, program, given.programs[name], where)
        if keys:
            changed[f"app.{name}"] = keys
    return _corrected(run, given, changed, where)


def _refuse_other_cases(study: Study, given: Study, run: Run, where: str) -> None:
    specs = platforms_of(run)
    before = _cases_by_parameters(study, specs)
    now = _cases_by_parameters(given, specs)
    gone = [before[key].label for key in before.keys() - now.keys()]
    if gone:
        problem = f"the file does not measure {min(gone)}, which the run measured"
        raise StudyError(problem, where=where, hint=_HINT)
    added = [now[key].label for key in now.keys() - before.keys()]
    if added:
        problem = f"the file measures {min(added)}, which the run did not measure"
        raise StudyError(problem, where=where, hint=_HINT)


def _cases_by_parameters(study: Study, specs: Sequence[PlatformSpec]) -> dict[Hashable, Case]:
    """Return cases by all their parameters, including parameters with their default values."""
    cases: dict[Hashable, Case] = {}
    for _, case in study.cases(specs):
        params = asdict(study.params_of(case))
        cases[replace(case, params=""), *sorted(params.items())] = case
    return cases


def _differences(name: str, before: Program, now: Program, where: str) -> list[str]:
    """Return the changed keys that define how outputs are parsed; refuse all other changes."""
    old = before.model_dump()
    new = now.model_dump()
    for key in old:
        if key not in (*_READING, *_WORDS) and old[key] != new[key]:
            text = f"[app.{name}]: '{key}' differs from the '{key}' with which the run measured"
            raise StudyError(text, where=where, hint=_HINT)
    lacking = sorted(_files(now) - _files(before) - set(before.files))
    if lacking:
        raise StudyError(
            f"[app.{name}] reads {listing(lacking)}, which the launches of this run did "
            "not copy back",
            where=where,
            hint="read a file that the launches copied back, or measure into a new folder",
        )
    return [key for key in _READING if old[key] != new[key]]


def _files(program: Program) -> set[str]:
    sources = (*program.metrics.values(), *program.values.values())
    return {source.file for source in sources if source.file}


def _corrected(run: Run, given: Study, changed: dict[str, list[str]], where: str) -> Correction:
    header = run.header
    content = {**header.study, "app": given.to_toml().get("app", {})}
    study = study_of(Run(run.path, replace(header, study=content)))
    sampled = _sampled_metrics(run, changed)
    probes = dict(header.probes)
    for name in changed:
        if name in probes:  # else in the study, and never measured
            declared = study.find_probe(name).declaration()
            probes[name] = _declaration(name, probes[name], declared, sampled[name], where)
    return Correction(study, replace(header, study=content, probes=probes), changed)


def _sampled_metrics(run: Run, probes: Collection[str]) -> Mapping[str, set[str]]:
    """Return for each probe the metrics for which the run contains values."""
    sampled: dict[str, set[str]] = defaultdict(set)
    for record in run.records():
        name = record.trial.case.probe
        if name in probes and isinstance(record.outcome, Measured):
            sampled[name].update(sample.metric for sample in record.outcome.samples)
    return sampled


def _declaration(
    name: str, old: _Declaration, new: _Declaration, sampled: Collection[str], where: str
) -> _Declaration:
    """Return the declaration of a corrected probe; it keeps each metric with values in the run.

    Raises StudyError: such a metric would get another unit, or the opposite direction (`better`).
    """
    metrics = {metric: old["metrics"][metric] for metric in sampled}
    for metric, table in metrics.items():
        now = new["metrics"].get(metric, table)
        if now["unit"] != table["unit"] or now["better"] != table["better"]:
            raise StudyError(
                f"the run measured {metric} of {name} in {table['unit']} ({table['better']}"
                " is better), but "
                f"the file declares {now['unit']} ({now['better']} is better)",
                where=where,
                hint="give the new metric another name, so that the values of the run keep "
                "their meaning",
            )
    # The metrics of earlier records stay declared, or the run could not be read.
    declared = {**old, **new, "metrics": {**metrics, **new["metrics"]}}
    if "defaults" in old:
        declared["defaults"] = old["defaults"]
    return declared


#: Failures of launches that ran: their output was kept.
_RAN = frozenset({Stage.PARSE, Stage.BUDGET, Stage.EXIT, Stage.SIGNAL, Stage.TIMEOUT})


ReadStatus = Literal["measured", "failed", "unread"]


class ReadAgain(TypedDict):
    """A row of ``reparse``: a trial with a new result or an unreadable output, with the reason."""

    trial: int
    platform: str
    probe: str
    before: Literal["measured", "failed"]
    now: ReadStatus
    reason: str | None


@dataclass(slots=True)
class Reread:
    """The result of parsing a run again.

    - `read`: the number of outputs that were parsed again.
    - `changed`: the old and the new record of each trial with a new result.
    - `unread`: the record of each trial without a usable output, with the reason.
    """

    read: int = 0
    changed: list[tuple[Record, Record]] = field(default_factory=list)
    unread: list[tuple[Record, str]] = field(default_factory=list)

    @property
    def counts(self) -> tuple[int, int]:
        """The number of trials parsed again, and the number of these with a new result."""
        return self.read, len(self.changed)

    def rows(self) -> list[ReadAgain]:
        """Return the trials with a new result or an unreadable output as rows for ``--json``."""
        rows = []
        for old, new in self.changed:
            reason = new.outcome.reason if isinstance(new.outcome, Failed) else None
            rows.append(_read_again_row(old, new.status, reason))
        for old, reason in self.unread:
            rows.append(_read_again_row(old, "unread", reason))
        return rows


def _read_again_row(old: Record, now: ReadStatus, reason: str | None) -> ReadAgain:
    return row_of(
        ReadAgain,
        old.trial,
        trial=old.trial.index,
        probe=old.trial.case.probe,
        before=old.status,
        now=now,
        reason=reason,
    )


def reparse_run(
    run: Run,
    *,
    only: str | None = None,
    correction: Correction | None = None,
    dry_run: bool = False,
) -> Reread:
    """Parse the raw output of finished trials again, with the present parsers.

    A new result is appended to the records, because the latest record of a trial counts.

    - `only`: parse the trials of this probe only; by default of all probes.
    - `correction`: parse only the programs that this correction changes, and write it to the run's
      header.
    - `dry_run`: write nothing.
    """
    with nullcontext() if dry_run else run.writing():
        reread = _Rereading(run, correction)
        for record in run.finished().values():
            if _is_wanted(record.trial.case.probe, only, correction):
                reread.take(record)
        if not dry_run:
            reread.keep()
    return reread.result


def _is_wanted(probe: str, only: str | None, correction: Correction | None) -> bool:
    if correction is not None:
        return probe in correction.changed
    return only is None or probe == only


class _Rereading:
    def __init__(self, run: Run, correction: Correction | None) -> None:
        self._run = run
        self._correction = correction
        self._study = correction.study if correction else None
        if not correction and not run.header.imported:
            self._study = study_of(run)
        self._facts: dict[int, dict[str, dict[str, Scalar]]] = {}
        self.result = Reread()

    def take(self, record: Record) -> None:
        output = self._run.read_raw(record.trial, record.attempt)
        if output is None:
            self._take_without_output(record)
            return
        new = self._judged(record, output)
        if record.status == "failed" and new.status == "measured" and was_shortened(output):
            self.result.unread.append((record, "only both ends of its output were kept"))
            return
        self.result.read += 1
        if new != record:
            self.result.changed.append((record, new))

    def _take_without_output(self, record: Record) -> None:
        outcome = record.outcome
        if isinstance(outcome, Measured) or outcome.stage in _RAN:
            self.result.unread.append((record, "its output was not kept"))
        elif self._correction:
            self.result.unread.append((record, f"it did not run [{outcome.stage.value}]"))

    def keep(self) -> None:
        """Write the header first, and then the new results, whose metrics the header declares."""
        run = self._run
        correction = self._correction
        changed = self.result.changed
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
        if correction:
            self._report(correction)

    def _report(self, correction: Correction) -> None:
        """Record for each probe and platform how many trials have another result than before."""
        for probe, keys in correction.changed.items():
            trials = [new.trial for _, new in self.result.changed if new.trial.case.probe == probe]
            counts = Counter(trial.platform for trial in trials)
            for platform in self._run.header.platforms:
                count = counts[platform]
                if count:
                    text = f"{count} trials of {probe} read otherwise: {', '.join(keys)} corrected"
                    self._run.append_event(platform, text)

    def _judged(self, record: Record, output: Output) -> Record:
        if self._study is None:
            outcome, caveats = read_again(record.trial.case, output.stdout, record.caveats)
            return replace(record, outcome=outcome, caveats=caveats)
        trial = record.trial
        here = self._facts_of(record)
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

    def _facts_of(self, record: Record) -> dict[str, Scalar]:
        """Return a platform's facts in the session of a record; `keep` writes changes of them."""
        number = record.session
        if number not in self._facts:
            self._facts[number] = self._run.facts_of(number)
        return self._facts[number].setdefault(record.trial.platform, {})
