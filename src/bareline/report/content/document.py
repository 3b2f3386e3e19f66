"""The content of a page or of a terminal report, collected before anything is drawn."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from types import MappingProxyType
from typing import Any

import polars as pl

from bareline.analysis.judgements.findings import Finding
from bareline.analysis.judgements.timeline import history_of, trend_of
from bareline.analysis.judgements.trend import Trend
from bareline.analysis.numbers.programs import unprofiled
from bareline.analysis.numbers.records import Records
from bareline.analysis.numbers.row import Row, read_rows
from bareline.analysis.words.comparison import Comparison
from bareline.analysis.words.conclusions import conclusion_sentence
from bareline.analysis.words.parts import Sentence
from bareline.analysis.words.verdict import VerdictMatrix
from bareline.predict.validation.predictions import Predictions, read_predictions_of
from bareline.report.content.facts import FactLine, fact_lines
from bareline.report.content.profiles import ProfileLine, profile_lines
from bareline.report.content.published import PublishedPoint, published_points
from bareline.report.content.thinning import ShownValues, thin
from bareline.store.header import CalibrationKeys, RoleKeys
from bareline.vocabulary.errors import StoreError
from bareline.vocabulary.exhibit import ExhibitSpec
from bareline.vocabulary.model import Layer, Scalar
from bareline.vocabulary.place import CASE
from bareline.vocabulary.sanitize import sanitized_name
from bareline.vocabulary.units import count, listing


@dataclass(frozen=True, slots=True)
class PlatformInfo:
    """A platform with its title and type, and with the calibration of a simulated platform."""

    name: str
    title: str = ""
    type: str = ""
    calibration: CalibrationKeys | None = None


@dataclass(frozen=True, kw_only=True)
class Document:
    """The content of a report: a comparison, and the facts that accompany its figures.

    `platforms` are in the order of display, and each fact has one value per platform in the same
    order. If `exhibits` (the study's figures and tables) is empty, the default figures are drawn.
    If the study has a title, it is the title of the document, and `about` describes the comparison.
    Otherwise the title describes the comparison, and `about` is the name of the study.
    """

    comparison: Comparison
    title: str
    about: str
    subtitle: str
    study_description: str = ""
    platforms: Sequence[PlatformInfo]
    fact_rows: Sequence[FactLine] = ()
    exhibits: Sequence[ExhibitSpec] = ()
    published: Sequence[PublishedPoint] = ()
    roles: Mapping[str, RoleKeys] = field(default_factory=lambda: MappingProxyType({}))
    profiles: Sequence[ProfileLine] = ()
    predictions: Predictions | None = None
    undrawn: Sequence[str] = ()
    history_runs: Sequence[Path] = ()

    @property
    def baseline(self) -> str:
        """The platform with which all other platforms are compared."""
        return self.comparison.baseline

    @property
    def margin(self) -> float:
        """The relative difference below which two values count as equal."""
        return self.comparison.margin

    @property
    def records(self) -> Records:
        """The records of the measurements."""
        return self.comparison.records

    @cached_property
    def glance(self) -> VerdictMatrix | None:
        """The worst verdicts by layer and platform as a matrix; None for a run of one platform."""
        return None if self.comparison.alone else self.comparison.glance

    @cached_property
    def statements(self) -> Sequence[Sentence]:
        """All sentences of the comparison; for a single platform, conclusions from its values."""
        compared = self.comparison
        if compared.alone:
            return [conclusion_sentence(row) for row in compared.conclusions]
        return compared.sentences

    @cached_property
    def findings(self) -> Sequence[Finding]:
        """The findings of the comparison; none for a single platform."""
        return () if self.comparison.alone else self.comparison.findings

    @cached_property
    def summary(self) -> pl.DataFrame:
        """The values of every point on every platform."""
        return self.comparison.summary

    @cached_property
    def points(self) -> pl.DataFrame | None:
        """The ratio of every measured value to the baseline's value; None for a single platform."""
        return None if self.comparison.alone else self.comparison.points

    @cached_property
    def samples(self) -> pl.DataFrame:
        """The samples of the values that the page shows (`shown`)."""
        if not self.shown.notes:
            return self.records.samples
        return self.records.samples_at(self.shown.places)

    @cached_property
    def facts(self) -> Mapping[str, Mapping[str, Scalar]]:
        """The facts of each platform, by name, which the page offers as raw data."""
        return {name: self.records.facts.get(name, {}) for name in self.records.platforms}

    @cached_property
    def probe_titles(self) -> Mapping[str, str]:
        """The title of each probe: the quantity that it measures, in words."""
        return dict(self.records.declarations.select("probe", "title").iter_rows())

    @cached_property
    def history(self) -> Trend:
        """The history of the compared runs.

        For a single run, it is the history of the study's runs in the same folder.
        """
        runs = self.history_runs or history_of(self.records.runs)
        return trend_of(runs, self.comparison.margin)

    @cached_property
    def names(self) -> tuple[str, ...]:
        """The names of the platforms, the baseline first."""
        others = [info.name for info in self.platforms if info.name != self.baseline]
        return (self.baseline, *others)

    @cached_property
    def shown(self) -> ShownValues:
        """The values that the page shows: all of them, unless the run is very large.

        Launches that were profiled in addition to the measurement are left out.
        """
        points = None if self.points is None else unprofiled(self.points)
        return thin(unprofiled(self.summary), points)

    @cached_property
    def cells(self) -> tuple[Row, ...]:
        """The shown values as cells, sorted by layer, probe, case and platform."""
        layers = {layer: index for index, layer in enumerate(Layer)}
        names = {name: index for index, name in enumerate(self.names)}

        def order(cell: Row) -> tuple[int, str, str, int, int, int]:
            layer = layers[cell.layer]
            place = cell.place
            platform = names.get(cell.platform, len(names))
            return (layer, place.probe, place.params, place.threads, place.ranks, platform)

        cells = read_rows(self.shown.summary, self.shown.points)
        return tuple(sorted(cells, key=order))

    @cached_property
    def planned(self) -> pl.DataFrame:
        """Every case of a trial, failed trials included, and every case left out of the plan."""
        parts = [self.records.trials.select(CASE)]
        if self.records.left_out is not None:
            parts.append(self.records.left_out.select(CASE))
        return pl.concat(parts, how="vertical_relaxed").unique(maintain_order=True)

    def planned_on(self, probes: Collection[str]) -> frozenset[str]:
        """Return the platforms on which at least one of the probes was planned."""
        platforms: set[str] = set()
        for frame in (self.records.trials, self.records.left_out, self.records.planned):
            if frame is not None:
                rows = frame.filter(pl.col("probe").is_in(sorted(probes)))
                platforms |= set(rows.get_column("platform"))
        return frozenset(platforms)

    @cached_property
    def metric_samples(self) -> Mapping[tuple[str, str], pl.DataFrame]:
        """The samples by probe and metric, so that a figure does not search all samples."""
        parts = self.samples.partition_by(["probe", "metric"], as_dict=True)
        return {(str(key[0]), str(key[1])): part for key, part in parts.items()}

    @cached_property
    def dots_per_panel(self) -> int:
        """The largest number of dots (single trials) that one panel draws."""
        panels = {cell.place.series for cell in self.cells if not cell.metric.detail}
        return min(1500, 10_000 // max(1, len(panels)))

    @cached_property
    def dots_per_value(self) -> int:
        """The largest number of dots of one value, so that a page has about ten thousand dots."""
        return 10_000 // max(1, sum(not cell.metric.detail for cell in self.cells))

    @property
    def dots_per_bar(self) -> int:
        """The largest number of dots of one bar."""
        return max(2, min(self.dots_per_value, self.dots_per_panel // len(self.names)))


#: Characteristics that distinguish platforms best, as their lines are labelled.
_TELLING = (
    "Runs on", "Hypervisor", "Driver", "Link speed", "Shaped to", "RDMA link layer", "MTU",
    "MPI transport requested", "MPI library", "File system", "Processor", "Nodes",
)  # fmt: skip
#: Characteristics whose value means nothing without the name.
_NAMED = ("MTU", "Nodes")
_MOST = 4


def glosses(document: Document) -> Mapping[str, str]:
    """Return a description of each platform: its title, its role's title, or its differing facts.

    A platform for which none of these is known has an empty description.
    """
    roles = {role.platform: role.title for role in document.roles.values() if role.platform}
    descriptions: dict[str, str] = {}
    for place, info in enumerate(document.platforms):
        values = {row.label: row.values[place] for row in document.fact_rows if not row.equal}
        telling = ", ".join(_telling_facts(values)[:_MOST])
        descriptions[info.name] = info.title or roles.get(info.name) or telling
    return descriptions


def _telling_facts(values: Mapping[str, str]) -> list[str]:
    """Return the values of the facts that distinguish platforms best.

    A value that means nothing alone, e.g. of the MTU, has the name of the fact before it.
    """
    texts: list[str] = []
    for label in _TELLING:
        value = values.get(label)
        if value:
            name = f"{label} " if label in _NAMED else ""
            texts.append(f"{name}{value}")
    return texts


def document_of(
    comparison: Comparison,
    *,
    fact_rows: Sequence[FactLine] | None = None,
    history_runs: Sequence[Path] = (),
) -> Document:
    """Collect everything that a report of a comparison shows.

    If the comparison has only one platform, its values are shown without a comparison.

    - `history_runs`: paths of the runs in the history; if empty, the compared runs.
    - `fact_rows`: facts with values in the order of ``records.platforms``; if None, the facts are
      read from the runs.
    """
    records = comparison.records
    header = records.runs[0].header
    predictions, undrawn = _predictions(records)
    if fact_rows is None:
        fact_rows = fact_lines({name: records.facts.get(name, {}) for name in records.platforms})
    study = records.study
    title = study_title(study)
    about = _compared_words(comparison)
    if not study.get("title"):
        title, about = about, title
    exhibits: list[ExhibitSpec] = []
    for table in header.study.get("exhibit", []):
        exhibit_title = sanitized_name(table.get("title", ""))
        exhibits.append(ExhibitSpec(**{**table, "title": exhibit_title}))
    return Document(
        comparison=comparison,
        title=title,
        about=about,
        subtitle=_subtitle(records),
        study_description=study.get("description", ""),
        platforms=[_platform(records, name) for name in records.platforms],
        fact_rows=fact_rows,
        exhibits=exhibits,
        published=list(published_points(header.study.get("role", {}), comparison.baseline)),
        roles=header.roles,
        profiles=profile_lines(records),
        predictions=predictions,
        undrawn=undrawn,
        history_runs=history_runs,
    )


def _compared_words(comparison: Comparison) -> str:
    base = comparison.baseline
    others = [name for name in comparison.records.platforms if name != base]
    if not others:
        return f"{base} alone"
    return f"{listing(others)} compared with {base}"


def _predictions(records: Records) -> tuple[Predictions | None, list[str]]:
    """Return the first predictions that can be drawn, and the reasons why any cannot be drawn."""
    first: Predictions | None = None
    undrawn: list[str] = []
    for run in records.runs:
        try:
            predictions = read_predictions_of(run.read_predictions(), run.path)
        except StoreError as error:
            undrawn.append(f"predictions: {error}")
            continue
        if not predictions:
            continue
        unknown = sorted(predictions.platforms - set(records.platforms))
        if unknown:
            undrawn.append(f"predictions of {run.path}: no platform '{sanitized_name(unknown[0])}'")
        else:
            first = first or predictions
    return first, undrawn


def study_title(study: Mapping[str, Any]) -> str:
    """Return the title of a study (its name if it has no title) and the scale at which it ran."""
    title = sanitized_name(str(study.get("title") or study.get("name", "")))
    return f"{title}, at scale {study['scale']}" if study.get("scale") else title


def _subtitle(records: Records) -> str:
    dates = sorted(run.header.created[:16].replace("T", " ") for run in records.runs)
    when = " to ".join(dict.fromkeys((dates[0], dates[-1])))
    names = listing([run.path.resolve().name for run in records.runs])
    return f"{count(len(records.runs), 'run')} ({names}), begun {when} UTC"


def _platform(records: Records, name: str) -> PlatformInfo:
    declared_name = name.partition("@")[0]
    for run in records.runs:
        table = run.header.platforms.get(declared_name)
        if table is not None:
            title = sanitized_name(str(table.get("title", "")))
            kind = str(table.get("type", ""))
            return PlatformInfo(name, title, kind, run.header.calibration(declared_name))
    return PlatformInfo(name)
