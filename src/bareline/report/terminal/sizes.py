"""The output of ``--sizes``: every message size with the values of both platforms.

Values are in the units that OSU prints.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from bareline.analysis.numbers.row import Row
from bareline.report.blocks import Block, Field, Remark, Rows, Section
from bareline.report.content.wording import metric_name, verdict_tone, verdict_word
from bareline.report.figures.scales import Scale, unit_scale
from bareline.vocabulary.grouping import grouped_by
from bareline.vocabulary.place import Place
from bareline.vocabulary.units import count, joined

#: The units of OSU's columns by base unit; it prints two digits after the point.
_OSU_UNITS = {"s": Scale(1e6, "us"), "B/s": Scale(1e-6, "MB/s"), "op/s": Scale(1.0, "Messages/s")}
_OSU_DIGITS = 2


def size_blocks(rows: Sequence[Row]) -> Iterator[Block]:
    """Yield a table with all sizes for each case, metric and platform."""
    sized = [row for row in rows if _is_shown(row)]
    tables = grouped_by(sized, lambda row: (row.platform, row.place.series))
    for (platform, _), series in tables.items():
        yield Section(_title(series[0].place, platform), (_table(series).table(whole=True),))
        yield Remark()
    if not sized:
        yield Remark("No value has a message size: `bareline compare --all` lists every point.")
        return
    yield Remark(
        "Medians over launches; a ratio above 1 is worse, 95 % is its interval, n the launches of "
        "the side that has fewer.",
        "muted",
    )
    others = len(rows) - len(sized)
    if others:
        noun = count(others, "other row")
        yield Remark(f"{noun} without a size, or of details: --all lists them.", "muted")


def _is_shown(row: Row) -> bool:
    return row.place.size_bytes is not None and not row.metric.detail


def _title(place: Place, platform: str) -> str:
    case = Place(place.probe, "", place.params, place.ranks, place.threads, place.nodes)
    name = f"{place.probe} {metric_name(place.metric)}"
    return joined(name, case.words, platform)


def _table(rows: list[Row]) -> Rows[Row]:
    rows.sort(key=lambda row: row.place.size_bytes or 0)
    first = rows[0]
    scale = _scale_of(rows)
    table = Rows(rows).figure("size (B)", lambda row: str(row.place.size_bytes))
    table.figure(scale.titled(first.baseline), lambda row: _written(_base(row), scale))
    table.figure(scale.titled(first.platform), lambda row: _written(row.median, scale))
    table.estimate("ratio", lambda row: row.ratio)
    table.figure("n", lambda row: str(row.n_both))
    return table.column("verdict", _verdict, "text")


def _scale_of(rows: Sequence[Row]) -> Scale:
    """Return OSU's unit of a metric; if OSU has none, the unit that fits the values."""
    unit = rows[0].metric.unit
    if unit in _OSU_UNITS:
        return _OSU_UNITS[unit]
    return unit_scale([row.median for row in rows], unit)


def _written(value: float | None, scale: Scale) -> str:
    if value is None:
        return "–"
    return f"{value * scale.factor:.{_OSU_DIGITS}f}"


def _verdict(row: Row) -> Field:
    return Field(verdict_word(row.verdict), tone=verdict_tone(row.verdict))


def _base(row: Row) -> float | None:
    return None if row.base is None else row.base.value
