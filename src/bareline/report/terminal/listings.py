"""Lists: platforms and their facts, probes, studies, published and calibrated figures."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from operator import itemgetter
from pathlib import Path
from typing import TYPE_CHECKING, Any

from bareline.published.catalogue import conditions
from bareline.report.blocks import Block, Note, Remark, Rows, Section, Table
from bareline.vocabulary.units import count

if TYPE_CHECKING:  # commands that only list load no tables
    from bareline.published.findings import PublishedFinding
    from bareline.published.model import PublishedStudy
    from bareline.report.content.facts import FactLine

Named = Mapping[str, Any]


def _texts(rows: Iterable[Named], *names: str) -> Rows[Named]:
    table = Rows(rows)
    for name in names:
        table.text(name, itemgetter(name))
    return table


def platform_blocks(rows: Sequence[Named]) -> Iterator[Block]:
    """List the platforms: the available ones first, then why the rest is not available."""

    def listed(*, available: bool) -> Rows[Named]:
        platforms = [row for row in rows if bool(row["available"]) is available]
        table = _texts(platforms, "platform", "type")
        return table.figure("nodes", lambda row: str(row["nodes"]))

    def title(row: Named) -> str:
        running = f"runs now: {row['running']}" if row["running"] else ""
        return "; ".join(filter(None, [row["title"], running]))

    def reason(row: Named) -> str:
        return "; ".join(filter(None, [row["reason"], row["hint"]]))

    yield listed(available=True).text("", title).table(whole=True)
    others = listed(available=False)
    if others.rows:
        others.text("reason and next step", reason)
        yield Section("not available here", (others.table(whole=True),))


def probe_list_blocks(rows: Sequence[Named]) -> Iterator[Block]:
    """List the probes by layer."""
    yield _texts(rows, "probe", "layer").text("", itemgetter("summary")).table()


def probe_blocks(row: Named) -> Iterator[Block]:
    """Show one probe with its parameters and metrics."""
    yield Remark(f"  {row['summary']}", lead=row["probe"])
    if row["source"]:
        yield Remark(f"source: {row['source']}")
    if row["min_ranks"] > 1:
        yield Remark(f"needs at least {row['min_ranks']} ranks")
    if row["nodes"]:
        yield Remark(f"measures between {row['nodes']} nodes")
    yield Remark()
    if row["params"]:
        params = Rows(row["params"].items()).text("parameter", itemgetter(0))
        yield params.text("default", lambda item: str(item[1])).table()

    def rank(metric: Named) -> str:
        if metric["metric"] == row["headline"]:
            return "headline"
        return "detail" if metric["detail"] else ""

    yield _texts(row["metrics"], "metric", "unit", "better").text("", rank).table()


def study_blocks(rows: Sequence[Named]) -> Iterator[Block]:
    """List the built-in studies."""
    table = _texts(rows, "study").figure("cases", lambda row: str(row["cases"]))
    table.figure("trials of each", lambda row: str(row["launches"]))
    table.text("scales", lambda row: ", ".join(row["scales"]))
    yield table.text("", itemgetter("title")).table()


def schema_blocks(rows: Sequence[Named]) -> Iterator[Block]:
    """List the names of schemas."""
    yield _texts(rows, "schema", "of").table(whole=True)


def publication_blocks(studies: Sequence[PublishedStudy]) -> Iterator[Block]:
    """List the publications, and which study repeats each."""
    table = Rows(studies).text("publication", lambda study: study.id)
    table.text("study", lambda study: study.publication.study)
    table.figure("figures", lambda study: str(study.count))
    yield table.text("title", lambda study: study.publication.title).table(whole=True)
    yield Note("`bareline published NAME` lists the figures.")


def published_blocks(studies: Sequence[PublishedStudy], rows: Sequence[Named]) -> Iterator[Block]:
    """Show publications: claims, systems, workloads and figures, with contradictions below."""
    for number, study in enumerate(studies):
        if number:
            yield Remark()
        yield Remark(study.publication.short, "bold")
        yield Remark(study.publication.source, "muted")
        yield from _claim_tables(study)
        yield from _system_tables(study)
        figures = [row for row in rows if row["publication"] == study.id]
        yield Section("figures", tuple(_figures(figures)))
        for note in study.publication.notes:
            yield Remark(note, "muted")


def _figures(rows: Sequence[Named]) -> Iterator[Block]:
    """Yield the figures of a publication, with the numbers of the doubts about each."""
    doubts: dict[str, None] = {}
    for row in rows:
        doubts.update(dict.fromkeys(row["doubts"]))
    marks = {text: f"[{place}]" for place, text in enumerate(doubts, 1)}

    def benchmark(row: Named) -> str:
        return f"{row['benchmark']}, {row['metric'].replace('_', ' ')}"

    def platforms(row: Named) -> str:
        return " / ".join(filter(None, [row["platform"], row["baseline"]]))

    def printed(row: Named) -> str:
        doubts = [marks[doubt] for doubt in row["doubts"]]
        return " ".join([row["text"], *doubts])

    table = Rows(rows).text("benchmark", benchmark)
    table.text("at", itemgetter("conditions"))
    table.text("platform", platforms)
    table.text("printed", printed)
    table.text("in", itemgetter("label"))
    yield table.table(whole=True)
    for text, mark in marks.items():
        yield Remark(f"{mark} {text}", "muted")


def _claim_tables(study: PublishedStudy) -> Iterator[Block]:
    """Show the claims of the document, the abstract's first, and the tests of each."""
    weights = ("abstract", "conclusions", "text")

    def weight(claim: PublishedFinding) -> int:
        return weights.index(study.part(claim.part).weight)

    def tests(claim: PublishedFinding) -> str:
        texts = [f"{check.kind} of {', '.join(check.probe)}" for check in claim.checks]
        return "; ".join(texts) or f"not tested: {claim.unmeasured}"

    claims = sorted(study.findings, key=weight)
    if not claims:
        return
    table = Rows(claims).text("claim", lambda claim: claim.words)
    table.text("in", lambda claim: claim.where)
    table.text("tested by", tests)
    yield Section("claims", (table.table(whole=True),))


def _system_tables(study: PublishedStudy) -> Iterator[Block]:
    """Show the platforms, the types of clouds, the workloads, and uncompleted benchmarks."""
    yield Section("platforms", (_platform_table(study),))
    if study.instance_types:
        yield Section("instance types", (_instance_type_table(study),))
    if study.workloads:
        yield Section("workloads", (_workload_table(study),))
    if study.facts:
        yield Section("other numbers", (_fact_table(study),))
    if study.not_completed:
        yield Section("not completed", (_failure_table(study),))


def _platform_table(study: PublishedStudy) -> Table:
    rows = Rows(study.platforms).text("platform", lambda platform: platform.id)
    rows.text("name", lambda platform: platform.name)
    rows.text("kind", lambda platform: platform.kind)
    rows.text("facts", lambda platform: _facts(platform.facts, platform.note))
    return rows.table(whole=True)


def _instance_type_table(study: PublishedStudy) -> Table:
    rows = Rows(study.instance_types).text("instance type", lambda kind: kind.name)
    rows.figure("cores", lambda kind: str(kind.cpus))
    rows.figure("memory (GB)", lambda kind: _number(kind.memory_gb))
    rows.figure("disk (GB)", lambda kind: _number(kind.local_disk_gb))
    rows.text("", lambda kind: kind.note)
    return rows.table()


def _workload_table(study: PublishedStudy) -> Table:
    rows = Rows(study.workloads).text("workload", lambda workload: workload.name)
    rows.text("facts", lambda workload: _facts(workload.facts, workload.note))
    return rows.table(whole=True)


def _fact_table(study: PublishedStudy) -> Table:
    rows = Rows(study.facts).text("quantity", lambda fact: fact.quantity)
    rows.text("printed", lambda fact: f"{fact} {fact.unit}")
    rows.text("in", lambda fact: fact.where)
    rows.text("", lambda fact: fact.note)
    return rows.table(whole=True)


def _failure_table(study: PublishedStudy) -> Table:
    rows = Rows(study.not_completed).text("benchmark", lambda failure: failure.benchmark)
    rows.text("platform", lambda failure: failure.platform)
    rows.text("at", lambda failure: conditions(failure.at))
    rows.text("reason", lambda failure: failure.reason)
    return rows.table(whole=True)


def _facts(facts: Mapping[str, Any], note: str) -> str:
    texts = [f"{name.replace('_', ' ')} {_fact(value)}" for name, value in facts.items()]
    if note:
        texts.append(note)
    return "; ".join(texts)


def _fact(value: Any) -> str:
    return ", ".join(map(str, value)) if isinstance(value, list) else str(value)


def _number(value: Any) -> str:
    return "" if value is None else f"{value:g}"


def calibrated_blocks(
    rows: Sequence[Named], left_out: Sequence[str], file: Path
) -> Iterator[Block]:
    """Yield how far simulation and measurements are apart, and how to measure on the platform.

    A line for each probe names its worst point; `file` has the platform of its name.
    """
    from bareline.report.content.calibration import CalibrationPoint, points_table

    values = itemgetter("probe", "ranks", "params", "measured", "simulated")
    yield points_table(CalibrationPoint(*values(row)) for row in rows)
    for line in left_out:
        yield Remark(f"not simulated: {line}")
    yield Remark(f"bareline run STUDY --on {file.stem} --platforms {file}", unbroken=True)


def fact_blocks(
    rows: Sequence[FactLine], names: Sequence[str], *, details: bool = False
) -> Iterator[Block]:
    """Yield the platforms' characteristics by group: differing ones, with `details` also the rest.

    - `names`: the platforms, in the order of each row's values.
    """
    from bareline.report.content.facts import facts_table

    listed = [row for row in rows if details or not (row.equal or row.detail)]
    if not listed and rows:
        yield Remark(f"Nothing differs between {count(len(names), 'platform')}.")
    if listed:
        yield facts_table(listed, names, indent="  ", absent="")
    same = sum(row.equal for row in rows)
    left_out = len(rows) - len(listed) - same
    if details or not (left_out or same):
        return
    folded: list[str] = []
    if left_out:
        verb = "differs" if left_out == 1 else "differ"
        folded.append(f"{count(left_out, 'detail')} that {verb}")
    if same:
        folded.append(f"{count(same, 'characteristic')} the same everywhere")
    yield Remark(f"{' and '.join(folded)}; --all shows them.", "muted")
