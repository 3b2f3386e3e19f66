"""Everything that a page or a terminal report shows, gathered before anything is drawn."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from types import MappingProxyType
from typing import TYPE_CHECKING, Protocol

import polars as pl

from bareline.model import Layer, Scalar
from bareline.report.cells import Cell, read_cells

if TYPE_CHECKING:
    from bareline.report.profile.trials import ProfileLine

#: Headings of the sections, one per rung of the ladder.
LAYER_TITLES: Mapping[str, str] = MappingProxyType(
    {
        Layer.COMPUTE: "Compute",
        Layer.MEMORY: "Memory",
        Layer.NETWORK: "Network",
        Layer.MPI: "MPI",
        Layer.IO: "Storage",
        Layer.NPB: "NAS Parallel Benchmarks",
        Layer.APP: "Applications",
    }
)


class Statement(Protocol):
    """A sentence of the verdict and the evidence for it."""

    @property
    def layer(self) -> str:
        """Layer that it is about."""

    @property
    def platform(self) -> str:
        """Platform that it is about."""

    @property
    def text(self) -> str:
        """The sentence, with its number and interval."""

    @property
    def ratio(self) -> float | None:
        """Ratio to the baseline, above 1 is worse."""

    @property
    def lo(self) -> float | None:
        """Lower bound of the ratio's interval."""

    @property
    def hi(self) -> float | None:
        """Upper bound of the ratio's interval."""

    @property
    def n(self) -> int | None:
        """Trials behind it, on the platform that has fewest."""

    @property
    def anchor(self) -> str:
        """Id of the evidence on the page (see `probe_anchor` and `layer_anchor`)."""


class Finding(Protocol):
    """How one probe, or one class of its points, compares on one platform."""

    @property
    def layer(self) -> str:
        """Layer of the probe."""

    @property
    def probe(self) -> str:
        """What was measured."""

    @property
    def platform(self) -> str:
        """Where."""

    @property
    def subject(self) -> str:
        """Probe and class in words; the row of the overview."""

    @property
    def ratio(self) -> float | None:
        """Ratio to the baseline, above 1 is worse."""

    @property
    def lo(self) -> float | None:
        """Lower bound of the ratio's interval."""

    @property
    def hi(self) -> float | None:
        """Upper bound of the ratio's interval."""

    @property
    def n(self) -> int:
        """Trials on the side that has fewer."""

    @property
    def verdict(self) -> str:
        """As in a comparison."""


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


@dataclass(frozen=True, slots=True)
class PlatformInfo:
    """A platform as the page introduces it."""

    name: str
    title: str = ""
    type: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class ExhibitSpec:
    """A figure or table that a study asks for: its ``[[exhibit]]``.

    Attributes
    ----------
    kind
        Name of a module of `bareline.report.exhibits`.
    probe
        Name of a probe, ``*`` matching anything; every probe without it.
    metric
        Without it, every metric of the probe that is not a detail.
    x
        Parameter on the horizontal axis; chosen from the data without it.
    where
        Parameters, or "platform", and the value or list of values to keep.
    """

    kind: str
    title: str = ""
    caption: str = ""
    probe: str | None = None
    metric: str | None = None
    x: str | None = None
    where: Mapping[str, Scalar | Sequence[Scalar]] = field(
        default_factory=lambda: MappingProxyType({})
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Published:
    """A figure printed by others, drawn as a diamond beside the measured ones."""

    label: str
    source: str
    probe: str
    metric: str
    value: float
    coordinates: Mapping[str, Scalar] = field(default_factory=lambda: MappingProxyType({}))


@dataclass(frozen=True, slots=True, kw_only=True)
class Method:
    """How the run was done.

    Attributes
    ----------
    margin
        Equivalence margin of the verdicts, e.g. 0.02.
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
    findings
        The rows of the overview, from `bareline.explain`.
    samples, records, summary, comparison
        Frames as `bareline.compare` describes them; no comparison for a single platform.
    from_before, from_first
        Every platform compared with the step before it and with the first one; only for a study
        whose platforms are steps.
    facts
        Flat facts by platform; offered as raw data.
    fact_rows
        The same, labelled for people, with one value per platform of `platforms`.
    exhibits
        What the study asks for; nothing means the default choice.
    probe_titles
        What each probe measures, in words.
    folder
        The run directory as the reader knows it, named where the page leaves data out.
    events
        What happened to platforms during the run, as sentences.
    profiles
        What the profiles of trials say, a line for each case and platform.
    """

    title: str
    subtitle: str
    study_title: str
    study_description: str = ""
    baseline: str
    platforms: Sequence[PlatformInfo]
    statements: Sequence[Statement] = ()
    findings: Sequence[Finding] = ()
    samples: pl.DataFrame
    records: pl.DataFrame
    summary: pl.DataFrame
    comparison: pl.DataFrame | None
    from_before: pl.DataFrame | None = None
    from_first: pl.DataFrame | None = None
    facts: Mapping[str, Mapping[str, Scalar]] = field(default_factory=lambda: MappingProxyType({}))
    fact_rows: Sequence[Fact] = ()
    exhibits: Sequence[ExhibitSpec] = ()
    method: Method
    published: Sequence[Published] = ()
    probe_titles: Mapping[str, str] = field(default_factory=lambda: MappingProxyType({}))
    folder: str = ""
    events: Sequence[str] = ()
    profiles: Sequence[ProfileLine] = ()

    @cached_property
    def names(self) -> tuple[str, ...]:
        """Platform names, the baseline first."""
        others = [info.name for info in self.platforms if info.name != self.baseline]
        return (self.baseline, *others)

    @cached_property
    def cells(self) -> tuple[Cell, ...]:
        """Every cell, sorted by layer, probe, case and platform."""
        layers = {layer: index for index, layer in enumerate(Layer)}
        names = {name: index for index, name in enumerate(self.names)}
        return tuple(
            sorted(
                read_cells(self.summary, self.comparison),
                key=lambda cell: (
                    layers[Layer(cell.layer)],
                    cell.probe,
                    cell.params,
                    cell.threads,
                    cell.ranks,
                    names.get(cell.platform, len(names)),
                ),
            )
        )

    @cached_property
    def trials(self) -> Mapping[tuple[str, str], pl.DataFrame]:
        """The samples by probe and metric, so that each figure searches only its own."""
        parts = self.samples.partition_by(["probe", "metric"], as_dict=True)
        return {(str(key[0]), str(key[1])): part for key, part in parts.items()}

    @cached_property
    def dots_per_panel(self) -> int:
        """Most trial dots that one panel draws, so that the page stays a moderate size."""
        panels = {cell.series for cell in self.cells if not cell.detail}
        return max(90, min(1500, 24_000 // max(1, len(panels))))


def sentence_case(text: str) -> str:
    """Begin a title with a capital and without its article, e.g. ``DGEMM rate``."""
    text = text.removeprefix("the ")
    return text[:1].upper() + text[1:]


def slug(*parts: object) -> str:
    """Make an id for the page out of names, e.g. ``mpi-allreduce``."""
    text = "-".join(str(part) for part in parts if part != "")
    return re.sub(r"[^a-z0-9]+", "-", text.lower()).strip("-")


def layer_anchor(layer: str) -> str:
    """Id of a layer's section."""
    return slug("layer", layer)


def probe_anchor(probe: str) -> str:
    """Id of a probe's part of its layer's section."""
    return slug("probe", probe)
