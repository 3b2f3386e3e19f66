"""The characteristics of platforms side by side, and the differences between them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby

from typing_extensions import TypedDict

from bareline.report.blocks import Column, Field, Table
from bareline.store.run import Run
from bareline.vocabulary.facts import (
    FACT_KEYS,
    FactGroup,
    FactKey,
    Kind,
    describe,
    format_fact,
    same_value,
    split_nodes,
)
from bareline.vocabulary.grouping import grouped_by
from bareline.vocabulary.instructions import BLAS_KERNELS
from bareline.vocabulary.model import Scalar
from bareline.vocabulary.nodeset import numbers_text, unfold_numbers
from bareline.vocabulary.rows import row_of

PlatformFacts = Mapping[str, Scalar]

#: How many values of other nodes are written before the rest is only counted.
_MOST_VALUES = 4


@dataclass(frozen=True, slots=True)
class FactRow:
    """One fact on every platform.

    - `values`: value on node 0 of each platform, None where it is not known.
    - `texts`: the same for people, with the nodes that differ: ``10.0 Gb/s; node 1: 1.00 Gb/s``.
    """

    fact: FactKey
    values: Mapping[str, Scalar | None]
    texts: Mapping[str, str]
    equal: bool

    @property
    def differs(self) -> bool:
        """Return whether the row is a difference of the platforms that may explain a result.

        A detail that only one platform reports is not a difference: often just the permission is
        missing. Nor is a fact that a running program reports: where it is missing, none ran.
        """
        if self.equal or self.fact.kind is not Kind.CHARACTERISTIC:
            return False
        texts = {self.texts[name] for name, value in self.values.items() if value is not None}
        return len(texts) > 1 or not (self.fact.detail or self.fact.key == BLAS_KERNELS)


def table(platforms: Mapping[str, PlatformFacts]) -> list[FactRow]:
    """Arrange the facts of any platform side by side, in groups and in the order of `FACT_KEYS`."""
    nodes = {name: _by_node(facts) for name, facts in platforms.items()}
    rows = []
    for key in set().union(*nodes.values()):
        cells = {name: facts.get(key, {}) for name, facts in nodes.items()}
        first, *others = cells.values()
        values = {name: cell.get(0) for name, cell in cells.items()}
        texts = {name: _text(key, cell) for name, cell in cells.items()}
        equal = all(_same_cell(first, other) for other in others)
        rows.append(FactRow(describe(key), values, texts, equal))
    groups = list(FactGroup)
    order = {key: index for index, key in enumerate(FACT_KEYS)}

    def position(row: FactRow) -> tuple[int, int, str]:
        key = row.fact.key
        return groups.index(row.fact.group), order.get(key, len(order)), key

    return sorted(rows, key=position)


class Fact(TypedDict):
    """``show --facts``: a property, a changing state or a name of a platform."""

    key: str
    label: str
    group: str
    unit: str
    kind: Kind
    platform: str
    value: Scalar | None
    text: str
    equal: bool


def to_rows(platforms: Mapping[str, PlatformFacts]) -> list[Fact]:
    """Return the table as flat records for machine-readable output: one per fact and platform."""
    records: list[Fact] = []
    for row in table(platforms):
        for name in platforms:
            value = row.values[name]
            text = row.texts[name]
            record = row_of(Fact, row.fact, platform=name, value=value, text=text, equal=row.equal)
            records.append(record)
    return records


def _by_node(facts: PlatformFacts) -> dict[str, dict[int, Scalar | None]]:
    """Arrange facts by key and node: of other nodes only differences, None where one is absent."""
    by_key: dict[str, dict[int, Scalar | None]] = {}
    for key, value in facts.items():
        text, plain = split_nodes(key)
        nodes = unfold_numbers(text) if text else (0,)
        if text and plain == "missing":
            for absent in str(value).split(", "):
                by_key.setdefault(absent, {}).update(dict.fromkeys(nodes))
        else:
            by_key.setdefault(plain, {}).update(dict.fromkeys(nodes, value))
    return by_key


def _same_cell(left: Mapping[int, Scalar | None], right: Mapping[int, Scalar | None]) -> bool:
    return left.keys() == right.keys() and all(same_value(left[node], right[node]) for node in left)


def _text(key: str, cell: Mapping[int, Scalar | None]) -> str:
    """Format a platform's value, and the differing values of its other nodes; of many, most."""
    nodes_by_text = grouped_by(sorted(cell.keys() - {0}), lambda node: format_fact(key, cell[node]))
    groups = list(nodes_by_text.items())
    named = groups
    if len(groups) > _MOST_VALUES:
        groups.sort(key=lambda group: -len(group[1]))
        named = groups[: _MOST_VALUES - 1]
    parts = [format_fact(key, cell.get(0))]
    for text, nodes in named:
        noun = "nodes" if len(nodes) > 1 else "node"
        parts.append(f"{noun} {numbers_text(nodes)}: {text}")
    rest = groups[len(named) :]
    if rest:
        number = sum(len(nodes) for _, nodes in rest)
        parts.append(f"{len(rest)} other values on {number} nodes")
    return "; ".join(parts)


@dataclass(frozen=True, slots=True)
class FactLine:
    """A characteristic as the page shows it, with a value for each platform; "" where unknown."""

    group: str
    label: str
    values: Sequence[str]
    equal: bool
    detail: bool = False


def fact_lines(facts: Mapping[str, Mapping[str, Scalar]]) -> list[FactLine]:
    """Arrange facts side by side; identities and volatile readings do not describe a platform."""
    lines: list[FactLine] = []
    for row in table(facts):
        describes = row.fact.kind is Kind.CHARACTERISTIC and not row.fact.detail
        if not row.differs and not describes:
            continue
        line = FactLine(
            group=row.fact.group.value,
            label=row.fact.label,
            values=[row.texts[name] for name in facts],
            equal=not row.differs,
            # A fact that `FACT_KEYS` does not contain was reported by the platform itself.
            detail=row.fact.detail or row.fact.key not in FACT_KEYS,
        )
        lines.append(line)
    return lines


def facts_table(
    facts: Sequence[FactLine], names: Sequence[str], places: Sequence[int] = (), *,
    label: str = "", indent: str = "", absent: str = "–",
) -> Table:  # fmt: skip
    """Tabulate facts by group; `places`: where each platform's value is in a line."""
    rows: list[tuple[Field, ...]] = []
    starts: list[int] = []
    for group, group_facts in groupby(facts, lambda fact: fact.group):
        starts.append(len(rows))
        rows.append((Field(group, tone="bold"), *(Field("") for _ in names)))
        for fact in group_facts:
            values = [fact.values[place] for place in places or range(len(names))]
            fields = [Field(value or absent) for value in values]
            rows.append((Field(indent + fact.label), *fields))
    heads = (Column("characteristic"), *(Column(name, platform=name) for name in names))
    return Table(heads, tuple(rows), frozenset(starts), look="facts", label=label)


def facts_by_machine(run: Run) -> dict[str, dict[str, Scalar]]:
    """Return the facts of each platform, and of a run on several machines of each of them."""
    machines = sorted({session.machine for session in run.sessions().values()})
    if len(machines) < 2:
        return run.facts()
    by_machine: dict[str, dict[str, Scalar]] = {}
    for machine in machines:
        for name, facts in run.facts(machine).items():
            by_machine[f"{name} on machine {machine}"] = facts
    return by_machine
