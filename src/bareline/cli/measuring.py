"""What a study is measured with: the argument and options that `run` and `submit` share."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from dataclasses import MISSING, dataclass, fields
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, get_type_hints

import typer

from bareline.cli import completing
from bareline.cli.options import (
    BaselineOption,
    JsonOption,
    MaxCoreHoursOption,
    NotBetweenOption,
    PlatformsOption,
    QuietOption,
    StopOption,
    WaitQuietOption,
)

if TYPE_CHECKING:
    from bareline.vocabulary.limits import Limits

_Study = Annotated[
    str,
    typer.Argument(
        metavar="STUDY",
        help="A built-in study or a TOML file.",
        autocompletion=completing.studies,
    ),
]
_On = Annotated[
    list[str] | None,
    typer.Option(
        "--on",
        metavar="P",
        help="Platform; repeat for more.",
        autocompletion=completing.platforms,
    ),
]
_Role = Annotated[
    list[str] | None,
    typer.Option("--as", metavar="ROLE=P", help="Platform that takes a role; repeat for more."),
]
_BuildA = Annotated[
    list[str] | None,
    typer.Option(
        "--build-a",
        metavar="BUILD",
        help="A build: a path ({build}), or KEY=VALUE as in a platform file; repeat for more.",
    ),
]
_BuildB = Annotated[
    list[str] | None,
    typer.Option("--build-b", metavar="BUILD", help="The build that is compared with it."),
]
_Out = Annotated[
    Path | None, typer.Option("-o", "--out", metavar="DIR", help="Run directory to make.")
]
_Seed = Annotated[
    int | None, typer.Option("--seed", metavar="N", help="Seed of the trials' order.")
]
_Question = Annotated[
    list[str] | None,
    typer.Option(
        "--question",
        metavar="Q",
        help="The finding answered first, e.g. 'app.ocean time'; repeat for more.",
    ),
]
_Launches = Annotated[
    int | None, typer.Option("--launches", metavar="N", min=1, help="Most trials of each case.")
]
_Scale = Annotated[
    str | None,
    typer.Option("--scale", metavar="NAME", help="Scale of the study, e.g. small."),
]
_Control = Annotated[
    bool | None,
    typer.Option(
        "--control/--no-control",
        help="Measure the baseline twice, to see what the machine does by itself.",
        show_default=False,
    ),
]
_Anyway = Annotated[
    bool,
    typer.Option("--anyway", help="Also where fewer than two roles of the study can be measured."),
]
_DryRun = Annotated[bool, typer.Option("--dry-run", help="Show the plan, run nothing.")]


@dataclass(frozen=True, slots=True)
class RunOptions:
    """What the command line asks of a run, whether it is measured here or by a batch job.

    A new option of `run` is a field here; `submit` has it then, too. What measuring itself is to
    be told, not its plan, stands in `for_the_job`.
    """

    study: _Study
    on: _On = None
    as_: _Role = None
    build_a: _BuildA = None
    build_b: _BuildB = None
    platforms: PlatformsOption = None
    out: _Out = None
    baseline: BaselineOption = None
    question: _Question = None
    seed: _Seed = None
    launches: _Launches = None
    scale: _Scale = None
    control: _Control = None
    anyway: _Anyway = False
    max_core_hours: MaxCoreHoursOption = None
    not_between: NotBetweenOption = None
    dry_run: _DryRun = False
    wait_quiet: WaitQuietOption = None
    quiet: QuietOption = False
    stop_on_failure: StopOption = False
    as_json: JsonOption = False

    @property
    def wait_s(self) -> float | None:
        """How long to wait for a quiet machine; None for not at all.

        Raises UsageError: what was given is no time.
        """
        from bareline.vocabulary.units import parse_duration

        return None if self.wait_quiet is None else parse_duration(self.wait_quiet)

    def for_the_job(self) -> list[str]:
        """Give the options with which `continue` measures in a batch job as `run` would here."""
        words = [] if self.wait_s is None else [f"--wait-quiet={self.wait_quiet}"]
        words += ["--quiet"] if self.quiet else []
        return [*words, "--stop-on-failure"] if self.stop_on_failure else words


def takes_what_is_asked(verb: Callable[..., None]) -> Callable[..., None]:
    """Let a verb whose first parameter is `RunOptions` take its fields from the command line."""
    declared = {field.name: field for field in fields(RunOptions)}
    hints = get_type_hints(RunOptions, include_extras=True) | get_type_hints(
        verb, include_extras=True
    )
    shared = [
        inspect.Parameter(
            name,
            inspect.Parameter.KEYWORD_ONLY,
            default=inspect.Parameter.empty if field.default is MISSING else field.default,
        )
        for name, field in declared.items()
    ]
    _, *own = inspect.signature(verb).parameters.values()
    every = [
        one.replace(kind=inspect.Parameter.KEYWORD_ONLY, annotation=hints[one.name])
        for one in (*shared, *own)
    ]

    @functools.wraps(verb)
    def flat(**given: Any) -> None:
        verb(RunOptions(**{name: given.pop(name) for name in declared}), **given)

    flat.__annotations__ = {one.name: one.annotation for one in every} | {"return": None}
    flat.__signature__ = inspect.Signature(every)  # type: ignore[attr-defined]
    return flat


def limits_of(max_core_hours: float | None, not_between: str | None) -> Limits:
    """Give the limits that the command line asks for.

    Raises UsageError: what it names are no hours of a day.
    """
    from bareline.vocabulary.limits import Limits, parse_hours

    parse_hours(not_between or "")
    return Limits(max_core_hours=max_core_hours, not_between=not_between)
