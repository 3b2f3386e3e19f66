"""The numbers that a page carries in itself, for the reader to save."""

from __future__ import annotations

import base64
import csv
import gzip
import io
import json
from dataclasses import dataclass

import polars as pl

from bareline.report.blocks.figure import Figure
from bareline.report.content.document import Document
from bareline.vocabulary.model import Scalar
from bareline.vocabulary.units import count

#: Files up to this size are embedded as they are, larger ones packed.
_PLAIN_BYTES = 2_000
#: What the raw data of a page may take together, packed: whoever wants more has the run directory.
_EMBEDDED_BYTES = 600_000
#: Tables with more rows would not fit in it: they are not even packed.
_EMBEDDED_ROWS = 200_000
#: Significant digits of embedded numbers: launches differ in the third, and each costs half a byte.
_DIGITS = 7


@dataclass(frozen=True, slots=True)
class Download:
    """A file that the page carries in itself."""

    name: str
    about: str
    href: str
    size_bytes: int


@dataclass(frozen=True, slots=True)
class RawData:
    """The numbers of a page as files; `left_out` names those that are too large for it."""

    files: tuple[Download, ...]
    left_out: tuple[str, ...]


def embed_numbers(document: Document) -> RawData:
    """Embed the numbers: everything summarized, and the samples, while the page stays small."""
    facts = json.dumps(document.facts, indent=1, ensure_ascii=False, default=str).encode()
    compared = document.comparison
    tables = [] if compared.alone else [("comparison.csv", "every comparison", compared.table)]
    tables += [
        ("summary.csv", "medians, intervals and spread of every value", document.summary),
        ("trials.csv", "every trial, failed ones with their reason", document.trials),
    ]
    every = f"all {count(document.samples.height, 'sample')}"
    missing = ["samples.csv"] if document.shown.notes else []
    tables += [] if missing else [("samples.csv", every, document.samples)]
    found = [_pack("facts.json", "every fact of every platform", "application/json", facts)]
    room = _EMBEDDED_BYTES
    for name, about, frame in tables:
        file = _csv(name, about, frame) if frame.height <= _EMBEDDED_ROWS else None
        if file is None or file.size_bytes > room:
            missing.append(name)
        else:
            room -= file.size_bytes
            found.append(file)
    return RawData((*found[1:], found[0]), tuple(missing))


def _csv(name: str, about: str, frame: pl.DataFrame) -> Download:
    lists = [column for column, kind in frame.schema.items() if isinstance(kind, pl.List)]
    nested = [column for column, kind in frame.schema.items() if isinstance(kind, pl.Struct)]
    flat = frame.drop(nested).with_columns(
        # Single precision has seven digits, and is written with no more of them.
        pl.col(pl.Float64).cast(pl.Float32),
        *(pl.col(column).cast(pl.List(pl.String)).list.join("; ") for column in lists),
    )
    return _pack(name, about, "text/csv", flat.write_csv().encode())


def figure_csv(figure: Figure) -> Download | None:
    """Embed the numbers of one figure: in base units, or as its table shows them."""
    text = io.StringIO()
    if figure.data:
        rows = csv.DictWriter(text, list(figure.data[0]), lineterminator="\n")
        rows.writeheader()
        for row in figure.data:
            rows.writerow({name: _rounded(value) for name, value in row.items()})
    elif figure.data_table is not None:
        plain = csv.writer(text, lineterminator="\n")
        plain.writerow([column.title for column in figure.data_table.columns])
        for fields in [*figure.data_table.rows, figure.data_table.foot]:
            if fields:
                plain.writerow([field.plain.replace("\u202f", "") for field in fields])
    else:
        return None
    content = text.getvalue().encode()
    return _pack(f"{figure.id}.csv", f"numbers of: {figure.title}", "text/csv", content)


def _rounded(value: Scalar | None) -> Scalar | None:
    return float(f"{value:.{_DIGITS}g}") if isinstance(value, float) else value


def _pack(name: str, about: str, kind: str, content: bytes) -> Download:
    """Embed a file, packed unless it is small; the page's script unpacks it when it is saved."""
    if len(content) <= _PLAIN_BYTES:
        return make_download(name, about, kind, content)
    packed = gzip.compress(content, mtime=0)
    return make_download(f"{name}.gz", about, "application/gzip", packed)


def make_download(name: str, about: str, kind: str, content: bytes) -> Download:
    """Embed a file that the reader can save."""
    encoded = base64.b64encode(content).decode()
    return Download(name, about, f"data:{kind};base64,{encoded}", len(content))
