"""How long guests take to come up and go, and what starting a command in them costs.

    python benchmarks/vm_launch.py

Prints one line for each set of guests: seconds from the start of its virtual machine to its first
answer over ssh, for every guest, and for all of them together. Image and keys come from the cache;
the second line with a saved state starts from what the first one saved.
"""

from __future__ import annotations

import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from statistics import median
from typing import Any

from bareline.host.cache import cache_folder
from bareline.platforms.base import Context
from bareline.platforms.config import make_spec
from bareline.platforms.made.vm.allocation import VmAllocation
from bareline.platforms.made.vm.platform import VmPlatform
from bareline.vocabulary.model import TRIAL_VARIABLE, Command, Layout

LAUNCHES = 8
SAVED = {"saved_state": True}
CASES: tuple[tuple[int, dict[str, Any]], ...] = (
    (1, {"cpu": {"count": 1}}),
    (2, {}),
    (4, {}),
    (2, SAVED),
    (2, SAVED),
)


@contextmanager
def guests(count: int, options: dict[str, Any]) -> Iterator[VmAllocation]:
    """Bring guests up and tell how long that took."""
    table = {"type": "vm", "guests": count, "memory": {"size_bytes": "512MiB"}, **options}
    spec = make_spec("vm-launch", table, where=__file__)
    with tempfile.TemporaryDirectory(dir=cache_folder()) as scratch:
        platform = VmPlatform(spec, Context(Path(scratch)))
        started = time.monotonic()
        with platform.acquire(Layout(count, 1, 1)) as allocation:
            all_s = time.monotonic() - started
            each = " ".join(
                f"{name} {value:.1f}" for name, value in allocation.fleet.boot_s.items()
            )
            what = "from saved states" if allocation.fleet.restored else "booted"
            load = Path("/proc/loadavg").read_text(encoding="ascii").split()[0]
            print(f"{count} guests {what}: all up {all_s:.1f} s ({each}), load {load}", flush=True)
            yield allocation
            started = time.monotonic()
        print(f"  gone after {time.monotonic() - started:.2f} s", flush=True)


def launches(allocation: VmAllocation, name: str, layout: Layout, *, mpi: bool) -> None:
    """Start `true` again and again and tell what a trial costs."""
    inside, whole = [], []
    for number in range(LAUNCHES):
        command = Command(argv=("true",), mpi=mpi, env=((TRIAL_VARIABLE, f"launch-{number}"),))
        started = time.monotonic()
        inside.append(allocation.run(command, layout, timeout_s=60).duration_s)
        whole.append(time.monotonic() - started)
    print(
        f"  {name}: command {median(inside):.2f} s, trial {median(whole):.2f} s "
        f"(medians of {LAUNCHES}; fastest {min(inside):.2f}, {min(whole):.2f})",
        flush=True,
    )


def main() -> None:
    """Measure every case once."""
    for count, options in CASES:
        with guests(count, options) as allocation:
            if count == 2 and not options:
                launches(allocation, "true", Layout(1, 1, 1), mpi=False)
                launches(allocation, "mpirun, 2 ranks on 2 guests", Layout(2, 1, 1), mpi=True)


if __name__ == "__main__":
    main()
