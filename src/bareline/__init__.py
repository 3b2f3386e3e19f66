"""Measure, compare and explain the loss of an MPI application on a platform.

`read` and `trials` give the results of runs to programs. Apart from these two, programs may rely
only on the command line (docs/reference/stability.md).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from os import PathLike

    import polars as pl

    from bareline.analysis.numbers.records import Records

__all__ = ["__version__", "read", "trials"]
__version__ = "0.3.0"


def read(*runs: str | PathLike[str]) -> pl.DataFrame:
    """Read the samples of runs as one tidy table.

    Parameters
    ----------
    runs
        Run directories, or names such as ``"@latest"``; platforms of the same name in several runs
        are distinguished as ``name@run``.

    Returns
    -------
    polars.DataFrame
        A row per sample, with the columns of ``bareline export`` (`analysis.tidy.tidy_samples`):
        ``value`` in SI base units, a column for each parameter, times as times.
        ``.to_pandas()`` gives the same to pandas.

    Raises
    ------
    BarelineError
        A path is not a run, is damaged, or has no records yet.
    """
    from bareline.analysis.numbers.tidy import tidy_samples

    records = _records(runs)
    return tidy_samples(records, records.with_controls.samples)


def trials(*runs: str | PathLike[str]) -> pl.DataFrame:
    """Read the trials of runs, including failed trials, as one tidy table.

    Takes the same parameters as `read` and raises the same errors. The columns ``status``,
    ``stage`` and ``reason`` describe how each trial ended.
    """
    from bareline.analysis.numbers.tidy import tidy_trials

    return tidy_trials(_records(runs))


def _records(runs: tuple[str | PathLike[str], ...]) -> Records:
    from bareline.analysis.numbers.records import read_runs
    from bareline.store.naming import find_run
    from bareline.store.run import Run

    return read_runs([Run.open(find_run(str(run))) for run in runs])
