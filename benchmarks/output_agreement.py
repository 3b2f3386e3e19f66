"""Do all outputs of one comparison say the same? Read as text, on random pages.

    python benchmarks/output_agreement.py [--pages 1000] [--first 0]
    python benchmarks/output_agreement.py RUN [RUN ...]

Each page is a planted run (see `Planted` for what is drawn): opposite effects within a probe, two
modes with equal medians, launches lost to a limit, crashes, two to four platforms, n from 3 to 12,
with and without boots, a control, or two separate runs. `outputs.py` and `output_words.py` read
what `compare`, `explain`, `report`, `--fail-if` and `export` print about it, and hold each of its
statements against `compare --json`. Runs that are named are read in the place of planted pages,
each by itself.
"""

from __future__ import annotations

import argparse
import re
import tempfile
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import output_words
import outputs
from grades import PROBES, SIZES
from typer.testing import CliRunner

from bareline.cli.main import app
from bareline.platforms.config import platforms_from_toml
from bareline.session import begin
from bareline.session.origin import plan_of
from bareline.session.variants import with_control
from bareline.store.run import Run
from bareline.study.study import study_from_toml
from bareline.vocabulary.model import Failed, Measured, Record, Sample, Stage, Trial

SEED = 20_261_128
KINDS = ("equal", "slower", "faster", "opposite", "crashes", "fails", "lost")
SHARES = (0.42, 0.26, 0.10, 0.08, 0.05, 0.03, 0.06)


@dataclass(frozen=True, slots=True)
class Planted:
    """What a page is drawn from, by probe and platform."""

    platforms: tuple[str, ...]
    probes: tuple[str, ...]
    launches: int
    blocks_per_boot: int
    control: bool
    two_runs: bool
    two_modes: bool
    spread: float
    kinds: dict[tuple[str, str], str] = field(default_factory=dict)
    factors: dict[tuple[str, str], float] = field(default_factory=dict)


def drawn(generator: np.random.Generator) -> Planted:
    """Return the plan of a random page."""
    two_runs = bool(generator.random() < 0.15)
    count = 2 if two_runs else int(generator.integers(2, 5))
    platforms = ("a", "b", "c", "d")[:count]
    probes = list(PROBES)
    number = int(generator.integers(2, len(probes) + 1))
    chosen = tuple(map(str, generator.choice(probes, number, replace=False)))
    pairs = [(probe, platform) for probe in chosen for platform in platforms[1:]]
    launches = int(generator.choice([3, 5, 6, 7, 8, 10, 12]))
    return Planted(
        platforms=platforms,
        probes=chosen,
        launches=launches,
        blocks_per_boot=int(generator.choice([0, 1, launches], p=[0.6, 0.2, 0.2])),
        control=bool(not two_runs and generator.random() < 0.25),
        two_runs=two_runs,
        two_modes=bool(generator.random() < 0.3),
        spread=float(np.exp(generator.uniform(-6.0, -2.5))),
        kinds={pair: str(generator.choice(KINDS, p=SHARES)) for pair in pairs},
        factors={pair: float(np.exp(generator.uniform(0.05, 1.6))) for pair in pairs},
    )


def plant(plan: Planted, folder: Path, generator: np.random.Generator) -> list[Path]:
    """Write the runs of a page; return their directories."""
    if not plan.two_runs:
        return [_plant_run(plan, plan.platforms, folder / "run", generator)]
    return [
        _plant_run(plan, (platform,), folder / f"run-{platform}", generator)
        for platform in plan.platforms
    ]


def _plant_run(
    plan: Planted, platforms: tuple[str, ...], folder: Path, generator: np.random.Generator
) -> Path:
    head = {
        "name": "planted", "launches": plan.launches, "min_launches": plan.launches,
        "precision": 0, "layouts": "any", "control": plan.control,
    }  # fmt: skip
    measures = [{"probe": name, "ranks": 2} for name in plan.probes]
    study = study_from_toml({"study": head, "measure": measures}, where="planted")
    tables = {name: {"type": "null"} for name in platforms}
    specs = list(platforms_from_toml({"platform": tables}, where="planted").values())
    asked = with_control(study, specs, platforms[0], None)
    run = begin.create_run(
        asked.study, asked.platforms, folder, baseline=platforms[0], control=asked.name, seed=1
    )
    shape = (len(plan.platforms) + 1, len(PROBES), plan.launches + 2)
    boots = plan.spread * generator.standard_normal(shape)
    _append(plan, run, boots, generator)
    return folder


def _append(plan: Planted, run: Run, boots: np.ndarray, generator: np.random.Generator) -> None:
    names = list(plan.platforms)
    with run.writing():
        for trial in plan_of(run):
            boot = None
            shift = 0.0
            if plan.blocks_per_boot:
                boot = 1 + trial.block // plan.blocks_per_boot
                row = names.index(trial.platform) if trial.platform in names else len(names)
                shift = float(boots[row, list(PROBES).index(trial.case.probe), boot])
            outcome = _outcome(plan, trial, shift, generator)
            run.append(Record(trial=trial, outcome=outcome, started="t", duration_s=5.0, boot=boot))


def _outcome(
    plan: Planted, trial: Trial, shift: float, generator: np.random.Generator
) -> Measured | Failed:
    pair = (trial.case.probe, trial.platform)
    kind = plan.kinds.get(pair, "equal")
    if kind == "fails" or (kind == "crashes" and generator.random() < 0.5):
        return Failed(Stage.EXIT, "exit code 1")
    if kind == "lost" and generator.random() < 0.6:
        return Failed(Stage.TIMEOUT, "no end after 300 s")
    launch = float(generator.standard_normal())
    if plan.two_modes:  # a launch runs at one of two speeds, whose middle is the value
        launch = 0.1 * launch + float(generator.choice([-1.0, 1.0]))
    metric, rate = PROBES[trial.case.probe]
    samples = []
    for number, size in enumerate(SIZES if trial.case.probe.startswith("mpi.") else (0,)):
        own = plan.spread * (0.7 * launch + 0.7 * float(generator.standard_normal()))
        loss = np.log(plan.factors.get(pair, 1.0)) * _sign(kind, number)
        value = 1e-3 * float(np.exp(loss + shift + own))
        point = {"size_bytes": size} if size else {}
        samples.append(Sample(metric, 1 / value if rate else value, point))
    return Measured(tuple(samples))


def _sign(kind: str, number: int) -> float:
    if kind == "slower":
        return 1.0
    if kind == "faster":
        return -1.0
    if kind == "opposite":
        return 1.0 if number % 2 else -1.0
    return 0.0


def disagreements(runs: Sequence[Path], folder: Path) -> Iterator[str]:
    """Name each statement about the runs that contradicts the rows."""
    names = [str(run) for run in runs]
    compared = _printed("compare", *names, "--json", "--all")
    page = outputs.read_json(compared, _printed("explain", *names, "--json"))
    terminal = _printed("compare", *names)
    report = folder / "page.md"
    _printed("report", *names, "--out", str(report))
    text = report.read_text(encoding="utf-8")
    cells = outputs.terminal_cells(terminal)
    yield from outputs.wrong_cells(page, cells, "terminal")
    in_markdown = outputs.markdown_cells(text)
    for cell, other in zip(cells, in_markdown, strict=True):
        if _bare(cell.text) != _bare(other.text):
            place = f"{cell.name} on {cell.platform}"
            yield f"terminal and Markdown: {place}: {cell.text}, {other.text}"
    yield from outputs.wrong_cells(page, in_markdown, "Markdown")
    yield from outputs.wrong_tables(page, text)
    yield from output_words.wrong_layers(page, text)
    yield from output_words.wrong_answer(page, terminal)
    yield from output_words.wrong_sentences(page, _printed("explain", *names))
    junit = folder / "conditions.xml"
    asked = [word for text in outputs.conditions_of(page) for word in ("--fail-if", text)]
    _printed("compare", *names, *asked, "--undecided", "pass", "--junit", str(junit))
    yield from outputs.wrong_conditions(page, junit.read_text(encoding="utf-8"))
    exported = folder / "medians.prom"
    _printed("export", *names, "--out", str(exported))
    yield from outputs.wrong_metrics(page, exported.read_text(encoding="utf-8"))


def _bare(text: str) -> str:
    """Return a cell's text without the marks of footnotes."""
    return re.sub(r"\s*\(\d+\)", "", text).replace("; ", " ")


def _printed(*arguments: str) -> str:
    result = CliRunner().invoke(app, list(arguments), env={"COLUMNS": "240"})
    if result.exit_code not in (0, 1):
        raise RuntimeError(f"{' '.join(arguments)}: {result.output[-500:]}") from result.exception
    return result.stdout


def page_disagreements(number: int) -> Iterator[str]:
    """Plant a page and name what its outputs disagree about."""
    generator = np.random.default_rng([SEED, number])
    plan = drawn(generator)
    with tempfile.TemporaryDirectory() as scratch:
        runs = plant(plan, Path(scratch), generator)
        yield from disagreements(runs, Path(scratch))


def run_disagreements(run: Path) -> Iterator[str]:
    """Name what the outputs of a measured run disagree about."""
    with tempfile.TemporaryDirectory() as scratch:
        yield from disagreements([run], Path(scratch))


def main(argv: Sequence[str] | None = None) -> None:
    """Plant pages, or read runs, and print what their outputs disagree about."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("runs", nargs="*", type=Path)
    parser.add_argument("--pages", type=int, default=1000)
    parser.add_argument("--first", type=int, default=0)
    args = parser.parse_args(argv)
    numbers = range(args.first, args.first + args.pages)
    pages: dict[str, Iterator[str]] = (
        {str(run): run_disagreements(run) for run in args.runs}
        if args.runs
        else {f"page {number}": page_disagreements(number) for number in numbers}
    )
    kinds: Counter[str] = Counter()
    unlike = 0
    for name, faults in pages.items():
        found = list(faults)
        unlike += bool(found)
        kinds.update(fault.partition(":")[0] for fault in found)
        for fault in found:
            print(f"{name}: {fault}", flush=True)
    print(f"{len(pages)} pages: {unlike} with outputs that disagree; {dict(kinds)}")


if __name__ == "__main__":
    main()
