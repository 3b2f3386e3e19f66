"""The sections of a report in their order, as blocks: what the page and Markdown show alike."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from bareline.analysis.words.verdict import layer_line
from bareline.published.catalogue import conditions
from bareline.report.blocks.figure import Figure
from bareline.report.blocks.prose import Block, Folded, Note, Prose, Section
from bareline.report.blocks.table import Column, Field, Rows, Table
from bareline.report.content import gaps
from bareline.report.content.document import LAYER_NOTES, Document, RunInfo, glosses
from bareline.report.content.gaps import Gaps
from bareline.report.content.grid import by_loss, strip
from bareline.report.content.profiles import profiles_table
from bareline.report.content.published import PublishedPoint
from bareline.report.content.wording import layer_anchor, probe_anchor, sentence_case
from bareline.report.figures.predictions import SECTION
from bareline.vocabulary.exhibit import ExhibitSpec
from bareline.vocabulary.model import Layer
from bareline.vocabulary.units import count


def sections(
    document: Document, figures: Sequence[Figure], empty: Sequence[ExhibitSpec]
) -> list[Section]:
    """Give the sections that have something to show."""
    whole = tuple(figure for figure in figures if not figure.layer)
    predicted = tuple(figure for figure in figures if figure.layer == SECTION)
    told = Prose((
        "Each application was predicted from the ladder and its profile on every other platform, "
        "then held against what was measured.",
    ))  # fmt: skip
    profiles = (profiles_table(document.profiles),) if document.profiles else ()
    return [
        *([Section("Overview", whole, "all")] if whole else []),
        Section("Platforms", tuple(_platforms(document)), "platforms"),
        *_layers(document, figures),
        *([Section("Profiles", profiles, "profiles-section")] if profiles else []),
        *([Section("Predictions", (told, *predicted), "predictions")] if predicted else []),
        Section(
            "Failed, missing, left out, caveats",
            tuple(_gaps(document, gaps.find(document, empty))),
            "gaps",
        ),
        *_published(document),
        Section("Method and data", tuple(_method(document)), "method"),
    ]


# Platforms ------------------------------------------------------------------------------------


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
    # A platform that is named after its role has said already what it is.
    taken = {name: role for name, role in document.roles.items() if role.platform != name}
    if taken:
        roles = (
            Rows(taken.items())
            .text("role", lambda item: item[0])
            .text("what it is", lambda item: item[1].title)
            .text("platform", lambda item: item[1].platform or "not measured here")
        )
        yield Section("Roles", (roles.table(look="plain", label="Roles"),))
    different, details, equal = _facts(document)
    names = document.names
    if different:
        table = _fact_table(different, names, "What differs between the platforms")
        yield Section("What differs", (table,))
    if details:
        verb = "differs" if len(details) == 1 else "differ"
        table = _fact_table(details, names, "Details that differ between the platforms")
        yield Folded(f"{count(len(details), 'detail')} that {verb}", (table,))
    if equal:
        noun = count(len(equal), "characteristic")
        table = _fact_table(equal, names, "What is the same on every platform")
        yield Folded(f"{noun} the same on every platform", (table,))


_Fact = tuple[str, str, Sequence[str]]


def _facts(document: Document) -> tuple[list[_Fact], list[_Fact], list[_Fact]]:
    """Split the characteristics into different, different in detail, and equal ones.

    Values stand in the page's order of platforms.
    """
    given = [info.name for info in document.platforms]
    order = [given.index(name) for name in document.names]
    split: tuple[list[_Fact], list[_Fact], list[_Fact]] = ([], [], [])
    for fact in document.fact_rows:
        values = [fact.values[index] for index in order]
        place = 2 if fact.equal else 1 if fact.detail else 0
        split[place].append((fact.group, fact.label, values))
    return split


def _fact_table(facts: Sequence[_Fact], names: Sequence[str], label: str) -> Table:
    rows: list[tuple[Field, ...]] = []
    starts, before = [], ""
    for group, name, values in facts:
        if group != before:
            starts.append(len(rows))
            rows.append((Field(group, tone="bold"), *(Field("") for _ in names)))
        before = group
        rows.append((Field(name), *(Field(value or "–") for value in values)))
    heads = (Column("characteristic", "text"), *(Column(n, "text", platform=n) for n in names))
    return Table(heads, tuple(rows), frozenset(starts), look="facts", label=label)


# Layers ---------------------------------------------------------------------------------------


def _layers(document: Document, figures: Sequence[Figure]) -> Iterator[Section]:
    """Give each layer its sentence, its strip and the curves that the strip chooses from."""
    order = by_loss(document.findings, document.names[1:])
    for layer in Layer:
        own = [figure for figure in figures if figure.layer == layer]
        there = {cell.place.probe: False for cell in document.cells if cell.layer == layer}
        there |= {
            cell.place.probe: True
            for cell in document.cells
            if cell.layer == layer and cell.value is not None
        }
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
    told = [sentence for sentence in document.statements if sentence.about is layer]
    if told:
        clauses = count(sum(sentence.clause_count for sentence in told), "clause")
        yield Folded(f"In words, with causes and caveats: {clauses}", (Prose(tuple(told), "list"),))
    if note := LAYER_NOTES.get(layer, ""):
        yield Prose((note,))


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
        if finding.layer is layer and finding.grade.told
    }
    return max(drawn, key=lambda probe: lost.get(probe, -1.0), default="")


# What keeps the numbers from being complete ---------------------------------------------------


def _gaps(document: Document, found: Gaps) -> Iterator[Block]:
    if found.none:
        yield Prose(
            ("Nothing failed, is missing or was left out, and no number carries a caveat.",)
        )
    if found.failures:
        failed = Rows(found.failures).platform(lambda row: row.platform)
        failed.text("case", lambda row: row.case)
        failed.number("trials", lambda row: row.trials).number("of", lambda row: row.of)
        failed.text("stage", lambda row: row.stage).text(
            "reason", lambda row: row.reason, wrap=True
        )
        yield _titled("Failed and skipped trials", failed)
    if found.holes:
        holes = Rows(found.holes).platform(lambda row: row.platform)
        holes.text("case", lambda row: row.case).text("missing", lambda row: row.values)
        yield _titled("Missing values", holes)
    if found.unfit:
        unfit = Rows(found.unfit).platform(lambda row: row.platform)
        unfit.text("probe", lambda row: row.probe).text("ranks", lambda row: row.ranks)
        unfit.number("cases", lambda row: row.cases)
        yield _titled("Left out by the plan", unfit.text("why", lambda row: row.reason, wrap=True))
    if found.caveats:
        told = tuple(
            f"{doubt.text}: {count(doubt.values, 'value')} of {doubt.probes} on {doubt.platforms}."
            + (f" {sentence_case(doubt.step)}." if doubt.step else "")
            for doubt in found.caveats
        )
        yield Section("Caveats", (Prose(told, "list"),))
    if found.empty:
        yield Section("Exhibits without data", (Prose(tuple(found.empty), "list"),))
    if document.events:
        told = tuple(document.events)
        yield Section("What happened to platforms", (Prose(told, "list"),))


def _titled(title: str, rows: Rows[Any]) -> Section:
    return Section(title, (rows.table(look="plain", label=title),))


# Publications, method -------------------------------------------------------------------------


def sources(document: Document) -> dict[str, PublishedPoint]:
    """Give each published figure once, by where it stands in the page's list."""
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
    rows.text("times worse", lambda it: it[1].told)
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


def _method(document: Document) -> Iterator[Block]:
    method = document.method
    order = (
        "The results were imported: in which order they were measured is not known."
        if method.imported
        else f"Trials ran in {count(method.blocks, 'block')}: each holds every case on every "
        f"platform once, cases in random order (seed {method.seed}) and the platforms of a case "
        "next to each other, so that a drift of the machine hits them alike. Platforms are "
        "compared block by block."
    )
    promise = f" {document.glance.promise}" if document.glance else ""
    margin = f"±{100 * method.margin:g} %"
    yield Prose((
        "One trial is one launch of one benchmark; its thousands of inner iterations count as "
        f"n = 1. {order}",
        "A value is the median over trials with the exact order-statistic interval, which needs "
        "six trials. A ratio is the Hodges–Lehmann estimate on logarithms, with the interval from "
        "inverting Wilcoxon's signed-rank test; above 1 is always worse than "
        f"{document.baseline}, whatever the metric's direction. “Equivalent” means that the whole "
        f"interval lies within {margin}.{promise}",
    ))  # fmt: skip
    failed = f", {method.failed} failed" if method.failed else ""
    rows: Mapping[str, object] = {
        "trials": f"{method.trials}{failed}",
        "blocks": method.blocks,
        "seed": method.seed,
        "margin": margin,
        **method.details,
        "configuration": method.config_hash,
        **method.versions,
    }
    known = [(name, str(value)) for name, value in rows.items() if value != ""]
    table = Rows(known).text("", lambda row: row[0])
    yield table.text("", lambda row: row[1], wrap=True).table(look="plain", label="Method")
    if len(document.runs) > 1:
        yield Section("Runs", (_runs(document.runs),))
    if document.folder:
        yield Note(f"The run directory `{document.folder}` holds everything, with the raw output "
                   "of every trial.")  # fmt: skip


def _runs(runs: Sequence[RunInfo]) -> Table:
    rows = Rows(runs).text("run", lambda run: run.name).text("begun (UTC)", lambda run: run.begun)
    rows.text("study", lambda run: run.study)
    rows.text("platforms", lambda run: ", ".join(run.platforms), wrap=True)
    rows.text("seed", lambda run: str(run.seed)).text("configuration", lambda run: run.config_hash)
    versions = " ".join
    return rows.text(
        "versions", lambda run: ", ".join(map(versions, run.versions.items())), wrap=True
    ).table(look="plain", label="Runs")
