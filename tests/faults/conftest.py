"""What tests of hostile files share."""

from __future__ import annotations

import resource
import shutil
from pathlib import Path

import pytest

from bareline.platforms.config import platforms_from_toml
from bareline.session import begin, runner
from bareline.store.run import Run
from bareline.study.study import study_from_toml
from bareline.testing.runs import SilentObserver

STUDY = {
    "study": {"name": "planted", "launches": 2, "precision": 0},
    "measure": [{"probe": "null", "params": {}}],
}
PLATFORMS = {"platform": {"a": {"type": "null"}, "b": {"type": "null", "factor": 1.5}}}


@pytest.fixture(scope="session")
def _executed(tmp_path_factory, one_seed):
    """Give a run of null trials that was executed, for copies."""
    specs = [*platforms_from_toml(PLATFORMS, where="test").values()]
    study = study_from_toml(STUDY, where="test")
    run = begin.create_run(study, specs, tmp_path_factory.mktemp("executed") / "run", baseline="a")
    runner.execute(run, SilentObserver())
    return run


@pytest.fixture
def finished(_executed, tmp_path):
    """Give such a run that a test may damage."""
    return Run.open(shutil.copytree(_executed.path, tmp_path / "run"))


@pytest.fixture
def bounded():
    """Let nothing here take more than a gibibyte beyond what is in use."""
    soft, hard = resource.getrlimit(resource.RLIMIT_AS)
    used = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
    resource.setrlimit(resource.RLIMIT_AS, (used + (1 << 30), hard))
    yield
    resource.setrlimit(resource.RLIMIT_AS, (soft, hard))
