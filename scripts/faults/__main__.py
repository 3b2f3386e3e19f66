"""Break bareline in every way that is known, and count what is lost.

    .venv/bin/python scripts/faults [--seed N] [--short] [--guests] [--journal FILE [--resume]]
        [FAULT ...]

Every fault draws from its own stream of the seed, so that one of them repeats alone. The table is
printed at the end; the exit code is 1 when anything was lost, repeated, left behind or ended in a
traceback. Faults of guests are tried with ``--guests`` only: they take an hour.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import shutil
import sys
import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

import breaks
import clusters
import company
import files
import fuzz
import guests
import imports
import kills
import scarcity
import settings
import sweep
import values
from bench import MARK, Bench, is_root
from table import JOURNAL, Count, NotHere, Part, print_table, recorded_parts
from zygote import Zygote


@dataclass(frozen=True)
class Fault:
    """One fault: what tries it, how often, how often in the short form, and what it needs.

    - `part`: so many tries are one part of a campaign, which is resumed with the next part.
    """

    try_it: Callable[[Bench, int], Count]
    tries: int
    short: int
    root: bool = False
    programs: tuple[str, ...] = ()
    guests: bool = False
    part: int = 100

    def obstacle(self, *, guests: bool) -> str:
        """Describe why it cannot be tried here, or nothing."""
        if self.root and not is_root():
            return "needs root"
        for program in self.programs:
            if shutil.which(program) is None:
                return f"{program} is not installed"
        return "needs --guests" if self.guests and not guests else ""


FAULTS: dict[str, Fault] = {
    "runner killed, null trials": Fault(kills.kill_null, 420, 12),
    "runner killed, namespaces": Fault(kills.kill_namespaces, 60, 1, root=True, part=20),
    "runner killed, programs": Fault(kills.kill_programs, 90, 0, programs=("nuttcp", "mpirun")),
    "runner killed, simulated": Fault(kills.kill_simulated, 60, 0, programs=("smpirun",)),
    "runner killed, ssh": Fault(clusters.kill_ssh, 60, 0, root=True, part=20),
    "runner killed, Slurm": Fault(clusters.kill_slurm, 60, 0, root=True, part=20),
    "runner killed, second version's run": Fault(kills.kill_second_version, 60, 4),
    "runner killed, guests": Fault(kills.kill_guests, 50, 1, root=True, guests=True, part=5),
    "server program killed": Fault(breaks.server_killed, 10, 0, root=True),
    "guest killed": Fault(breaks.guest_killed, 5, 1, root=True, guests=True),
    "guest hangs in silence": Fault(breaks.guest_hangs, 3, 1, root=True, guests=True),
    "libvirtd killed": Fault(breaks.libvirtd_killed, 5, 1, root=True, guests=True),
    "guest image damaged": Fault(guests.image_damaged, 3, 0, root=True, guests=True),
    "saved state damaged": Fault(guests.state_damaged, 8, 0, root=True, guests=True),
    "no memory for guests": Fault(guests.too_little_memory, 5, 0, root=True, guests=True),
    "files of a run damaged": Fault(files.run_files, 1000, 24),
    "profiles damaged": Fault(files.profiles, 400, 0, programs=("mpicc", "mpirun")),
    "studies damaged": Fault(files.studies, 400, 12),
    "platform files damaged": Fault(files.platforms, 300, 12),
    "values of a run": Fault(values.run_values, 1000, 10),
    "values of a second version's run": Fault(values.second_version, 200, 3),
    "values of studies and platforms": Fault(values.settings_values, 400, 6),
    "values of profiles and traces": Fault(
        values.profiles_and_traces, 500, 0, programs=("mpicc", "mpirun")
    ),
    "special files in a run": Fault(values.special_files, 300, 6),
    "disk full": Fault(scarcity.full_disk, 12, 1, root=True),
    "little memory": Fault(scarcity.little_memory, 40, 3),
    "few open files": Fault(scarcity.few_files, 40, 4),
    "file size limited": Fault(scarcity.small_files, 40, 4),
    "few processes": Fault(scarcity.few_processes, 8, 0, root=True, programs=("nuttcp",)),
    "two of one run": Fault(company.two_of_one_run, 20, 1),
    "two copies of a run": Fault(company.two_copies, 20, 1),
    "clock set back": Fault(company.clock_set_back, 20, 1),
    "clock jumps": Fault(company.clock_jumps, 20, 1),
    "a host lies": Fault(clusters.lying_host, 120, 3),
    "report with few addresses": Fault(scarcity.report_without_addresses, 40, 2),
    "the k-th call fails": Fault(sweep.sweep, 100_000, 20, programs=("cc",)),
    "traces fuzzed (seconds)": Fault(fuzz.fuzz_traces, 60, 0, programs=("clang",), part=3600),
    "spoiled imports": Fault(imports.spoiled_imports, 3600, 60),
    "hostile settings": Fault(settings.hostile_settings, 300, 6),
    "hostile strings": Fault(company.hostile_strings, 60, 3),
}


def main() -> None:
    """Try the faults and print the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("faults", nargs="*", metavar="FAULT", help="beginnings of names")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--short", action="store_true", help="few tries each")
    parser.add_argument("--tries", type=int, help="so many tries of each")
    parser.add_argument("--guests", action="store_true", help="also what boots guests")
    parser.add_argument("--list", action="store_true", help="print the names and end")
    parser.add_argument("--journal", type=Path, help="append each verdict to it as it happens")
    parser.add_argument("--resume", action="store_true", help="skip parts that the journal has")
    parser.add_argument("--json", action="store_true", help="the table as JSON")
    options = parser.parse_args()
    chosen = {
        name: fault
        for name, fault in FAULTS.items()
        if not options.faults or any(name.startswith(given) for given in options.faults)
    }
    if options.list:
        print("\n".join(chosen))
        return
    if not chosen:
        sys.exit(f"faults: none begins with {' or '.join(options.faults)}; --list names them")
    if options.journal is not None:
        os.environ[JOURNAL] = str(options.journal.resolve())
    os.environ[MARK] = f"{os.getpid()}-{time.time_ns()}"
    rows: list[tuple[str, Count | str]] = []
    recorded = recorded_parts(options.journal) if options.journal and options.resume else {}
    with tempfile.TemporaryDirectory(prefix="bareline-faults-") as said, Zygote(Path(said)) as one:
        for name, fault in chosen.items():
            obstacle = fault.obstacle(guests=options.guests)
            tries = options.tries or (fault.short if options.short else fault.tries)
            if not obstacle and not tries:
                obstacle = "not in the short form"
            parts = [
                Part(name, options.seed, first, min(fault.part, tries - first))
                for first in range(0, tries, fault.part)
            ]
            rows.append((name, obstacle or _tried(fault, parts, recorded, one)))
    if options.json:
        print(json.dumps({n: c if isinstance(c, str) else asdict(c) for n, c in rows}, indent=1))
    else:
        print_table(rows)
    broken = [count for _, count in rows if isinstance(count, Count) and not count.clean]
    for count in broken:
        for note in count.notes[:5]:
            print(note, file=sys.stderr)
    sys.exit(bool(broken))


def _tried(
    fault: Fault, parts: Sequence[Part], recorded: Mapping[Part, Count], zygote: Zygote
) -> Count | str:
    """Try the parts that are not recorded; return the sum, or why the fault cannot be tried."""
    total = Count()
    for part in parts:
        if part in recorded:
            total.add(recorded[part])
            continue
        try:
            count = _part(fault, part, zygote)
        except NotHere as reason:
            return str(reason)
        part.record(count)
        total.add(count)
        if count.tries < part.tries:
            break  # there are no more cases
    return total


def _part(fault: Fault, part: Part, zygote: Zygote) -> Count:
    started = time.monotonic()
    print(f"{part.fault}: {part.tries} tries ...", end=" ", file=sys.stderr, flush=True)
    order = f"{part.seed}:{part.fault}"
    # The first part is what `--tries` of its length alone would try.
    chosen = random.Random(f"{order}:{part.first}" if part.first else order)
    with tempfile.TemporaryDirectory(prefix="bareline-faults-", ignore_cleanup_errors=True) as made:
        count = fault.try_it(Bench(Path(made), chosen, zygote, order, part.first), part.tries)
    print(f"{time.monotonic() - started:.0f} s", file=sys.stderr)
    return count


if __name__ == "__main__":
    main()
