"""The numbers that a page carries in itself, for the reader to save."""

from __future__ import annotations

import base64
import csv
import gzip
import io
import json
from dataclasses import dataclass

import polars as pl

from bareline.report.content.document import Document
from bareline.report.content.wording import count
from bareline.report.figures.figure import Figure

#: Samples up to which they are embedded as plain CSV, and at all (compressed).
_PLAIN_ROWS = 2_000
_PLAIN_BYTES = 20_000
_EMBEDDED_ROWS = 200_000
#: Largest file of samples in a page: whoever wants more of them has the run directory.
_EMBEDDED_BYTES = 1_200_000


@dataclass(frozen=True, slots=True)
class Download:
    """A file that the page carries in itself."""

    name: str
    about: str
    href: str
    size_bytes: int


def embed_numbers(document: Document) -> list[Download]:
    """Embed the numbers: everything summarized, and the samples while the page stays small."""
    rows = document.samples.height
    compared = document.comparison
    found = [] if compared is None else [_csv("comparison.csv", "every comparison", compared)]
    found += [
        _csv("summary.csv", "medians, intervals and spread of every value", document.summary),
        _csv("trials.csv", "every trial, failed ones with their reason", document.trials),
    ]
    if rows <= _EMBEDDED_ROWS:
        samples = _csv("samples.csv", f"all {count(rows, 'sample')}", document.samples)
        found += [samples] if samples.size_bytes <= _EMBEDDED_BYTES else []
    facts = json.dumps(document.facts, indent=1, ensure_ascii=False, default=str).encode()
    found.append(
        make_download("facts.json", "every fact of every platform", "application/json", facts)
    )
    return found


def _csv(name: str, about: str, frame: pl.DataFrame) -> Download:
    lists = [column for column, kind in frame.schema.items() if isinstance(kind, pl.List)]
    nested = [column for column, kind in frame.schema.items() if isinstance(kind, pl.Struct)]
    flat = frame.drop(nested).with_columns(
        pl.col(column).cast(pl.List(pl.String)).list.join("; ") for column in lists
    )
    content = flat.write_csv().encode()
    if frame.height <= _PLAIN_ROWS:
        return make_download(name, about, "text/csv", content)
    packed = gzip.compress(content, mtime=0)
    return make_download(f"{name}.gz", about, "application/gzip", packed)


def figure_csv(figure: Figure) -> Download | None:
    """Embed the numbers of one figure: in base units, or as its table shows them."""
    text = io.StringIO()
    if figure.data:
        rows = csv.DictWriter(text, list(figure.data[0]), lineterminator="\n")
        rows.writeheader()
        rows.writerows(figure.data)
    elif figure.data_table is not None:
        plain = csv.writer(text, lineterminator="\n")
        plain.writerow([column.title for column in figure.data_table.columns])
        for row in [*figure.data_table.rows, figure.data_table.foot]:
            if row:
                plain.writerow([field.text.replace("\u202f", "") for field in row])
    else:
        return None
    content = text.getvalue().encode()
    about = f"numbers of: {figure.title}"
    if len(content) <= _PLAIN_BYTES:
        return make_download(f"{figure.id}.csv", about, "text/csv", content)
    packed = gzip.compress(content, mtime=0)
    return make_download(f"{figure.id}.csv.gz", about, "application/gzip", packed)


def make_download(name: str, about: str, kind: str, content: bytes) -> Download:
    """Embed a file that the reader can save."""
    encoded = base64.b64encode(content).decode()
    return Download(name, about, f"data:{kind};base64,{encoded}", len(content))
