"""Platforms and applications: what they are, what they suit and why, and what they ask."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from fnmatch import fnmatchcase
from typing import Any

from bareline.analysis.judgements.suitability import Judgement, judge_published
from bareline.analysis.words.suitability import reason_of
from bareline.published.catalogue import publications
from bareline.published.model import PublishedPlatform
from bareline.report.blocks import Field, Rows
from bareline.report.content.document import Document
from bareline.report.content.facts import table
from bareline.report.content.profiles import Dominant, share_rows
from bareline.report.content.suitability import answered, suitability_table
from bareline.report.content.wording import percent
from bareline.report.exhibits.base import Draft, ExhibitKind
from bareline.vocabulary.exhibit import ExhibitSpec
from bareline.vocabulary.facts import FactGroup, FactKey, describe
from bareline.vocabulary.units import format_size


def _shown(document: Document, spec: ExhibitSpec) -> Iterator[Draft]:
    """Yield each answer with its reason; none for a probe, or where no class could be judged."""
    judged = document.comparison.suitability
    known = answered(judged)
    if not known or spec.probe is not None:
        return
    theirs = _published(document)
    # What was published stands first: a wide table of many platforms scrolls, and hid it.
    sides = {", published": theirs, "": judged}
    yield Draft(
        title="What the platforms suit",
        notes=[
            "Suited: at least 90 % of the baseline's performance is left; suited at a cost: at "
            "least half. An answer that rests on doubtful or approximate figures says so.",
            "Published: the same rules on the publication's own figures." if theirs else "",
        ],
        summary="; ".join(
            f"{row.application_class.title} on {row.platform}: {row.answer.value}"
            for row in known[:12]
        )
        + ".",
        table=suitability_table(sides, reasons=True),
        data=[
            {
                "class": row.application_class.name,
                "platform": row.platform,
                "baseline": row.baseline,
                "answer": row.answer.value,
                "certainty": row.certainty.value,
                "reason": reason_of(row),
                "caveats": "; ".join(map(str, row.caveats)),
            }
            for row in judged
        ],
    )


def _published(document: Document) -> list[Judgement]:
    """Judge the published platforms whose roles somebody took, by the publication's figures."""
    cast = {name for role in document.roles.values() if role.platform for name in role.published}
    return [
        judgement
        for study in publications().values()
        if any(name.startswith(f"{study.id}:") for name in cast)
        for judgement in answered(judge_published(study))
        if f"{study.id}:{judgement.platform}" in cast
    ]


#: What publications print and no node can tell.
_TOLD_ONLY = {
    "net.switch": FactKey("net.switch", "Switch", FactGroup.NETWORK),
    "net.topology": FactKey("net.topology", "Topology", FactGroup.NETWORK),
}

#: Facts of a characteristics table, with what publications call them and the unit that they print.
ROWS: tuple[tuple[str, tuple[str, ...], str], ...] = (
    ("system.product", ("node_model", "environment"), ""),
    ("node.count", ("nodes",), ""),
    ("os.name", ("os",), ""),
    ("kernel.release", ("kernel",), ""),
    ("cpu.model", ("processor", "processor_model"), ""),
    ("cpu.sockets", ("sockets",), ""),
    ("cpu.cores", ("cores_per_node", "cores_per_instance"), ""),
    ("cpu.base_hz", ("clock_ghz",), "GHz"),
    ("cpu.peak_flops_per_core", ("peak_gflops_core",), "Gflop/s"),
    ("cpu.peak_flops", ("peak_gflops_node",), "Gflop/s"),
    ("cpu.isa", (), ""),
    ("cpu.turbo", ("turbo_boost",), ""),
    ("cpu.smt", ("hyperthreading",), ""),
    ("memory.total_bytes", ("memory_gb",), "GB"),
    ("memory.type", ("memory_type",), ""),
    ("virt.kind", ("virtualized",), ""),
    ("virt.hypervisor", ("hypervisor", "vm_manager"), ""),
    ("cpu.emulated", (), ""),
    ("net.kind", ("interconnect", "network_mode"), ""),
    ("net.driver", ("driver",), ""),
    ("net.speed_bps", ("peak_gbits",), "Gb/s"),
    ("net.shaped_bps", (), ""),
    ("net.mtu", ("jumbo_frame_bytes", "jumbo_frames"), ""),
    ("net.switch", ("switch",), ""),
    ("net.topology", ("topology",), ""),
    ("mpi.flavour", ("mpi",), ""),
    ("mpi.version", (), ""),
    ("compiler.c", ("compiler",), ""),
    ("library.blas", ("math_library",), ""),
    ("fs.type", ("file_system", "file_system_used"), ""),
    ("fs.disk.model", ("storage",), ""),
)


def _characteristics(document: Document, spec: ExhibitSpec) -> Iterator[Draft]:
    """Yield one table, the publication's platforms last; none where no platform told a fact."""
    theirs = _described(document, spec)
    known = {name: document.facts.get(name, {}) for name in document.names}
    texts = {row.fact.key: row.texts for row in table(known)}
    every: list[tuple[FactKey, list[Field]]] = []
    for key, names, unit in ROWS:
        fields = [Field(texts.get(key, {}).get(name, "–") or "–") for name in document.names]
        for short, platform in theirs:
            printed = _printed(platform.facts, names, unit)
            tip = f"{short}, {platform.where}" if printed else ""
            fields.append(Field(printed or "–", tip=tip))
        if any(field.text != "–" for field in fields):
            every.append((_TOLD_ONLY.get(key) or describe(key), fields))
    if not every:
        return
    facts = [fact for fact, _ in every]
    first = {fact.group: fact.key for fact in reversed(facts)}
    groups = [fact.group.value if first[fact.group] == fact.key else "" for fact in facts]
    rows = Rows(facts, lambda fact: fact.group).fields("", map(Field, groups), "text")
    rows.text("characteristic", lambda fact: fact.label)
    heads = [*document.names, *(f"{platform.name}, published" for _, platform in theirs)]
    columns = zip(*(fields for _, fields in every), strict=True)
    for head, column in zip(heads, columns, strict=True):
        rows.fields(head, column, "text")
    yield Draft(title="Characteristics of the platforms", table=rows.table())


def _described(document: Document, spec: ExhibitSpec) -> Sequence[tuple[str, PublishedPlatform]]:
    """Return the platforms of the published table that is repeated; without one, of the roles."""
    found: dict[str, tuple[str, PublishedPlatform]] = {}
    roles = {name for role in document.roles.values() for name in role.published}
    for study in publications().values():
        for platform in study.platforms:
            name = f"{study.id}:{platform.id}"
            cast = not spec.published and name in roles
            if platform.facts and (cast or f"{study.id}:{platform.part}" in spec.published):
                found[name] = (study.publication.short, platform)
    return list(found.values())


def _printed(facts: Mapping[str, Any], names: Sequence[str], unit: str) -> str:
    known = [name for name in names if name in facts]
    if "jumbo_frame_bytes" in known:
        return f"{facts['jumbo_frame_bytes']} B"

    def text(value: Any) -> str:
        if isinstance(value, bool):
            return "yes" if value else "no"
        if isinstance(value, list):
            return ", ".join(map(str, value))
        return "" if value == "NA" else str(value)

    texts = ", ".join(dict.fromkeys(filter(None, (text(facts[name]) for name in known))))
    return f"{texts} {unit}" if texts and unit else texts


def _asked(document: Document, spec: ExhibitSpec) -> Iterator[Draft]:
    """Yield one table; none where no trial of the probe was profiled."""
    pattern = spec.probe or "*"
    lines = [line for line in document.profiles if fnmatchcase(line.probe, pattern)]
    if not lines:
        return

    def named(one: Dominant) -> str:
        size = format_size(one.low_bytes)
        if one.high_bytes != one.low_bytes:
            size = f"{size} to {format_size(one.high_bytes)}"
        return f"{one.name} of {size}: {one.per_rank:,.0f} calls, {percent(one.share)}"

    rows = share_rows(lines, "application")
    rows.text("dominant calls and sizes", lambda one: "; ".join(map(named, one.dominant)) or "none")
    rows.number("memory per rank", lambda line: line.memory_bytes, format_size)
    rows.number("read and written", lambda line: line.file_bytes, format_size)
    yield Draft(
        title="What the applications ask",
        notes=[
            "Shares of the time from MPI_Init to MPI_Finalize, a rank's mean; the median over the "
            "trials. Of the first trial: the calls with their message sizes that most time went "
            "to, each with its number in a rank and its share of the time of all calls that move "
            "data; the memory of the rank with most; what all ranks read from files and wrote to "
            "them."
        ],
        table=rows.table(),
    )


EXHIBITS = (
    ExhibitKind(
        "suitability",
        "what the platforms suit: classes of applications against platforms, with reasons",
        _shown,
    ),
    ExhibitKind(
        "characteristics",
        "what the platforms are, beside what the publication says of its own",
        _characteristics,
    ),
    ExhibitKind(
        "profile",
        "what applications ask: shares of time, dominant calls and sizes, memory, files",
        _asked,
    ),
)
