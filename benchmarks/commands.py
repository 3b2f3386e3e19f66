"""False verdicts and power of ``bareline ab`` beside hyperfine's, on the same pairs of programs.

    python benchmarks/commands.py [--runs 20] [--launches 20] [--work-ms 20]
    python benchmarks/commands.py --runs 60 --journal FILE     # goes on after a kill
    python benchmarks/commands.py --table FILE      # the table of what a journal contains
    python benchmarks/commands.py --start 7

A program of known work is built twice from the same source, and with 1, 5 and 20 % more work. Each
pair is given to both tools in turn, with the same number of launches, once as the machine is and
once while as many processes spin as it has cores. The readings that claim a difference:

- ab: its grade is certain, or certain or likely; the ratio gives the direction;
- hyperfine: the summary's ratio of means is farther from 1 than its printed uncertainty (the
  standard deviations of both samples, added in squares); and the Welch test of its exported times
  (``scripts/welch_ttest.py`` of hyperfine) at 5 %.

A claim is false where the programs are equal, or where the longer program is called faster; power
is the share of pairs whose longer program is called slower.

``--start N`` measures instead, N times in turn, when each tool starts the first command, how long
it takes in all, and its processor time, for two commands that do nothing.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path

import numpy as np
from scipy.stats import binomtest, ttest_ind
from two_builds import TURNS_PER_MS, build

AB = (sys.executable, "-m", "bareline", "ab", "-q")
HYPERFINE = ("hyperfine", "-N", "--style", "none")
FACTORS = (1.0, 1.01, 1.05, 1.2)
#: Python's compiled files are kept, as of an installed package.
ENVIRONMENT = {name: text for name, text in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
#: A spinning process with the priority of any other.
_SPIN = "while :; do :; done"
_STARTED = """#!/bin/sh
[ -e "$0.mark" ] || date +%s.%N >"$0.mark"
"""


@dataclass(frozen=True, slots=True)
class OwnershipFile:
    """What a reading of a tool calls the second program of a pair: slower, faster or nothing.

    - `turn`: the number of the turn, from 0.
    """

    turn: int
    reading: str
    load: int
    factor: float
    word: str

    @property
    def is_false(self) -> bool:
        """Whether equal programs are called different, or the longer one faster."""
        return self.word == "faster" or (self.factor == 1.0 and self.word == "slower")

    @property
    def is_hit(self) -> bool:
        """Whether the longer program is called slower."""
        return self.factor > 1.0 and self.word == "slower"


def word_of(ratio: float, *, claims: bool) -> str:
    """Return the direction of a ratio of times, or nothing where no difference is claimed."""
    if not claims:
        return ""
    return "slower" if ratio > 1 else "faster"


def by_ab(folder: Path, pair: Sequence[Path], launches: int) -> dict[str, str]:
    """Return the claim of each reading of ab."""
    out = folder / "run"
    line = [*AB, "--json", "--launches", str(launches), "--out", str(out), "--", *map(str, pair)]
    ended = subprocess.run(line, check=True, capture_output=True, text=True, env=ENVIRONMENT)
    shutil.rmtree(out)
    row = json.loads(ended.stdout)[1]
    grade = row["grade"]
    return {
        "ab, certain": word_of(row["ratio"], claims=grade == "certain"),
        "ab, certain or likely": word_of(row["ratio"], claims=grade in ("certain", "likely")),
    }


def by_hyperfine(folder: Path, pair: Sequence[Path], launches: int) -> dict[str, str]:
    """Return the claim of each reading of hyperfine."""
    out = folder / "hyperfine.json"
    runs = ["--warmup", "1", "--runs", str(launches), "--export-json", str(out)]
    line = [*HYPERFINE, *runs, *map(str, pair)]
    subprocess.run(line, check=True, capture_output=True)
    first, second = (row["times"] for row in json.loads(out.read_text())["results"])
    ratio = float(np.mean(second) / np.mean(first))
    printed = max(ratio, 1 / ratio)  # the faster command is the reference
    spreads = [np.std(times, ddof=1) / np.mean(times) for times in (first, second)]
    uncertainty = printed * np.hypot(*spreads)
    p = ttest_ind(first, second, equal_var=False).pvalue
    return {
        "hyperfine, beyond its ±": word_of(ratio, claims=bool(printed - uncertainty > 1)),
        "hyperfine, Welch test": word_of(ratio, claims=bool(p < 0.05)),
    }


READINGS = (
    "ab, certain",
    "ab, certain or likely",
    "hyperfine, beyond its ±",
    "hyperfine, Welch test",
)


@contextmanager
def spinning(processes: int) -> Iterator[None]:
    """Keep so many processes busy."""
    # They end by themselves should the benchmark be killed.
    line = ["timeout", "3600", "sh", "-c", _SPIN]
    started = [subprocess.Popen(line) for _ in range(processes)]
    try:
        yield
    finally:
        for process in started:
            process.terminate()
            process.wait()


def working(folder: Path, factor: float, work_ms: float) -> Path:
    """Compile a program that computes so long."""
    return build(folder, f"times-{factor}", round(factor * work_ms * TURNS_PER_MS))


def compare_tools(arguments: argparse.Namespace, folder: Path) -> list[OwnershipFile]:
    """Give each pair to both tools, in turns; turns that a journal has are not measured again."""
    base = build(folder, "base", round(arguments.work_ms * TURNS_PER_MS))
    programs = {factor: working(folder, factor, arguments.work_ms) for factor in FACTORS}
    pairs = {factor: (base, other) for factor, other in programs.items()}
    claims = []
    if arguments.journal is not None:
        claims = begun_journal(arguments.journal, arguments.launches, arguments.work_ms)
    turns = {claim.turn for claim in claims}
    for turn in range(arguments.runs):
        if turn in turns:
            continue
        measured = claims_of_turn(turn, pairs, folder, arguments.launches)
        claims += measured
        if arguments.journal is not None:
            append_journal(arguments.journal, measured)
        print(f"turn {turn + 1} of {arguments.runs}", file=sys.stderr, flush=True)
    return claims


def claims_of_turn(
    turn: int, pairs: Mapping[float, tuple[Path, Path]], folder: Path, launches: int
) -> list[OwnershipFile]:
    """Give each pair to both tools, at rest and under load; the tools take turns to be first."""
    tools = [by_ab, by_hyperfine] if turn % 2 else [by_hyperfine, by_ab]
    claims = []
    for load in (0, os.cpu_count() or 1):
        with spinning(load):
            for factor, pair in pairs.items():
                for tool in tools:
                    words = tool(folder, pair, launches)
                    claims += [
                        OwnershipFile(turn, name, load, factor, word)
                        for name, word in words.items()
                    ]
    return claims


def begun_journal(path: Path, launches: int, work_ms: float) -> list[OwnershipFile]:
    """Return the claims of a journal, after writing its first line where there is none.

    Raises SystemExit: it was measured with other numbers of launches or another work.
    """
    settings = {"launches": launches, "work_ms": work_ms}
    if not path.exists():
        path.write_text(json.dumps(settings) + "\n")
    with path.open() as journal:
        begun = json.loads(journal.readline())
    if begun != settings:
        sys.exit(f"{path}: was begun with {begun}, not {settings}; name another journal")
    return read_journal(path)


def append_journal(path: Path, claims: Iterable[OwnershipFile]) -> None:
    """Append the claims of a turn as one line, so that a kill leaves no half turn."""
    line = json.dumps([asdict(claim) for claim in claims]) + "\n"
    with path.open("a") as journal:
        journal.write(line)
        journal.flush()
        os.fsync(journal.fileno())


def read_journal(path: Path) -> list[OwnershipFile]:
    """Return the claims of a journal, whose first line has its settings; a torn line is cut off."""
    text = path.read_text()
    whole = text[: text.rfind("\n") + 1]
    if whole != text:
        path.write_text(whole)
    claims = []
    for line in whole.splitlines()[1:]:
        claims += [OwnershipFile(**claim) for claim in json.loads(line)]
    return claims


def print_table(claims: Sequence[OwnershipFile]) -> None:
    """Print for each load and reading the false claims of all pairs, and the power of each."""
    longer = [factor for factor in FACTORS if factor > 1]
    for load in sorted({claim.load for claim in claims}):
        of_load = [claim for claim in claims if claim.load == load]
        pairs = len({claim.turn for claim in of_load})
        print(f"\n{load} processes spin, {pairs} pairs of each kind\n")
        titles = ["reading", "false: equal", "false: longer is faster"]
        titles += [f"{factor - 1:.0%} slower" for factor in longer]
        print(f"| {' | '.join(titles)} |\n|---|{'---:|' * (len(titles) - 1)}")
        for reading in READINGS:
            of_reading = [claim for claim in of_load if claim.reading == reading]
            equal = [claim.is_false for claim in of_reading if claim.factor == 1]
            wrong = [claim.is_false for claim in of_reading if claim.factor > 1]
            cells = [_share(equal), _share(wrong)]
            for factor in longer:
                hits = [claim.is_hit for claim in of_reading if claim.factor == factor]
                cells.append(_share(hits))
            print(f"| {reading} | {' | '.join(cells)} |", flush=True)


def _share(hits: Sequence[bool]) -> str:
    """Format a share with its exact 95 % interval."""
    if not hits:
        return "-"
    interval = binomtest(sum(hits), len(hits)).proportion_ci()
    share = f"{100 * sum(hits) / len(hits):.0f}"
    return f"{share} % [{100 * interval.low:.0f}, {100 * interval.high:.0f}]"


@dataclass(frozen=True, slots=True)
class Start:
    """How long a tool needs until its first command, in all, and of processor time."""

    first_s: float
    whole_s: float
    processor_s: float


def start_of(folder: Path, line: Sequence[str]) -> Start:
    """Measure one start of a tool."""
    program = folder / "started"
    mark = folder / "started.mark"
    mark.unlink(missing_ok=True)
    used = _children_s()
    began = time.time()
    command = [*line, str(program), str(program)]
    subprocess.run(command, check=True, capture_output=True, env=ENVIRONMENT)
    ended = time.time()
    return Start(float(mark.read_text()) - began, ended - began, _children_s() - used)


def _children_s() -> float:
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return usage.ru_utime + usage.ru_stime


def compare_starts(times: int, folder: Path) -> None:
    """Print when each tool starts the first command, as medians of turns taken in pairs."""
    program = folder / "started"
    program.write_text(_STARTED)
    program.chmod(0o755)
    out = folder / "run"
    tools: Mapping[str, Sequence[str]] = {
        "ab": [*AB, "--launches", "10", "--out", str(out), "--"],
        "hyperfine": [*HYPERFINE, "--warmup", "1", "--runs", "10"],
    }
    starts: dict[str, list[Start]] = defaultdict(list)
    for turn in range(times + 1):
        for name, line in tools.items():
            start = start_of(folder, line)
            if turn:  # the first one reads the files
                starts[name].append(start)
            shutil.rmtree(out, ignore_errors=True)
    for name, measured in starts.items():
        first_s = statistics.median(start.first_s for start in measured)
        whole_s = statistics.median(start.whole_s for start in measured)
        processor_s = statistics.median(start.processor_s for start in measured)
        print(
            f"{name:10s} first command after {first_s:.3f} s, end after {whole_s:.3f} s, "
            f"{processor_s:.3f} processor seconds"
        )
    apart = [
        ab.first_s - hyperfine.first_s
        for ab, hyperfine in zip(starts["ab"], starts["hyperfine"], strict=True)
    ]
    print(f"ab starts {statistics.median(apart):.3f} s later (least {min(apart):.3f} s)")


def main() -> None:
    """Run the benchmark."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n", maxsplit=1)[0])
    parser.add_argument("--runs", type=int, default=20)
    parser.add_argument("--launches", type=int, default=20)
    parser.add_argument("--work-ms", type=float, default=20.0)
    parser.add_argument("--journal", type=Path)
    parser.add_argument("--table", type=Path)
    parser.add_argument("--start", type=int, default=0)
    arguments = parser.parse_args()
    if arguments.table is not None:
        print_table(read_journal(arguments.table))
        return
    with tempfile.TemporaryDirectory() as name:
        if arguments.start:
            compare_starts(arguments.start, Path(name))
        else:
            print_table(compare_tools(arguments, Path(name)))


if __name__ == "__main__":
    main()
