"""The sections of a report in their order, as blocks: the content of the page and of Markdown."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from bareline.analysis.words.verdict import layer_line
from bareline.published.catalogue import conditions
from bareline.report.blocks import Block, Field, Figure, Folded, Prose, Rows, Section, Table
from bareline.report.content.document import Document, glosses
from bareline.report.content.facts import FactLine, facts_table
from bareline.report.content.gaps import gaps
from bareline.report.content.grid import by_loss
from bareline.report.content.method import method
from bareline.report.content.platform_use import use_section
from bareline.report.content.profiles import profiles_table
from bareline.report.content.published import PublishedPoint
from bareline.report.content.strips import strip
from bareline.report.content.wording import layer_anchor, probe_anchor, sentence_case
from bareline.report.figures.predictions import SECTION
from bareline.vocabulary.exhibit import ExhibitSpec
from bareline.vocabulary.model import Layer
from bareline.vocabulary.units import count

#: A fact that a reader must know of this layer's figures before the first of them.
_NPB_NOTE = (
    "Rates are nominal: NPB's operation count of the problem class over the time, as in NPB. "
    "bareline's programs execute fewer of the counted operations where the mathematics permits (LU "
    "0.39, FT 0.74, BT 0.76 of them), so that their rates are not flop/s, and being faster than "
    "NPB's own programs they spend a larger share of the time in communication. One rank of IS "
    "sends nothing, where NPB sends all keys to itself; CG's matrix is brought into its own layout "
    "before the time begins."
)


def sections(
    document: Document, figures: Sequence[Figure], empty: Sequence[ExhibitSpec]
) -> list[Section]:
    """Return the sections that have something to show."""
    whole = tuple(figure for figure in figures if not figure.layer)
    predicted = tuple(figure for figure in figures if figure.layer == SECTION)
    about = Prose((
        "Each application was predicted from the ladder and its profile on every other platform, "
        "then compared with the measurements.",
    ))  # fmt: skip
    profiles = (profiles_table(document.profiles),) if document.profiles else ()
    return [
        *([Section("Overview", whole, "all")] if whole else []),
        Section("Platforms", tuple(_platforms(document)), "platforms"),
        *_layers(document, figures),
        *([Section("Profiles", profiles, "profiles-section")] if profiles else []),
        *([Section("Predictions", (about, *predicted), "predictions")] if predicted else []),
        Section("Failed, missing, left out, caveats", tuple(gaps(document, empty)), "gaps"),
        *_published(document),
        Section("Method and data", tuple(method(document)), "method"),
    ]


def _platforms(document: Document) -> Iterator[Block]:
    infos = {info.name: info for info in document.platforms}
    about = glosses(document)
    yield (
        Rows(document.names)
        .platform(lambda name: name)
        .text("what it is", lambda name: about[name])
        .text("type", lambda name: infos[name].type)
        .text("", lambda name: "baseline" if name == document.baseline else "")
        .table(look="plain", label="Platforms")
    )
    # The name of a platform that is named after its role is description enough.
    taken = {name: role for name, role in document.roles.items() if role.platform != name}
    if taken:
        roles = (
            Rows(taken.items())
            .text("role", lambda item: item[0])
            .text("what it is", lambda item: item[1].title)
            .text("platform", lambda item: item[1].platform or "not measured here")
        )
        yield Section("Roles", (roles.table(look="plain", label="Roles"),))
    yield from use_section(document)
    facts, order = document.fact_rows, [info.name for info in document.platforms]
    places = [order.index(name) for name in document.names]

    def table(own: Sequence[FactLine], label: str) -> tuple[Table]:
        return (facts_table(own, document.names, places, label=label),)

    if different := [fact for fact in facts if not (fact.equal or fact.detail)]:
        shown = table(different, "What differs between the platforms")
        yield Section("What differs", shown)
    if details := [fact for fact in facts if fact.detail and not fact.equal]:
        verb = "differs" if len(details) == 1 else "differ"
        shown = table(details, "Details that differ between the platforms")
        yield Folded(f"{count(len(details), 'detail')} that {verb}", shown)
    if equal := [fact for fact in facts if fact.equal]:
        shown = table(equal, "What is the same on every platform")
        noun = count(len(equal), "characteristic")
        yield Folded(f"{noun} the same on every platform", shown)


def _layers(document: Document, figures: Sequence[Figure]) -> Iterator[Section]:
    order = by_loss(document.findings, document.names[1:])
    for layer in Layer:
        own = [figure for figure in figures if figure.layer == layer]
        there: dict[str, bool] = {}
        for cell in document.cells:
            if cell.layer == layer:
                known = there.get(cell.place.probe, False)
                there[cell.place.probe] = known or cell.value is not None
        drawn = list(dict.fromkeys(figure.probe for figure in own if figure.probe))
        if not own and all(there.values()):
            continue
        blocks: list[Block] = [*_words(document, layer)]
        blocks += [figure for figure in own if not figure.probe]
        menu = strip(document.findings, layer, order)
        blocks += [menu] if menu else []
        worst = _worst(document, layer, drawn)
        for probe in drawn:
            shown = tuple(figure for figure in own if figure.probe == probe)
            blocks.append(_probe(document, probe, shown, first=probe == worst))
        silent = Prose(("No platform gave a number; what failed says why.",))
        blocks += [_probe(document, one, (silent,)) for one, known in there.items() if not known]
        yield Section(layer.words, tuple(blocks), layer_anchor(layer.value))


def _words(document: Document, layer: Layer) -> Iterator[Block]:
    glance = document.glance
    line = layer_line(document.findings, glance.squares, layer) if glance else None
    if line and line.parts:
        yield Prose((line,))
    own = [sentence for sentence in document.statements if sentence.about is layer]
    if own:
        clauses = count(sum(len(sentence.clauses) for sentence in own), "clause")
        yield Folded(f"In words, with causes and caveats: {clauses}", (Prose(tuple(own), "list"),))
    if layer is Layer.NPB:
        yield Prose((_NPB_NOTE,))


def _probe(
    document: Document, probe: str, blocks: tuple[Block, ...], *, first: bool = False
) -> Section:
    title = sentence_case(document.probe_titles.get(probe, probe))
    return Section(title, blocks, probe_anchor(probe), probe, first=first)


def _worst(document: Document, layer: Layer, drawn: Iterable[str]) -> str:
    """Name the probe that loses most of those that are drawn; else the first."""
    lost = {
        finding.probe: finding.weight
        for finding in sorted(document.findings, key=lambda finding: finding.weight)
        if finding.layer is layer and finding.grade.is_claim
    }
    return max(drawn, key=lambda probe: lost.get(probe, -1.0), default="")


def sources(document: Document) -> dict[str, PublishedPoint]:
    """Return each published figure once, by its place in the page's list."""
    return {point.anchor: point for point in document.published}


def _published(document: Document) -> Iterator[Section]:
    points = [*enumerate(sources(document).values(), 1)]
    if not points:
        return
    rows = Rows(points).column("no.", lambda it: Field(str(it[0]), anchor=it[1].anchor))
    rows.text(
        "benchmark", lambda it: f"{it[1].ratio.benchmark}, {it[1].ratio.metric}".replace("_", " ")
    )
    rows.text("at", lambda it: conditions(it[1].ratio.conditions))
    rows.text("platforms", lambda it: f"{it[1].ratio.platform} against {it[1].ratio.baseline}")
    rows.text("times worse", lambda it: it[1].factor)
    rows.column(
        "printed",
        lambda it: Field(it[1].ratio.text, wrap=True, note=" ".join(it[1].ratio.doubts)),
        "text",
    )
    where = "{0.source}: {0.ratio.where}".format
    rows.text("where", lambda it: where(it[1]) if it[1].ratio.where else it[1].source, wrap=True)
    table = rows.table(look="plain", label="Published figures")
    about = Prose((
        "The comparison is of ratios between two of the publication's own platforms. Absolute "
        "published figures belong to the hardware of their time; the table below has them.",
    ))  # fmt: skip
    folded = Folded(f"{count(len(points), 'published ratio')} with their sources", (table,))
    yield Section("Published figures", (about, folded), "published")
