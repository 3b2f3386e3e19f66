"""The two sides of `bareline compare`: runs, or outputs that are read for one comparison.

Outputs are imported into a temporary folder, so that they are compared in the same way as after
`bareline import`. If an output names no platform, the name of its file or folder is used.
"""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from bareline.session.intake import import_files
from bareline.store.header import HEADER_FILE
from bareline.store.labels import path_labels
from bareline.store.naming import list_runs
from bareline.store.run import Run
from bareline.vocabulary.errors import UsageError
from bareline.vocabulary.units import count


@contextmanager
def open_sides(
    paths: Sequence[Path], say: Callable[[str], None], *, ranks: int | None = None
) -> Iterator[list[Run]]:
    """Open runs, and read outputs into temporary runs, which are removed when the context ends.

    - `say`: called with the lines that an import prints for people.
    - `ranks`: the number of ranks of outputs that do not contain it.

    Raises UsageError: a path is a folder of runs.
    Raises StoreError: a path is missing, or its run is damaged.
    Raises ImportRefused: a file cannot be read or has an unknown format.
    """
    labels = path_labels(paths)
    with tempfile.TemporaryDirectory(prefix="bareline-compare-") as folder:
        sides = []
        for path, label in zip(paths, labels, strict=True):
            if _is_run(path):
                sides.append(Run.open(path))
                continue
            _refuse_several_runs(path)
            intake = import_files([path], None, Path(folder) / label, ranks=ranks, unnamed=label)
            for line in intake.lines():
                say(f"{label}: {line}")
            sides.append(intake.run)
        yield sides


def _is_run(path: Path) -> bool:
    """Whether a path is a run or is missing; opening a missing run then reports the error."""
    return (path / HEADER_FILE).exists() or not path.exists()


def _refuse_several_runs(path: Path) -> None:
    below = list_runs(path) if path.is_dir() else []
    if below:
        step = "give this run" if len(below) == 1 else "give one of them, such as the latest"
        raise UsageError(
            f"the path is not a run, but a folder with {count(len(below), 'run')}",
            where=str(path),
            hint=f"{step}: {below[-1].path}",
        )
