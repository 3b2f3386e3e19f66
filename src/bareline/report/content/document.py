"""Everything that a page or a terminal report shows, gathered before anything is drawn."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from types import MappingProxyType
from typing import TYPE_CHECKING, Protocol

import polars as pl

from bareline.analysis.cell import Cell, read_cells
from bareline.analysis.findings import Finding
from bareline.analysis.parts import Sentence
from bareline.analysis.suitability import Judgement
from bareline.analysis.verdict import Glance
from bareline.report.content.published import PublishedPoint
from bareline.report.content.shown import Shown, choose
from bareline.store.header import CalibrationKeys, ExhibitSpec, RoleKeys
from bareline.vocabulary.model import Layer, Scalar
from bareline.vocabulary.place import CASE

if TYPE_CHECKING:
    from bareline.predict.kept import Kept
    from bareline.report.content.profiles import ProfileLine

#: What a reader must know of a layer's figures before the first of them.
LAYER_NOTES: Mapping[str, str] = MappingProxyType(
    {
        Layer.NPB: (
            "Rates are nominal: NPB's operation count of the problem class over the time, as in "
            "NPB. bareline's programs execute fewer of the counted operations where the "
            "mathematics permits (LU 0.39, FT 0.74, BT 0.76 of them), so that their rates are not "
            "flop/s, and being faster than NPB's own programs they spend a larger share of the "
            "time in communication."
        ),
    }
)


class Fact(Protocol):
    """One characteristic of the platforms."""

    @property
    def group(self) -> str:
        """Heading under which it stands, e.g. "processor"."""

    @property
    def label(self) -> str:
        """What it is, for people."""

    @property
    def values(self) -> Sequence[str]:
        """One value for each platform, in the document's order; "" where unknown."""

    @property
    def equal(self) -> bool:
        """Whether it is the same everywhere."""

    @property
    def detail(self) -> bool:
        """Whether few readers want it, even where it differs."""


@dataclass(frozen=True, slots=True)
class PlatformInfo:
    """A platform as the page introduces it; a simulated one with its calibration."""

    name: str
    title: str = ""
    type: str = ""
    calibration: CalibrationKeys | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class RunInfo:
    """One of the runs that a report is made of.

    Attributes
    ----------
    begun
        Date and time, UTC.
    versions
        Programs and their versions.
    """

    name: str
    begun: str
    study: str
    platforms: Sequence[str]
    seed: int
    config_hash: str
    versions: Mapping[str, str]


@dataclass(frozen=True, slots=True, kw_only=True)
class Method:
    """How the run was done.

    Attributes
    ----------
    margin
        Equivalence margin of the verdicts, e.g. 0.02.
    imported
        The results come from other programs' outputs: the order of trials is not known.
    versions
        Programs and their versions.
    details
        Further rows for the method table, in order.
    """

    seed: int
    trials: int
    failed: int
    blocks: int
    margin: float = 0.02
    confidence: float = 0.95
    imported: bool = False
    config_hash: str = ""
    versions: Mapping[str, str] = field(default_factory=lambda: MappingProxyType({}))
    details: Mapping[str, str] = field(default_factory=lambda: MappingProxyType({}))


@dataclass(frozen=True, kw_only=True)
class Document:
    """The content of a report.

    Attributes
    ----------
    subtitle
        What was compared with what, where and when.
    platforms
        In the order of display; the baseline may stand anywhere and is shown first.
    glance
        The verdict in one line and as a matrix; None for a single platform.
    findings
        The rows of the overview, from `bareline.analysis.findings`.
    samples, trials, summary, comparison
        Frames as of `bareline.analysis.comparison.Comparison`; no comparison for a single
        platform. Samples are those of what is `shown`.
    from_before, from_first
        Every platform compared with the step before it and with the first one; only for a study
        whose platforms are steps.
    left_out
        What the plan did not ask of a platform and why, as of
        `bareline.analysis.records.Records`.
    growing
        Parameters that a study makes grow with the ranks, by probe.
    facts
        Flat facts by platform; offered as raw data.
    fact_rows
        The same, labelled for people, with one value per platform of `platforms`.
    exhibits
        What the study asks for; nothing means the default choice.
    probe_titles
        What each probe measures, in words.
    runs
        Where the numbers come from.
    folder
        The run directory as the reader knows it, named where the page leaves data out.
    published
        What publications say of the roles that these platforms took.
    suitability
        What the platforms suit, by class of applications.
    roles
        The columns of the publication and who took them.
    events
        What happened to platforms during the run, as sentences.
    profiles
        What the profiles of trials say, a line for each case and platform.
    predictions
        What was predicted from the run and held against it; None where nothing was.
    """

    title: str
    subtitle: str
    study_title: str
    study_description: str = ""
    baseline: str
    platforms: Sequence[PlatformInfo]
    glance: Glance | None = None
    statements: Sequence[Sentence] = ()
    findings: Sequence[Finding] = ()
    samples: pl.DataFrame
    trials: pl.DataFrame
    summary: pl.DataFrame
    comparison: pl.DataFrame | None
    from_before: pl.DataFrame | None = None
    from_first: pl.DataFrame | None = None
    left_out: pl.DataFrame | None = None
    growing: Mapping[str, Collection[str]] = field(default_factory=lambda: MappingProxyType({}))
    facts: Mapping[str, Mapping[str, Scalar]] = field(default_factory=lambda: MappingProxyType({}))
    fact_rows: Sequence[Fact] = ()
    exhibits: Sequence[ExhibitSpec] = ()
    method: Method
    published: Sequence[PublishedPoint] = ()
    suitability: Sequence[Judgement] = ()
    roles: Mapping[str, RoleKeys] = field(default_factory=lambda: MappingProxyType({}))
    probe_titles: Mapping[str, str] = field(default_factory=lambda: MappingProxyType({}))
    folder: str = ""
    runs: Sequence[RunInfo] = ()
    events: Sequence[str] = ()
    profiles: Sequence[ProfileLine] = ()
    predictions: Kept | None = None

    @cached_property
    def names(self) -> tuple[str, ...]:
        """Platform names, the baseline first."""
        others = [info.name for info in self.platforms if info.name != self.baseline]
        return (self.baseline, *others)

    @cached_property
    def shown(self) -> Shown:
        """What of summary and comparison is shown: all of it, unless the run is very large."""
        return choose(self.summary, self.comparison)

    @cached_property
    def cells(self) -> tuple[Cell, ...]:
        """Every shown cell, sorted by layer, probe, case and platform."""
        layers = {layer: index for index, layer in enumerate(Layer)}
        names = {name: index for index, name in enumerate(self.names)}
        return tuple(
            sorted(
                read_cells(self.shown.summary, self.shown.comparison),
                key=lambda cell: (
                    layers[Layer(cell.layer)],
                    cell.place.probe,
                    cell.place.params,
                    cell.place.threads,
                    cell.place.ranks,
                    names.get(cell.platform, len(names)),
                ),
            )
        )

    @cached_property
    def planned(self) -> pl.DataFrame:
        """Every case that was meant, whatever came of it; columns of `CASE`."""
        parts = [self.trials.select(CASE)]
        if self.left_out is not None:
            parts.append(self.left_out.select(CASE))
        return pl.concat(parts, how="vertical_relaxed").unique(maintain_order=True)

    @cached_property
    def metric_samples(self) -> Mapping[tuple[str, str], pl.DataFrame]:
        """The samples by probe and metric, so that each figure searches only its own."""
        parts = self.samples.partition_by(["probe", "metric"], as_dict=True)
        return {(str(key[0]), str(key[1])): part for key, part in parts.items()}

    @cached_property
    def dots_per_panel(self) -> int:
        """Most trial dots that one panel draws."""
        panels = {cell.place.series for cell in self.cells if not cell.metric.detail}
        return min(1500, 10_000 // max(1, len(panels)))

    @cached_property
    def dots_per_value(self) -> int:
        """Most trial dots of one value, so that a page has some ten thousand of them."""
        return 10_000 // max(1, sum(not cell.metric.detail for cell in self.cells))

    @property
    def dots_per_bar(self) -> int:
        """Most trial dots of one bar."""
        return max(2, min(self.dots_per_value, self.dots_per_panel // len(self.names)))
