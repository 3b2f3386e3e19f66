"""The report as Markdown: for an issue, a wiki, or whatever shows no HTML page."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

from bareline.analysis.parts import Amount, Sentence
from bareline.report.content import gaps
from bareline.report.content.claims import claims_of
from bareline.report.content.document import Document
from bareline.report.content.wording import VERDICT_MARKS, sentence_case
from bareline.report.exhibits.choice import draw_figures
from bareline.report.figures.figure import Figure
from bareline.report.figures.predictions import SECTION
from bareline.report.page.sections import split_facts
from bareline.vocabulary.caveats import notes
from bareline.vocabulary.model import Layer
from bareline.vocabulary.texts import cleaned
from bareline.vocabulary.units import count

_SPECIAL = re.compile(r"([\\`*_\[\]|#])")


def render_markdown(document: Document, figures: Path | None = None) -> str:
    """Give the report's text: verdict, platforms, every table, gaps, method.

    Parameters
    ----------
    figures
        Folder of the figures' files, as the text is to name it; without it no picture is shown.
    """
    drawn, empty = draw_figures(document)
    parts = [*_head(document), *_verdict(document), *_claims(document), *_platforms(document)]
    whole = [figure for figure in drawn if not figure.layer]
    parts += _section("Overview", whole, figures)
    for layer in Layer:
        own = [figure for figure in drawn if figure.layer == layer]
        parts += _section(layer.words, own, figures)
    predicted = [figure for figure in drawn if figure.layer == SECTION]
    parts += _section("Predictions", predicted, figures)
    parts += [*_gaps(document, gaps.find(document, empty)), *_method(document)]
    return cleaned("\n\n".join(parts)) + "\n"


def escaped(text: object) -> str:
    """Write text so that Markdown shows it as it is, in one line."""
    plain = _SPECIAL.sub(r"\\\1", " ".join(str(text).split()))
    return plain.replace("&", "&amp;").replace("<", "&lt;")


def _head(document: Document) -> Iterator[str]:
    yield f"# {escaped(document.title)}"
    yield "  \n".join(
        escaped(text)
        for text in (document.study_title, document.subtitle, document.study_description)
        if text
    )


def _told(sentence: Sentence) -> str:
    parts = []
    for part in sentence.parts:
        if not part.text.strip():
            parts.append(part.text)
            continue
        text = escaped(part.text)
        # Spaces at the ends of a part belong to the sentence.
        before = part.text[: len(part.text) - len(part.text.lstrip())]
        after = part.text[len(part.text.rstrip()) :]
        text = f"**{text}**" if isinstance(part, Amount) else text
        parts.append(f"{before}{text}{after}")
    whole = "".join(parts)
    return whole[:1].upper() + whole[1:]


def _listed(statement: Sentence) -> str:
    """Set a sentence as an item; a long one has an item for each clause below it."""
    if statement.lead is None or not statement.is_long:
        return f"- {_told(statement)}"
    clauses = (f"  - {_told(clause)}" for clause in statement.clauses)
    return "\n".join([f"- {escaped(statement.lead.name)}", *clauses])


def _verdict(document: Document) -> Iterator[str]:
    glance = document.glance
    if not document.statements and glance is None:
        return
    yield "## Verdict"
    if glance is not None:
        yield _told(glance.headline)
        if glance.squares:
            yield _table(
                ["", *glance.platforms],
                [
                    [
                        layer.words,
                        *(
                            f"{VERDICT_MARKS[square.mark]} {square.words.text}"
                            if (square := glance.squares.get((layer, name)))
                            else "not measured"
                            for name in glance.platforms
                        ),
                    ]
                    for layer in glance.layers
                ],
            )
    if document.statements:
        yield "\n".join(_listed(statement) for statement in document.statements)
    if glance is not None and glance.promise:
        yield escaped(glance.promise)


def _claims(document: Document) -> Iterator[str]:
    claims = claims_of(document.comparison)
    if not claims.rows:
        return
    yield "## Printed and measured"
    heads = ["claim", "source", "printed", "measured here", "where", "same direction?"]
    yield _table(
        heads,
        [
            [
                row.claim,
                row.source,
                f"{row.printed} ({row.elsewhere})" if row.elsewhere else row.printed,
                row.measured,
                "; ".join(filter(None, [row.sides, row.where, row.why])),
                row.status.value,
            ]
            for row in claims.rows
        ],
    )


def _platforms(document: Document) -> Iterator[str]:
    yield "## Platforms"
    infos = {info.name: info for info in document.platforms}
    lines = []
    for name in document.names:
        about = ", ".join(filter(None, [infos[name].title, infos[name].type]))
        base = " (baseline)" if name == document.baseline else ""
        lines.append(f"- **{escaped(name)}**{base}{': ' + escaped(about) if about else ''}")
    yield "\n".join(lines)
    facts = split_facts(document)
    if facts["different"]:
        yield _table(
            ["what differs", *document.names],
            [[f"{group}: {label}", *values] for group, label, values in facts["different"]],
        )
    if facts["equal"]:
        yield f"{count(len(facts['equal']), 'characteristic')} the same on every platform."


def _section(title: str, own: Sequence[Figure], folder: Path | None) -> Iterator[str]:
    if not own:
        return
    yield f"## {title}"
    for figure in own:
        probe = f"{figure.probe}: " if figure.probe else ""
        yield f"### {escaped(probe + figure.title)}"
        if folder is not None and figure.panels:
            place = (folder / f"{figure.id}.svg").as_posix()
            yield f"![{escaped(figure.text_summary or figure.title)}](<{place}>)"
        sources = "; ".join(dict.fromkeys(name for _, name in figure.sources))
        if told := " ".join(filter(None, [figure.caption, sources and f"Published: {sources}."])):
            yield escaped(told)
        if figure.data_table is not None:
            yield from _numbers(figure)


def _numbers(figure: Figure) -> Iterator[str]:
    table = figure.data_table
    assert table is not None
    marks = {caveat: number for number, caveat in enumerate(table.caveats, 1)}
    rows = []
    for row in (*table.rows, *([table.foot] if table.foot else [])):
        rows.append(
            [
                " ".join([field.plain, *(f"({marks[caveat]})" for caveat in field.caveats)]).strip()
                for field in row
            ]
        )
    kinds = [column.kind != "text" for column in table.columns]
    yield _table([column.title for column in table.columns], rows, kinds)
    if marks:
        told = notes(marks)
        yield "\n".join(f"({mark}) {escaped(told[one])}  " for one, mark in marks.items())


def _gaps(document: Document, found: gaps.Gaps) -> Iterator[str]:
    yield "## Failed, missing, left out, caveats"
    if found.none:
        yield "Nothing failed, is missing or was left out, and no number carries a caveat."
    if found.failures:
        yield _table(
            ["platform", "case", "trials", "of", "stage", "reason"],
            [[f.platform, f.case, f.trials, f.of, f.stage, f.reason] for f in found.failures],
        )
    if found.holes:
        yield _table(
            ["platform", "case", "missing"], [[h.platform, h.case, h.values] for h in found.holes]
        )
    if found.unfit:
        yield _table(
            ["platform", "probe", "ranks", "cases", "left out"],
            [[u.platform, u.probe, u.ranks, u.cases, u.reason] for u in found.unfit],
        )
    if found.caveats:
        yield "\n".join(
            f"- {escaped(c.text)}: {count(c.values, 'value')} of {escaped(c.probes)} "
            f"on {escaped(c.platforms)}"
            + (f". {escaped(sentence_case(c.step))}." if c.step else "")
            for c in found.caveats
        )
    if found.empty:
        yield f"Exhibits without data: {escaped('; '.join(found.empty))}."
    if document.events:
        yield "\n".join(f"- {escaped(event)}" for event in document.events)


def _method(document: Document) -> Iterator[str]:
    yield "## Method"
    method = document.method
    margin = f"±{method.margin * 100:g} %"
    rows = {
        "trials": f"{method.trials}{f', {method.failed} failed' if method.failed else ''}",
        "blocks": method.blocks,
        "seed": method.seed,
        "margin": margin,
        **method.details,
        "configuration": method.config_hash,
        **method.versions,
    }
    yield _table(["", ""], [[name, value] for name, value in rows.items() if value != ""])
    yield sentence_case(
        "a value is the median over trials; one trial is one launch. A ratio above 1 is worse than "
        f"{escaped(document.baseline)}. Intervals are 95 %."
    )
    if document.folder:
        yield f"Run directory: {escaped(document.folder)}"


def _table(
    heads: Sequence[str], rows: Iterable[Sequence[object]], right: Sequence[bool] = ()
) -> str:
    rules = ["---:" if number < len(right) and right[number] else "---" for number in
             range(len(heads))]  # fmt: skip
    lines = [heads, *rows]
    told = [f"| {' | '.join(escaped(field) for field in line)} |" for line in lines]
    return "\n".join([told[0], f"| {' | '.join(rules)} |", *told[1:]])
