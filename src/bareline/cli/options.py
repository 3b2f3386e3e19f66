"""Arguments and options that several verbs share."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from bareline.cli import completing
from bareline.cli.output import print_error
from bareline.cli.verbs import JsonOption, argument, flag, option

if TYPE_CHECKING:
    from collections.abc import Sequence

    from bareline.analysis.numbers.records import Records
    from bareline.analysis.numbers.selection import Selection
    from bareline.store.run import Run


def run_path(text: str) -> Path:
    """Return the path of a run, which may be given by a short name."""
    from bareline.store.naming import find_run

    return find_run(text)


def read_records(*paths: Path, unlike: bool = True) -> Records:
    """Return the records of runs.

    - `unlike`: whether to print the default parameters in which the runs differ.
    """
    from bareline.store.run import Run

    return records_of([Run.open(path) for path in paths], unlike=unlike)


def records_of(runs: Sequence[Run], *, unlike: bool = True) -> Records:
    """Return the records of opened runs; `unlike` is the same as in `read_records`."""
    from bareline.analysis.numbers.records import read_runs

    records = read_runs(runs)
    for line in records.unlike_defaults if unlike else ():
        print_error(line)
    return records


RunArgument = Annotated[
    Path,
    argument(
        "RUN", "A run directory, or @latest.", parser=run_path, autocompletion=completing.runs
    ),
]
RunsArgument = Annotated[
    list[Path],
    argument(
        "RUN...", "Run directories, or @latest.", parser=run_path, autocompletion=completing.runs
    ),
]
SidesArgument = Annotated[
    list[Path],
    argument(
        "OLD NEW",
        "Runs, or outputs that import reads; the first is the baseline.",
        parser=run_path,
        autocompletion=completing.runs,
    ),
]
_Names = list[str] | None
#: Keyword arguments of every option whose value is the name of a platform.
PLATFORM: dict[str, Any] = {"metavar": "P", "autocompletion": completing.platforms}


@dataclass(frozen=True, slots=True)
class RowFilter:
    """The rows that the user selects; each field contains names of one kind, e.g. of probes."""

    probes: Annotated[
        _Names,
        option(
            "--probe", "PROBE", "Show only rows of this probe.", autocompletion=completing.probes
        ),
    ] = None
    platforms: Annotated[
        _Names, option("--platform", help="Show only rows of this platform.", **PLATFORM)
    ] = None
    metrics: Annotated[_Names, option("--metric", "M", "Show only rows of this metric.")] = None
    layers: Annotated[_Names, option("--layer", "LAYER", "Show only rows of this layer.")] = None

    def selection(self) -> Selection:
        """Return the selection of rows; its truth value is false if all rows are selected."""
        from bareline.analysis.numbers.selection import Selection

        return Selection(
            self.probes or (), self.platforms or (), self.metrics or (), self.layers or ()
        )


FailIfOption = Annotated[
    list[str] | None,
    option(
        "--fail-if", "CONDITION", "Exit with 1 if the condition is met, e.g. 'mpi.latency > 1.1'."
    ),
]
UndecidedOption = Annotated[
    str | None,
    option(
        "--undecided",
        "pass|fail",
        "Result of a condition that too few launches leave open (default: fail in CI).",
    ),
]
ReferenceOption = Annotated[
    list[Path] | None,
    option("--reference", "FILE", "Exit with 1 if a median is outside its reference value."),
]


@dataclass(frozen=True, slots=True)
class Gates:
    """The conditions of a comparison, and the file for their results."""

    fail_if: FailIfOption = None
    undecided: UndecidedOption = None
    reference: ReferenceOption = None
    junit: Annotated[
        Path | None, option("--junit", "FILE", "Also write the results of conditions as XML.")
    ] = None


PlatformsOption = Annotated[
    Path | None, option("--platforms", "FILE", "Platform file (default: platforms.toml).")
]
BaselineOption = Annotated[
    str | None, option("--baseline", help="Platform to compare with.", **PLATFORM)
]
MarginOption = Annotated[
    float | None,
    option(
        "--margin",
        "M",
        "Relative difference that does not matter, e.g. 0.02.",
        min=0.0001,
        max=0.9999,
    ),
]
WaitQuietOption = Annotated[
    str | None,
    option(
        "--wait-quiet",
        "[=TIME]",
        "Wait until the machine is idle, at most TIME (default 30min).",
    ),
]
#: Values of options that are given without one.
OPTIONAL_VALUES = {"--wait-quiet": "30min"}
MaxCoreHoursOption = Annotated[
    float | None, option("--max-core-hours", "N", "End when N core hours are used.", min=0.0001)
]
NotBetweenOption = Annotated[
    str | None,
    option(
        "--not-between",
        "HH:MM-HH:MM",
        "Local hours in which no trial begins; several with commas between.",
    ),
]
StopOption = Annotated[
    bool, flag("--stop-on-failure", "End when a program has failed twice on every platform.")
]
ShowControlOption = Annotated[
    bool, flag("--control", "Also compare the baseline with itself (the control).")
]
QuietOption = Annotated[bool, flag("-q --quiet", "Hide progress; errors are still printed.")]
DetailsOption = Annotated[bool, flag("--all", "Also show detail metrics.")]


@dataclass(frozen=True, slots=True)
class RunOptions:
    """Options of a run, which is measured here or by a batch job.

    Each field is an option of `run` and of `submit`. `for_the_job` returns the options that concern
    the measurement and not the plan.
    """

    study: Annotated[
        str,
        argument("STUDY", "A built-in study or a TOML file.", autocompletion=completing.studies),
    ]
    on: Annotated[
        _Names, option("--on", help="Platform to measure; repeat for more.", **PLATFORM)
    ] = None
    as_: Annotated[
        _Names, option("--as", "ROLE=P", "Use platform P for a role of the study; repeat for more.")
    ] = None
    build_a: Annotated[
        _Names,
        option(
            "--build-a",
            "BUILD",
            "First build: the path for {build} in commands, or KEY=VALUE as in a platform file; "
            "repeat for more keys.",
        ),
    ] = None
    build_b: Annotated[
        _Names, option("--build-b", "BUILD", "Second build, compared with the first.")
    ] = None
    platforms: PlatformsOption = None
    out: Annotated[Path | None, option("-o --out", "DIR", "Run directory to make.")] = None
    baseline: BaselineOption = None
    question: Annotated[
        _Names,
        option(
            "--question",
            "Q",
            "Metric that the verdict names first, e.g. 'app.ocean time'; repeat for more.",
        ),
    ] = None
    seed: Annotated[int | None, option("--seed", "N", "Seed of the trials' order.")] = None
    launches: Annotated[
        int | None, option("--launches", "N", "Launch each case at most N times.", min=1)
    ] = None
    scale: Annotated[str | None, option("--scale", "NAME", "Scale of the study, e.g. small.")] = (
        None
    )
    sizes_of: Annotated[
        Path | None,
        option(
            "--sizes-of",
            "PROFILE",
            "Sweep over the mean message size of each MPI function in a profile.",
        ),
    ] = None
    control: Annotated[
        bool | None,
        flag(
            "--control/--no-control",
            "Measure the baseline twice, to see the machine's own differences.",
            show_default=False,
        ),
    ] = None
    anyway: Annotated[
        bool, flag("--anyway", "Run even if fewer than two roles of the study can be measured.")
    ] = False
    yes: Annotated[
        bool,
        flag("--yes", "Run even if less than a third of a repeated paper's claims can be judged."),
    ] = False
    max_core_hours: MaxCoreHoursOption = None
    not_between: NotBetweenOption = None
    dry_run: Annotated[bool, flag("--dry-run", "Show the plan, run nothing.")] = False
    wait_quiet: WaitQuietOption = None
    quiet: QuietOption = False
    stop_on_failure: StopOption = False
    as_json: JsonOption = False

    def for_the_job(self) -> list[str]:
        """Return the options of `run` that a batch job passes on to `continue`."""
        words = [] if seconds(self.wait_quiet) is None else [f"--wait-quiet={self.wait_quiet}"]
        words += ["--quiet"] if self.quiet else []
        return [*words, "--stop-on-failure"] if self.stop_on_failure else words


def seconds(wait_quiet: str | None) -> float | None:
    """Return the longest wait for a quiet machine, in s; None if there is no wait.

    Raises UsageError: the text is not a time.
    """
    from bareline.vocabulary.units import parse_duration

    return None if wait_quiet is None else parse_duration(wait_quiet)
