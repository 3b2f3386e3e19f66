"""Short names of run directories on the command line: ``@latest``, ``nebula@latest``."""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from contextlib import suppress
from pathlib import Path

from typing_extensions import TypedDict

from bareline.store.header import HEADER_FILE, RECORDS_FILE
from bareline.store.run import Run
from bareline.vocabulary.errors import StoreError, did_you_mean
from bareline.vocabulary.files import open_regular, step_to_read

#: The folder in which `bareline run` makes run directories by default.
RUNS = Path("runs")
_LATEST = "@latest"
_NAMED = 5
#: The files that a run directory has from its beginning on.
_OF_A_RUN = (HEADER_FILE, RECORDS_FILE, "raw")


class RunListed(TypedDict):
    """A row of ``runs``: a run directory, with the number of its finished trials."""

    run: str
    study: str
    scale: str
    created: str
    platforms: list[str]
    trials: int


def run_row(run: Run) -> RunListed:
    """Return the row of a run."""
    study = run.header.study["study"]
    return {
        "run": str(run.path),
        "study": study["name"],
        "scale": study.get("scale") or "",
        "created": run.header.created,
        "platforms": list(run.header.platforms),
        "trials": _lines(run.path / RECORDS_FILE),
    }


def list_runs(folder: Path = RUNS) -> list[Run]:
    """Return the runs that are directly in a folder, the latest last.

    Runs without a readable header are left out.
    """
    try:
        below = sorted(folder.iterdir())
    except OSError as error:
        if folder == RUNS:
            return []
        hint = step_to_read(error, "give a folder with runs")
        why = f"the folder cannot be read: {error.strerror}"
        raise StoreError(why, where=str(folder), hint=hint) from error
    runs = []
    for path in below:
        with suppress(StoreError):
            runs.append(Run.open(path))
    return sorted(runs, key=lambda run: (run.header.created, run.path.name))


def run_folders(folder: Path) -> list[Path]:
    """Return the folders directly in a folder that are runs or incomplete runs.

    Raises StoreError: the folder cannot be read.
    """
    if (folder / HEADER_FILE).exists() or (folder / RECORDS_FILE).exists():
        return []
    try:
        below = sorted(path for path in folder.iterdir() if path.is_dir())
    except OSError as error:
        hint = step_to_read(error, "give a run, or a folder with runs")
        why = f"the folder cannot be read: {error.strerror}"
        raise StoreError(why, where=str(folder), hint=hint) from error
    return [path for path in below if _has_file_of_run(path)]


def _has_file_of_run(folder: Path) -> bool:
    return any(os.path.lexists(folder / name) for name in _OF_A_RUN)


def distinct_runs(paths: Iterable[Path]) -> list[Path]:
    """Return one path for each run.

    Several paths may lead to the same run, e.g. the link ``latest``. The first path that is not a
    link is returned; if all are links, the first link.
    """
    ordered = sorted(dict.fromkeys(paths), key=lambda path: path.is_symlink())
    by_place: dict[str, Path] = {}
    for path in ordered:
        by_place.setdefault(os.path.realpath(path), path)
    return list(by_place.values())


def find_run(text: str) -> Path:
    """Return the path of a run from its name.

    - `text`: a path, or a short name of a run in the folder ``runs``. A short name is a unique
      beginning of the run's name; ``@latest``; or a beginning followed by ``@latest``, which is the
      latest run whose name begins so.

    Raises StoreError: several names begin with the text, there is no latest run, or no name begins
    with the text but one is similar to it.
    """
    path = Path(text)
    if path.exists() or "/" in text:
        return path
    begins = text.removesuffix(_LATEST)
    latest = text.endswith(_LATEST)
    all_runs = [run.path for run in list_runs()]
    paths = [run for run in all_runs if run.name.startswith(begins)]
    if latest and not paths:
        problem = f"no run begins with '{begins}'" if begins else "there is no run"
        raise StoreError(problem, where=f"{RUNS}/", hint="`bareline runs` lists all runs")
    if latest or len(paths) == 1:
        return paths[-1]
    if paths:
        raise _ambiguous(text, paths)
    if close := did_you_mean(text, [_LATEST, *(run.name for run in all_runs)], ""):
        raise StoreError(f"no run begins with '{text}'", where=f"{RUNS}/", hint=close)
    return path


def _ambiguous(text: str, paths: Sequence[Path]) -> StoreError:
    names = ", ".join(path.name for path in paths[: -_NAMED - 1 : -1])
    more = f" and {len(paths) - _NAMED} more" if len(paths) > _NAMED else ""
    return StoreError(
        f"{len(paths)} runs begin with '{text}': {names}{more}",
        where=f"{RUNS}/",
        hint=f"type more of the name, or {text}{_LATEST} for the latest",
    )


def _lines(path: Path) -> int:
    try:
        with open_regular(path, within=path.parent) as file:
            return sum(block.count(b"\n") for block in iter(lambda: file.read(1 << 20), b""))
    except OSError:
        return 0
