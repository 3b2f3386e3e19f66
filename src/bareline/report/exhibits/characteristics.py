"""The exhibits on systems: characteristics of platforms, and sizes of virtual machines."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

from bareline.analysis.numbers.row import figure
from bareline.published.catalogue import publications
from bareline.published.model import InstanceType, PublishedPlatform
from bareline.report.blocks import Field, Figure, Rows
from bareline.report.content.document import Document
from bareline.report.content.facts import table
from bareline.report.exhibits.base import Exhibit, figure_of
from bareline.vocabulary.exhibit import ExhibitSpec
from bareline.vocabulary.facts import FactGroup, FactKey, describe
from bareline.vocabulary.units import plain, whole

_ABSENT = "–"

#: Facts that publications print and a run does not record: the key here, the name and the place.
_PRINTED_ONLY = {
    fact.key: fact
    for fact in (
        FactKey("cpu.cores_per_socket", "Cores per socket", FactGroup.PROCESSOR),
        FactKey("virt.virtualized", "Virtualization", FactGroup.VIRTUALIZATION),
        FactKey("virt.virtio", "VirtIO", FactGroup.VIRTUALIZATION),
        FactKey("virt.sriov", "SR-IOV", FactGroup.VIRTUALIZATION),
        FactKey("virt.cloud", "Cloud software", FactGroup.VIRTUALIZATION),
        FactKey("net.switch", "Switch", FactGroup.NETWORK),
        FactKey("net.topology", "Topology", FactGroup.NETWORK),
        FactKey("fs.parallel", "Parallel file system", FactGroup.STORAGE),
        FactKey("fs.used", "File system of the tests", FactGroup.STORAGE),
    )
}


@dataclass(frozen=True, slots=True)
class _Line:
    """A row of a characteristics table.

    - `key`: the fact that a run records.
    - `names`: the names of the same fact in the data of publications.
    - `unit`: the unit in which publications print the fact.
    """

    key: str
    names: tuple[str, ...] = ()
    unit: str = ""

    @property
    def fact(self) -> FactKey:
        return _PRINTED_ONLY.get(self.key) or describe(self.key)


_LINES = (
    _Line("system.product", ("node_model", "environment")),
    _Line("node.count", ("nodes",)),
    _Line("os.name", ("os",)),
    _Line("kernel.release", ("kernel",)),
    _Line("cpu.model", ("processor", "processor_model")),
    _Line("cpu.sockets", ("sockets", "sockets_per_instance")),
    _Line("cpu.cores_per_socket", ("cores_per_socket",)),
    _Line("cpu.cores", ("cores_per_node", "cores_per_instance")),
    _Line("cpu.base_hz", ("clock_ghz",), "GHz"),
    _Line("cpu.peak_flops_per_core", ("peak_gflops_core",), "Gflop/s"),
    _Line("cpu.peak_flops", ("peak_gflops_node",), "Gflop/s"),
    _Line("cpu.isa"),
    _Line("cpu.turbo", ("turbo_boost",)),
    _Line("cpu.smt", ("hyperthreading",)),
    _Line("memory.total_bytes", ("memory_gb",), "GB"),
    _Line("memory.type", ("memory_type",)),
    _Line("virt.kind"),
    _Line("virt.virtualized", ("virtualized",)),
    _Line("virt.hypervisor", ("hypervisor", "vm_manager")),
    _Line("virt.virtio", ("virtio",)),
    _Line("virt.sriov", ("sr_iov",)),
    _Line("virt.cloud", ("cloud_software",)),
    _Line("cpu.emulated"),
    _Line("net.kind", ("interconnect", "network_mode")),
    _Line("net.driver", ("driver",)),
    _Line("net.speed_bps", ("peak_gbits",), "Gb/s"),
    _Line("net.shaped_bps"),
    _Line("net.mtu", ("jumbo_frame_bytes", "jumbo_frames")),
    _Line("net.switch", ("switch",)),
    _Line("net.topology", ("topology",)),
    _Line("mpi.flavour", ("mpi",)),
    _Line("mpi.version"),
    _Line("compiler.c", ("compiler",)),
    _Line("library.blas", ("math_library",)),
    _Line("fs.type", ("file_system",)),
    _Line("fs.used", ("file_system_used",)),
    _Line("fs.parallel", ("parallel_file_system",)),
    _Line("fs.disk.model", ("storage",)),
)


@dataclass(frozen=True, slots=True)
class _Described:
    """A platform that a publication describes."""

    short: str
    platform: PublishedPlatform

    @property
    def head(self) -> str:
        return f"{self.platform.name}, published"

    def field(self, line: _Line) -> Field:
        """Return the printed value of a characteristic, with its source in the publication."""
        text = printed_text(self.platform.facts, line.names, line.unit)
        if not text:
            return Field(_ABSENT)
        return Field(text, tip=f"{self.short}, {self.platform.where}")


def _characteristics(document: Document, spec: ExhibitSpec) -> Iterator[Figure]:
    """Yield one table, with the publication's platforms last; nothing if no fact is known."""
    described = _described(document, spec)
    recorded = {name: document.facts.get(name, {}) for name in document.names}
    texts = {row.fact.key: row.texts for row in table(recorded)}
    facts: list[FactKey] = []
    fields: list[list[Field]] = []
    for line in _LINES:
        values = texts.get(line.key, {})
        row = [Field(values.get(name) or _ABSENT) for name in document.names]
        row += [platform.field(line) for platform in described]
        if any(field.text != _ABSENT for field in row):
            facts.append(line.fact)
            fields.append(row)
    if not facts:
        return
    rows = Rows(facts, lambda fact: fact.group)
    rows.fields("", map(Field, _group_heads(facts)), "text")
    rows.text("characteristic", lambda fact: fact.label)
    heads = [*document.names, *(platform.head for platform in described)]
    for head, column in zip(heads, zip(*fields, strict=True), strict=True):
        rows.fields(head, column, "text")
    yield figure_of(spec, title="Characteristics of the platforms", table=rows.table())


def _group_heads(facts: Sequence[FactKey]) -> list[str]:
    """Return a text for each fact: the name of its group for the first fact of a group, else ""."""
    seen: set[FactGroup] = set()
    heads = []
    for fact in facts:
        head = ""
        if fact.group not in seen:
            head = fact.group.value
            seen.add(fact.group)
        heads.append(head)
    return heads


def _described(document: Document, spec: ExhibitSpec) -> list[_Described]:
    """Return the platforms of the published tables that the exhibit repeats.

    If the exhibit repeats no table, return the published platforms that have a role in the run.
    """
    roles = _role_names(document)
    described = []
    for study in publications().values():
        for platform in study.platforms:
            wanted = f"{study.id}:{platform.id}" in roles
            if spec.published:
                wanted = f"{study.id}:{platform.part}" in spec.published
            if wanted and platform.facts:
                described.append(_Described(study.publication.short, platform))
    return described


def _role_names(document: Document) -> set[str]:
    names: set[str] = set()
    for role in document.roles.values():
        names.update(role.published)
    return names


def printed_text(facts: Mapping[str, Any], names: Sequence[str], unit: str) -> str:
    """Format a printed characteristic; empty if the publication does not print it.

    A publication may print the characteristic under several of the `names`. Then a value that an
    earlier value contains is left out.
    """
    if "jumbo_frame_bytes" in names and "jumbo_frame_bytes" in facts:
        return f"{facts['jumbo_frame_bytes']} B"
    texts: list[str] = []
    for name in names:
        text = _value_text(facts[name]) if name in facts else ""
        if text and not any(text in other for other in texts):
            texts.append(text)
    joined = ", ".join(texts)
    if not joined or not unit:
        return joined
    return f"{joined} {unit}"


def _value_text(value: Any) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, list):
        return ", ".join(map(str, value))
    return str(value)


def _amount(printed: Decimal | None) -> str:
    return _ABSENT if printed is None else str(printed)


def _gigabytes(size_bytes: float) -> str:
    return plain(size_bytes / (1 << 30))


@dataclass(frozen=True, slots=True)
class _Offer:
    """A size of machine: a printed instance type, or a platform of the run."""

    name: str
    cpus: str
    memory_gb: str
    disk_gb: str
    where: str

    @classmethod
    def printed(cls, offered: InstanceType) -> _Offer:
        return cls(
            offered.name,
            str(offered.cpus),
            _amount(offered.memory_gb),
            _amount(offered.local_disk_gb),
            offered.where,
        )

    @classmethod
    def measured(cls, name: str, facts: Mapping[str, Any]) -> _Offer:
        cores = figure(facts.get("cpu.cores"), whole)
        memory_gb = figure(facts.get("memory.total_bytes"), _gigabytes)
        return cls(name, cores, memory_gb, _ABSENT, "this run")


def _instance_types(document: Document, spec: ExhibitSpec) -> Iterator[Figure]:
    """Yield one table: the printed types as in the publication, then the platforms of the run."""
    if spec.probe is not None:
        return
    roles = {name.partition(":")[0] for name in _role_names(document)}
    offers = []
    for study in publications().values():
        for offered in study.instance_types:
            wanted = study.id in roles
            if spec.published:
                wanted = f"{study.id}:{offered.part}" in spec.published
            if wanted:
                offers.append(_Offer.printed(offered))
    if not offers:
        return
    for name in document.names:
        offers.append(_Offer.measured(name, document.facts.get(name, {})))
    rows = Rows(offers, lambda offer: offer.where == "this run")
    rows.text("instance type", lambda offer: offer.name)
    rows.figure("CPUs", lambda offer: offer.cpus)
    rows.figure("memory (GB)", lambda offer: offer.memory_gb)
    rows.figure("local disk (GB)", lambda offer: offer.disk_gb)
    rows.text("from", lambda offer: offer.where)
    yield figure_of(
        spec,
        title="Instance types",
        notes=["Below the printed types: the nodes of this run's platforms."],
        table=rows.table(),
    )


EXHIBITS = (
    Exhibit(
        "characteristics",
        "characteristics of the platforms, with the publication's own platforms",
        _characteristics,
    ),
    Exhibit(
        "instance-types",
        "the sizes of virtual machines that a publication prints, and the platforms' nodes",
        _instance_types,
    ),
)
