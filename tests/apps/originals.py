"""What the programs send after which the mini-apps are written (``originals.toml``)."""

from __future__ import annotations

import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

#: The functions that a kind of traffic is counted by; messages where they are sent.
CALLS = {
    "message": ("MPI_Isend", "MPI_Send", "MPI_Sendrecv"),
    "sum": ("MPI_Allreduce",),
    "exchange": ("MPI_Alltoall", "MPI_Alltoallv"),
    "wait": ("MPI_Wait",),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """One kind of traffic of one process in one step or iteration; see the file's head."""

    kind: str
    what: str
    unit: str
    app_count: float
    count: float | None = None
    size_bytes: tuple[int, int] | None = None
    app_bytes: tuple[int, int] | None = None
    why: str = ""

    def takes(self, size_bytes: int) -> bool:
        """Whether a call of this size belongs to this row and not to another of its kind."""
        return self.app_bytes is None or self.app_bytes[0] <= size_bytes <= self.app_bytes[1]


@dataclass(frozen=True, slots=True, kw_only=True)
class Original:
    """A program, what it ran, who counted, and which mini-app is held to it."""

    app: str
    program: str
    input: str
    source: str
    problem_class: str
    ranks: int
    steps: Mapping[str, int]
    held: bool
    rows: tuple[Row, ...]
    options: tuple[str, ...] = ()

    @property
    def name(self) -> str:
        """The app and its options, as a command."""
        return " ".join((self.app, *self.options))


def _rows(tables: list[dict[str, object]]) -> Iterator[Row]:
    for table in tables:
        pairs = {k: tuple(v) if isinstance(v, list) else v for k, v in table.items()}
        yield Row(**pairs)  # type: ignore[arg-type]


def originals() -> dict[str, Original]:
    """Read the file, by mini-app."""
    data = tomllib.loads(Path(__file__).with_name("originals.toml").read_text(encoding="utf-8"))
    found = {}
    for table in data["original"]:
        rows = tuple(_rows(table.pop("row")))
        options = tuple(table.pop("options", ()))
        original = Original(rows=rows, options=options, **table)
        found[original.name] = original
    return found


def _size(pair: tuple[int, int] | None) -> str:
    if pair is None:
        return ""
    low, high = pair
    return f" of {low:,} B" if low == high else f" of {low:,} to {high:,} B"


def _printed(row: Row) -> str:
    return "not known" if row.count is None else f"{row.count:g}{_size(row.size_bytes)}"


#: Kinds of traffic in words.
_WORDS = {"message": "messages", "sum": "sums", "wait": "waits", "exchange": "all-to-all exchanges"}


def table() -> str:
    """Return the comparison as Markdown for docs/method/appendix-apps.md."""
    lines = [
        "| mini-app | calls of one process | by the original | by the mini-app (remark) |",
        "|---|---|---|---|",
    ]
    for original in originals().values():
        head = f"`{original.name}`" + ("" if original.held else " (not yet held)")
        for row in original.rows:
            what = f"{_WORDS[row.kind]} per {row.unit}: {row.what}"
            own = f"{row.app_count:g}" + (f" ({row.why})" if row.why else "")
            cells = [head, what, _printed(row), own]
            lines.append("| " + " | ".join(cells) + " |")
            head = ""
    lines.append("")
    for original in originals().values():
        lines.append(
            f"- `{original.name}`, class {original.problem_class}: {original.program}; "
            f"{original.input}; {original.source}"
        )
    return "\n".join(lines).replace("|  |", "| |")
