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
#: The values of a fact by the node that reports it; None if only this node lacks the fact.
NodeValues = Mapping[int, Scalar | None]
#: The values of each fact on a platform's nodes.
_FactsByNode = dict[str, dict[int, Scalar | None]]

#: The largest number of values of other nodes that are written; further values are counted.
_MOST_VALUES = 4


@dataclass(frozen=True, slots=True)
class FactRow:
    """One fact on every platform.

    - `values`: the value on node 0 of each platform; None for an unknown value.
    - `texts`: the value for people, and the nodes that differ: ``10.0 Gb/s; node 1: 1.00 Gb/s``.
    """

    fact: FactKey
    values: Mapping[str, Scalar | None]
    texts: Mapping[str, str]
    equal: bool

    @property
    def differs(self) -> bool:
        """Whether the platforms differ in the fact, so that it may explain a result.

        A detail that only one platform reports is not a difference: often the other platform only
        lacks the permission to read it. A fact that only a running program reports is not a
        difference either: if it is missing, no program ran there.
        """
        if self.equal or self.fact.kind is not Kind.CHARACTERISTIC:
            return False
        texts = {self.texts[name] for name, value in self.values.items() if value is not None}
        return len(texts) > 1 or not (self.fact.detail or self.fact.key == BLAS_KERNELS)


def table(platforms: Mapping[str, PlatformFacts]) -> list[FactRow]:
    """Return the facts of all platforms as rows, in groups and in the order of `FACT_KEYS`."""
    nodes = {name: _by_node(facts) for name, facts in platforms.items()}
    keys = set().union(*nodes.values())
    rows = [_row(key, nodes) for key in keys]
    rows.sort(key=_position)
    return rows


def _row(key: str, platforms: Mapping[str, _FactsByNode]) -> FactRow:
    """Return the row of the fact `key`."""
    cells: list[NodeValues] = []
    values: dict[str, Scalar | None] = {}
    texts: dict[str, str] = {}
    for name, facts in platforms.items():
        cell = facts.get(key, {})
        cells.append(cell)
        values[name] = cell.get(0)
        texts[name] = _text(key, cell)
    equal = all(_same_cell(cells[0], cell) for cell in cells[1:])
    return FactRow(describe(key), values, texts, equal)


#: The place of each group and of each fact among the rows.
_GROUP_PLACES = {group: place for place, group in enumerate(FactGroup)}
_KEY_PLACES = {key: place for place, key in enumerate(FACT_KEYS)}


def _position(row: FactRow) -> tuple[int, int, str]:
    """Return the sort key of a row: its group, its place in `FACT_KEYS`, then its name."""
    key = row.fact.key
    last = len(_KEY_PLACES)
    return _GROUP_PLACES[row.fact.group], _KEY_PLACES.get(key, last), key


class Fact(TypedDict):
    """A row of ``show --facts``: a property, a changing state or a name of a platform."""

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
    """Return the facts as records for machine-readable output: one per fact and platform."""
    records: list[Fact] = []
    for row in table(platforms):
        for name in platforms:
            value = row.values[name]
            text = row.texts[name]
            record = row_of(Fact, row.fact, platform=name, value=value, text=text, equal=row.equal)
            records.append(record)
    return records


def _by_node(facts: PlatformFacts) -> _FactsByNode:
    """Return facts by key and node.

    Node 0 has all values; every other node has only the values that differ from node 0. None marks
    a value that a node lacks.
    """
    by_key: _FactsByNode = {}
    for key, value in facts.items():
        text, plain = split_nodes(key)
        nodes = unfold_numbers(text) if text else (0,)
        if text and plain == "missing":
            for absent in str(value).split(", "):
                by_key.setdefault(absent, {}).update(dict.fromkeys(nodes))
        else:
            by_key.setdefault(plain, {}).update(dict.fromkeys(nodes, value))
    return by_key


def _same_cell(left: NodeValues, right: NodeValues) -> bool:
    """Whether two platforms have the same value on each node."""
    if left.keys() != right.keys():
        return False
    return all(same_value(left[node], right[node]) for node in left)


def _text(key: str, cell: NodeValues) -> str:
    """Format the value of node 0, then the most frequent differing values of other nodes."""
    others = sorted(node for node in cell if node != 0)
    nodes_by_text = grouped_by(others, lambda node: format_fact(key, cell[node]))
    texts = list(nodes_by_text)
    named = texts
    if len(texts) > _MOST_VALUES:
        texts.sort(key=lambda text: -len(nodes_by_text[text]))
        named = texts[: _MOST_VALUES - 1]
    parts = [format_fact(key, cell.get(0))]
    for text in named:
        nodes = nodes_by_text[text]
        noun = "nodes" if len(nodes) > 1 else "node"
        parts.append(f"{noun} {numbers_text(nodes)}: {text}")
    rest = texts[len(named) :]
    if rest:
        number = sum(len(nodes_by_text[text]) for text in rest)
        parts.append(f"{len(rest)} other values on {number} nodes")
    return "; ".join(parts)


@dataclass(frozen=True, slots=True)
class FactLine:
    """A characteristic for the page, with a value for each platform; "" if a value is unknown."""

    group: str
    label: str
    values: Sequence[str]
    equal: bool
    detail: bool = False


def fact_lines(facts: Mapping[str, Mapping[str, Scalar]]) -> list[FactLine]:
    """Return the facts as rows with a value per platform.

    Identities (names, addresses) and volatile readings are left out, since they do not describe a
    platform.
    """
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
    """Return a table of the facts by group.

    - `places`: for each platform of `names`, the index of its value in a `FactLine`.
    """
    rows: list[tuple[Field, ...]] = []
    starts: list[int] = []
    blanks = [Field("")] * len(names)
    order = places or range(len(names))
    for group, group_facts in groupby(facts, lambda fact: fact.group):
        starts.append(len(rows))
        rows.append((Field(group, tone="bold"), *blanks))
        for fact in group_facts:
            fields = [Field(fact.values[place] or absent) for place in order]
            rows.append((Field(indent + fact.label), *fields))
    columns = [Column("characteristic")]
    columns += [Column(name, platform=name) for name in names]
    return Table(tuple(columns), tuple(rows), frozenset(starts), look="facts", label=label)


def facts_by_machine(run: Run) -> dict[str, dict[str, Scalar]]:
    """Return the facts of each platform.

    A run on several machines has the facts of each machine separately.
    """
    machines = sorted({session.machine for session in run.sessions().values()})
    if len(machines) < 2:
        return run.facts()
    by_machine: dict[str, dict[str, Scalar]] = {}
    for machine in machines:
        for name, facts in run.facts(machine).items():
            by_machine[f"{name} on machine {machine}"] = facts
    return by_machine
