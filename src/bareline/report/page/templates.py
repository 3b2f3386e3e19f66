"""The templates, style and script of the pages, and the markup of sentences and terms.

A term of the glossary is a link at its first occurrence in a section. Such a link works with the
keyboard, on a telephone and in print; the page's script shows the explanation next to the word.
"""

from __future__ import annotations

import base64
import gzip
import hashlib
import re
from collections.abc import Iterator, Sequence
from functools import cache
from importlib import resources

import jinja2
from markupsafe import Markup, escape

from bareline import __version__
from bareline.analysis.words.parts import Amount, Interval, Lead, Part, PlatformName, Sentence
from bareline.report.blocks import Block, Section, Table
from bareline.report.content.glossary import explained, term_anchor, terms_of
from bareline.report.content.wording import layer_anchor, probe_anchor, sentence_case
from bareline.report.figures.drawing_available import drawing_obstacle
from bareline.report.figures.theme import css_variables
from bareline.vocabulary.units import count


def render(name: str, scripts: Sequence[str], **content: object) -> str:
    """Return the HTML of a template with style, scripts, and a content policy.

    The policy allows no other style or script.
    """
    light, dark = css_variables()
    style = read_asset("page.css").replace("/*light*/", light).replace("/*dark*/", dark)
    script = "".join(map(read_asset, scripts))
    return (
        template_environment()
        .get_template(name)
        .render(
            style=Markup(style),
            script=Markup(script),
            policy=content_policy(style, script),
            version=__version__,
            **content,
        )
    )


def content_policy(style: str, script: str) -> str:
    """Return the policy that allows only the page's own style and script, by their hashes."""

    def digest(text: str) -> str:
        sha256 = hashlib.sha256(text.encode()).digest()
        return f"'sha256-{base64.b64encode(sha256).decode()}'"

    return (
        f"default-src 'none'; style-src {digest(style)}; script-src {digest(script)}; "
        "img-src data:; base-uri 'none'; form-action 'none'"
    )


def read_asset(name: str) -> str:
    """Return a style sheet or script of the pages."""
    file = resources.files("bareline.report.page") / "templates" / name
    return file.read_text(encoding="utf-8")


@cache
def template_environment() -> jinja2.Environment:
    """Return the environment of the templates, with escaping on."""
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
        "kind": lambda block: type(block).__name__,
        "packed": _packed,
        "marked_code": _marked_code,
        "unbroken": unbroken,
    }
    environment.tests["chosen_by_strip"] = _chosen_by_strip
    environment.globals |= {
        "layer_anchor": layer_anchor,
        "probe_anchor": probe_anchor,
        "term_anchor": term_anchor,
        "drawing_obstacle": drawing_obstacle,
    }
    return environment


def _order_text(order: object) -> str:
    return f"{order:.5g}" if isinstance(order, float) else str(order)


def _chosen_by_strip(block: Block) -> bool:
    if isinstance(block, Table):
        return block.look == "strip"
    return isinstance(block, Section) and bool(block.probe)


def _marked_code(text: str) -> Markup:
    parts = text.split("`")
    if len(parts) % 2 == 0:
        return escape(text)
    marked: list[Markup] = []
    for place, part in enumerate(parts):
        is_code = place % 2 == 1
        marked.append(Markup("<code>{}</code>").format(part) if is_code else escape(part))
    return Markup("").join(marked)


def _packed(markup: str) -> str:
    return base64.b64encode(gzip.compress(markup.encode(), mtime=0)).decode()


def _size_text(size_bytes: int) -> str:
    return f"{size_bytes / 1e6:.1f} MB" if size_bytes >= 1e5 else f"{size_bytes / 1e3:.0f} kB"


#: A number and its unit, which a line never breaks; digits of names such as ``net-1g`` do not
#: match.
_UNIT = re.compile(
    r"(?<=[\d)]) (?=(?:%|times|[nmuµ]?s|[kKMGT]?i?B(?:/s)?|[KMG]b/s|UTC|ranks?|nodes?)(?![\w/]))"
)


def unbroken(text: str) -> str:
    """Return a text with hard spaces between numbers and units, and around arrows."""
    return _UNIT.sub("\u00a0", text).replace(" → ", "\u00a0→\u00a0")


#: Longest platform name that a line never breaks.
_UNBROKEN = 24


def sentence_markup(sentence: Sentence) -> Markup:
    """Return the HTML of a sentence: bold amounts, lighter intervals, unbroken names.

    A long sentence becomes a list of clauses.
    """
    if sentence.lead is None or not sentence.is_long:
        return _set(sentence)
    item = Markup("<li>{}</li>")
    clauses = Markup("").join(item.format(_set(clause)) for clause in sentence.clauses)
    whole = Markup('<span class="lead">{}</span><ul class="clauses">{}</ul>')
    return whole.format(sentence.lead.name, clauses)


def _set(sentence: Sentence) -> Markup:
    set_parts: list[Markup] = []
    begun = False
    for part in sentence.parts:
        text = part.text
        if not begun:
            text = text[:1].upper() + text[1:]
        set_parts.append(_set_part(part, unbroken(text)))
        begun = begun or (bool(part.text) and not isinstance(part, Lead))
    return Markup("").join(set_parts)


def _set_part(part: Part, text: str) -> Markup:
    """Return the HTML of a part of a sentence.

    `text` replaces the text of the part, except for the first words of a sentence (`Lead`) and for
    the name of a platform.
    """
    match part:
        case Lead():
            return Markup('<span class="lead">{}</span>').format(part.name)
        case Amount():
            return Markup("<b>{}</b>").format(text)
        case Interval():
            return Markup('<span class="light">{}</span>').format(text)
        case PlatformName() if len(part.text) <= _UNBROKEN:
            return Markup('<span class="name">{}</span>').format(part.text)
        case _:
            return Markup("{}").format(text)


#: Elements that are not running text: code, drawings, links, headings, and tables, whose heads have
#: explanations. An element of a kind is never inside another element of this kind.
_SKIPPED = r"<(a|button|code|h[1-6]|script|style|summary|svg|table)\b.*?</\1>"
_NAMES = r'<span class="name">.*?</span>'
_TOKENS = re.compile(f"{_SKIPPED}|{_NAMES}|<[^>]*>", re.DOTALL)


def link_terms(page: str) -> str:
    """Return the HTML of a page in which terms are linked to the glossary.

    In each section, only the first occurrence of a term is a link.

    - `page`: HTML from the page's template. Its texts and attributes must be escaped, so that ``<``
      and ``>`` occur only at the ends of tags.
    """
    begin = page.index("<main")
    end = page.index('<section id="glossary">')
    body = "".join(_linked(page[begin:end]))
    return page[:begin] + body + page[end:]


def _linked(body: str) -> Iterator[str]:
    linked: set[str] = set()
    linked_before: set[str] = set()
    position = 0
    for token in _TOKENS.finditer(body):
        yield _with_links(body[position : token.start()], linked)
        yield token[0]
        position = token.end()
        if token[0].startswith("<section"):
            linked = set()
        elif token[0].startswith("<details"):
            # An explanation that is folded away does not help a reader who continues after it.
            linked_before = linked
            linked = set(linked)
        elif token[0] == "</details>":
            linked = linked_before
    yield _with_links(body[position:], linked)


def _with_links(text: str, linked: set[str]) -> str:
    pieces: list[str] = []
    position = 0
    for start, end, term in terms_of(text):
        if term in linked:
            continue
        linked.add(term)
        word = text[start:end]
        pieces.append(text[position:start])
        pieces.append(f'<a class="term" href="#{term_anchor(term)}">{word}</a>')
        position = end
    pieces.append(text[position:])
    return "".join(pieces)
