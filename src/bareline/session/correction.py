"""A corrected study for a run that was measured: how outputs are read may differ, nothing else."""

from __future__ import annotations

from collections.abc import Collection, Hashable, Iterable
from dataclasses import asdict, dataclass, replace
from pathlib import Path

from bareline.probes.app.program import Program
from bareline.session.origin import platforms_of, study_of
from bareline.store.header import Header
from bareline.store.run import Run
from bareline.study.reading import load_study
from bareline.study.study import Study, study_from_toml
from bareline.vocabulary.errors import StudyError
from bareline.vocabulary.model import Case, Measured, Record
from bareline.vocabulary.units import listing

#: What of a program says how its outputs are read, and what only says it in words.
_READING = ("metrics", "values", "complete", "verify")
_WORDS = ("title", "summary", "source")
_HINT = "only metrics, values, complete and verify may differ; else measure into a new folder"


@dataclass(frozen=True, slots=True)
class Correction:
    """How the outputs of a run are to be read.

    - `study`: the study of the run, its programs corrected.
    - `header`: what ``run.toml`` says then.
    - `changed`: for each probe whose outputs are read in another way what is other.
    """

    study: Study
    header: Header
    changed: dict[str, list[str]]


def read_correction(run: Run, file: Path) -> Correction:
    """Take from a corrected study file how the outputs of a run are to be read.

    Raises StudyError: it would have measured something else, or reads what was not kept.
    Raises UsageError: the run was imported.
    """
    where = str(file)
    study = study_of(run)
    given = _as_begun(load_study(file), study, run, where)
    _refuse_other_cases(study, given, run, where)
    changed = {}
    for name, program in study.programs.items():
        if name not in given.programs:
            raise StudyError(f"there is no [app.{name}], which the run measured", where=where)
        keys = _differences(name, program, given.programs[name], where)
        if keys:
            changed[f"app.{name}"] = keys
    return _corrected(run, given, changed, where)


def _as_begun(given: Study, study: Study, run: Run, where: str) -> Study:
    """Give a study as the run would have begun it: at its scale, with its defaults."""
    made = study_from_toml(given.to_toml(), where=where, defaults=run.header.defaults)
    return made.at_scale(study.scale) if study.scale else made


def _refuse_other_cases(study: Study, given: Study, run: Run, where: str) -> None:
    """Refuse a study that asks for other cases than the run: parameters, ranks, nodes."""
    specs = platforms_of(run)
    before, now = (
        {_identity(one, case): case for _, case in one.cases(specs)} for one in (study, given)
    )
    for text, cases, others in (
        ("does not measure", before, now),
        ("measures, unlike the run,", now, before),
    ):
        other = sorted(cases[key].label for key in cases.keys() - others.keys())
        if other:
            raise StudyError(f"{text} {other[0]}", where=where, hint=_HINT)


def _identity(study: Study, case: Case) -> Hashable:
    """Give what makes a case: a parameter given as its default is the same as one left out."""
    return replace(case, params=""), tuple(sorted(asdict(study.params_of(case)).items()))


def _differences(name: str, before: Program, now: Program, where: str) -> list[str]:
    """Name what is read otherwise of a program's outputs; refuse every other difference."""
    old, new = before.model_dump(), now.model_dump()
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
    held = _sampled(run.records(), changed)
    probes = dict(header.probes)
    for name in changed:
        if name not in probes:
            continue  # described, and never measured
        old, new = probes[name], study.find_probe(name).declaration()
        kept = {metric: old["metrics"][metric] for metric in held.get(name, ())}
        for metric, table in kept.items():
            now = new["metrics"].get(metric, table)
            if any(now[key] != table[key] for key in ("unit", "better")):
                raise StudyError(
                    f"{name} measured {metric} in {table['unit']} ({table['better']} is better), "
                    f"not in {now['unit']} ({now['better']})",
                    where=where,
                    hint="give it another name: what stands in the run keeps its meaning",
                )
        # What earlier lines hold stays declared, or the run could not be read.
        begun = {key: old[key] for key in ("defaults",) if key in old}
        probes[name] = {**old, **new, **begun, "metrics": {**kept, **new["metrics"]}}
    return Correction(study, replace(header, study=content, probes=probes), changed)


def _sampled(records: Iterable[Record], probes: Collection[str]) -> dict[str, set[str]]:
    """Give the metrics of which the run holds values, by probe."""
    found: dict[str, set[str]] = {}
    for record in records:
        name = record.trial.case.probe
        if name in probes and isinstance(record.outcome, Measured):
            found.setdefault(name, set()).update(s.metric for s in record.outcome.samples)
    return found
