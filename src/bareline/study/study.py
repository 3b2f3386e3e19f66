"""Studies: their ``[[measure]]`` and ``[[exhibit]]`` tables, read from a TOML file and checked."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from functools import cached_property
from typing import Any

from pydantic import PrivateAttr, ValidationError

from bareline.probes.app.program import program_probe
from bareline.probes.base import Probe, find_probe
from bareline.study.checks import check_programs, check_published, check_roles, check_scales
from bareline.study.keys import StudyKeys
from bareline.study.measure import TRACE_BYTES, Measure
from bareline.study.problems import (
    LISTED,
    TABLES,
    check_question,
    study_error,
    subjects_of,
    suggest,
)
from bareline.study.programs import declared_programs
from bareline.study.roles import Cast, cast_roles
from bareline.vocabulary.errors import BarelineError, StudyError, did_you_mean
from bareline.vocabulary.model import (
    Case,
    Command,
    Layer,
    Layout,
    Scalar,
    format_point,
    parse_point,
)
from bareline.vocabulary.platform import PlatformSpec
from bareline.vocabulary.sources import Source
from bareline.vocabulary.verdicts import DEFAULT_PRECISION, MIN_LAUNCHES

#: The defaults of the parameters of each probe, by its name.
ProbeDefaults = Mapping[str, Mapping[str, Scalar]]


class Study(StudyKeys):
    """A checked study.

    Its limits, such as `max_core_hours`, count for all platforms of a run together.
    """

    #: Of a run: the defaults of each probe's parameters when it was made.
    _defaults: ProbeDefaults | None = PrivateAttr(default=None)

    def cases(self, platforms: Sequence[PlatformSpec] = ()) -> Iterator[tuple[Measure, Case]]:
        """Yield every case with its ``[[measure]]``.

        A parameter that is given with its default value is equal to an omitted parameter.

        - `platforms`: the platforms of the run, by which a sweep such as ``ranks = "powers"`` is
          expanded; without them the sweep is its smallest case. Such a sweep may contain a case
          that another ``[[measure]]`` also lists.

        Raises StudyError: a case appears twice, or a ``[[measure]]`` is impossible for its probe.
        """
        listed: set[tuple[Case, str]] = set()
        first_of: dict[Case, Case] = {}
        for number, measure in enumerate(self.measures, 1):
            where = f"study '{self.name}', measure {number} ({measure.probe})"
            probe = self.find_probe(measure.probe, where=where)
            room = {spec.name: spec.capacity for spec in platforms if measure.asks(spec.name)}
            defaults = self._defaults_of(probe)
            for case in measure.cases(where=where, probe=probe, room=room, defaults=defaults):
                params = format_point({**defaults, **parse_point(case.params)})
                first = first_of.setdefault(replace(case, params=params), case)
                for name in measure.listed_for:
                    if (first, name) in listed:
                        raise StudyError(f"the case '{first.label}' appears twice", where=where)
                    listed.add((first, name))
                yield measure, first

    def params_of(self, case: Case) -> Any:
        """Return the checked parameters of a case; omitted parameters have the defaults of the run.

        Raises ProbeError: a parameter is not valid for the probe.
        """
        probe = self.find_probe(case.probe)
        return probe.make_params({**self._defaults_of(probe), **parse_point(case.params)})

    def command_of(
        self, case: Case, layout: Layout | None = None, *, budgets: float = 1.0
    ) -> Command:
        """Return the command of a case; `budgets` multiplies its time budget.

        - `layout`: the layout of its ranks; without it, all ranks are on one node.
        """
        probe = self.find_probe(case.probe)
        params = self.params_of(case)
        if budgets != 1.0 and hasattr(params, "budget_s"):
            params = replace(params, budget_s=params.budget_s * budgets)
        return probe.command(params, layout or Layout(1, case.ranks))

    def trace_bytes(self, case: Case) -> int:
        """Return the size limit in bytes of a case's trace: the largest limit of its probe."""
        of_probe = [measure for measure in self.measures if measure.probe == case.probe]
        limits = [measure.trace_bytes for measure in of_probe if measure.profile]
        return max(limits, default=TRACE_BYTES)

    def asking_also(self, platform: str, names: Sequence[str]) -> Study:
        """Return the study in which the platforms `names` also run all cases of `platform`."""
        measures = []
        for measure in self.measures:
            if measure.platforms is not None and platform in measure.platforms:
                also = {"platforms": [*measure.platforms, *names]}
                measure = measure.model_copy(update=also)
            measures.append(measure)
        return self.changed(measures=measures)

    def changed(self, **values: Any) -> Study:
        """Return the study with other values of some keys; unchanged values are not checked again.

        Raises ValidationError: a value is impossible, or contradicts another value.
        """
        return self._of_values(self._values() | values)

    def _values(self) -> dict[str, Any]:
        """Return the values of the study's keys, without the values cached in its ``__dict__``."""
        return {key: getattr(self, key) for key in Study.model_fields}

    def _of_values(self, values: Mapping[str, Any]) -> Study:
        study = Study.model_validate(values)
        study._defaults = self._defaults
        return study

    def _defaults_of(self, probe: Probe[Any]) -> Mapping[str, Scalar]:
        if self._defaults is None:
            return probe.defaults()
        return self._defaults.get(probe.name, {})  # headers of older runs have no defaults

    @property
    def probes(self) -> list[str]:
        """The names of the measured probes, in alphabetical order."""
        return sorted({measure.probe for measure in self.measures})

    @property
    def named_platforms(self) -> dict[str, str]:
        """The platforms that the study names, by role; a study without roles has them by name.

        A role without a default platform names the platform with the role's name.
        """
        if self.roles:
            return {name: role.platform or name for name, role in self.roles.items()}
        return {name: name for name in self.platforms}

    @cached_property
    def _own_probes(self) -> Mapping[str, Probe[Any]]:
        """The probes of the study's own programs."""
        probes: dict[str, Probe[Any]] = {}
        for name, program in self.programs.items():
            probes[f"app.{name}"] = program_probe(f"app.{name}", program)
        return probes

    def find_probe(self, name: str, *, where: str | None = None) -> Probe[Any]:
        """Return the probe of this name: one of the study's own programs, or an installed probe.

        Raises ProbeError: there is no such probe; the message names the most similar one.
        """
        return self._own_probes.get(name) or find_probe(name, where=where)

    def source_of(self, probe: str) -> Source | None:
        """Return the source of a probe's program, by the name of the probe or of its family."""
        return self.sources.get(probe) or self.sources.get(probe.partition(".")[0])

    def source_lines(self) -> list[str]:
        """Describe how the study's programs are searched for and may be installed, a line each."""
        lines = []
        for name in self.probes:
            source = self.source_of(name)
            if source:
                lines.append(f"{name}: each platform is asked for {source}")
        return lines

    @property
    def required_launches(self) -> int:
        """The number of launches that every case has: those up to the first interim analysis."""
        return max(self.min_launches, self.looks[0]) if self.looks else self.min_launches

    @cached_property
    def asked_probes(self) -> frozenset[str]:
        """The probes of the question.

        Without a question these are the programs; in a study without programs, all probes.
        """
        names = {".".join(text.split()).rpartition(":")[2] for text in self.question}
        names = names or {Layer.NPB.value, Layer.APP.value}
        probes = [name for name in self.probes if names & subjects_of(self.find_probe(name))]
        return frozenset(probes or self.probes)

    def launches_of(self, case: Case) -> int:
        """Return the number of launches of a case.

        Only the probes of the question are launched after the first look (interim analysis).
        """
        if self.looks is None or case.probe in self.asked_probes:
            return self.launches
        return self.looks[0]

    def with_launches(self, launches: int) -> Study:
        """Return the study with another number of launches, and with one analysis at the end.

        `min_launches` is reduced if it is larger than `launches`.
        """
        fewest = min(self.min_launches, launches)
        precision = 0.0 if fewest < MIN_LAUNCHES else self.precision
        return self.changed(launches=launches, looks=None, min_launches=fewest, precision=precision)

    def asking(self, question: Sequence[str]) -> Study:
        """Return the study with another question.

        Raises StudyError: the study does not measure the question's probe, layer or metric.
        """
        study = self.changed(question=list(question))
        study.check_question(where="--question")
        return study

    def check_question(self, platforms: Sequence[str] = (), **where: str) -> None:
        """Refuse a question that no result of the study answers; see `bareline.study.problems`."""
        measured = [self.find_probe(name) for name in self.probes]
        check_question(self.question, measured, platforms, **where)

    def at_scale(self, name: str) -> Study:
        """Return the study with the changes of one of its scales.

        Raises StudyError: the study has no scale of this name, or is impossible at this scale.
        """
        where = f"study '{self.name}'"
        if name not in self.scales:
            names = ", ".join(self.scales)
            hint = f"it has: {names}" if names else "run it without --scale"
            raise StudyError(f"the study has no scale '{name}'", where=where, hint=hint)
        changes: list[str] = []
        for measure in self.measures:
            changes += measure.changes_at(name)
        at_scale = [measure.values_at(name) for measure in self.measures]
        values = self.scales[name].over(self._values())
        values["scale"] = name
        values["scale_changes"] = list(dict.fromkeys(changes))
        values["measures"] = [measure for measure in at_scale if measure is not None]
        values["scales"] = {}
        with _study_errors(f"{where} at scale {name}"):
            study = self._of_values(values)
            check_study(study)
        return study

    def with_roles(self, given: Sequence[str], on: Sequence[str]) -> Study:
        """Return the study with a platform for each role, as in a run directory.

        Raises StudyError: as in `cast_roles`, or if no role has a platform.
        """
        where = f"study '{self.name}'"
        cast = cast_roles(self.roles, given, on, where=where)
        if not self.roles:
            return self
        if not cast.platforms:
            raise StudyError("no role has a platform", where=where, hint="add --as ROLE=PLATFORM")
        roles = {}
        for name, role in self.roles.items():
            roles[name] = role.model_copy(update={"platform": cast.roles.get(name)})
        return self.changed(
            roles=roles,
            measures=[_on_platforms(measure, cast) for measure in self.measures],
            platforms=cast.platforms,
            baseline=cast.roles.get(self.baseline or ""),
        )

    @property
    def publications(self) -> list[str]:
        """The ids of the publications whose platforms the roles represent."""
        publications: dict[str, None] = {}
        for role in self.roles.values():
            for reference in role.published:
                publication, _, _ = reference.partition(":")
                publications[publication] = None
        return list(publications)

    def without_computing_on(self, names: Sequence[str]) -> Study:
        """Return the study without computations on platforms with emulated processors."""
        return self.changed(emulated=list(names))

    def precision_of(self, layer: Layer) -> float:
        """Return the target for the relative half-width of a layer's intervals; 0 for no target."""
        return DEFAULT_PRECISION[layer] if self.precision is None else self.precision

    def to_toml(self) -> dict[str, Any]:
        """Return the study as the content of a file in the run directory."""
        content = self.model_dump(mode="json", exclude_none=True)
        tables = {table: content.pop(key) for table, (key, _) in TABLES.items()}
        for measure in tables["measure"]:
            if not measure["scale"]:
                del measure["scale"]
        rest = {table: rows for table, rows in tables.items() if rows or table in LISTED}
        return {"study": content, **rest}


def study_from_toml(
    content: Mapping[str, Any],
    *,
    where: str,
    defaults: ProbeDefaults | None = None,
    own_names: bool = False,
) -> Study:
    """Check the content of a study file and return the study.

    - `defaults`: the defaults of a run's probes; without it the defaults of the present probes.
    - `own_names`: whether bareline itself named the programs. No probe has such a name, so that the
      probes need not be imported for this check.
    """
    allowed = {"study", *TABLES}
    for key in content:
        if key not in allowed:
            raise StudyError(f"unknown table '{key}'", where=where, hint=suggest(key, allowed))
    head = content.get("study")
    if not isinstance(head, Mapping):
        raise StudyError("the table [study] is missing", where=where)
    tables = {}
    for table, (key, _) in TABLES.items():
        empty: Any = [] if table in LISTED else {}
        tables[key] = content.get(table, empty)
    given = {**head, **tables, **declared_programs(content)}
    with _study_errors(where):
        study = Study.model_validate(given)
        study._defaults = defaults
        check_study(study, own_names=own_names)
    return study


@contextmanager
def _study_errors(where: str) -> Iterator[None]:
    """Raise errors of a study's content as a StudyError with the place of the error."""
    try:
        yield
    except ValidationError as error:
        raise study_error(error, Study, where=where) from error
    except BarelineError as error:
        raise StudyError(str(error), where=where) from error


def _on_platforms(measure: Measure, cast: Cast) -> Measure:
    """Return a ``[[measure]]`` with the platforms that took its roles, instead of the roles."""
    if measure.roles is None:
        return measure
    played = [cast.roles[name] for name in measure.roles if name in cast.roles]
    return measure.model_copy(update={"roles": None, "platforms": [*played, *cast.others]})


def check_study(study: Study, *, own_names: bool = False) -> None:
    """Check that the keys of a study are possible together, at each of its scales.

    - `own_names`: as in `study_from_toml`.

    Raises BarelineError: a case, a source, a role, the question, a figure or a scale is impossible.
    """
    if not own_names:
        check_programs(study.programs)
    for _ in study.cases():
        pass
    _check_sources(study)
    check_roles(study.roles, study.measures)
    study.check_question()
    check_published(study.exhibits)
    check_scales(study.scales, study.measures)
    for name in study.scales:
        study.at_scale(name)


def _check_sources(study: Study) -> None:
    """Raise StudyError for a source whose probe is not measured, or has no program to find."""
    used = {id(study.source_of(name)) for name in study.probes}
    for name, source in study.sources.items():
        # A scale may leave out measures of the study itself.
        if id(source) not in used and study.scale is None:
            hint = did_you_mean(name, study.probes, f"the study measures {', '.join(study.probes)}")
            problem = f"the source '{source.name}' is for '{name}', which is not measured"
            raise StudyError(problem, hint=hint)
    for _, case in study.cases():
        if study.source_of(case.probe) and study.command_of(case).argv[0].startswith("{native}"):
            raise StudyError(f"{case.probe} cannot have a source: bareline builds it itself")
    for name, program in study.programs.items():
        if study.source_of(f"app.{name}") and "/" in program.command[0]:
            problem = f"[app.{name}]: a source has no effect on the path '{program.command[0]}'"
            raise StudyError(problem, hint="name the program without its folder")
