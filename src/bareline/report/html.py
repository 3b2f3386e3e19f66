"""The page: one self-contained HTML file that opens offline, and the figures as files."""

from __future__ import annotations

import base64
import gzip
import hashlib
import json
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib import resources
from pathlib import Path
from string import ascii_lowercase

import jinja2
import polars as pl
from markupsafe import Markup, escape

from bareline import __version__
from bareline.errors import StoreError
from bareline.model import Layer, caveat_text
from bareline.report import gaps
from bareline.report.document import (
    LAYER_TITLES,
    Document,
    Statement,
    layer_anchor,
    probe_anchor,
    sentence_case,
)
from bareline.report.exhibits.base import DataTable, Figure
from bareline.report.figures import draw_figures
from bareline.report.profile.trials import profiles_table
from bareline.report.svg import draw, for_file, for_page, to_png
from bareline.report.theme import css_variables, looks
from bareline.report.wording import AMOUNT, count

#: Rows of a table up to which it stands open under its figure.
_OPEN_ROWS = 14
#: Samples up to which they are embedded as plain CSV, and at all (compressed).
_PLAIN_ROWS = 2_000
_EMBEDDED_ROWS = 120_000


@dataclass(frozen=True, slots=True)
class Download:
    """A file that the page carries in itself."""

    name: str
    about: str
    href: str
    size_bytes: int


@dataclass(frozen=True, slots=True)
class DrawnFigure:
    """A figure with its panels drawn for the page."""

    figure: Figure
    panels: tuple[Markup, ...]
    narrow: tuple[Markup, ...]
    table: TableView | None

    @property
    def open(self) -> bool:
        """Whether the table stands open: it is the exhibit, or it is short."""
        table = self.figure.data_table
        return not self.panels or (table is not None and len(table.rows) <= _OPEN_ROWS)

    @property
    def beside(self) -> bool:
        """Whether the table stands beside the drawing instead of under it."""
        return self.open and self.figure.wide and len(self.panels) == 1 and not self.narrow


@dataclass(frozen=True, slots=True)
class TableView:
    """A table and the letters of its footnotes."""

    table: DataTable
    letters: Mapping[str, str]

    @property
    def notes(self) -> list[tuple[str, str]]:
        """The footnotes: letter and text."""
        return [(letter, caveat_text(code)) for code, letter in self.letters.items()]

    def marks(self, codes: Iterable[str]) -> str:
        """Give the letters of some caveats, e.g. ``a,c``."""
        return ",".join(sorted(self.letters[code] for code in codes if code in self.letters))


@dataclass(frozen=True, slots=True)
class Section:
    """The figures of one layer: over all its probes, then by probe.

    `silent` probes gave no number anywhere.
    """

    layer: str
    title: str
    whole: Sequence[DrawnFigure]
    probes: Mapping[str, Sequence[DrawnFigure]]
    silent: Sequence[str] = ()


def write_page(document: Document, path: Path) -> Path:
    """Write the page.

    Raises
    ------
    AnalysisError
        The study asks for a kind of exhibit that does not exist.
    StoreError
        The file cannot be written.
    """
    text = render_page(document)
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    except OSError as error:
        raise _unwritable(path, error) from error
    return path


def write_figures(document: Document, folder: Path) -> list[Path]:
    """Write every figure as SVG and as PNG, from the page's own specifications.

    Raises
    ------
    AnalysisError
        The study asks for a kind of exhibit that does not exist.
    StoreError
        A file cannot be written.
    """
    written = []
    try:
        folder.mkdir(parents=True, exist_ok=True)
        for figure in draw_figures(document)[0]:
            if figure.chart is None:
                continue
            drawing = for_file(draw(figure.chart), figure.caveats)
            for suffix, content in (("svg", drawing.encode()), ("png", to_png(drawing))):
                file = folder / f"{figure.id}.{suffix}"
                file.write_bytes(content)
                written.append(file)
    except OSError as error:
        raise _unwritable(folder, error) from error
    return written


def _unwritable(path: Path, error: OSError) -> StoreError:
    return StoreError(
        f"cannot be written: {error.strerror}", where=str(path), hint="choose another --out"
    )


def render_page(document: Document) -> str:
    """Give the page's HTML."""
    figures, empty = draw_figures(document)
    drawn = [draw_figure(figure) for figure in figures]
    light, dark = css_variables()
    style = read_asset("page.css").replace("/*light*/", light).replace("/*dark*/", dark)
    script = read_asset("page.js")
    anchors = {figure.id for figure in figures}
    sections = _sections(document, drawn)
    anchors |= {layer_anchor(section.layer) for section in sections}
    anchors |= {probe_anchor(probe) for section in sections for probe in section.probes}
    template = template_environment().get_template("page.html.j2")
    return template.render(
        document=document,
        looks=looks(document.names),
        infos={info.name: info for info in document.platforms},
        statements=[(statement, _anchor(statement, anchors)) for statement in document.statements],
        whole=[figure for figure in drawn if not figure.figure.layer],
        sections=sections,
        facts=_facts(document),
        profiles=draw_figure(profiles_table(document.profiles)) if document.profiles else None,
        gaps=gaps.find(document, empty),
        downloads=_downloads(document),
        style=Markup(style),
        script=Markup(script),
        policy=content_policy(style, script),
        version=__version__,
    )


def content_policy(style: str, script: str) -> str:
    """Allow nothing but the page's own style and script, by their hashes."""

    def digest(text: str) -> str:
        return f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}'"

    return (
        f"default-src 'none'; style-src {digest(style)}; script-src {digest(script)}; "
        "img-src data:; base-uri 'none'; form-action 'none'"
    )


def read_asset(name: str) -> str:
    """Give a style sheet or script of the pages."""
    file = resources.files("bareline.report") / "templates" / name
    return file.read_text(encoding="utf-8")


@cache
def template_environment() -> jinja2.Environment:
    """Give the templates, with escaping on."""
    environment = jinja2.Environment(
        loader=jinja2.PackageLoader("bareline.report"),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters |= {
        "sentence": _sentence,
        "capital": sentence_case,
        "count": count,
        "size": _size_text,
        "order": _order_text,
    }
    environment.globals |= {"layer_anchor": layer_anchor, "probe_anchor": probe_anchor}
    return environment


def _order_text(order: float | str) -> str:
    return order if isinstance(order, str) else f"{order:.7g}"


def _size_text(size_bytes: int) -> str:
    return f"{size_bytes / 1e6:.1f} MB" if size_bytes >= 1e5 else f"{size_bytes / 1e3:.0f} kB"


#: Longest platform name that a line never breaks.
_UNBROKEN = 24
_LEAD = re.compile(r"([A-Z][A-Za-z ]{1,30}): ")


def _sentence(text: str, names: Sequence[str]) -> Markup:
    """Set a statement: amounts in bold, intervals lighter, platform names unbroken."""
    short = sorted((name for name in names if len(name) <= _UNBROKEN), key=len, reverse=True)
    known = "|".join(map(re.escape, short)) or r"(?!)"
    pattern = re.compile(
        rf"(?P<b>{AMOUNT})|(?P<light>\[[^\[\]]*\])|(?<![\w-])(?P<name>{known})(?![\w-])"
    )
    lead = _LEAD.match(text)
    parts = [Markup('<span class="lead">{}</span>').format(lead[1])] if lead else []
    position = lead.end() if lead else 0
    text = text[:position] + text[position : position + 1].upper() + text[position + 1 :]
    for match in pattern.finditer(text, position):
        parts.append(escape(text[position : match.start()]))
        markup = "<b>{}</b>" if match["b"] else f'<span class="{match.lastgroup}">{{}}</span>'
        parts.append(Markup(markup).format(match[0]))
        position = match.end()
    parts.append(escape(text[position:]))
    return Markup("").join(parts)


def _anchor(statement: Statement, known: set[str]) -> str:
    for anchor in (statement.anchor, layer_anchor(statement.layer)):
        if anchor in known:
            return anchor
    return "overview"


def draw_figure(figure: Figure) -> DrawnFigure:
    """Draw a figure's panels and lay out its data table."""

    def panels(charts: Sequence[object], prefix: str) -> tuple[Markup, ...]:
        return tuple(
            Markup(
                for_page(
                    draw(chart),  # type: ignore[arg-type]
                    label=f"{figure.title}. {figure.text_summary}",
                    prefix=f"{prefix}{index}",
                )
            )
            for index, chart in enumerate(charts)
        )

    table = figure.data_table
    return DrawnFigure(
        figure,
        panels(figure.panels, f"{figure.id}-"),
        panels(figure.narrow, f"{figure.id}-narrow-"),
        _view(table) if table is not None else None,
    )


def _view(table: DataTable) -> TableView:
    codes = dict.fromkeys(
        code for row in (*table.rows, table.foot) for field in row for code in field.caveats
    )
    letters = [*ascii_lowercase, *(a + b for a in ascii_lowercase for b in ascii_lowercase)]
    return TableView(table, dict(zip(codes, letters, strict=False)))


def _sections(document: Document, drawn: Sequence[DrawnFigure]) -> list[Section]:
    """Group figures by layer and, if they are of one, probe."""
    sections = []
    for layer in Layer:
        own = [figure for figure in drawn if figure.figure.layer == layer]
        probes: dict[str, list[DrawnFigure]] = {}
        whole = [figure for figure in own if not figure.figure.probe]
        for figure in own:
            if figure.figure.probe:
                probes.setdefault(figure.figure.probe, []).append(figure)
        there = {cell.probe: False for cell in document.cells if cell.layer == layer}
        there |= {
            cell.probe: True
            for cell in document.cells
            if cell.layer == layer and cell.value is not None
        }
        silent = [probe for probe, measured in there.items() if not measured]
        if whole or probes or silent:
            sections.append(Section(layer.value, LAYER_TITLES[layer], whole, probes, silent))
    return sections


def _facts(document: Document) -> dict[str, list[tuple[str, str, Sequence[str]]]]:
    """Split the characteristics into different and equal ones, in the page's platform order."""
    given = [info.name for info in document.platforms]
    order = [given.index(name) for name in document.names]
    split: dict[str, list[tuple[str, str, Sequence[str]]]] = {"different": [], "equal": []}
    for fact in document.fact_rows:
        values = [fact.values[index] for index in order]
        split["equal" if fact.equal else "different"].append((fact.group, fact.label, values))
    return split


def _downloads(document: Document) -> list[Download]:
    """Embed the numbers: everything summarized, and the samples while the page stays small."""
    rows = document.samples.height
    compared = document.comparison
    found = [] if compared is None else [_csv("comparison.csv", "every comparison", compared)]
    found += [
        _csv("summary.csv", "medians, intervals and spread of every value", document.summary),
        _csv("trials.csv", "every trial, failed ones with their reason", document.records),
    ]
    if rows <= _EMBEDDED_ROWS:
        found.append(_csv("samples.csv", f"all {count(rows, 'sample')}", document.samples))
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


def make_download(name: str, about: str, kind: str, content: bytes) -> Download:
    """Embed a file that the reader can save."""
    encoded = base64.b64encode(content).decode()
    return Download(name, about, f"data:{kind};base64,{encoded}", len(content))
