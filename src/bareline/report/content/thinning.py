"""The values that a page shows: all values, or evenly chosen ones of a very large run.

A run on 1,024 ranks has tens of thousands of points. A reader cannot go through so many marks or
rows, and a page with all of them is slow to make and to open. The values that are not chosen are
removed before cells, marks or rows are made. Verdicts, findings and counts are computed from all
values.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType

import polars as pl

from bareline.vocabulary.model import Scalar, parse_point
from bareline.vocabulary.place import KEY, parameter_name
from bareline.vocabulary.units import listing, whole

#: The largest number of values (without details and the points of `_ENDS`) that a page shows of all
#: probes. With their marks, trials and rows they take some four megabytes.
MOST_VALUES = 6_000

#: For each metric and platform, so many points with the largest and with the smallest ratios are
#: always shown.
_ENDS = 5

#: The columns that distinguish the places of a probe, where its metrics have a value per platform.
PLACE = ("params", "ranks", "threads", "nodes", "point")


@dataclass(frozen=True, slots=True)
class ShownValues:
    """The values of a summary and of the compared points that the page shows.

    - `places`: for each probe of which not all values are shown, the combinations of ranks, nodes
      and parameters that are shown.
    - `notes`: for each of these probes, a sentence that describes the shown values.
    """

    summary: pl.DataFrame
    points: pl.DataFrame | None
    places: pl.DataFrame = field(default_factory=pl.DataFrame)
    notes: Mapping[str, str] = field(default_factory=lambda: MappingProxyType({}))


def thin(
    summary: pl.DataFrame, points: pl.DataFrame | None, most: int = MOST_VALUES
) -> ShownValues:
    """Choose the values to show: for a probe, the same cases on all platforms and for all metrics.

    A probe with few values keeps all of them; the probes with many values share the rest of `most`.
    Within a probe, the parameter with the most values is thinned out first. Its first and last
    value stay, and the values between them are chosen evenly.
    """
    values = _values(summary, points)
    counts = _counts(values)
    allowance = _allowance(list(counts.values()), most)
    crowded = [probe for probe, number in counts.items() if number > allowance]
    if not crowded:
        return ShownValues(summary, points)
    chosen = []
    notes = {}
    for probe in crowded:
        places = _places_of(values, probe)
        wanted = max(2, places.height * allowance // counts[probe])
        ends = None if points is None else _farthest(points, probe)
        probe_places, notes[probe] = _shown_places(places, wanted, ends)
        chosen.append(probe_places.select(pl.lit(probe).alias("probe"), *PLACE))
    shown_places = pl.concat(chosen)
    summary = _only(summary, shown_places, crowded)
    if points is not None:
        points = _only(points, shown_places, crowded)
    return ShownValues(summary, points, shown_places, MappingProxyType(notes))


def _places_of(values: pl.DataFrame, probe: str) -> pl.DataFrame:
    """Return the cases (ranks, nodes, parameters) of a probe's values, sorted, each case once."""
    of_probe = values.filter(pl.col("probe") == probe)
    return of_probe.select(PLACE).unique().sort(PLACE)


def _values(summary: pl.DataFrame, points: pl.DataFrame | None) -> pl.DataFrame:
    """Return the values of a summary and of the compared points, without duplicates."""
    columns = ["platform", *KEY, "detail"]
    frames = [frame.select(columns) for frame in (summary, points) if frame is not None]
    return pl.concat(frames, how="vertical_relaxed").unique(["platform", *KEY])


def _counts(values: pl.DataFrame) -> dict[str, int]:
    """Return the number of values of each probe; metrics that are details are not counted."""
    is_detail = pl.col("detail").fill_null(False)
    counted = values.filter(~is_detail).group_by("probe").len()
    return dict(counted.sort("probe").iter_rows())


def _shown_places(
    places: pl.DataFrame, wanted: int, ends: pl.DataFrame | None
) -> tuple[pl.DataFrame, str]:
    """Return the places (combinations of ranks, nodes and parameters) to show, and a note on them.

    These are `wanted` evenly chosen places, and the places in `ends`.
    """
    chosen, words = _thinned(places, wanted)
    if ends is not None:
        chosen = pl.concat([chosen, ends])
    chosen = chosen.unique()
    text = f"{whole(chosen.height)} of {whole(places.height)} points are shown: {words}"
    if ends is not None and ends.height:
        text += ", and those that differ most"
    return chosen, f"{text}. Verdicts rest on all of them."


def _only(frame: pl.DataFrame, places: pl.DataFrame, crowded: Sequence[str]) -> pl.DataFrame:
    """Return the rows at the chosen places, and all rows of probes that are not in `crowded`."""
    is_crowded = pl.col("probe").is_in(crowded)
    numbered = frame.with_row_index("row")
    others = numbered.filter(~is_crowded)
    crowded_rows = numbered.filter(is_crowded)
    key = ["probe", *PLACE]
    shown = crowded_rows.join(places, on=key, how="semi", nulls_equal=True)
    return pl.concat([others, shown]).sort("row").drop("row")


def _allowance(counts: Sequence[int], most: int) -> int:
    """Return the limit of values per probe with which all probes have at most `most` in total."""
    left = most
    for place, number in enumerate(sorted(counts)):
        share = left // (len(counts) - place)
        if number > share:
            return share
        left -= number
    return most


def _farthest(comparison: pl.DataFrame, probe: str) -> pl.DataFrame:
    """Return the cases in which a metric of a probe differs most from the baseline, up or down."""
    ratio = pl.col("ratio")
    is_of_probe = pl.col("probe") == probe
    is_detail = pl.col("detail").fill_null(False)
    ratios = comparison.filter(is_of_probe & ~is_detail & ratio.is_not_null())
    from_below = ratio.rank("ordinal").over("platform", "metric")
    from_above = ratio.rank("ordinal", descending=True).over("platform", "metric")
    is_smallest = from_below <= _ENDS
    is_largest = from_above <= _ENDS
    return ratios.filter(is_smallest | is_largest).select(PLACE).unique()


def _thinned(places: pl.DataFrame, most: int) -> tuple[pl.DataFrame, str]:
    """Return at most `most` places, and a text that describes how they were chosen."""
    table = _coordinates(places)
    cuts: dict[str, _Cut] = {}
    while table.height > most:
        name, number = _widest(table)
        if number <= 2:
            break
        fitting = number * most // table.height
        wanted = min(number - 1, max(2, fitting))
        table = _thinned_parameter(table, name, wanted)
        # A parameter that was thinned out before keeps its whole number in the sentence.
        before = cuts[name].values if name in cuts else number
        cuts[name] = _Cut(wanted, before)
    if table.height > most:
        step = -(-table.height // most)
        table = table.gather_every(step)
        cuts = {}
    return places[table.get_column("place")], _cut_words(cuts)


@dataclass(frozen=True, slots=True)
class _Cut:
    """How many values of a parameter are shown (`shown`), and how many there are (`values`)."""

    shown: int
    values: int


def _thinned_parameter(table: pl.DataFrame, name: str, wanted: int) -> pl.DataFrame:
    """Keep `wanted` values of a parameter: the first, the last, and values evenly between them."""
    values = table.get_column(name).drop_nulls().unique().sort()
    last = values.len() - 1
    places = [step * last // (wanted - 1) for step in range(wanted)]
    wanted_values = values.gather(places)
    column = pl.col(name)
    is_wanted = column.is_in(wanted_values.implode())
    return table.filter(column.is_null() | is_wanted)


def _cut_words(cuts: Mapping[str, _Cut]) -> str:
    if not cuts:
        return "every n-th of them"
    words = []
    for name, cut in cuts.items():
        parameter = parameter_name(name.rpartition(" ")[2])
        words.append(f"{whole(cut.shown)} of {whole(cut.values)} values of {parameter}")
    return f"{listing(words)}, evenly over their order"


def _widest(table: pl.DataFrame) -> tuple[str, int]:
    """Return the parameter with the most values, and their number.

    A parameter that is not a number is returned only if no numeric one has three values.
    """
    widest = ""
    most = (False, -1)
    for column in table.drop("place"):
        values = column.drop_nulls().n_unique()
        can_be_thinned = values > 2 and column.dtype.is_numeric()
        if (can_be_thinned, values) > most:
            widest = column.name
            most = (can_be_thinned, values)
    return widest, most[1]


def _coordinates(places: pl.DataFrame) -> pl.DataFrame:
    """Return a table with a row for each place and a column for each parameter.

    The column "place" has the index of the row in `places`. If a parameter has values of several
    types, they become text.
    """
    table = places.with_row_index("place").select("place", "ranks", "threads", "nodes")
    for column in ("params", "point"):
        texts = places.get_column(column)
        points = {text: parse_point(text) for text in texts.unique().sort()}
        names: dict[str, None] = {}
        for point in points.values():
            names.update(dict.fromkeys(point))
        for name in names:
            by_text = {text: point.get(name) for text, point in points.items()}
            scalars = [by_text[text] for text in texts]
            table = table.with_columns(_column(f"{column} {name}", scalars))
    return table


def _column(name: str, scalars: Sequence[Scalar | None]) -> pl.Series:
    """Return a column of numbers, or of texts if any value is a text."""
    has_text = any(isinstance(value, str) for value in scalars)
    values: list[float | str | None] = []
    for value in scalars:
        if value is None:
            values.append(None)
        elif has_text:
            values.append(str(value))
        else:
            values.append(float(value))
    return pl.Series(name, values, dtype=pl.String if has_text else pl.Float64)
