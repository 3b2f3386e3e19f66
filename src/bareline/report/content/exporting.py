"""Exports of a run for other programs: samples, medians, and conditions as tests.

Samples are written as one tidy table. Medians have the text format of OpenMetrics 1.0, which
Prometheus reads. The families are ``bareline_median``, ``bareline_lo``, ``bareline_hi`` (95 %
interval; absent below six trials) and ``bareline_trials``. Their labels are the run, platform,
probe, metric, unit, layout and parameters; their time is the start of the run. Conditions are
written as JUnit's XML, which continuous integration shows. Each condition is a test case. Each case
that failed on a platform is also a test case, with an error, even if no condition is about it.
"""

from __future__ import annotations

import errno
from codecs import getincrementaldecoder
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import datetime
from io import RawIOBase
from pathlib import Path
from typing import Any, BinaryIO, cast
from xml.etree import ElementTree

import polars as pl

from bareline.analysis.numbers.records import Records
from bareline.analysis.numbers.selection import Selection
from bareline.analysis.numbers.summary import failures, summarize
from bareline.analysis.numbers.tidy import tidy_samples
from bareline.analysis.words.conditions import ConditionOutcome
from bareline.report.content.spreadsheets import write_table
from bareline.report.content.wording import case_words
from bareline.vocabulary.errors import StoreError, UsageError, one_line
from bareline.vocabulary.files import replacing, step_to_write
from bareline.vocabulary.model import Stage, parse_point
from bareline.vocabulary.sanitize import cleaned, escaped_json

_Writer = Callable[[Records, BinaryIO, Selection], int]


def write_samples(records: Records, path: Path, selection: Selection) -> int:
    """Write samples as CSV, JSON lines or Parquet, by the file's ending; return their number.

    The column "control" marks samples of controls. A file that ends in ``.prom`` or
    ``.openmetrics`` gets the medians instead of the samples.

    Raises UsageError: the file has another ending.
    Raises StoreError: the file cannot be written.
    """
    write = _WRITERS.get(path.suffix)
    if write is None:
        raise UsageError(
            f"bareline cannot write files of the type '{path.suffix or path.name}'",
            hint=f"end --out with one of {', '.join(_WRITERS)}",
        )
    with _replacing(path) as file:
        return write(records, file, selection)


@contextmanager
def _replacing(path: Path) -> Iterator[BinaryIO]:
    """Yield a temporary file that replaces `path` when the context ends.

    Raises StoreError: the file cannot be written.
    """
    try:
        with replacing(path) as file:
            yield file
    except OSError as error:
        why = f"the file cannot be written: {error.strerror or error}"
        raise StoreError(why, where=str(path), hint=step_to_write(error)) from error


class _Sink(RawIOBase):
    """A file that keeps the `OSError` of a failed write.

    Polars raises an error of another class for it.
    """

    def __init__(self, file: BinaryIO) -> None:
        super().__init__()
        self._file = file
        self.error: OSError | None = None

    def writable(self) -> bool:
        return True

    def write(self, data: Any) -> int:
        try:
            return self._file.write(data)
        except OSError as error:
            self.error = error
            raise


class _JsonSink(_Sink):
    """A file for JSON that escapes the characters that a terminal would obey."""

    def __init__(self, file: BinaryIO) -> None:
        super().__init__(file)
        self._decoder = getincrementaldecoder("utf-8")()

    def write(self, data: Any) -> int:
        super().write(escaped_json(self._decoder.decode(bytes(data))).encode())
        return len(data)


def _table_writer(
    write: Callable[[pl.DataFrame, BinaryIO], object], kind: type[_Sink] = _Sink
) -> _Writer:
    def writer(records: Records, file: BinaryIO, selection: Selection) -> int:
        samples = selection.of(records.with_controls.samples, records)
        table = tidy_samples(records, samples)
        sink = kind(file)
        try:
            write(table, cast("BinaryIO", sink))
        except (OSError, pl.exceptions.PolarsError) as error:
            if sink.error is None:
                raise OSError(errno.EIO, one_line(str(error))) from error
            raise sink.error from error
        return table.height

    return writer


def _write_csv(table: pl.DataFrame, file: BinaryIO) -> None:
    write_table(table.with_columns(pl.col("caveats").list.join("; ")), file)


_FAMILIES = {
    "bareline_median": ("value", "Median over trials, in SI base units."),
    "bareline_lo": ("lo", "Lower end of the median's 95 % interval."),
    "bareline_hi": ("hi", "Upper end of the median's 95 % interval."),
    "bareline_trials": ("n", "Trials behind the median."),
}


def write_openmetrics(records: Records, file: BinaryIO, selection: Selection) -> int:
    """Write the medians of runs; return the number of points."""
    table = selection.of(summarize(records), records)
    names = "+".join(run.path.name for run in records.runs)
    begun = _begun(records)
    lines: list[str] = []
    for family, (column, meaning) in _FAMILIES.items():
        lines += [f"# TYPE {family} gauge", f"# HELP {family} {meaning}"]
        for row in table.iter_rows(named=True):
            value = row[column]
            if value is not None:
                labels = _labels(row, {"run": names})
                lines.append(f"{family}{{{labels}}} {float(value)!r}{begun}")
    lines.append("# EOF")
    text = "\n".join(lines) + "\n"
    file.write(text.encode(errors="replace"))
    return table.height


def _begun(records: Records) -> str:
    """Return the start time of the last run as the timestamp at the end of an OpenMetrics line."""
    try:
        times = [datetime.fromisoformat(run.header.created) for run in records.runs]
    except ValueError:
        return ""
    last_s = max(time.timestamp() for time in times)
    return f" {last_s:.3f}"


def _labels(row: Mapping[str, Any], about: Mapping[str, str]) -> str:
    columns = ("platform", "layer", "probe", "metric", "unit", "ranks", "threads")
    labels: dict[str, object] = {**about}
    for name in columns:
        labels[name] = row[name]
    if row["nodes"]:
        labels["nodes"] = row["nodes"]
    taken = set(labels)
    parameters = parse_point(row["params"]) | parse_point(row["point"] or "")
    for name, value in parameters.items():
        # A parameter whose name is already a label gets another label.
        label = f"param_{name}" if name in taken else name
        labels[label] = value
    return ",".join(f'{label}="{_escaped(value)}"' for label, value in labels.items())


def _escaped(value: object) -> str:
    return cleaned(str(value)).replace("\\", r"\\").replace('"', r"\"").replace("\n", r"\n")


def write_junit(
    records: Records,
    outcomes: Sequence[ConditionOutcome],
    path: Path,
    *,
    fails_undecided: bool = True,
) -> None:
    """Write conditions and failed cases as JUnit tests.

    - `fails_undecided`: whether an undecided condition is a failure; otherwise it is a skipped
      test.

    Raises StoreError: the file cannot be written.
    """
    cases = [_condition_case(outcome, fails_undecided) for outcome in outcomes]
    cases += [_failed(row) for row in failures(records).iter_rows(named=True)]
    name = "+".join(run.path.name for run in records.runs)
    suite = ElementTree.Element(
        "testsuite", name=cleaned(f"bareline {name}"), tests=str(len(cases))
    )
    for key, kind in {"failures": "failure", "errors": "error", "skipped": "skipped"}.items():
        suite.set(key, str(sum(case.find(kind) is not None for case in cases)))
    suite.extend(cases)
    tree = ElementTree.ElementTree(suite)
    ElementTree.indent(tree)
    with _replacing(path) as file:
        tree.write(file, encoding="utf-8", xml_declaration=True)


def _condition_case(outcome: ConditionOutcome, fails_undecided: bool) -> ElementTree.Element:
    case = ElementTree.Element("testcase", classname="condition", name=cleaned(outcome.condition))
    if outcome.violations:
        message = f"{len(outcome.violations)} of {outcome.tested} rows {outcome.verb}"
        failure = ElementTree.SubElement(case, "failure", message=message)
        failure.text = cleaned("\n".join(outcome.violations))
    elif outcome.undecided:
        number = len(outcome.undecided)
        message = f"{number} of {outcome.tested} rows cannot be decided; {outcome.remedy}"
        kind = "failure" if fails_undecided else "skipped"
        open_case = ElementTree.SubElement(case, kind, message=message)
        open_case.text = cleaned("\n".join(outcome.undecided))
    elif outcome.nearest:
        ElementTree.SubElement(case, "system-out").text = cleaned(outcome.nearest)
    return case


def _failed(row: dict[str, object]) -> ElementTree.Element:
    where = cleaned(f"measured on {row['platform']}")
    name = cleaned(case_words(row))
    case = ElementTree.Element("testcase", classname=where, name=name)
    reason = cleaned(str(row["reason"]))
    if row["stage"] == Stage.ABSENT.value:
        ElementTree.SubElement(case, "skipped", message=reason)
    else:
        error = ElementTree.SubElement(case, "error", message=f"{row['n_failed']} trials failed")
        error.text = f"[{row['stage']}] {reason}"
    return case


_WRITERS: Mapping[str, _Writer] = {
    ".csv": _table_writer(_write_csv),
    ".jsonl": _table_writer(pl.DataFrame.write_ndjson, _JsonSink),
    ".parquet": _table_writer(pl.DataFrame.write_parquet),
    ".prom": write_openmetrics,
    ".openmetrics": write_openmetrics,
}
