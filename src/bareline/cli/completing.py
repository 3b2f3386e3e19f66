"""Shell completion of the names of studies, platforms, probes and runs."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import wraps
from pathlib import Path

from bareline.vocabulary.errors import BarelineError

#: The shell's function for completion, which typer makes, sets this variable.
VARIABLE = "_BARELINE_COMPLETE"


def _offering(names: Callable[[], Iterable[str]]) -> Callable[[str], list[str]]:
    """Return a function that completes the beginning of a name.

    The returned function completes nothing if `names` fails.
    """

    @wraps(names)
    def offer(incomplete: str) -> list[str]:
        try:
            return [name for name in names() if name.startswith(incomplete)]
        except BarelineError:
            return []

    del offer.__wrapped__  # typer looks at the parameters
    return offer


@_offering
def studies() -> Iterable[str]:
    """Return the names of the built-in studies and of the TOML files in the current folder."""
    from bareline.study.catalogue import study_names

    return [*study_names(), *sorted(map(str, Path().glob("*.toml")))]


@_offering
def platforms() -> Iterable[str]:
    """Return the names of the built-in platforms and of the platforms in ``platforms.toml``."""
    from bareline.platforms.config import load_platforms

    return sorted(load_platforms(None, {}))


@_offering
def probes() -> Iterable[str]:
    """Return the names of the probes."""
    from bareline.probes.base import probe_rows

    return [row["probe"] for row in probe_rows(None)]


@_offering
def schemas() -> Iterable[str]:
    """Return the names of schemas."""
    from bareline.cli.output import schema_rows

    return [row["schema"] for row in schema_rows()]


@_offering
def runs() -> Iterable[str]:
    """Return the short names of runs, which can replace their paths."""
    from bareline.store.naming import list_runs

    names = [run.path.name for run in list_runs()]
    return ["@latest", *reversed(names)] if names else []
