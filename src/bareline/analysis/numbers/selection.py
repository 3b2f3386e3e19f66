"""The rows that a user requested: rows of some probes, platforms, metrics or layers.

A selection only chooses which rows are shown. Intervals and the false discovery rate are always
computed from all rows, so that claims do not become more certain if fewer rows are shown.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields

import polars as pl

from bareline.analysis.numbers.records import Records
from bareline.vocabulary.errors import UsageError, did_you_mean


def selector_filter(selector: str) -> pl.Expr:
    """Return the filter of the rows that a selector names.

    - `selector`: a layer, a layer's metric, a probe or a probe's metric. ``PLATFORM:`` in front
      selects only rows of this platform. Without a metric, the headline metric is selected.
    """
    platform, colon, name = selector.rpartition(":")
    metric_of_probe = pl.concat_str([pl.col("probe"), pl.col("metric")], separator=".")
    full = metric_of_probe == name
    metric_of_layer = pl.concat_str([pl.col("layer"), pl.col("metric")], separator=".")
    short = metric_of_layer == name
    plain = pl.col("headline") & ((pl.col("probe") == name) | (pl.col("layer") == name))
    chosen = (full | short | plain).fill_null(value=False)
    if colon:
        is_on_platform = pl.col("platform") == platform
        return is_on_platform & chosen
    return chosen


@dataclass(frozen=True, slots=True)
class Selection:
    """The names that a selected row must have; an empty list of names selects all rows."""

    probe: Sequence[str] = ()
    platform: Sequence[str] = ()
    metric: Sequence[str] = ()
    layer: Sequence[str] = ()

    def __bool__(self) -> bool:
        return any(getattr(self, field.name) for field in fields(self))

    def of(self, table: pl.DataFrame, records: Records) -> pl.DataFrame:
        """Return the selected rows of a table.

        - `records`: the records that contain all names which can be selected.

        Raises UsageError: a name is not in the records.
        """
        if not self:
            return table
        platforms = pl.DataFrame({"platform": records.with_controls.platforms})
        all_names = records.declarations.join(platforms, how="cross")
        chosen = self.among(all_names)
        on = []
        for field in fields(self):
            if field.name in table.columns:
                on.append(field.name)
        chosen_names = chosen.select(on).unique()
        return table.join(chosen_names, on=on, how="semi", maintain_order="left")

    def among(self, table: pl.DataFrame) -> pl.DataFrame:
        """Return the selected rows of a table; names are compared with the table's columns.

        Raises UsageError: no column contains a name.
        """
        chosen = table
        for field in fields(self):
            names = getattr(self, field.name)
            if not names:
                continue
            different = table[field.name].unique()
            there = different.to_list()
            for name in names:
                if name not in there:
                    names_there = ", ".join(sorted(there))
                    listed = f"the results have {names_there}"
                    raise UsageError(
                        f"the results have no {field.name} '{name}'",
                        where=f"--{field.name}",
                        hint=did_you_mean(name, there, listed),
                    )
            is_named = pl.col(field.name).is_in(list(names))
            chosen = chosen.filter(is_named)
        return chosen
