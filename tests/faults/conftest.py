"""What tests of hostile files share."""

from __future__ import annotations

import resource
from pathlib import Path

import pytest


@pytest.fixture
def finished(make_run, execute):
    """Give a run of null trials that was executed."""
    run = make_run(launches=2)
    execute(run)
    return run


@pytest.fixture
def bounded():
    """Let nothing here take more than a gibibyte beyond what is in use."""
    soft, hard = resource.getrlimit(resource.RLIMIT_AS)
    used = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
    resource.setrlimit(resource.RLIMIT_AS, (used + (1 << 30), hard))
    yield
    resource.setrlimit(resource.RLIMIT_AS, (soft, hard))
