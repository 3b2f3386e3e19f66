"""Lists of platforms and their facts, probes, studies, published and calibrated figures."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from operator import itemgetter
from pathlib import Path
from typing import TYPE_CHECKING, Any

from bareline.published.catalogue import conditions
from bareline.report.blocks import Block, Note, Remark, Rows, Section, Table
from bareline.vocabulary.units import count, joined

if TYPE_CHECKING:  # commands that only list load no tables
    from bareline.published.findings import PublishedFinding
    from bareline.published.model import PublishedStudy
    from bareline.report.content.facts import FactLine

Named = Mapping[str, Any]
_Blocks = Iterator[Block]


def _texts(rows: Iterable[Named], *names: str) -> Rows[Named]:
    table = Rows(rows)
    for name in names:
        table.text(name, itemgetter(name))
    return table


def platform_blocks(rows: Sequence[Named]) -> _Blocks:
    """Yield the available platforms, then the unavailable platforms with the reasons."""

    def listed(*, available: bool) -> Rows[Named]:
        platforms = [row for row in rows if bool(row["available"]) is available]
        table = _texts(platforms, "platform", "type")
        return table.figure("nodes", lambda row: str(row["nodes"]))

    def title(row: Named) -> str:
        running = f"runs now: {row['running']}" if row["running"] else ""
        return joined(row["title"], running, by="; ")

    def reason(row: Named) -> str:
        return joined(row["reason"], row["hint"], by="; ")

    yield listed(available=True).text("", title).table(whole=True)
    others = listed(available=False)
    if others.rows:
        others.text("reason and next step", reason)
        yield Section("not available here", (others.table(whole=True),))


def probe_list_blocks(rows: Sequence[Named]) -> _Blocks:
    """Yield the list of the probes by layer."""
    yield _texts(rows, "probe", "layer").text("", itemgetter("summary")).table()


def probe_blocks(row: Named) -> _Blocks:
    """Yield the description of a probe with its parameters and metrics."""
    yield Remark(f"  {row['summary']}", lead=row["probe"])
    if row["source"]:
        yield Remark(f"source: {row['source']}")
    if row["min_ranks"] > 1:
        yield Remark(f"needs at least {row['min_ranks']} ranks")
    if row["nodes"]:
        yield Remark(f"measures between {row['nodes']} nodes")
    yield Remark()
    if row["params"]:
        yield _parameter_table(row["params"])
    yield _metric_table(row["metrics"], row["headline"])


def _parameter_table(defaults: Named) -> Table:
    rows = Rows(defaults.items()).text("parameter", itemgetter(0))
    rows.text("default", lambda item: str(item[1]))
    return rows.table()


def _metric_table(metrics: Sequence[Named], headline: str) -> Table:
    def rank(metric: Named) -> str:
        if metric["metric"] == headline:
            return "headline"
        if metric["detail"]:
            return "detail"
        return ""

    rows = _texts(metrics, "metric", "unit", "better")
    rows.text("", rank)
    return rows.table()


def study_blocks(rows: Sequence[Named]) -> _Blocks:
    """Yield the list of the built-in studies."""
    table = _texts(rows, "study").figure("cases", lambda row: str(row["cases"]))
    table.figure("trials of each", lambda row: str(row["launches"]))
    table.text("scales", lambda row: ", ".join(row["scales"]))
    yield table.text("", itemgetter("title")).table()


def schema_blocks(rows: Sequence[Named]) -> _Blocks:
    """Yield the list of the names of schemas."""
    yield _texts(rows, "schema", "of").table(whole=True)


def publication_blocks(studies: Sequence[PublishedStudy]) -> _Blocks:
    """Yield the list of the publications, and the study that repeats each publication."""
    table = Rows(studies).text("publication", lambda study: study.id)
    table.text("study", lambda study: study.publication.study)
    table.figure("figures", lambda study: str(study.count))
    yield table.text("title", lambda study: study.publication.title).table(whole=True)
    yield Note("`bareline published NAME` lists the figures.")


def published_blocks(studies: Sequence[PublishedStudy], rows: Sequence[Named]) -> _Blocks:
    """Yield the content of publications: claims, systems, workloads, figures and notes."""
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


def _figures(rows: Sequence[Named]) -> _Blocks:
    """Yield the figures of a publication; doubts about a figure are footnotes."""
    doubts: dict[str, None] = {}
    for row in rows:
        doubts.update(dict.fromkeys(row["doubts"]))
    marks = {text: f"[{place}]" for place, text in enumerate(doubts, 1)}

    def printed(row: Named) -> str:
        doubts = [marks[doubt] for doubt in row["doubts"]]
        return joined(row["text"], *doubts, by=" ")

    table = Rows(rows).text("benchmark", _benchmark)
    table.text("at", itemgetter("conditions"))
    table.text("platform", lambda row: joined(row["platform"], row["baseline"], by=" / "))
    table.text("printed", printed)
    table.text("in", itemgetter("label"))
    yield table.table(whole=True)
    for text, mark in marks.items():
        yield Remark(f"{mark} {text}", "muted")


def _benchmark(row: Named) -> str:
    metric = row["metric"].replace("_", " ")
    return f"{row['benchmark']}, {metric}"


#: The order of claims, by the weight of the part of the document that contains them.
_WEIGHTS = ("abstract", "conclusions", "text")


def _claim_tables(study: PublishedStudy) -> _Blocks:
    """Yield the claims of the document and the tests of each claim, the abstract's claims first."""

    def weight(claim: PublishedFinding) -> int:
        part = study.part(claim.part)
        return _WEIGHTS.index(part.weight)

    claims = sorted(study.findings, key=weight)
    if not claims:
        return
    table = Rows(claims).text("claim", lambda claim: claim.words)
    table.text("in", lambda claim: claim.where)
    table.text("tested by", _tests_words)
    yield Section("claims", (table.table(whole=True),))


def _tests_words(claim: PublishedFinding) -> str:
    """Describe the tests of a claim, or the reason why it is not tested."""
    if not claim.checks:
        return f"not tested: {claim.unmeasured}"
    texts: list[str] = []
    for check in claim.checks:
        probes = ", ".join(check.probe)
        texts.append(f"{check.kind} of {probes}")
    return "; ".join(texts)


def _system_tables(study: PublishedStudy) -> _Blocks:
    """Yield tables of platforms, instance types, workloads, and benchmarks without results."""
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
    texts: list[str] = []
    for name, value in facts.items():
        words = name.replace("_", " ")
        texts.append(f"{words} {_fact(value)}")
    return joined(*texts, note, by="; ")


def _fact(value: Any) -> str:
    if isinstance(value, list):
        return ", ".join(map(str, value))
    return str(value)


def _number(value: Any) -> str:
    return "" if value is None else f"{value:g}"


def calibrated_blocks(rows: Sequence[Named], left_out: Sequence[str], file: Path) -> _Blocks:
    """Yield the errors of a simulation against measurements, and how to use the platform.

    A line for each probe names its worst point.

    - `file`: the file that describes the platform; without its ending, it is the platform's name.
    """
    from bareline.report.content.calibration import CalibrationPoint, points_table

    values = itemgetter("probe", "ranks", "params", "measured", "simulated")
    yield points_table(CalibrationPoint(*values(row)) for row in rows)
    for line in left_out:
        yield Remark(f"not simulated: {line}")
    yield Remark(f"bareline run STUDY --on {file.stem} --platforms {file}", unbroken=True)


def fact_blocks(
    rows: Sequence[FactLine], names: Sequence[str], *, details: bool = False
) -> _Blocks:
    """Yield the platforms' characteristics by group: only differing ones, unless `details`.

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
