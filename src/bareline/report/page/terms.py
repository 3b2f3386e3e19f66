"""Terms of the glossary in the running text of the page: links to where they are explained.

A link needs no script, no mouse and no colour: it is reached by keyboard, tapped on a telephone
and kept in print; the page's script shows the explanation beside the word. Each term is a link
where it first stands in a section, so that a page of many figures stays readable.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from bareline.report.content.glossary import term_anchor, terms_of

#: What is no running text, in whole: code, drawings, tables (their heads explain themselves), what
#: is a link already, headings and names. None of these stands in another of its own kind.
_SKIPPED = r"<(a|button|code|h[1-6]|script|style|summary|svg|table)\b.*?</\1>"
_NAMES = r'<span class="name">.*?</span>'
_TOKENS = re.compile(f"{_SKIPPED}|{_NAMES}|<[^>]*>", re.DOTALL)


def link_terms(page: str) -> str:
    """Link the first of each term in a section's text to the glossary.

    - `page`: HTML as the page's template gives it: texts and attributes are escaped, so that ``<``
      and ``>`` stand at the ends of tags alone.
    """
    begin, end = page.index("<main"), page.index('<section id="glossary">')
    return page[:begin] + "".join(_linked(page[begin:end])) + page[end:]


def _linked(body: str) -> Iterator[str]:
    told: set[str] = set()
    before: set[str] = set()
    at = 0
    for token in _TOKENS.finditer(body):
        yield _with_links(body[at : token.start()], told)
        yield token[0]
        at = token.end()
        if token[0].startswith("<section"):
            told = set()
        elif token[0].startswith("<details"):
            # What is folded away explains nothing to who reads on after it.
            before, told = told, set(told)
        elif token[0] == "</details>":
            told = before
    yield _with_links(body[at:], told)


def _with_links(text: str, told: set[str]) -> str:
    """Link terms of a text that are not yet told, and note them."""
    pieces = []
    at = 0
    for start, end, term in terms_of(text):
        if term in told:
            continue
        told.add(term)
        word = text[start:end]
        pieces += [text[at:start], f'<a class="term" href="#{term_anchor(term)}">{word}</a>']
        at = end
    return "".join([*pieces, text[at:]])
