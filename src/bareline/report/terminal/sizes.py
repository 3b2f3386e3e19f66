"""Every message size with the values of both sides, in the units that OSU prints: ``--sizes``."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from bareline.analysis.numbers.cell import Cell
from bareline.report.blocks import Block, Field, Remark, Rows, Section
from bareline.report.content.wording import metric_name, verdict_tone, verdict_word
from bareline.report.figures.scales import Scale, unit_scale
from bareline.vocabulary.place import Place
from bareline.vocabulary.units import count

#: The units of OSU's columns by base unit; it prints two digits after the point.
_OSU_UNITS = {"s": Scale(1e6, "us"), "B/s": Scale(1e-6, "MB/s"), "op/s": Scale(1.0, "Messages/s")}
_OSU_DIGITS = 2


def size_blocks(cells: Sequence[Cell]) -> Iterator[Block]:
    """Yield a table for each case, metric and platform: all of its sizes, none left out."""
    sized = [cell for cell in cells if _is_shown(cell)]
    tables: dict[tuple[str, tuple[object, ...]], list[Cell]] = {}
    for cell in sized:
        tables.setdefault((cell.platform, cell.place.series), []).append(cell)
    for (platform, _), rows in tables.items():
        yield Section(_title(rows[0].place, platform), (_table(rows).table(whole=True),))
        yield Remark()
    if not sized:
        yield Remark("No value has a message size: `bareline compare --all` lists every point.")
        return
    yield Remark(
        "Medians over launches; a ratio above 1 is worse, 95 % is its interval, n the launches of "
        "the side that has fewer.",
        "muted",
    )
    others = len(cells) - len(sized)
    if others:
        noun = count(others, "other row")
        yield Remark(f"{noun} without a size, or of details: --all lists them.", "muted")


def _is_shown(cell: Cell) -> bool:
    return cell.place.size_bytes is not None and not cell.metric.detail


def _title(place: Place, platform: str) -> str:
    case = Place(place.probe, "", place.params, place.ranks, place.threads, place.nodes)
    name = f"{place.probe} {metric_name(place.metric)}"
    return ", ".join(filter(None, [name, case.words, platform]))


def _table(rows: list[Cell]) -> Rows[Cell]:
    rows.sort(key=lambda cell: cell.place.size_bytes or 0)
    first = rows[0]
    scale = _OSU_UNITS.get(first.metric.unit)
    if scale is None:
        scale = unit_scale([cell.median for cell in rows], first.metric.unit)
    unit = scale

    def write(value: float | None) -> str:
        return "–" if value is None else f"{value * unit.factor:.{_OSU_DIGITS}f}"

    def verdict(cell: Cell) -> Field:
        return Field(verdict_word(cell.verdict), tone=verdict_tone(cell.verdict))

    table = Rows(rows).figure("size (B)", lambda cell: str(cell.place.size_bytes))
    table.figure(unit.titled(first.baseline), lambda cell: write(_base(cell)))
    table.figure(unit.titled(first.platform), lambda cell: write(cell.median))
    table.estimate("ratio", lambda cell: cell.ratio)
    table.figure("n", lambda cell: str(cell.n_both))
    return table.column("verdict", verdict, "text")


def _base(cell: Cell) -> float | None:
    return None if cell.base is None else cell.base.value
