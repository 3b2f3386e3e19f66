"""What failed, is missing, or carries a caveat: told on the page, never dropped."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import polars as pl

from bareline.analysis.numbers.programs import unprofiled
from bareline.published.catalogue import publications
from bareline.report.content.document import Document
from bareline.vocabulary.caveats import Caveat, steps
from bareline.vocabulary.exhibit import ExhibitSpec
from bareline.vocabulary.model import Layer
from bareline.vocabulary.place import CASE, KEY, Place
from bareline.vocabulary.units import count, listing
from bareline.vocabulary.verdicts import Verdict

_LONGEST_REASON = 400


@dataclass(frozen=True, slots=True)
class Failure:
    """Trials of one case on one platform that failed for the same reason."""

    platform: str
    case: str
    stage: str
    reason: str
    trials: int
    of: int


@dataclass(frozen=True, slots=True)
class Hole:
    """Values that the baseline or another platform has and this one lacks."""

    platform: str
    case: str
    values: str
    verdict: str


@dataclass(frozen=True, slots=True)
class Unfit:
    """Cases that the plan did not ask of a platform, for the same reason."""

    platform: str
    probe: str
    ranks: str
    cases: int
    reason: str


@dataclass(frozen=True, slots=True)
class Doubt:
    """A caveat, what can be done about it, and where it applies."""

    text: str
    step: str
    platforms: str
    probes: str
    values: int


@dataclass(frozen=True, slots=True)
class Gaps:
    """Everything that keeps the numbers from being complete or plain."""

    failures: tuple[Failure, ...]
    holes: tuple[Hole, ...]
    unfit: tuple[Unfit, ...]
    caveats: tuple[Doubt, ...]
    empty: tuple[str, ...]

    @property
    def none(self) -> bool:
        """Whether there is nothing to tell."""
        return not (self.failures or self.holes or self.unfit or self.caveats or self.empty)


def find(document: Document, empty: Sequence[ExhibitSpec]) -> Gaps:
    """Gather the gaps of a document.

    - `empty`: exhibits that the study asks for and that the run holds nothing for.
    """
    return Gaps(
        tuple(_failures(document)),
        tuple(_holes(document)),
        tuple(_unfit(document)),
        tuple(_caveats(document)),
        (
            *(_exhibit_name(spec) for spec in empty),
            *_unknown_publications(document),
            *document.undrawn,
        ),
    )


def _unknown_publications(document: Document) -> list[str]:
    """Name what the study repeats, or shows, of publications that this bareline does not have."""
    asked = [name for role in document.roles.values() for name in role.published]
    asked += [name for spec in document.exhibits for name in spec.published]
    names = dict.fromkeys(name.partition(":")[0] for name in asked)
    known = publications()
    return [f"publication '{n}', unknown to this bareline" for n in names if n not in known]


def _exhibit_name(spec: ExhibitSpec) -> str:
    asked = " ".join(filter(None, [spec.probe, spec.metric]))
    return spec.title or f"{spec.kind} of {asked or 'every probe'}"


def _failures(document: Document) -> list[Failure]:
    case = ["platform", *CASE]
    trials = document.trials
    planned = trials.group_by(case).agg(pl.len().alias("of"))
    failed = (
        trials.filter(pl.col("status") == "failed")
        .group_by(*case, "stage", "reason", maintain_order=True)
        .agg(pl.len().alias("trials"))
        .join(planned, on=case, how="left", maintain_order="left")
    )
    return [
        Failure(
            row["platform"],
            _case(row),
            row["stage"] or "",
            _shortened(row["reason"] or ""),
            row["trials"],
            row["of"],
        )
        for row in failed.iter_rows(named=True)
    ]


def _case(row: Mapping[str, object]) -> str:
    """Say a case: ``mpi.allreduce, 4 ranks between two nodes``."""
    place = Place.of(row)
    return ", ".join(filter(None, [place.probe, place.words]))


def _shortened(reason: str) -> str:
    if len(reason) <= _LONGEST_REASON:
        return reason
    return f"{reason[:_LONGEST_REASON]} … (the rest is in the trial's raw folder)"


def _holes(document: Document) -> list[Hole]:
    """Give what one side lacks, in a row what shares platform and case."""
    if document.points is None:
        return []
    missing = document.points.filter(
        (pl.col("verdict") == Verdict.MISSING.value) & ~pl.col("detail").fill_null(False)
    )
    groups = (
        _ordered(document, missing)
        .group_by("platform", *CASE, maintain_order=True)
        .agg(pl.len().alias("values"), pl.col("value").is_null().all().alias("here"))
    )
    return [
        Hole(
            row["platform"],
            _case(row),
            f"{count(row['values'], 'value')} on "
            f"{'this platform' if row['here'] else 'the baseline'}",
            Verdict.MISSING.value,
        )
        for row in groups.iter_rows(named=True)
    ]


def _ordered(document: Document, frame: pl.DataFrame) -> pl.DataFrame:
    """Put rows into the order of the page's cells."""
    layers = {layer.value: number for number, layer in enumerate(Layer)}
    names = {name: number for number, name in enumerate(document.names)}
    return frame.sort(
        pl.col("layer").replace_strict(layers, return_dtype=pl.Int64),
        *("probe", "params", "threads", "ranks"),
        pl.col("platform").replace_strict(names, default=len(names), return_dtype=pl.Int64),
        maintain_order=True,
    )


def _unfit(document: Document) -> list[Unfit]:
    """Give what was left out, in a row what shares platform, probe and reason."""
    if document.left_out is None:
        return []
    groups = document.left_out.group_by("platform", "probe", "reason", maintain_order=True).agg(
        pl.len().alias("cases"), pl.col("ranks").unique(maintain_order=True)
    )
    return [
        Unfit(
            row["platform"],
            row["probe"],
            listing([str(ranks) for ranks in row["ranks"]]),
            row["cases"],
            row["reason"],
        )
        for row in groups.iter_rows(named=True)
    ]


def _caveats(document: Document) -> list[Doubt]:
    """Count the values that carry each caveat, leaving out what does not fit."""
    value = ["platform", *KEY]
    frames = [unprofiled(document.summary)]
    if document.points is not None:
        unfit = document.points.filter(pl.col("verdict") == Verdict.DOES_NOT_FIT.value)
        frames = [
            frame.join(unfit, on=value, how="anti", nulls_equal=True)
            for frame in (unprofiled(document.summary), document.points)
        ]
    doubted = pl.concat(
        [
            frame.filter(~pl.col("detail").fill_null(False)).select(*value, "layer", "caveats")
            for frame in frames
        ],
        how="vertical_relaxed",
    )
    groups = (
        _ordered(document, doubted)
        .explode("caveats")
        .drop_nulls("caveats")
        .unique([*value, "caveats"], maintain_order=True)
        .group_by("caveats", maintain_order=True)
        .agg(
            pl.col("platform").unique(maintain_order=True),
            pl.col("probe").unique(maintain_order=True),
            pl.len().alias("values"),
        )
    )
    told = steps(map(Caveat.read, groups.get_column("caveats")))
    return [
        Doubt(
            (caveat := Caveat.read(row["caveats"])).text,
            told[caveat],
            listing(row["platform"]),
            listing(row["probe"]),
            row["values"],
        )
        for row in groups.iter_rows(named=True)
    ]
