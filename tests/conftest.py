"""Fixtures that the whole test suite shares."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from bareline import session
from bareline.platforms.config import platforms_from_toml
from bareline.runner import Tally
from bareline.store import Run
from bareline.study import study_from_toml

#: Open MPI refuses to run as root unless told so; bareline tells it itself, tests that start
#: mpirun directly need the same.
os.environ.setdefault("OMPI_ALLOW_RUN_AS_ROOT", "1")
os.environ.setdefault("OMPI_ALLOW_RUN_AS_ROOT_CONFIRM", "1")


class Silent:
    """An observer that says nothing."""

    def begin(self, planned, done):
        pass

    def note(self, platform, text):
        pass

    def trial(self, trial, position, eta_s):
        pass

    def finished(self, record):
        pass

    def skipped(self, count, reason):
        pass


@pytest.fixture
def null_study():
    """Give a study of the null probe: ``null_study(launches=..., params=...)``."""

    def make(params=None, **head):
        head = {"name": "planted", "launches": 10, "precision": 0, **head}
        measure = {"probe": "null", "params": params or {}}
        return study_from_toml({"study": head, "measure": [measure]}, where="test")

    return make


@pytest.fixture
def null_platforms():
    """Give null platforms by name and options: ``null_platforms(a={}, b={"factor": 2})``."""

    def make(**options):
        tables = {name: {"type": "null", **given} for name, given in options.items()}
        return list(platforms_from_toml({"platform": tables}, where="test").values())

    return make


@pytest.fixture
def make_run(tmp_path, null_study, null_platforms) -> Callable[..., Run]:
    """Make a run of null trials without executing it."""
    numbers = iter(range(1000))

    def make(platforms=None, params=None, **head) -> Run:
        study = null_study(params, **head)
        specs = null_platforms(**(platforms or {"a": {}, "b": {"factor": 1.5}}))
        path: Path = tmp_path / f"run{next(numbers)}"
        return session.create_run(study, specs, path, baseline=specs[0].name)

    return make


@pytest.fixture
def execute() -> Callable[..., Tally]:
    """Execute a run silently."""

    def go(run: Run, **options) -> Tally:
        return session.execute(run, Silent(), **options)

    return go
