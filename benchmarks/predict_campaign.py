"""How good predictions are on this machine: applications and ladders measured, all pairs predicted.

    python benchmarks/predict_campaign.py --size short --out /tmp/campaign

Each application is first run once through shared memory, and its profile says which curves the
ladder needs. Then ladder and applications are measured side by side, in interleaved launches, and
each application is predicted from every platform to every other one.

======  ==================================================================================
tiny    some two minutes: only shows that everything runs
short   some 15 minutes: eight NAS kernels of class W, LAMMPS, Quantum ESPRESSO, GROMACS
        and the mini-app ocean, six launches, through shared memory, over TCP loopback, and on
        two hosts at 10, 2.5 and 1 Gb/s
long    some 13 minutes: six NAS kernels and the mini-app ocean, class A, six launches, through
        shared memory, over TCP loopback, and on two hosts at 10 and 1 Gb/s
guests  some 12 minutes: six NAS kernels and the mini-app ocean, class S, on two hosts and on a
        pair of virtual machines; where their processor is another (emulated), computing is
        calibrated with one rank of each program
rest    some 30 minutes: NAS kernels of classes W and A and the mini-apps on two ranks, eight
        launches, through shared memory and on two hosts without a limit, at 10 and at 1 Gb/s
cover   some ten minutes: six NAS kernels and three mini-apps of class W, six launches, through
        shared memory, over TCP loopback, and on two hosts at 10, 2.5 and 1 Gb/s: 180 ordered pairs
        for benchmarks/predict_coverage.py
full    some two hours: classes W and A, all mini-apps, and two ranks on one core
======  ==================================================================================

BT and SP take a square number of ranks: four, which share two cores openly. Programs that are not
installed are left out, with the command that installs them. The machine must be quiet: launches
whose ranks had no core for over 5 % of their time are left out, and the last table says how many.
`--max-queued 1` lets them in, for a trial of this script on a busy machine.

``--minutes 8`` ends after that time; the same command goes on where it ended, and predicts when
everything is measured. Blocks are whole, so what a part has measured can be predicted as well.
``--causes`` holds the replay's errors against those without means and without slower computing.

Network namespaces need root. The run directory, OUT/run, can be looked at again with
``bareline predict --validate OUT/run``.
"""

from __future__ import annotations

import argparse
import math
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path
from unittest.mock import patch

import numpy as np

from bareline.analysis.numbers.records import read_runs
from bareline.host.tools import install_hint
from bareline.predict.applications import applications
from bareline.predict.curves import curve as curve_module
from bareline.predict.curves import platform_curves
from bareline.predict.curves.requirements import ladder_measures
from bareline.predict.validation.cross_validation import cross_validate
from bareline.probes.base import find_probe
from bareline.profile.model import Profile
from bareline.store.run import Run
from bareline.vocabulary.model import Layout, Scalar

PLATFORMS = """
[platform.shm]
type = "local"
transport = "shm"

[platform.tcp]
type = "local"
transport = "tcp"

[platform.pair]
type = "netns"

[platform.net-10g]
type = "netns"
rate = "10gbit"

[platform.net-2g5]
type = "netns"
rate = "2500mbit"

[platform.net-1g]
type = "netns"
rate = "1gbit"

[platform.one-core]
type = "local"
transport = "shm"
cores = [0]

[platform.guests]
type = "vm"
nic = { model = "virtio" }
"""
_BASE = "shm"
_SQUARE = ("npb.bt", "npb.sp")


@dataclass(frozen=True)
class App:
    """An application: its probe and what it is given."""

    probe: str
    params: Mapping[str, Scalar] = field(default_factory=dict)

    @property
    def ranks(self) -> int:
        """BT and SP take a square number of ranks."""
        return 4 if self.probe in _SQUARE else 2

    def one_rank(self) -> str:
        """Return the ``[[measure]]`` block that calibrates computing."""
        return self._block("ranks = 1\nnodes = 1")

    def measure(self) -> str:
        """Return its ``[[measure]]`` block."""
        return self._block(f"ranks = {self.ranks}\nprofile = true")

    def _block(self, layout: str) -> str:
        given = ", ".join(
            f"{name} = {value}" if isinstance(value, int | float) else f'{name} = "{value}"'
            for name, value in self.params.items()
        )
        return (
            f'[[measure]]\nprobe = "{self.probe}"\nparams = {{ {given} }}\n'
            f"{layout}\ntimeout_s = 600\n"
        )

    def missing(self) -> list[str]:
        """List the programs that it needs and that are not here."""
        probe = find_probe(self.probe)
        command = probe.command(probe.params(**self.params), Layout(1, self.ranks))
        return [tool for tool in command.requires if shutil.which(tool) is None]


@dataclass(frozen=True)
class Size:
    """How much is measured."""

    apps: Sequence[App]
    platforms: tuple[str, ...]
    launches: int
    calibrate: bool = False


def _classes(names: Sequence[str], problem: str) -> list[App]:
    return [App(name, {"problem_class": problem}) for name in names]


_KERNELS = [f"npb.{name}" for name in ("ep", "cg", "mg", "is", "ft", "lu", "bt", "sp")]
_MINI = ["app.ocean", "app.lattice", "app.planewave"]
_CODES = [App("app.lammps"), App("app.quantum_espresso"), App("app.gromacs")]
_TWO_HOSTS = ("net-10g", "net-2g5", "net-1g")
SIZES = {
    "tiny": Size(_classes(_KERNELS[1:5], "S"), ("shm", "tcp", "net-1g"), 2),
    "short": Size(
        [*_classes([*_KERNELS, "app.ocean"], "W"), *_CODES], ("shm", "tcp", *_TWO_HOSTS), 6
    ),
    "long": Size(
        _classes([*_KERNELS[:6], "app.ocean"], "A"), ("shm", "tcp", "net-10g", "net-1g"), 6
    ),
    "guests": Size(
        _classes([*_KERNELS[:6], "app.ocean"], "S"), ("net-10g", "guests"), 6, calibrate=True
    ),
    "rest": Size(
        [
            *_classes([*_KERNELS[:6], "app.ocean", "app.lattice", "app.unstructured"], "W"),
            *_classes(_KERNELS[1:5], "A"),
        ],
        ("shm", "pair", "net-10g", "net-1g"),
        8,
    ),
    "cover": Size(
        _classes([*_KERNELS[:6], "app.ocean", "app.lattice", "app.unstructured"], "W"),
        ("shm", "tcp", *_TWO_HOSTS),
        6,
    ),
    "full": Size(
        [*_classes([*_KERNELS, *_MINI], "W"), *_classes([*_KERNELS, *_MINI], "A"), *_CODES],
        ("shm", "tcp", *_TWO_HOSTS, "one-core"),
        6,
    ),
}


def installed(apps: Sequence[App]) -> list[App]:
    """Leave out what is not installed, and say how it is."""
    kept = []
    for app in apps:
        missing = app.missing()
        if missing:
            print(f"left out: {app.probe}: {install_hint(missing[0])}", file=sys.stderr)
        else:
            kept.append(app)
    return kept


def study(name: str, launches: int, measures: Sequence[str]) -> str:
    """Write a study."""
    head = (
        f'[study]\nname = "{name}"\ntitle = "Predictions held against measurements"\n'
        f"launches = {launches}\nprecision = 0\nemulated_launches = 0\n"
    )
    return "\n\n".join([head, *dict.fromkeys(measures)]) + "\n"


def measured(
    folder: Path,
    text: str,
    name: str,
    platforms: Sequence[str],
    baseline: str = _BASE,
    until: float = math.inf,
) -> Path:
    """Run a study, or what is left of it, up to a time; some of its trials may fail."""
    path, run = folder / f"{name}.toml", folder / name
    on = [part for platform in platforms for part in ("--on", platform)]
    arguments = [
        "run", str(path), *on, "--baseline", baseline,
        "--platforms", str(folder / "platforms.toml"), "--out", str(run),
    ]  # fmt: skip
    if run.exists():
        arguments = ["continue", str(run)]
    else:
        path.write_text(text, encoding="utf-8")
    process = subprocess.Popen([sys.executable, "-m", "bareline", *arguments])
    try:
        process.wait(None if math.isinf(until) else max(1.0, until - time.monotonic()))
    except subprocess.TimeoutExpired:
        process.send_signal(signal.SIGINT)
        process.wait()
        raise SystemExit(f"time is up; the same command goes on with {run}") from None
    return run


def profiles(run: Path) -> list[Profile]:
    """Read the profile of each application of a run."""
    found = applications(read_runs([Run.open(run)]), max_queued=1.0)
    return [own[_BASE].launches[0].profile for own in found.values()]


def causes(run: Path, max_queued: float) -> None:
    """Print the replay's errors, first without and then with each correction in turn."""
    records = read_runs([Run.open(run)])
    medians = {name: ("", calls) for name, (_, calls) in platform_curves._METRICS.items()}
    middle = property(lambda curve: curve_module._median(curve.launches))
    without = {
        "medians": lambda: patch.object(platform_curves, "_METRICS", medians),
        "means of calls": lambda: patch.object(curve_module.Curve, "raw", middle),
        "and of launches": lambda: patch.object(
            platform_curves.PlatformCurves, "beside", lambda *_: None
        ),
    }
    print("replay with            n  signed  median  90 % within  hi over lo        holds")
    for name in (*without, "and computing beside"):
        left = list(without)[list(without).index(name) :] if name in without else []
        with ExitStack() as stack:
            for one in left:
                stack.enter_context(without[one]())
            done = cross_validate(records, max_queued=max_queued)
        trials = [one for one in done.trials if one.model == "replay" and not one.calibrated]
        score = next((one for one in done.scores if one.model == "replay"), None)
        if score is None:
            continue
        widths = [one.hi_s / one.lo_s for one in trials if one.lo_s and one.hi_s]
        print(
            f"{name:<20} {score.n:>3} {score.signed:>+7.1%} {score.median:>7.1%} {score.p90:>12.1%}"
            f" {np.median(widths or [math.nan]):>16.2f} {score.coverage or math.nan:>6.0%}"
        )


def main() -> None:
    """Profile, plan, measure, predict."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("--size", choices=SIZES, default="short")
    parser.add_argument("--out", type=Path, required=True, help="folder to make")
    parser.add_argument("--max-queued", type=float, default=0.05)
    parser.add_argument(
        "--plan-only", action="store_true", help="profile, and write the study OUT/run.toml"
    )
    parser.add_argument("--causes", action="store_true", help="errors of OUT/run by cause, no more")
    parser.add_argument("--minutes", type=float, default=math.inf, help="end after this time")
    arguments = parser.parse_args()
    until = time.monotonic() + 60 * arguments.minutes
    size = SIZES[arguments.size]
    out: Path = arguments.out
    if arguments.causes:
        causes(out / "run", arguments.max_queued)
        return
    out.mkdir(parents=True, exist_ok=True)
    (out / "platforms.toml").write_text(PLATFORMS, encoding="utf-8")
    text = ""
    if not (out / "run").exists():
        here = installed(size.apps)
        apps = [app.measure() for app in here]
        scout = measured(out, study("predict-scout", 1, apps), "scout", [_BASE], until=until)
        alone = [app.one_rank() for app in here] if size.calibrate else []
        measures = [*ladder_measures(profiles(scout)), *apps, *alone]
        text = study("predict-campaign", size.launches, measures)
    if arguments.plan_only:
        (out / "run.toml").write_text(text, encoding="utf-8")
        return
    run = measured(out, text, "run", size.platforms, size.platforms[0], until)
    subprocess.run(
        [sys.executable, "-m", "bareline", "predict", "--validate", str(run),
         "--max-queued", str(arguments.max_queued)],
        check=True,
    )  # fmt: skip


if __name__ == "__main__":
    main()
