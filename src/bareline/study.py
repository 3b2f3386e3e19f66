"""Studies: what to measure and which exhibits to draw, read from a TOML file and checked.

A study file holds a ``[study]`` table, one ``[[measure]]`` per probe and layout, and optional
``[scale.NAME]`` and ``[[exhibit]]`` tables. `docs/reference/study.md` describes every key.
"""

from __future__ import annotations

import itertools
import tomllib
from collections.abc import Iterator, Mapping
from importlib import resources
from pathlib import Path
from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, Field, ValidationError, model_validator

from bareline.errors import BarelineError, StudyError, did_you_mean
from bareline.header import ExhibitKeys
from bareline.model import (
    DEFAULT_PRECISION,
    Case,
    Layer,
    Layout,
    Placement,
    Scalar,
    format_point,
)
from bareline.probes.base import find_probe
from bareline.scale import MeasureScale, StudyScale

#: No interval at 95 % exists below this number of trials, so no verdict does either.
FEWEST_LAUNCHES = 6


class _Table(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class Measure(_Table):
    """One ``[[measure]]``: a probe, its parameters and how many ranks it runs with.

    Attributes
    ----------
    probe
        Name of the probe.
    params
        Its parameters; the rest keep their defaults.
    sweep
        Parameters with a list of values each: every combination is a case.
    ranks
        MPI ranks, one number or a list of them.
    threads
        Threads per rank.
    nodes
        Exact number of nodes; without it, as many as the placement uses.
    placement
        "spread" lays ranks over all nodes, "pack" fills one node first.
    profile
        Load the profiler into every rank and keep each trial's profile beside its raw output.
    platforms
        Only these platforms; all of the run without it.
    timeout_s
        Longest time that one trial may take.
    scale
        What takes other values at a scale, by the scale's name.
    """

    probe: str
    params: dict[str, Scalar] = {}
    sweep: dict[str, list[Scalar]] = {}
    ranks: Annotated[int, Field(ge=1)] | list[Annotated[int, Field(ge=1)]] = 1
    threads: Annotated[int, Field(ge=1)] = 1
    nodes: Annotated[int, Field(ge=1)] | None = None
    placement: Placement = Placement.SPREAD
    profile: bool = False
    platforms: list[str] | None = None
    timeout_s: Annotated[float, Field(gt=0)] = 300.0
    scale: dict[str, MeasureScale] = {}

    def cases(self, *, where: str) -> Iterator[Case]:
        """Expand the sweeps into cases with checked, canonical parameters."""
        probe = find_probe(self.probe, where=where)
        both = sorted(set(self.params) & set(self.sweep))
        if both:
            raise StudyError(f"'{both[0]}' stands in params and in sweep", where=where)
        ranks_list = self.ranks if isinstance(self.ranks, list) else [self.ranks]
        for values in itertools.product(*self.sweep.values()):
            given = {**self.params, **dict(zip(self.sweep, values, strict=True))}
            params = probe.make_params(given, where=where)
            for ranks in ranks_list:
                probe.check_ranks(params, ranks, where=where)
                if self.profile and not probe.command(params, Layout(1, ranks)).mpi:
                    raise StudyError(
                        f"{self.probe} calls no MPI function: there is nothing to profile",
                        where=where,
                        hint="remove `profile`",
                    )
                yield Case(
                    probe=self.probe,
                    params=format_point(given),
                    ranks=ranks,
                    threads=self.threads,
                    nodes=self.nodes,
                    placement=self.placement,
                    profile=self.profile,
                )


class Exhibit(ExhibitKeys, _Table):
    """One ``[[exhibit]]``: a figure or table drawn from the records.

    Attributes
    ----------
    kind
        Name of an exhibit kind, e.g. "curve" (see ``docs/reference/exhibits.md``).
    title, caption
        What stands above and below it.
    probe, metric
        What it shows; the probe's headline metric without the latter.
    x
        Parameter on the horizontal axis.
    where
        Only points whose parameters have these values.
    """

    where: dict[str, Scalar] = {}


class Study(_Table):
    """A checked study.

    Attributes
    ----------
    name, title, description
        What it is called and what question it answers.
    launches
        Most trials of a case on a platform.
    min_launches
        Fewest trials before adaptive stopping may end a case.
    precision
        Target for the relative half-width of the 95 % interval; 0 never stops early. Without it,
        2 % for micro-benchmarks and 3 % for the layers "npb" and "app".
    budget_s
        Time after which no new block is begun (once `min_launches` blocks are done).
    margin
        Equivalence margin of verdicts.
    seed
        Seed of the order of trials when the command line gives none.
    scale
        The scale that the study was brought to; None for the study as it is written.
    ladder
        The platforms are steps: the verdict also says what each one changes against the one
        before, in the order of the command line.
    platforms, baseline
        Platforms used when the command line names none; the first is the baseline.
    scales
        What changes at each scale that it can be brought to.
    measures, exhibits
        Content of the file.
    """

    name: Annotated[str, Field(pattern=r"^[a-z0-9][a-z0-9._-]*$")]
    title: str = ""
    description: str = ""
    launches: Annotated[int, Field(ge=1, le=100_000)] = 10
    min_launches: Annotated[int, Field(ge=1)] = FEWEST_LAUNCHES
    precision: Annotated[float, Field(ge=0, lt=1)] | None = None
    budget_s: Annotated[float, Field(gt=0)] | None = None
    margin: Annotated[float, Field(gt=0, lt=1)] = 0.02
    seed: int = 1
    scale: str | None = None
    ladder: bool = False
    platforms: list[str] = []
    baseline: str | None = None
    scales: dict[str, StudyScale] = {}
    measures: Annotated[list[Measure], Field(min_length=1)]
    exhibits: list[Exhibit] = []

    @model_validator(mode="after")
    def _consistent(self) -> Study:
        if self.precision != 0 and self.launches > FEWEST_LAUNCHES > self.min_launches:
            raise ValueError(
                f"min_launches = {self.min_launches}, but no interval exists below "
                f"{FEWEST_LAUNCHES} launches; raise it or set precision = 0"
            )
        return self

    def cases(self) -> Iterator[tuple[Measure, Case]]:
        """Give every case with the measure it comes from.

        Raises
        ------
        StudyError
            A case stands twice, or a measure asks for what its probe cannot do.
        """
        seen: set[tuple[Case, str]] = set()
        for number, measure in enumerate(self.measures, 1):
            where = f"study '{self.name}', measure {number} ({measure.probe})"
            for case in measure.cases(where=where):
                for name in measure.platforms or [""]:
                    if (case, name) in seen:
                        raise StudyError(f"the case '{case.label}' stands twice", where=where)
                    seen.add((case, name))
                yield measure, case

    def with_launches(self, launches: int) -> Study:
        """Give the study with another number of launches, and no more required than that."""
        fewest = min(self.min_launches, launches)
        precision = 0.0 if fewest < FEWEST_LAUNCHES else self.precision
        changed = {"launches": launches, "min_launches": fewest, "precision": precision}
        return self.model_copy(update=changed)

    def at_scale(self, name: str) -> Study:
        """Give the study as it is at one of its scales.

        Raises
        ------
        StudyError
            It has no scale of this name, or is impossible at it.
        """
        where = f"study '{self.name}'"
        if name not in self.scales:
            known = ", ".join(self.scales)
            hint = f"it has: {known}" if known else "it has none; run it without --scale"
            raise StudyError(f"no scale is named '{name}'", where=where, hint=hint)
        content = self.to_toml()
        measures = []
        for measure, table in zip(self.measures, content["measure"], strict=True):
            change = measure.scale.get(name, MeasureScale())
            table.pop("scale", None)
            if not change.skip:
                measures.append(change.over(table))
        head = {**self.scales[name].over(content["study"]), "scale": name}
        scaled = {"study": head, "measure": measures, "exhibit": content["exhibit"]}
        return study_from_toml(scaled, where=f"{where} at scale {name}")

    def precision_of(self, layer: Layer) -> float:
        """Give the target for the relative half-width of a layer's intervals; 0 for none."""
        if self.precision is not None:
            return self.precision
        return DEFAULT_PRECISION[layer]

    def to_toml(self) -> dict[str, Any]:
        """Give the study as it stands in a file, for the run directory."""
        content = self.model_dump(mode="json", exclude_none=True)
        measures, exhibits = content.pop("measures"), content.pop("exhibits")
        scales = content.pop("scales")
        for measure in measures:
            if not measure["scale"]:
                del measure["scale"]
        whole = {"study": content, "measure": measures, "exhibit": exhibits}
        return {**whole, "scale": scales} if scales else whole


def load_study(path: Path) -> Study:
    """Read and check a study file.

    Raises
    ------
    StudyError
        The file is missing, not TOML, or says something impossible; the message names file,
        key and next step.
    """
    try:
        content = tomllib.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise StudyError(f"cannot be read: {error.strerror}", where=str(path)) from error
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise StudyError(f"not valid TOML: {error}", where=str(path)) from error
    return study_from_toml(content, where=str(path))


def study_from_toml(content: Mapping[str, Any], *, where: str) -> Study:
    """Check what a study file holds; see `load_study`."""
    known = {"study", "scale", "measure", "exhibit"}
    for key in content:
        if key not in known:
            raise StudyError(f"unknown table '{key}'", where=where, hint=_suggest(key, known))
    head = content.get("study")
    if not isinstance(head, Mapping):
        raise StudyError("the table [study] is missing", where=where)
    given = {
        **head,
        "scales": content.get("scale", {}),
        "measures": content.get("measure", []),
        "exhibits": content.get("exhibit", []),
    }
    try:
        study = Study.model_validate(given)
        for _ in study.cases():
            pass
        _check_scales(study)
    except ValidationError as error:
        raise _readable(error, where) from error
    except BarelineError as error:
        raise StudyError(str(error), where=where) from error
    return study


def _check_scales(study: Study) -> None:
    """Refuse a scale at which the study is impossible, or that only a measure knows."""
    for number, measure in enumerate(study.measures, 1):
        for name in measure.scale:
            if name not in study.scales:
                raise StudyError(
                    f"measure {number} ({measure.probe}) changes at scale '{name}', which the "
                    "study does not have",
                    hint=f"add a table [scale.{name}]",
                )
    for name in study.scales:
        study.at_scale(name)


def _readable(error: ValidationError, where: str) -> StudyError:
    first = error.errors()[0]
    location = [str(part) for part in first["loc"]]
    model: type[BaseModel]
    if location[:1] == ["scales"]:
        key = f"[scale.{location[1]}]" if len(location) > 1 else "[scale]"
        key += f", key '{'.'.join(location[2:])}'" if len(location) > 2 else ""
        model = StudyScale
    elif location and location[0] in ("measures", "exhibits"):
        table = location[0].removesuffix("s")
        number = int(location[1]) + 1 if len(location) > 1 else 0
        key = f"[[{table}]] number {number}" if number else f"[[{table}]]"
        key += f", key '{'.'.join(location[2:])}'" if len(location) > 2 else ""
        model = Measure if table == "measure" else Exhibit
        if location[2:3] == ["scale"]:
            model = MeasureScale
    else:
        key, model = f"[study], key '{'.'.join(location)}'", Study
    message = first["msg"].removeprefix("Value error, ")
    hint = None
    if first["type"] == "extra_forbidden":
        message = "no such key"
        hint = _suggest(location[-1], set(model.model_fields) - {"measures", "exhibits", "scales"})
    elif not location:
        key = "[study]"
    elif first["type"] == "too_short" and location == ["measures"]:
        message, hint = "the study measures nothing", "add a [[measure]] table"
    return StudyError(f"{key}: {message}", where=where, hint=hint)


def _suggest(wrong: str, known: set[str]) -> str:
    return did_you_mean(wrong, known, f"use one of: {', '.join(sorted(known))}")


def builtin_studies() -> dict[str, Study]:
    """Give the studies that come with bareline, by name."""
    folder = resources.files("bareline") / "studies"
    found = {}
    for entry in sorted(folder.iterdir(), key=lambda entry: entry.name):
        if entry.name.endswith(".toml"):
            content = tomllib.loads(entry.read_text(encoding="utf-8"))
            study = study_from_toml(content, where=f"built-in study {entry.name}")
            found[study.name] = study
    return found


def find_study(name: str) -> Study:
    """Give the study with a built-in name or in a file.

    Raises
    ------
    StudyError
        There is neither.
    """
    path = Path(name)
    if path.suffix == ".toml" or path.exists():
        return load_study(path)
    studies = builtin_studies()
    if name not in studies:
        hint = did_you_mean(name, studies, "`bareline studies` lists them")
        raise StudyError(f"no study is named '{name}'", hint=hint)
    return studies[name]


def study_rows() -> list[dict[str, Any]]:
    """List the built-in studies for ``bareline studies``."""
    return [
        {
            "study": study.name,
            "title": study.title,
            "description": study.description,
            "probes": sorted({measure.probe for measure in study.measures}),
            "platforms": study.platforms,
            "launches": study.launches,
            "cases": sum(1 for _ in study.cases()),
            "scales": list(study.scales),
        }
        for study in builtin_studies().values()
    ]
