"""Medians of runs in the text format of OpenMetrics, for what draws time series of many runs.

Format: OpenMetrics 1.0 (the text exposition format of Prometheus). The families are
``bareline_median``, ``bareline_lo``, ``bareline_hi`` (95 % interval; absent below six trials) and
``bareline_trials``; labels are the run, the platform, probe, metric, unit, layout and parameters.
The time of a sample is when its run was begun.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from datetime import datetime
from pathlib import Path
from typing import Any

from bareline.analysis.numbers.records import Records
from bareline.analysis.numbers.selection import Selection
from bareline.analysis.numbers.summary import summarize
from bareline.vocabulary.model import parse_point

_FAMILIES = {
    "bareline_median": ("value", "Median over trials, in SI base units."),
    "bareline_lo": ("lo", "Lower end of the median's 95 % interval."),
    "bareline_hi": ("hi", "Upper end of the median's 95 % interval."),
    "bareline_trials": ("n", "Trials behind the median."),
}


def write_openmetrics(records: Records, path: Path, asked: Selection) -> int:
    """Write the medians of runs; give the number of points.

    Raises OSError: the file cannot be written.
    """
    table = asked.of(summarize(records), records)
    rows = list(table.iter_rows(named=True))
    about = _about(records)
    path.write_text("\n".join(_lines(rows, about, _begun(records))) + "\n", encoding="utf-8")
    return table.height


def _about(records: Records) -> dict[str, str]:
    return {"run": "+".join(run.path.name for run in records.runs)}


def _begun(records: Records) -> str:
    """Give the seconds since 1970 at which the last run was begun, as text; "" if unknown."""
    try:
        times = [datetime.fromisoformat(run.header.created) for run in records.runs]
        return f" {max(time.timestamp() for time in times):.3f}"
    except ValueError:
        return ""


def _lines(rows: list[dict[str, Any]], about: Mapping[str, str], begun: str) -> Iterator[str]:
    for family, (column, meaning) in _FAMILIES.items():
        yield f"# TYPE {family} gauge"
        yield f"# HELP {family} {meaning}"
        for row in rows:
            if row[column] is not None:
                yield f"{family}{{{_labels(row, about)}}} {float(row[column])!r}{begun}"
    yield "# EOF"


def _labels(row: Mapping[str, Any], about: Mapping[str, str]) -> str:
    named: dict[str, object] = {**about}
    named |= {key: row[key] for key in ("platform", "layer", "probe", "metric", "unit")}
    named |= {"ranks": row["ranks"], "threads": row["threads"]}
    if row["nodes"]:
        named["nodes"] = row["nodes"]
    places = {**parse_point(row["params"]), **parse_point(row["point"] or "")}
    named |= {f"param_{key}" if key in named else key: value for key, value in places.items()}
    return ",".join(f'{key}="{_escaped(value)}"' for key, value in named.items())


def _escaped(value: object) -> str:
    return str(value).replace("\\", r"\\").replace('"', r"\"").replace("\n", r"\n")
