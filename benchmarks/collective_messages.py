"""Messages of collective functions: those of Open MPI, counted by its monitoring, beside simulated.

    python benchmarks/collective_messages.py [--ranks 2 4 8] [--only allreduce] [--every]

A row for each function, number of ranks and size whose messages differ (with --every, all): how
many messages of how many bytes both send, and the most that one rank sends. Two are alike if every
rank sends as many messages and bytes to every other. Counts need no quiet machine. The real
library runs all ranks here, also 64 of them, which takes minutes.

Without --ranks: 2 to 64.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import tempfile
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from bareline.host.cache import cache_folder
from bareline.platforms.base import Context
from bareline.platforms.config import make_spec
from bareline.platforms.sim import PLATFORM
from bareline.vocabulary.model import Layout

SOURCE = Path(__file__).with_suffix(".c")
FUNCTIONS = (
    "barrier", "bcast", "reduce", "allreduce", "reduce_scatter", "gather", "scatter",
    "allgather", "allgatherv", "alltoall", "alltoallv",
)  # fmt: skip
SIZES = (8, 64, 256, 1024, 4096, 16_384, 65_536, 262_144, 1 << 20)
RANKS = (2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64)
#: What the buffers of all ranks may take: all of them lie in this machine's memory.
_BUFFERS_BYTES = 1 << 29
_SPACING_S = 100
_TIMEOUT_S = 600

Call = tuple[str, int]


@dataclass(frozen=True)
class Messages:
    """What a call sent: messages and bytes by sender and receiver."""

    sent: Mapping[tuple[int, int], tuple[int, int]]

    @property
    def number(self) -> int:
        """Number of messages."""
        return sum(messages for messages, _ in self.sent.values())

    @property
    def size_bytes(self) -> int:
        """Bytes of all messages."""
        return sum(size for _, size in self.sent.values())

    @property
    def most_of_a_rank(self) -> int:
        """Messages of the rank that sends the most."""
        by_rank: Counter[int] = Counter()
        for (sender, _), (messages, _) in self.sent.items():
            by_rank[sender] += messages
        return max(by_rank.values(), default=0)

    @property
    def without_empty(self) -> Mapping[tuple[int, int], tuple[int, int]]:
        """Messages with data, by sender and receiver."""
        return {pair: sums for pair, sums in self.sent.items() if sums[1]}

    def __str__(self) -> str:
        return f"{self.number} of {self.size_bytes} B, {self.most_of_a_rank}"


def calls(ranks: int, functions: Sequence[str], sizes: Sequence[int]) -> list[Call]:
    """List what both can call within this machine's memory."""
    found = []
    for function in functions:
        if function == "barrier":
            found.append((function, 0))
            continue
        found += [(function, size) for size in sizes if 2 * size * ranks**2 <= _BUFFERS_BYTES]
    return found


def _compile(compiler: str, folder: Path, *options: str) -> Path:
    program = folder / f"collective_messages.{compiler}"
    subprocess.run(
        [compiler, "-O1", *options, str(SOURCE), "-o", str(program)], check=True, cwd=folder
    )
    return program


def _read(text: str) -> dict[int, Messages]:
    found: dict[int, dict[tuple[int, int], tuple[int, int]]] = defaultdict(dict)
    for line in text.splitlines():
        call, sender, receiver, messages, size = map(int, line.split())
        found[call][sender, receiver] = (messages, size)
    return {call: Messages(sent) for call, sent in found.items()}


def _of_calls(found: Mapping[int, Messages], wanted: Sequence[Call]) -> dict[Call, Messages]:
    return {call: found.get(k, Messages({})) for k, call in enumerate(wanted, 1)}


def real(ranks: int, wanted: Sequence[Call], folder: Path) -> dict[Call, Messages]:
    """Count the messages of Open MPI."""
    program = _compile("mpicc", folder, "-rdynamic")
    done = subprocess.run(
        [
            "mpirun", "--oversubscribe", "--bind-to", "none", "--mca", "btl", "self,vader",
            "--mca", "pml_monitoring_enable", "1", "-np", str(ranks), str(program),
            *(f"{function}:{size}" for function, size in wanted),
        ],
        env=os.environ | {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"},
        capture_output=True, text=True, check=True, timeout=_TIMEOUT_S,
    )  # fmt: skip
    return _of_calls(_read(done.stdout), wanted)


def simulated(ranks: int, wanted: Sequence[Call], folder: Path) -> dict[Call, Messages]:
    """Count the messages of the same calls on a simulated cluster, a rank on each node."""
    program = _compile("smpicc", folder, "-DSIMULATED")
    spec = make_spec("s", {"type": "sim", "network": "10g", "nodes": ranks}, where="counts")
    platform = PLATFORM(spec, Context(folder))
    found: dict[Call, Messages] = {}
    with platform.acquire(Layout(ranks)) as allocation:
        # A function at a time: one that comes to a stop leaves the others.
        for name in dict.fromkeys(function for function, _ in wanted):
            part = [call for call in wanted if call[0] == name]
            counts = folder / f"counts-{name}"
            counts.unlink(missing_ok=True)
            done = allocation.run_as_it_is(
                [str(program), *(f"{function}:{size}" for function, size in part)],
                {"BARELINE_MESSAGES": f"{_SPACING_S}:{counts}"},
                Layout(ranks),
                timeout_s=_TIMEOUT_S,
            )
            if done.exit_code != 0 or not counts.exists() or "Deadlock" in done.stderr:
                print(f"{name} on {ranks} ranks does not come to its end: {done.stderr[-200:]}")
            found |= _of_calls(
                _read(counts.read_text(encoding="utf-8")) if counts.exists() else {}, part
            )
    return found


def alike(one: Messages, other: Messages) -> bool:
    """Return whether every rank sends the same to every other.

    Empty messages count in functions without data alone: one that only synchronises may have
    another form.
    """
    if not one.size_bytes and not other.size_bytes:
        return one.sent == other.sent
    return one.without_empty == other.without_empty


def compare(
    ranks: int, functions: Sequence[str], sizes: Sequence[int] = SIZES
) -> Iterator[tuple[Call, Messages, Messages]]:
    """Yield each call with what the library and the simulator send."""
    wanted = calls(ranks, functions, sizes)
    with tempfile.TemporaryDirectory(dir=cache_folder()) as place:
        library = real(ranks, wanted, Path(place))
        simulator = simulated(ranks, wanted, Path(place))
    for call in wanted:
        yield call, library[call], simulator[call]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--ranks", type=int, nargs="+", default=RANKS)
    parser.add_argument("--only", choices=FUNCTIONS, nargs="+", default=FUNCTIONS)
    parser.add_argument("--every", action="store_true", help="also what is alike")
    given = parser.parse_args()
    same = every = 0
    print(f"{'call':26} {'ranks':>5}  {'Open MPI':36} {'simulated':36}")
    for ranks in given.ranks:
        for (function, size), library, simulator in compare(ranks, given.only):
            every += 1
            same += alike(library, simulator)
            if given.every or not alike(library, simulator):
                print(f"{function + ' ' + str(size) + ' B':26} {ranks:5}  "
                      f"{library!s:36} {simulator!s:36}", flush=True)  # fmt: skip
    print(f"{same} of {every} alike")


if __name__ == "__main__":
    main()
