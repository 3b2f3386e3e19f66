"""Failures, gaps and caveats: reported on the page, never dropped."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import polars as pl

from bareline.analysis.numbers.programs import unprofiled
from bareline.published.catalogue import publications
from bareline.report.blocks import Block, Prose, Rows, Section
from bareline.report.content.document import Document
from bareline.report.content.wording import sentence_case
from bareline.vocabulary.caveats import Caveat, steps
from bareline.vocabulary.exhibit import ExhibitSpec
from bareline.vocabulary.model import Layer
from bareline.vocabulary.place import CASE, KEY, Place
from bareline.vocabulary.units import count, listing
from bareline.vocabulary.verdicts import Verdict

_LONGEST_REASON = 400


def missing_blocks(document: Document, empty: Sequence[ExhibitSpec]) -> list[Block]:
    """Gather the reasons why numbers are incomplete; `empty`: exhibits that have no data."""
    undrawn = []
    for spec in empty:
        subject = " ".join(filter(None, [spec.probe, spec.metric])) or "every probe"
        undrawn.append(spec.title or f"{spec.kind} of {subject}")
    undrawn += [*_unknown_publications(document), *document.undrawn]
    blocks: list[Block] = [
        *_failures(document),
        *_holes(document),
        *_unfit(document),
        *_listed("Caveats", _caveats(document)),
        *_listed("Exhibits without data", undrawn),
    ]
    if not blocks:
        none = "Nothing failed, is missing or was left out, and no number carries a caveat."
        blocks.append(Prose((none,)))
    events: list[str] = []
    for run in document.records.runs:
        events += [f"{event.time} {event.platform}: {event.event}" for event in run.events()]
    return [*blocks, *_listed("Events of platforms", events)]


def _listed(title: str, lines: Sequence[str]) -> list[Section]:
    return [Section(title, (Prose(tuple(lines), "list"),))] if lines else []


def _rows(frame: pl.DataFrame) -> Rows[dict[str, Any]]:
    return Rows(frame.iter_rows(named=True)).platform(lambda row: row["platform"])


def _titled(title: str, rows: Rows[Any]) -> Iterator[Section]:
    if rows.rows:
        yield Section(title, (rows.table(look="plain", label=title),))


def _unknown_publications(document: Document) -> list[str]:
    references: list[str] = []
    for role in document.roles.values():
        references += role.published
    for spec in document.exhibits:
        references += spec.published
    names = dict.fromkeys(reference.partition(":")[0] for reference in references)
    unknown = [name for name in names if name not in publications()]
    return [f"publication '{name}', unknown to this bareline" for name in unknown]


def _failures(document: Document) -> Iterator[Section]:
    case = ["platform", *CASE]
    trials = document.records.trials
    planned = trials.group_by(case).agg(pl.len().alias("of"))
    failed = _rows(
        trials.filter(pl.col("status") == "failed")
        .group_by(*case, "stage", "reason", maintain_order=True)
        .agg(pl.len().alias("trials"))
        .join(planned, on=case, how="left", maintain_order="left")
    )
    failed.text("case", _case)
    failed.number("trials", lambda row: row["trials"]).number("of", lambda row: row["of"])
    failed.text("stage", lambda row: row["stage"] or "")

    def reason(row: Mapping[str, Any]) -> str:
        text = row["reason"] or ""
        cut = f"{text[:_LONGEST_REASON]} … (the rest is in the trial's raw folder)"
        return cut if len(text) > _LONGEST_REASON else text

    failed.text("reason", reason, wrap=True)
    return _titled("Failed and skipped trials", failed)


def _case(row: Mapping[str, object]) -> str:
    place = Place.of(row)
    return ", ".join(filter(None, [place.probe, place.words]))


def _holes(document: Document) -> Iterator[Section]:
    """Yield values that one side has and the other lacks; a row for each platform and case."""
    if document.points is None:
        return
    missing = document.points.filter(
        (pl.col("verdict") == Verdict.MISSING.value) & ~pl.col("detail").fill_null(False)
    )
    holes = _rows(
        _ordered(document, missing)
        .group_by("platform", *CASE, maintain_order=True)
        .agg(pl.len().alias("values"), pl.col("value").is_null().all().alias("here"))
    )

    def lacking(row: Mapping[str, Any]) -> str:
        where = "this platform" if row["here"] else "the baseline"
        return f"{count(row['values'], 'value')} on {where}"

    yield from _titled("Missing values", holes.text("case", _case).text("missing", lacking))


def _ordered(document: Document, frame: pl.DataFrame) -> pl.DataFrame:
    layers = {layer.value: number for number, layer in enumerate(Layer)}
    names = {name: number for number, name in enumerate(document.names)}
    return frame.sort(
        pl.col("layer").replace_strict(layers, return_dtype=pl.Int64),
        *("probe", "params", "threads", "ranks"),
        pl.col("platform").replace_strict(names, default=len(names), return_dtype=pl.Int64),
        maintain_order=True,
    )


def _unfit(document: Document) -> Iterator[Section]:
    """Yield the cases that the plan left out; a row for each platform, probe and reason."""
    if document.records.left_out is None:
        return
    unfit = _rows(
        document.records.left_out.group_by("platform", "probe", "reason", maintain_order=True).agg(
            pl.len().alias("cases"), pl.col("ranks").unique(maintain_order=True)
        )
    )
    unfit.text("probe", lambda row: row["probe"])
    unfit.text("ranks", lambda row: listing([str(ranks) for ranks in row["ranks"]]))
    unfit.number("cases", lambda row: row["cases"])
    yield from _titled("Left out by the plan", unfit.text("why", lambda r: r["reason"], wrap=True))


def _caveats(document: Document) -> list[str]:
    """Count the values with each caveat, without those that do not fit; describe the remedy."""
    value = ["platform", *KEY]
    frames = [unprofiled(document.summary)]
    if document.points is not None:
        unfit = document.points.filter(pl.col("verdict") == Verdict.DOES_NOT_FIT.value)
        frames = [
            frame.join(unfit, on=value, how="anti", nulls_equal=True)
            for frame in (*frames, document.points)
        ]
    columns = [*value, "layer", "caveats", "detail"]
    selected = [frame.select(columns) for frame in frames]
    is_detail = pl.col("detail").fill_null(False)
    doubted = pl.concat(selected, how="vertical_relaxed").filter(~is_detail)
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
    todo = steps(map(Caveat.read, groups.get_column("caveats")))
    lines = []
    for text, platforms, probes, values in groups.iter_rows():
        caveat = Caveat.read(text)
        where = f"{listing(probes)} on {listing(platforms)}"
        step = f" {sentence_case(todo[caveat])}." if todo[caveat] else ""
        lines.append(f"{caveat.text}: {count(values, 'value')} of {where}.{step}")
    return lines
