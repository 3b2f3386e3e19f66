"""The claims that a run of a published study can judge, for `run`, `submit` and `doctor`."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from bareline.cli.output import EXIT_INTERRUPTED, print_error
from bareline.cli.planning import Planned, look_ahead
from bareline.vocabulary.errors import StudyError

if TYPE_CHECKING:
    from bareline.doctor.check import HostCheck


def see_to_answers(planned: Planned) -> None:
    """Print the claims that a run can judge; if they are few, ask the user whether to measure.

    The user is not asked if the command line has ``--on``, ``--anyway`` or ``--yes``.

    Raises UsageError: the claims are few, and the user cannot be asked because there is no
    terminal.
    """
    options = planned.options
    goes_on = options.yes or options.anyway or bool(options.on)
    if goes_on and options.quiet:
        return  # the count takes seconds, and would not be read
    answered = planned.answers()
    if answered is None:
        return
    answers, source = answered
    if not options.quiet:
        for line in answers.lines(source):
            print_error(line)
        print_error(f"  {planned.time_line()}")
    if goes_on:
        return
    if not (sys.stdin.isatty() and sys.stderr.isatty()):
        if answers.few:
            raise answers.refusal(planned.study.name, source)
        return
    if (answers.few or answers.better) and not _agreed("measure all the same?"):
        raise typer.Exit(EXIT_INTERRUPTED)


def _agreed(question: str) -> bool:
    try:
        return typer.confirm(question, err=True)
    except typer.Abort:  # no answer
        return False


def answers_here(name: str, platforms: Path | None) -> Iterator[HostCheck]:
    """Yield checks for the doctor: the claims that a study can judge on its default platforms."""
    from bareline.doctor.check import Area, Health, HostCheck
    from bareline.platforms.config import choose_platforms
    from bareline.session.begin import cast_study, choose_baseline
    from bareline.study.catalogue import find_study

    whole = find_study(name)
    if not whole.publications:
        return
    try:
        study, _ = cast_study(whole, [], [], platforms, anyway=True)
    except StudyError:
        return  # no role has a platform, which the other checks report
    specs = choose_platforms(study.platforms, platforms)
    outlook = look_ahead(whole, study, specs, choose_baseline(study, specs, None))
    if outlook is None:
        return
    answers, source = outlook
    status = Health.WARN if answers.few else Health.OK
    counted = f"{answers.claims} of {answers.of}"
    better = "; ".join(map(str, answers.better))
    yield HostCheck(counted, status, f"claims of {source} can be judged", better, Area.CLAIMS)
    for lost in answers.lost:
        yield HostCheck(str(lost.claims), Health.WARN, lost.reason, group=Area.CLAIMS)
