"""The sections of a report in order, as blocks: the content of the page and of Markdown."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence

from bareline.analysis.words.verdict import layer_line
from bareline.published.catalogue import conditions
from bareline.report.blocks import Block, Field, Figure, Folded, Prose, Rows, Section, Table
from bareline.report.content.document import Document, glosses
from bareline.report.content.facts import FactLine, facts_table
from bareline.report.content.grid import by_loss
from bareline.report.content.method import method
from bareline.report.content.missing import missing_blocks
from bareline.report.content.platform_use import use_section
from bareline.report.content.profiles import profiles_table
from bareline.report.content.published import PublishedPoint
from bareline.report.content.strips import strip
from bareline.report.content.wording import layer_anchor, probe_anchor, sentence_case
from bareline.report.figures.predictions import SECTION
from bareline.store.header import RoleKeys
from bareline.vocabulary.exhibit import ExhibitSpec
from bareline.vocabulary.model import Layer
from bareline.vocabulary.units import count

#: A fact that a reader must know before the first figure of the NPB layer.
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
    """Return the sections that are not empty."""
    parts: list[Section] = []
    whole = tuple(figure for figure in figures if not figure.layer)
    if whole:
        parts.append(Section("Overview", whole, "all"))
    parts.append(Section("Platforms", tuple(_platforms(document)), "platforms"))
    parts += _layers(document, figures)
    if document.profiles:
        table = profiles_table(document.profiles)
        parts.append(Section("Profiles", (table,), "profiles-section"))
    predicted = tuple(figure for figure in figures if figure.layer == SECTION)
    if predicted:
        about = Prose((
            "Each application was predicted from the ladder and its profile on every other "
            "platform, then compared with the measurements.",
        ))  # fmt: skip
        parts.append(Section("Predictions", (about, *predicted), "predictions"))
    incomplete = tuple(missing_blocks(document, empty))
    parts.append(Section("Failed, missing, left out, caveats", incomplete, "gaps"))
    parts += _published(document)
    parts.append(Section("Method and data", tuple(method(document)), "method"))
    return parts


def _platforms(document: Document) -> Iterator[Block]:
    """Yield the platforms with their roles, their use and their characteristics."""
    yield _platform_table(document)
    # The name of a platform that is named after its role is description enough.
    taken = {name: role for name, role in document.roles.items() if role.platform != name}
    if taken:
        yield Section("Roles", (_role_table(taken),))
    yield from use_section(document)
    yield from _characteristics(document)


def _platform_table(document: Document) -> Table:
    infos = {info.name: info for info in document.platforms}
    about = glosses(document)

    def role(name: str) -> str:
        return "baseline" if name == document.baseline else ""

    rows = Rows(document.names).platform(lambda name: name)
    rows.text("what it is", lambda name: about[name])
    rows.text("type", lambda name: infos[name].type)
    rows.text("", role)
    return rows.table(look="plain", label="Platforms")


def _role_table(roles: Mapping[str, RoleKeys]) -> Table:
    rows = Rows(roles.items()).text("role", lambda item: item[0])
    rows.text("what it is", lambda item: item[1].title)
    rows.text("platform", lambda item: item[1].platform or "not measured here")
    return rows.table(look="plain", label="Roles")


def _characteristics(document: Document) -> Iterator[Block]:
    """Yield the characteristics that differ; details and equal characteristics are folded."""
    different: list[FactLine] = []
    details: list[FactLine] = []
    equal: list[FactLine] = []
    for fact in document.fact_rows:
        if fact.equal:
            equal.append(fact)
        elif fact.detail:
            details.append(fact)
        else:
            different.append(fact)
    if different:
        table = _facts_table(document, different, "What differs between the platforms")
        yield Section("What differs", (table,))
    if details:
        verb = "differs" if len(details) == 1 else "differ"
        title = f"{count(len(details), 'detail')} that {verb}"
        table = _facts_table(document, details, "Details that differ between the platforms")
        yield Folded(title, (table,))
    if equal:
        title = f"{count(len(equal), 'characteristic')} the same on every platform"
        label = "Characteristics that are the same on every platform"
        yield Folded(title, (_facts_table(document, equal, label),))


def _facts_table(document: Document, facts: Sequence[FactLine], label: str) -> Table:
    """Return the table of facts, with the platforms in the document's order."""
    order = [info.name for info in document.platforms]
    places = [order.index(name) for name in document.names]
    return facts_table(facts, document.names, places, label=label)


def _layers(document: Document, figures: Sequence[Figure]) -> Iterator[Section]:
    """Yield a section for each layer that has a figure, or a probe without values."""
    order = by_loss(document.findings, document.names[1:])
    for layer in Layer:
        layer_figures = [figure for figure in figures if figure.layer == layer]
        silent_probes = _probes_without_values(document, layer)
        if layer_figures or silent_probes:
            blocks = _layer_blocks(document, layer, layer_figures, order)
            blocks += [_silent_probe(document, probe) for probe in silent_probes]
            yield Section(layer.words, tuple(blocks), layer_anchor(layer.value))


def _probes_without_values(document: Document, layer: Layer) -> list[str]:
    """Return the probes of a layer that have cells, but no value on any platform."""
    measured: set[str] = set()
    probes: dict[str, None] = {}
    for cell in document.cells:
        if cell.layer != layer:
            continue
        probe = cell.place.probe
        probes[probe] = None
        if cell.value is not None:
            measured.add(probe)
    return [probe for probe in probes if probe not in measured]


def _layer_blocks(
    document: Document, layer: Layer, figures: Sequence[Figure], order: Sequence[str]
) -> list[Block]:
    """Return the blocks of a layer.

    These are its sentences, the figures on several probes, a menu of probes (the heat strip), and
    the figures of each probe.
    """
    blocks: list[Block] = [*_words(document, layer)]
    blocks += [figure for figure in figures if not figure.probe]
    menu = strip(document.findings, layer, order)
    if menu:
        blocks.append(menu)
    by_probe: dict[str, list[Block]] = {}
    for figure in figures:
        if figure.probe:
            by_probe.setdefault(figure.probe, []).append(figure)
    worst = _worst(document, layer, by_probe)
    for probe, probe_figures in by_probe.items():
        blocks.append(_probe(document, probe, tuple(probe_figures), first=probe == worst))
    return blocks


def _silent_probe(document: Document, probe: str) -> Section:
    silent = Prose(("No platform gave a number; the failed trials give the reasons.",))
    return _probe(document, probe, (silent,))


def _words(document: Document, layer: Layer) -> Iterator[Block]:
    """Yield the verdict on a layer, all sentences about the layer, and its note."""
    if document.glance:
        line = layer_line(document.findings, document.glance.squares, layer)
        if line.parts:
            yield Prose((line,))
    sentences = [sentence for sentence in document.statements if sentence.about is layer]
    if sentences:
        number = sum(len(sentence.clauses) for sentence in sentences)
        title = f"In words, with causes and caveats: {count(number, 'clause')}"
        yield Folded(title, (Prose(tuple(sentences), "list"),))
    if layer is Layer.NPB:
        yield Prose((_NPB_NOTE,))


def _probe(
    document: Document, probe: str, blocks: tuple[Block, ...], *, first: bool = False
) -> Section:
    title = sentence_case(document.probe_titles.get(probe, probe))
    return Section(title, blocks, probe_anchor(probe), probe, first=first)


def _worst(document: Document, layer: Layer, drawn: Iterable[str]) -> str:
    """Return the probe in `drawn` with the largest difference, or the first if none differs."""
    lost: dict[str, float] = {}
    for finding in document.findings:
        if finding.layer is layer and finding.grade.is_claim:
            before = lost.get(finding.probe, finding.weight)
            lost[finding.probe] = max(before, finding.weight)
    return max(drawn, key=lambda probe: lost.get(probe, -1.0), default="")


def sources(document: Document) -> dict[str, PublishedPoint]:
    """Return the published ratios by their anchors in the page's list, without duplicates."""
    return {point.anchor: point for point in document.published}


def _published(document: Document) -> Iterator[Section]:
    points = list(sources(document).values())
    if not points:
        return
    about = Prose((
        "The comparison is of ratios between two of the publication's own platforms. Absolute "
        "published figures belong to the hardware of their time; the table below has them.",
    ))  # fmt: skip
    title = f"{count(len(points), 'published ratio')} with their sources"
    folded = Folded(title, (_published_table(points),))
    yield Section("Published figures", (about, folded), "published")


def _published_table(points: Sequence[PublishedPoint]) -> Table:
    """Return the table of published ratios, which is the page's numbered list of them."""
    numbers = [Field(str(number), anchor=point.anchor) for number, point in enumerate(points, 1)]
    rows = Rows(points).fields("no.", numbers)
    rows.text("benchmark", _benchmark)
    rows.text("at", lambda point: conditions(point.ratio.conditions))
    rows.text("platforms", lambda point: f"{point.ratio.platform} against {point.ratio.baseline}")
    rows.text("times worse", lambda point: point.factor)
    rows.column("printed", _printed, "text")
    rows.text("where", _where, wrap=True)
    return rows.table(look="plain", label="Published figures")


def _benchmark(point: PublishedPoint) -> str:
    return f"{point.ratio.benchmark}, {point.ratio.metric}".replace("_", " ")


def _printed(point: PublishedPoint) -> Field:
    return Field(point.ratio.text, wrap=True, note=" ".join(point.ratio.doubts))


def _where(point: PublishedPoint) -> str:
    return f"{point.source}: {point.ratio.where}" if point.ratio.where else point.source
