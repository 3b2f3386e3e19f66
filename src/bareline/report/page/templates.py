"""Templates, style and script of the pages, and what may run in them."""

from __future__ import annotations

import base64
import gzip
import hashlib
from functools import cache
from importlib import resources

import jinja2
from markupsafe import Markup, escape

from bareline.report.blocks.figure import Figure
from bareline.report.blocks.prose import Block, Folded, Note, Prose, Section
from bareline.report.blocks.table import Table
from bareline.report.content.anchors import layer_anchor, probe_anchor
from bareline.report.content.glossary import explained, term_anchor
from bareline.report.content.wording import sentence_case
from bareline.report.figures.obstacles import why_undrawn
from bareline.report.page.sentences import sentence_markup
from bareline.vocabulary.units import count


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
    file = resources.files("bareline.report.page") / "templates" / name
    return file.read_text(encoding="utf-8")


@cache
def template_environment() -> jinja2.Environment:
    """Give the templates, with escaping on."""
    environment = jinja2.Environment(
        loader=jinja2.PackageLoader("bareline.report.page"),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters |= {
        "sentence": sentence_markup,
        "capital": sentence_case,
        "count": count,
        "size": _size_text,
        "order": _order_text,
        "explained": explained,
        "packed": _packed,
        "marked_code": _marked_code,
    }
    environment.tests |= {
        "table_block": lambda one: isinstance(one, Table),
        "figure_block": lambda one: isinstance(one, Figure),
        "prose": lambda one: isinstance(one, Prose),
        "note": lambda one: isinstance(one, Note),
        "folded": lambda one: isinstance(one, Folded),
        "chosen_by_strip": _chosen_by_strip,
    }
    environment.globals |= {
        "layer_anchor": layer_anchor,
        "probe_anchor": probe_anchor,
        "term_anchor": term_anchor,
        "why_undrawn": why_undrawn,
    }
    return environment


def _chosen_by_strip(block: Block) -> bool:
    """Tell a layer's strip and the probes that it chooses from."""
    return (isinstance(block, Table) and block.look == "strip") or (
        isinstance(block, Section) and bool(block.probe)
    )


def _marked_code(text: str) -> Markup:
    """Set what stands between backticks as code."""
    parts = text.split("`")
    if len(parts) % 2 == 0:
        return escape(text)
    marked = (Markup("<code>{}</code>").format(part) if i % 2 else escape(part)
            for i, part in enumerate(parts))  # fmt: skip
    return Markup("").join(marked)


def _packed(markup: str) -> str:
    """Pack a piece of the page, for its script to unpack."""
    return base64.b64encode(gzip.compress(markup.encode(), mtime=0)).decode()


def _order_text(order: float | str) -> str:
    return f"{order:.5g}" if isinstance(order, float) else str(order)


def _size_text(size_bytes: int) -> str:
    return f"{size_bytes / 1e6:.1f} MB" if size_bytes >= 1e5 else f"{size_bytes / 1e3:.0f} kB"
