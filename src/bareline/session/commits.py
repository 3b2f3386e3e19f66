"""``bareline import --per-commit``: one run for each commit, so that the runs are a history.

Results of different commits are not repetitions of one measurement. An output may name its commit,
as asv's outputs do. Otherwise each file counts as one commit, which has the name of the file.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from datetime import datetime
from itertools import groupby
from pathlib import Path

from bareline.formats.files import FoundTrial, found_in
from bareline.formats.importer import Commit
from bareline.session.imported import Intake
from bareline.session.intake import ImportOptions, check_platform, take
from bareline.session.spool import Spool
from bareline.vocabulary.errors import UsageError

_HASH = re.compile(r"[0-9a-f]{16,64}")
#: As many digits of a hash as git itself shows of large repositories.
_SHORT = 12
_UNFIT = re.compile(r"[^\w.+-]+")


def import_commits(
    files: Sequence[Path],
    platform: str | None,
    folder: Path,
    *,
    title: str = "",
    ranks: int | None = None,
    date: datetime | None = None,
    skip_unknown: bool = False,
) -> list[Intake]:
    """Read existing outputs into a run for each commit, below a folder.

    A run has the name of its commit, or of its file if the file names no commit. A missing run is
    created. The date of the run is the date of the commit if outputs contain that date, because
    commits may be measured in any order. Nothing is written unless every file has a known format.
    Parameters and errors are as in `import_files`.
    """
    check_platform(platform, ranks)
    for _ in found_in(files, skip_unknown=skip_unknown, skipped=[]):
        pass
    options = ImportOptions(platform=platform, title=title, ranks=ranks, date=date)
    intakes: list[Intake] = []
    skipped: list[Path] = []
    read_trials = found_in(files, skip_unknown=skip_unknown, skipped=skipped)
    for commit, trials in groupby(read_trials, key=_commit_of):
        with Spool() as spool:
            names = [trial.file.name for trial in _added(spool, trials, commit)]
            dated = replace(options, committed=commit.date)
            intakes.append(take(spool, folder / run_name(commit), names, dated))
    if intakes:
        intakes[0].skipped = tuple(skipped)
    return intakes


def _added(spool: Spool, trials: Iterator[FoundTrial], commit: Commit) -> Iterator[FoundTrial]:
    for trial in trials:
        if commit.platform is not None:
            trial = replace(trial, imported=replace(trial.imported, platform=commit.platform))
        spool.add(trial)
        yield trial


def _commit_of(trial: FoundTrial) -> Commit:
    named = trial.importer.commit(trial.launch)
    return named or Commit(trial.file.name.partition(".")[0])


def run_name(commit: Commit) -> str:
    """Return the name of the folder of a commit's run.

    Raises UsageError: the commit's name has no letter or digit.
    """
    name = commit.id[:_SHORT] if _HASH.fullmatch(commit.id) else commit.id
    name = _UNFIT.sub("-", name).strip("-.")[:100]
    if not name:
        raise UsageError(
            f"the commit '{commit.id[:40]}' has no letter or digit that could be the name of a run",
            where="--per-commit",
        )
    return name
