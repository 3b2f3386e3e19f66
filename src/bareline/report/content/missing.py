"""The failures, gaps and caveats that the page reports."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from operator import itemgetter
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
from bareline.vocabulary.units import count, joined, listing
from bareline.vocabulary.verdicts import Verdict

_LONGEST_REASON = 400
#: The columns that distinguish the values of a run.
_VALUE = ("platform", *KEY)
#: A row of a frame: a value by each column.
_Row = dict[str, Any]


def missing_blocks(document: Document, empty: Sequence[ExhibitSpec]) -> list[Block]:
    """Return blocks with the reasons why numbers are incomplete.

    - `empty`: the figures and tables for which the run has no data.
    """
    undrawn = [_exhibit_words(spec) for spec in empty]
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
    blocks += _listed("Events of platforms", events)
    return blocks


def _exhibit_words(spec: ExhibitSpec) -> str:
    """Name a figure or table of the study by its title, or by its kind and subject."""
    if spec.title:
        return spec.title
    subject = joined(spec.probe, spec.metric, by=" ")
    return f"{spec.kind} of {subject or 'every probe'}"


def _listed(title: str, lines: Sequence[str]) -> Iterator[Section]:
    if lines:
        yield Section(title, (Prose(tuple(lines), "list"),))


def _rows(frame: pl.DataFrame) -> Rows[_Row]:
    return Rows(frame.iter_rows(named=True)).platform(itemgetter("platform"))


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
    failed = trials.filter(pl.col("status") == "failed")
    reasons = failed.group_by(*case, "stage", "reason", maintain_order=True)
    counts = reasons.agg(pl.len().alias("trials"))
    rows = _rows(counts.join(planned, on=case, how="left", maintain_order="left"))
    rows.text("case", _case)
    rows.number("trials", itemgetter("trials"))
    rows.number("of", itemgetter("of"))
    rows.text("stage", lambda row: row["stage"] or "")
    rows.text("reason", _reason, wrap=True)
    return _titled("Failed and skipped trials", rows)


def _reason(row: _Row) -> str:
    text: str = row["reason"] or ""
    if len(text) > _LONGEST_REASON:
        return f"{text[:_LONGEST_REASON]} … (the rest is in the trial's raw folder)"
    return text


def _case(row: _Row) -> str:
    place = Place.of(row)
    return joined(place.probe, place.words)


def _holes(document: Document) -> Iterator[Section]:
    """Yield a table of values that are missing on the baseline or on the compared platform.

    The table has a row for each platform and case.
    """
    if document.points is None:
        return
    is_missing = pl.col("verdict") == Verdict.MISSING.value
    is_detail = pl.col("detail").fill_null(False)
    missing = _ordered(document, document.points.filter(is_missing & ~is_detail))
    cases = missing.group_by("platform", *CASE, maintain_order=True)
    is_missing_here = pl.col("value").is_null().all()
    rows = _rows(cases.agg(values=pl.len(), here=is_missing_here))
    rows.text("case", _case)
    rows.text("missing", _missing_words)
    yield from _titled("Missing values", rows)


def _missing_words(row: _Row) -> str:
    values = count(row["values"], "value")
    where = "this platform" if row["here"] else "the baseline"
    return f"{values} on {where}"


def _ordered(document: Document, frame: pl.DataFrame) -> pl.DataFrame:
    """Sort rows by layer, probe, case and platform, the platforms in the document's order."""
    layers = {layer.value: number for number, layer in enumerate(Layer)}
    names = {name: number for number, name in enumerate(document.names)}
    layer = pl.col("layer").replace_strict(layers, return_dtype=pl.Int64)
    platform = pl.col("platform").replace_strict(names, default=len(names), return_dtype=pl.Int64)
    keys = (layer, "probe", "params", "threads", "ranks", platform)
    return frame.sort(*keys, maintain_order=True)


def _unfit(document: Document) -> Iterator[Section]:
    """Yield a table of the cases that the plan left out, by platform, probe and reason."""
    left_out = document.records.left_out
    if left_out is None:
        return
    reasons = left_out.group_by("platform", "probe", "reason", maintain_order=True)
    ranks = pl.col("ranks").unique(maintain_order=True)
    rows = _rows(reasons.agg(pl.len().alias("cases"), ranks))
    rows.text("probe", itemgetter("probe"))
    rows.text("ranks", lambda row: listing(list(map(str, row["ranks"]))))
    rows.number("cases", itemgetter("cases"))
    rows.text("why", itemgetter("reason"), wrap=True)
    yield from _titled("Left out by the plan", rows)


def _caveats(document: Document) -> list[str]:
    """Return a line for each caveat: the number of values that have it, and the remedy.

    Values whose verdict is "does not fit" are not counted.
    """
    values = _ordered(document, _values_that_fit(document)).explode("caveats")
    doubted = values.drop_nulls("caveats").unique([*_VALUE, "caveats"], maintain_order=True)
    groups = doubted.group_by("caveats", maintain_order=True).agg(
        pl.col("platform").unique(maintain_order=True),
        pl.col("probe").unique(maintain_order=True),
        pl.len().alias("values"),
    )
    remedies = steps(map(Caveat.read, groups.get_column("caveats")))
    lines = []
    for text, platforms, probes, number in groups.iter_rows():
        caveat = Caveat.read(text)
        where = f"{listing(probes)} on {listing(platforms)}"
        line = f"{caveat.text}: {count(number, 'value')} of {where}."
        remedy = remedies[caveat]
        if remedy:
            line += f" {sentence_case(remedy)}."
        lines.append(line)
    return lines


def _values_that_fit(document: Document) -> pl.DataFrame:
    """Return the values of the summary and of the comparison, except two kinds.

    Values of metrics that are details, and values with the verdict "does not fit", are left out.
    """
    frames = [unprofiled(document.summary)]
    if document.points is not None:
        frames.append(document.points)
        does_not_fit = pl.col("verdict") == Verdict.DOES_NOT_FIT.value
        unfit = document.points.filter(does_not_fit)
        frames = [frame.join(unfit, on=_VALUE, how="anti", nulls_equal=True) for frame in frames]
    columns = [*_VALUE, "layer", "caveats", "detail"]
    selected = [frame.select(columns) for frame in frames]
    is_detail = pl.col("detail").fill_null(False)
    return pl.concat(selected, how="vertical_relaxed").filter(~is_detail)
