"""A place: the case, metric and point for which a value was measured, and its name.

Compared values must have the same place, and all outputs print it in the same words.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from bareline.vocabulary.model import Scalar, parse_point
from bareline.vocabulary.sanitize import sanitized_name
from bareline.vocabulary.units import format_size, format_value, whole

#: Columns of a table that identify a case, and the columns that identify a point of a case.
CASE = ("probe", "params", "ranks", "threads", "nodes")
KEY = (*CASE, "metric", "point")

#: Parameters that are clear without their name, with their format.
_PLAIN: Mapping[str, str] = {
    "size_bytes": "{}",
    "kernel": "{}",
    "problem_class": "class {}",
    "max_bytes": "sizes up to {}",
    "min_bytes": "sizes from {}",
    "sizes_bytes": "sizes {}",
}
#: The parameters that only name the sweep to which a size belongs.
_SWEPT = ("max_bytes", "min_bytes", "sizes_bytes")
_UNITS = {"_s": "s", "_hz": "Hz", "_percent": "%"}
#: Counted things, and their singular.
_COUNTED = {"ranks": "rank", "threads": "thread", "nodes": "node"}
_NUMBERS = {2: "two", 3: "three", 4: "four"}


@dataclass(frozen=True, slots=True)
class Place:
    """The case, metric and point for which a value was measured.

    - `params`, `point`: canonical texts, see `format_point`.
    - `nodes`: the number of nodes of the case; 0 if the platform decides.
    - `used`: the number of nodes that were used; 0 if it is not known. It is not a part of the
      identity: the same case may have run on another number of nodes elsewhere, and is then not
      comparable.
    """

    probe: str
    metric: str = ""
    params: str = ""
    ranks: int = 1
    threads: int = 1
    nodes: int = 0
    point: str = ""
    used: int = field(default=0, compare=False)

    @classmethod
    def of(cls, row: Mapping[str, object]) -> Place:
        """Return the place of a row in a table that has the columns of `KEY`."""
        columns = {name: row[name] for name in KEY if row.get(name) is not None}
        used = row.get("nodes_used")
        if not isinstance(used, int):
            used = 0
        return cls(**columns, used=used)  # type: ignore[arg-type]

    @property
    def case(self) -> tuple[str, str, int, int, int]:
        """The identity of the case, in the order of `CASE`."""
        return (self.probe, self.params, self.ranks, self.threads, self.nodes)

    @property
    def series(self) -> tuple[str, str, str, int, int, int]:
        """The fields that all points of a curve have in common."""
        return (self.probe, self.metric, self.params, self.ranks, self.threads, self.nodes)

    @property
    def layout(self) -> tuple[int, int, int]:
        """The numbers of ranks, threads and nodes."""
        return (self.ranks, self.threads, self.nodes)

    @property
    def coordinates(self) -> dict[str, Scalar]:
        """Every parameter by name: of the probe, the layout and the point."""
        coordinates = dict(parse_point(self.params))
        if self.nodes:
            coordinates["nodes"] = self.nodes
        coordinates |= {"ranks": self.ranks, "threads": self.threads}
        return coordinates | parse_point(self.point)

    @property
    def size_bytes(self) -> int | None:
        """The size of the messages; None if there are no messages."""
        size = parse_point(self.point).get("size_bytes")
        return size if isinstance(size, int) and not isinstance(size, bool) else None

    @property
    def ran_on(self) -> int:
        """The number of used nodes; if unknown, the case's number of nodes; 0 without either."""
        return self.used or self.nodes

    @property
    def on_one_node(self) -> bool:
        """Whether all ranks are on one node, so that no network can be used."""
        return self.ran_on == 1

    @property
    def where(self) -> str:
        """The nodes in words: ``within a node``, ``between two nodes``; empty if unknown."""
        return nodes_words(self.ran_on)

    @property
    def words(self) -> str:
        """The place without the probe: ``64 KiB, 2 ranks within a node, transport tcp``."""
        coordinates = self.coordinates
        ranks, threads, _ = (coordinates.pop(name, None) for name in ("ranks", "threads", "nodes"))
        point = [name for name in coordinates if name in parse_point(self.point)]
        others = [name for name in coordinates if name not in point]
        layout = coordinate("ranks", ranks) if ranks != 1 or self.where else ""
        threading = coordinate("threads", threads) if threads != 1 else ""
        parts = [
            *(coordinate(name, coordinates[name]) for name in point),
            " ".join(filter(None, [layout, self.where])),
            threading,
            *(coordinate(name, coordinates[name]) for name in others),
        ]
        return ", ".join(filter(None, parts))

    def words_of(self, names: Iterable[str]) -> str:
        """Format some parameters, the point's parameters first: ``8 B, transport tcp``."""
        coordinates = self.coordinates
        point = parse_point(self.point)
        there = [name for name in names if name in coordinates]
        wanted = sorted(there, key=lambda name: name not in point)
        parts: list[str] = []
        for name in wanted:
            text = coordinate(name, coordinates[name])
            if name in _SWEPT and "size_bytes" in wanted:
                text = f"of {text}"
            parts.append(text)
        return ", ".join(parts)


def nodes_words(nodes: int | None) -> str:
    """Describe on how many nodes something ran: ``within a node``.

    Empty if the number is not known.
    """
    if not nodes:
        return ""
    if nodes == 1:
        return "within a node"
    return "between two nodes" if nodes == 2 else f"on {nodes} nodes"


def layout_words(nodes: int, ranks_per_node: int, threads: int = 1) -> str:
    """Format a layout in words: ``two nodes with 4 ranks each``."""
    if ranks_per_node == 1:
        each = ""
    elif nodes == 1:
        each = f" with {ranks_per_node} ranks, which share its memory"
    else:
        each = f" with {ranks_per_node} ranks each"
    threaded = f" of {threads} threads" if threads > 1 else ""
    if threaded and not each:
        threaded = f" with {threads} threads a rank"
    many = "one node" if nodes == 1 else f"{_NUMBERS.get(nodes, nodes)} nodes"
    return f"{many}{each}{threaded}"


def varying(places: Iterable[Place]) -> tuple[str, ...]:
    """Return the names of the parameters that differ between places, in order of appearance."""
    all_coordinates = [place.coordinates for place in places]
    values: dict[str, set[Scalar | None]] = {}
    for coordinates in all_coordinates:
        values |= {name: set() for name in coordinates if name not in values}
    for name, different in values.items():
        different.update(coordinates.get(name) for coordinates in all_coordinates)
    return tuple(name for name, different in values.items() if len(different) > 1)


def parameter_name(name: str) -> str:
    """Format the name of a parameter for people, without the unit that its values have."""
    for suffix in ("_bytes", *_UNITS):
        name = name.removesuffix(suffix)
    return sanitized_name(name).replace("_", " ")


def parameter_unit(name: str) -> str:
    """Return the unit at the end of a parameter's name; empty for sizes and bare numbers."""
    return next((unit for suffix, unit in _UNITS.items() if name.endswith(suffix)), "")


def parameter_value(name: str, value: Scalar | None) -> str:
    """Format the value of a parameter with its unit, e.g. ``64 KiB``."""
    if value is None:
        return "–"
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, str):
        return sanitized_name(value)
    if name.endswith("_bytes"):
        return format_size(value)
    unit = parameter_unit(name)
    if unit:
        return format_value(value, unit)
    return whole(value)


def coordinate(name: str, value: Scalar | None) -> str:
    """Format one parameter with its value in words, e.g. ``4 ranks`` or ``transport tcp``."""
    if name == "profile" and value is True:
        return "profiled"
    text = parameter_value(name, value)
    if name in _COUNTED:
        noun = _COUNTED[name] if value == 1 else name
        return f"{text} {noun}"
    form = _PLAIN.get(name)
    return form.format(text) if form else f"{parameter_name(name)} {text}"
